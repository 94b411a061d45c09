"""The harness of the evaluation: it finds what is there, and a broken store shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import muniment
from muniment import Memory, Recalled
from muniment.errors import InvalidInput, Unavailable
from muniment.evals.ask import Answer, answer_of, evaluate
from muniment.evals.compare import compare
from muniment.evals.dataset import Conversation, Dataset, Question, Talk
from muniment.evals.metrics import scores
from muniment.evals.plot import svg
from muniment.evals.report import read, result_of, save
from muniment.events.message import Message

ANIMALS = ("ferret", "heron", "otter", "lynx", "badger", "osprey")
OTHERS = ("kayak", "trumpet", "lantern", "compass", "anvil", "saddle")


def conversation(name: str, words: tuple[str, ...]) -> Conversation:
    """A turn a word, and a question a turn: others have words of it too, one has all of them."""
    at = "2023-05-08T10:00:00+00:00"
    turns = tuple(Message("user", f"Today I saw the {w}.", str(n), at) for n, w in enumerate(words))
    asked = (
        Question(f"{name}/{n}", f"Who saw the {w} today?", f"c{n % 2}", frozenset({f"{name}#{n}"}))
        for n, w in enumerate(words)
    )
    return Conversation(name, (Talk(name, turns),), tuple(asked))


DATASET = Dataset("locomo", "f1", (conversation("one", ANIMALS), conversation("two", OTHERS)))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A fresh store."""
    with muniment.open(f"sqlite:///{tmp_path}/eval.db") as opened:
        yield opened


def run(memory: Any) -> list[Answer]:
    """Evaluate, showing no progress."""
    return evaluate(memory, DATASET, lambda done, total: None)


def faults(answers: list[Answer]) -> list[str]:
    """Every question of `DATASET` has its one turn at the top and no other conversation's."""
    return [a.id for a in answers if a.ranks != (1,) or a.foreign]


class Twin:
    """A memory whose recall is broken in one way."""

    def __init__(self, memory: Memory, breaks: Any) -> None:
        self.append_many, self.tidy = memory.append_many, memory.tidy
        self._memory, self._breaks = memory, breaks

    def recall(self, text: str, **asked: Any) -> Recalled:
        """What the memory answers, broken."""
        found = self._memory.recall(text, **asked)
        return replace(found, envelopes=tuple(self._breaks(found.envelopes)))


def test_each_turn_is_found_by_its_question(memory: Memory) -> None:
    """Every question is answered, in order; a second run finds the turns there."""
    first = run(memory)
    assert [a.id for a in first] == [q.id for c in DATASET.conversations for q in c.questions]
    assert faults(first) == [] and run(memory) == first


def test_broken_recalls_are_caught(memory: Memory) -> None:
    """One place off, reversed, nothing found, and other people's turns."""
    run(memory)
    aliens = memory.recall("kayak", layers=("archive",), principal=_reader("two")).envelopes
    assert aliens
    assert len(faults(run(Twin(memory, lambda found: found[1:] + found[:1])))) == 12
    assert len(faults(run(Twin(memory, lambda found: found[::-1])))) == 12
    assert len(faults(run(Twin(memory, lambda found: ())))) == 12
    assert {a.foreign for a in run(Twin(memory, lambda found: (*found, *aliens)))} == {0, 1}


def _reader(name: str) -> dict[str, str]:
    return {"tenant": f"eval-f1-{name}", "user": "reader"}


def test_a_degraded_recall_is_no_measurement(tmp_path: Path) -> None:
    """A figure of nought would be read as one."""
    with (
        muniment.open(f"sqlite:///{tmp_path}/off.db", memory_off=True) as off,
        pytest.raises(Unavailable, match="memory_off"),
    ):
        run(off)


def test_tokens_are_those_read_down_to_the_gold() -> None:
    """Three results of two, three and four words: the second and the third are gold."""
    question = Question("q", "?", "c", frozenset({"t#1", "t#2", "t#9"}))
    results = [("e0", "one two"), ("e1", "one two three"), ("e2", "one two three four")]
    made = answer_of(question, {"e0": "t#0", "e1": "t#1", "e2": "t#2"}, results)
    lone = [answer_of(question, {"e": "t#1"}, [("e", words)]).tokens[0] for _, words in results]
    assert (made.gold, made.ranks, made.foreign) == (3, (2, 3), 0)
    assert made.tokens == (lone[0] + lone[1], sum(lone))


def _result(*ranks: tuple[int, ...]) -> dict[str, Any]:
    answers = [Answer(f"q{n}", "c", 1, r, (7,) * len(r)) for n, r in enumerate(ranks)]
    return result_of(DATASET, answers, store="none", limit=None)


def test_a_result_is_saved_and_read_without_words_of_the_data(
    memory: Memory, tmp_path: Path
) -> None:
    """Ids and numbers only; beside them which layer they are about."""
    result = result_of(DATASET, run(memory), store="sqlite, fresh", limit=None)
    save(result, tmp_path / "r.json")
    assert read(tmp_path / "r.json")["questions"] == [
        {**q, "ranks": list(q["ranks"]), "tokens": list(q["tokens"])} for q in result["questions"]
    ]
    text = (tmp_path / "r.json").read_text("utf-8")
    assert "archive layer" in text and "ferret" not in text and "saw the" not in text
    assert result["summary"]["all"]["scores"]["rec@5"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert {name: g["n"] for name, g in result["summary"].items()} == {"all": 12, "c0": 6, "c1": 6}


def test_the_plot_has_a_bar_a_category_and_says_what_it_measures() -> None:
    """And is XML, whatever a category is called."""
    from xml.etree import ElementTree

    answers = [Answer("q", "a<b & c", 1, (2,), (7,))]
    drawn = ElementTree.fromstring(svg(result_of(DATASET, answers, store="", limit=None)))
    texts = [t.text for t in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "a<b & c (n=1)" in texts and any("archive layer" in str(t) for t in texts)


def test_results_over_the_same_questions_are_compared() -> None:
    """By the score that decides: one up, one down, one as it was."""
    found = compare(_result((2,), (1,), ()), _result((1,), (4,), ()))
    ndcg, rank = found["scores"]["ndcg@10"], found["scores"]["mrr"]
    assert found["n"] == 3 and (ndcg["better"], ndcg["worse"]) == (1, 1)
    assert rank["difference"] == pytest.approx((0.5 - 0.75) / 3, abs=1e-4)
    assert ndcg["a"] == pytest.approx((scores((2,), 1)["ndcg@10"] + 1) / 3, abs=1e-4)
    assert ndcg["p"] == 1.0


def test_other_questions_or_data_are_not_compared() -> None:
    """Nor a file that is no result."""
    whole, part = _result((1,), (2,)), _result((1,))
    with pytest.raises(InvalidInput, match="same questions"):
        compare(whole, part)
    with pytest.raises(InvalidInput, match="same data"):
        compare(whole, {**whole, "data": "f2"})
    assert compare(whole, whole)["scores"]["mrr"]["p"] == 1.0


def test_a_file_that_is_no_result_is_refused(tmp_path: Path) -> None:
    """Also one whose ranks cannot be."""
    file = tmp_path / "r.json"
    good = _result((1,), (2,))
    for bad in (
        {},
        [],
        {**good, "format": "x"},
        {**good, "questions": [{"ranks": [0], "gold": 1}]},
    ):
        save(bad, file)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="no result"):
            read(file)
    save(good, file)
    assert len(read(file)["questions"]) == 2
