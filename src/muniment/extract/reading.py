"""Reads a request: what it is about, what it forbids, what it sets for itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from muniment.extract.lexicon import compiled, concept, fold, says
from muniment.extract.sentences import clauses, sentences
from muniment.extract.tasks import spec, stages_in, tasks_in
from muniment.extract.triggers import matches
from muniment.extract.words import Words
from muniment.records.facts import Catalogue
from muniment.text import normalise

# A request is short; what is pasted below it is material.
READ_CHARS_MAX = 8_000
FORBIDS_MAX = 32

_TRIM = re.compile(
    r"^(?:(?:the|a|an|any|this|that|these|those|my|our|to|on|with)\s+"
    r"|(?:数据库的?|任何|这个|那个|这些|现有的?)\s*)"
    r"|\s*(?:for now|this time|at all|yet|anymore|please|right now|today|了|吧|的)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the current request says by its words.

    ``facets``: the kinds of preference that matter to it; ``tasks`` and ``stages``: what it is
    about and how far along; ``forbids``: normalised objects of its prohibitions ("不要改 schema" →
    "schema"); ``uses``: the values it sets for known attributes ("use npm this time").
    """

    facets: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    forbids: tuple[str, ...] = ()
    uses: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    stages: frozenset[str] = frozenset()


def read_task(text: str, catalogue: Catalogue, stage: str | None = None) -> Reading:
    """Read a request; the first 8,000 characters of it.  Never fails; unknown words say nothing."""
    text = text[:READ_CHARS_MAX]
    folded = fold(text)
    tasks = tasks_in(folded)
    stages = {*stages_in(folded), *([stage] if stage else [])}
    return Reading(
        facets=frozenset(_facets(folded, set(tasks), stages)),
        tasks=frozenset(tasks),
        forbids=tuple(dict.fromkeys(_forbidden(folded)))[:FORBIDS_MAX],
        uses=MappingProxyType(dict(_used(text, catalogue))),
        stages=frozenset(stages),
    )


@cache
def _facet_words() -> Mapping[str, Words]:
    return {name: compiled(rule["words"]) for name, rule in spec()["facets"].items()}


def _facets(folded: str, tasks: set[str], stages: set[str]) -> Iterator[str]:
    for name, rule in spec()["facets"].items():
        by_words = _facet_words()[name].search(folded) is not None
        if by_words or tasks & set(rule.get("tasks", ())) or stages & set(rule.get("stages", ())):
            yield name


@cache
def _objects() -> tuple[re.Pattern[str], re.Pattern[str]]:
    zh, en = spec()["forbids"]["zh"], spec()["forbids"]["en"]
    return (
        re.compile(
            rf"(?:{'|'.join(zh['words'])})(?:{'|'.join(zh['adverbs'])})*(?:{'|'.join(zh['verbs'])})?"
            r"(?P<o>[^,，。;；!！?？\n]{1,40})"
        ),
        re.compile(
            rf"\b(?:{'|'.join(en['words'])})(?: (?:{'|'.join(en['adverbs'])}))*"
            rf"(?: (?:{'|'.join(en['verbs'])}))? (?P<o>[^,.;!?\n]{{1,60}})",
            re.IGNORECASE,
        ),
    )


def _forbidden(folded: str) -> Iterator[str]:
    for pattern in _objects():
        for hit in pattern.finditer(folded):
            found = normalise(hit.group("o"))
            before = None
            while before != found:
                before, found = found, _TRIM.sub("", found).strip()
            if found:
                yield found


def _used(text: str, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    for sentence in sentences(text):
        if says("question", sentence.folded) or says("quoted", sentence.folded):
            continue
        for clause in clauses(sentence):
            folded = clause.folded
            for match in matches(clause.text, folded, catalogue):
                before = folded[max(0, match.start - 8) : match.start]
                if not match.dropped and not concept("prohibition").search(before):
                    yield match.predicate.name, match.value
