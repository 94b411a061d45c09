"""The patterns of `patterns.yaml`, compiled once for each catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache, reduce
from operator import or_
from typing import Any, NamedTuple

from muniment.extract.lexicon import data
from muniment.extract.words import LEXICON, Lazy, literals_of, most_telling
from muniment.records.facts import Catalogue, Predicate

_LEFT = r"(?<![A-Za-z0-9_])"
_RIGHT = r"(?![A-Za-z0-9_])"
# How a list of known values goes on: "TypeScript and React", "Vue、Vite".
_NEXT = r"\s*(?:、|,|，|\+|和|与|以及|及|\band\b|&)\s*(?:and\s+)?{known}"


# Stands for a known value where only the words around it are asked for.
_MARK = "\ue000"


class _Known(NamedTuple):
    """The known values of a predicate: any of them, and what each contains."""

    pattern: str = ""
    literals: frozenset[str] = frozenset()


class Role(Enum):
    """What a pattern makes of the value it finds."""

    DROPPED = "dropped"  # given up: "no longer use npm"
    LABELLED = "labelled"  # "test command: pnpm test"
    CORRECTED = "corrected"  # "it is yarn, not npm"
    SAID = "said"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One expression of a row; ``means`` is its value where the words only amount to it.

    ``needs`` are the bits a text must show to match, ``first`` the most telling of them.
    """

    expression: Lazy
    role: Role
    needs: int = 0
    first: int = 0
    means: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """How one predicate is recognised; the fields are those of the data file."""

    predicate: Predicate
    patterns: tuple[Pattern, ...]
    needed: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    following: Lazy | None = None
    corrections: tuple[Lazy, ...] = ()
    context: str = "any"
    stages: tuple[str, ...] = ()
    momentary: bool = False
    whole: bool = False

    @property
    def averse(self) -> bool:
        """Whether a negation before the value means the contrary, not another value."""
        return bool(self.predicate.values)


class Table(NamedTuple):
    """All rows, each with bits of which a text must show one; ``upto`` bits were known then."""

    rows: tuple[Row, ...]
    looked_for: tuple[tuple[int, Row], ...]
    upto: int


@lru_cache(maxsize=8)
def table_of(catalogue: Catalogue) -> Table:
    """The rows for a catalogue, in the order of the data; predicates without one come last."""
    spec = data("patterns.yaml")
    rows = [
        _row(row, predicate, spec)
        for row in spec["predicates"]
        if (predicate := catalogue.get(row["predicate"])) is not None
    ]
    named = {row.predicate.name for row in rows}
    rows += [_from_template(p) for p in catalogue if p.name not in named]
    return Table(tuple(rows), tuple((_first(row), row) for row in rows), LEXICON.size)


def _first(row: Row) -> int:
    """The most telling bit of each pattern; all bits where one pattern has none."""
    first = [pattern.first for pattern in row.patterns]
    return reduce(or_, first, 0) if all(first) else -1


def _row(row: Mapping[str, Any], predicate: Predicate, spec: Mapping[str, Any]) -> Row:
    known = _known(predicate)
    frames = spec["frames"].get(row.get("frame"), []) if known.pattern else []
    free = spec["values"].get(row.get("value"), "")
    value = "{known}" if row.get("value") == "known" else f"(?P<v>{free})"
    labels = _labels(row, value, spec["is"]) if row.get("labels") else []
    needed, unless = row.get("require"), row.get("unless")
    return Row(
        predicate,
        (
            *_meanings(row.get("meanings", {})),
            *_patterns(spec["frames"]["drop"] if frames else (), known, Role.DROPPED),
            *_patterns(labels, known, Role.LABELLED),
            *_patterns([*row.get("phrases", ()), *frames], known, Role.SAID),
        ),
        needed=re.compile(needed) if needed else None,
        unless=re.compile(unless, re.IGNORECASE) if unless else None,
        following=Lazy(_filled(_NEXT, known)) if frames else None,
        corrections=_corrections(spec["corrections"], known) if predicate.single else (),
        context=row.get("context", "any"),
        stages=tuple(row.get("stages", ())),
        momentary=row.get("momentary", False),
        whole=row.get("whole", False),
    )


def _labels(row: Mapping[str, Any], value: str, usual: str) -> list[str]:
    label = "|".join(row["labels"])
    place = r"(?: (?:in|of|for|on|at) (?:this|the|our|my)(?: [\w-]+){1,2}?| here| now)?"
    return [rf"(?<![A-Za-z0-9_-])(?:{label})\"?{place}\s*{row.get('is', usual)}\s*[\"'`“]?{value}"]


def _patterns(patterns: Iterable[str], known: _Known, role: Role) -> Iterator[Pattern]:
    for pattern in patterns:
        sets = most_telling(_needed(pattern, known))
        yield Pattern(Lazy(_filled(pattern, known)), role, LEXICON.add(sets), LEXICON.add(sets[:1]))


def _meanings(by_value: Mapping[str, Iterable[str]]) -> Iterator[Pattern]:
    for value, patterns in by_value.items():
        for found in _patterns(patterns, _Known(), Role.SAID):
            yield replace(found, means=value)


def _needed(pattern: str, known: _Known) -> set[frozenset[str]]:
    """The literals a pattern needs, its known values' among them."""
    if not known.pattern:
        return set(_literals_around("", pattern))
    return {
        (hints - {_MARK}) | known.literals if _MARK in hints else hints
        for hints in _literals_around(f"({_MARK})", pattern)
    }


@lru_cache(maxsize=1024)
def _literals_around(mark: str, pattern: str) -> frozenset[frozenset[str]]:
    """Those of a pattern with a mark for the known value; frames are asked once for all rows."""
    return literals_of(_edged(pattern.replace("{known}", mark)))


def _corrections(turns: Iterable[str], known: _Known) -> tuple[Lazy, ...]:
    """How a slip in a known value is put right, the surest turn first."""
    if not known.pattern:
        return ()
    other = known.pattern.replace("(?P<v>", "(?:", 1)
    return tuple(Lazy(_filled(turn.replace("{other}", other), known)) for turn in turns)


def _filled(pattern: str, known: _Known) -> str:
    return _edged(pattern.replace("{known}", known.pattern))


def _edged(pattern: str) -> str:
    return pattern.replace("{EN}", _LEFT).replace("{EDGE}", _RIGHT)


def _known(predicate: Predicate) -> _Known:
    """Every spelling of every known value, longest first, as a group ``v``."""
    if not predicate.values:
        return _Known()
    spellings = sorted(predicate.values, key=lambda s: (-len(s), s))
    pattern = f"(?P<v>{'|'.join(_guarded(s) for s in spellings)})"
    return _Known(pattern, frozenset(max(s.lower().split(), key=len) for s in spellings))


def _guarded(spelling: str) -> str:
    # A Latin spelling is a whole word also beside Han characters: "uv" is not in "用uvicorn".
    left = _LEFT if spelling[0].isascii() and spelling[0].isalnum() else ""
    right = r"(?![A-Za-z0-9_+#])" if spelling[-1].isascii() else ""
    return left + re.escape(spelling).replace(r"\ ", r"\s+") + right


def _from_template(predicate: Predicate) -> Row:
    """A predicate without patterns of its own is recognised by the sentence it renders."""
    known = _known(predicate)
    value = "{known}" if known.pattern else r"(?P<v>[^,，。;；\n]{1,60})"
    phrases = []
    for template in predicate.templates.values():
        before, _, after = template.partition("{value}")
        if len(before.strip()) >= 2:
            phrases.append(re.escape(before).replace(r"\ ", r"\s*") + value + re.escape(after))
    return Row(predicate, tuple(_patterns(phrases, known, Role.SAID)))
