"""Finds known attributes in a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from muniment.extract.attributes import Pattern, Role, Row, table_of
from muniment.extract.lexicon import concept
from muniment.extract.words import Lazy, found_in
from muniment.records.facts import Catalogue, Predicate
from muniment.text import normalise

LISTED_MAX = 8

# Where a free value ends although its characters would go on.
_VALUE_ENDS = re.compile(
    r"\s(?:and|but|for|in|when|because|so|not|from|now|as|with|since|until|while|instead|rather)\s.*$"
    r"|[\s.,;:!?。，；]+$",
    re.IGNORECASE,
)
_MARKS_END = re.compile(r"[\s.,;:!?。，；]+$")
# Words of the sentence, not of the value it begins with.
_VALUE_STARTS = re.compile(
    r"^(?:(?:以后|今后|每次|每当|默认|请|从现在(?:起|开始)|凡是|任何|所有|在|当|对于?|如果|若|但|涉及"
    r"|(?:the|any|an?|touches|involves|affects)\s)\s*)+(?=.)"
)
_GOES_ON = re.compile(r"\s*(?:[、,，+和与以及&]|and\b)", re.IGNORECASE)
_PLAIN = Pattern(Lazy(""), Role.SAID)
_CORRECTED = Pattern(Lazy(""), Role.CORRECTED)
_QUOTES = "\"'`“”「」『』 "
_NO_VALUES = frozenset(
    {"not", "no", "none", "a", "an", "the", "什么", "不", "不是", "unknown", "tbd"}
)


@dataclass(frozen=True, slots=True)
class Match:
    """One attribute found: the value as it was said, and where (in the clause)."""

    predicate: Predicate
    value: str
    start: int
    end: int
    value_start: int = 0
    role: Role = Role.SAID
    context: str = "any"
    stages: tuple[str, ...] = ()
    momentary: bool = False

    @property
    def dropped(self) -> bool:
        """The value is given up, not set."""
        return self.role is Role.DROPPED

    @property
    def corrected(self) -> bool:
        """A slip is put right: "it is yarn, not npm"."""
        return self.role is Role.CORRECTED

    @property
    def labelled(self) -> bool:
        """The attribute was named, so that nothing else has to say what is meant."""
        return self.role is Role.LABELLED


def matches(clause: str, folded: str, catalogue: Catalogue, *, denied: bool = False) -> list[Match]:
    """The attributes a clause sets, leftmost first; overlapping ones go to the earlier row.

    With ``denied`` also those it only sets aside ("stop using tables").
    """
    found: list[Match] = []
    for row, patterns in _possible(folded, catalogue):
        if row.unless and row.unless.search(folded):
            continue
        for match in _of_row(row, patterns, clause, "" if denied else folded, folded):
            if not any(_overlap(match, other) for other in found):
                found.append(match)
    found += _listed(clause, folded, found, catalogue)
    return sorted(found, key=lambda m: m.start)


def corrections(clause: str, folded: str, catalogue: Catalogue) -> list[Match]:
    """The attribute that a correction names by its values alone; the surest way to say so first."""
    rows = [row for row in table_of(catalogue).rows if row.corrections]
    for way in range(max((len(row.corrections) for row in rows), default=0)):
        for row in rows:
            if hit := row.corrections[way].pattern.search(folded):
                return [_match(row, clause, hit, _CORRECTED)]
    return []


def _possible(folded: str, catalogue: Catalogue) -> Iterator[tuple[Row, list[Pattern]]]:
    """The rows, and of each the patterns, that the literals in the clause leave possible."""
    table = table_of(catalogue)
    there = found_in(folded, table.upto)
    for row in [row for first, row in table.looked_for if first & there or first == -1]:
        patterns = [p for p in row.patterns if p.needs & there == p.needs]
        if patterns:
            yield row, patterns


def _of_row(
    row: Row, patterns: list[Pattern], clause: str, before: str, folded: str
) -> Iterator[Match]:
    """One row's matches; ``before`` is where an aversion would stand."""
    for pattern in patterns:
        hits = pattern.expression.pattern.finditer(folded)
        made = [_match(row, clause, hit, pattern) for hit in hits]
        made = [m for m in made if _is_value(m, row, before)]
        if made:
            yield from made[: 1 if row.predicate.single else LISTED_MAX]
            return


def _listed(clause: str, folded: str, found: list[Match], catalogue: Catalogue) -> Iterator[Match]:
    """What goes on after a found one: "TypeScript and React", "Vue、Vite"."""
    at = max((m.end for m in found if not m.labelled), default=-1)
    rows = table_of(catalogue).rows
    for _ in range(LISTED_MAX if at >= 0 else 0):
        if not _GOES_ON.match(folded, at):
            return
        tried = ((row, row.following.pattern.match(folded, at)) for row in rows if row.following)
        row, hit = next(((row, hit) for row, hit in tried if hit), (None, None))
        if row is None or hit is None:
            return
        yield _match(row, clause, hit, _PLAIN)
        at = hit.end()


def _match(row: Row, clause: str, hit: re.Match[str], pattern: Pattern) -> Match:
    start, end = hit.span(0 if pattern.means else "v")
    said = pattern.means or _spelled(row.predicate, clause[start:end], hit.group("v"))
    value = (_MARKS_END if row.whole else _VALUE_ENDS).sub("", said)
    cut = len(said) - len(value) if hit.end() == end and not pattern.means else 0
    return Match(
        row.predicate,
        _VALUE_STARTS.sub("", value.strip(_QUOTES)),
        hit.start(),
        hit.end() - cut,
        value_start=0 if pattern.means else start,
        role=pattern.role,
        context=row.context,
        stages=row.stages,
        momentary=row.momentary,
    )


def _spelled(predicate: Predicate, said: str, folded: str) -> str:
    """A value as it was said, but a known one in the script it is known in."""
    if said == folded or normalise(said) in predicate.values:
        return said
    return folded if normalise(folded) in predicate.values else said


def _is_value(match: Match, row: Row, folded: str) -> bool:
    if match.dropped:
        return True
    if not match.value or match.value.casefold() in _NO_VALUES:
        return False
    if row.needed and not row.needed.search(match.value):
        return False
    return not (row.averse and concept("aversion").search(folded[: match.value_start]))


def _overlap(a: Match, b: Match) -> bool:
    return a.start < b.end and b.start < a.end
