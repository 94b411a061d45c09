"""The quick look before a pattern never says no where the pattern would say yes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from muniment.extract.attributes import Table, table_of
from muniment.extract.lexicon import concept, concepts, data, fold
from muniment.extract.words import LEXICON, Hints, Words, found_in, needed_by
from muniment.records.facts import builtin
from tests.golden import runner


def every_word() -> list[Words]:
    """The pattern of every concept of the lexicon."""
    found: list[Words] = []
    for name, words in data("lexicon.yaml").items():
        flat = set(words) <= {"zh", "en"}
        found += [concept(name)] if flat else list(concepts(name).values())
    return found


def texts() -> Iterator[str]:
    """What is said in the golden cases."""
    for path in sorted(Path(runner.HERE).glob("*.yaml")):
        for case in runner.cases_of(path):
            said = [*(case.get("before") or ()), case["say"]]
            yield from (str(one["text"]) for one in said if one.get("text"))


def wrongly_excluded(words: list[Words], said: list[str]) -> list[str]:
    """The texts that a pattern matches and its quick look rules out."""
    return [
        text
        for text in said
        for one in words
        if one.excluded(fold(text)) and one.pattern.search(fold(text))
    ]


def test_no_concept_is_ruled_out_where_it_occurs() -> None:
    words, said = every_word(), list(texts())
    assert wrongly_excluded(words, said) == []
    occurs = sum(one.search(fold(text)) is not None for text in said for one in words)
    assert occurs > len(said)


def test_no_attribute_is_ruled_out_where_it_occurs() -> None:
    table = table_of(builtin())
    missed = 0
    hits = 0
    for text in texts():
        folded = fold(text)
        there = found_in(folded, table.upto)
        for pattern in (p for row in table.rows for p in row.patterns):
            if pattern.expression.pattern.search(folded):
                hits += 1
                missed += pattern.needs & there != pattern.needs or not looked_at(table, there)
    assert hits > 100
    assert missed == 0


def looked_at(table: Table, there: int) -> bool:
    """Whether any row is asked at all."""
    return any(first == -1 or first & there for first, _ in table.looked_for)


def test_a_wrong_look_is_found() -> None:
    """The broken twin: a pattern told that it needs what it does not."""
    broken = Words("pnpm|yarn", ["zebra"])
    assert wrongly_excluded([broken], ["use pnpm"]) == ["use pnpm"]
    assert wrongly_excluded([Words("pnpm|yarn")], ["use pnpm"]) == []


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        ("use npm", [{"use npm"}]),
        ("(?:use|take) npm", [{"use", "take"}, {" npm"}]),
        ("(?:use )?npm", [{"npm"}]),
        ("a|[0-9]", []),
        ("以后.{0,4}都", [{"以后"}, {"都"}]),
    ],
)
def test_what_a_pattern_needs(pattern: str, needs: list[set[str]]) -> None:
    assert sorted(map(sorted, needed_by(pattern))) == sorted(map(sorted, needs))


def test_literals_may_be_added_while_others_are_looked_for() -> None:
    hints, failed = Hints(), []

    def look() -> None:
        try:
            for _ in range(2_000):
                hints.scan("a text with word 17 in it")
        except RuntimeError as error:
            failed.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    bits = [hints.add([frozenset({f"word {n}"})]) for n in range(2_000)]
    thread.join()
    assert failed == []
    assert hints.scan("a text with word 17 in it") == bits[1] | bits[17]


def test_the_same_literals_share_a_bit() -> None:
    known = LEXICON.size
    first = LEXICON.add([frozenset({"a literal of this test"})])
    assert LEXICON.size == known + 1
    assert LEXICON.add([frozenset({"a literal of this test"})]) == first
    assert LEXICON.size == known + 1
