"""Finds known attributes in a clause by the patterns of `patterns.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from muniment.extract.lexicon import concept, data
from muniment.extract.words import Words
from muniment.records.facts import Catalogue, Predicate

_LEFT = r"(?<![A-Za-z0-9_])"
_RIGHT = r"(?![A-Za-z0-9_])"
# Where a free value ends although its characters would go on.
_VALUE_ENDS = re.compile(
    r"\s(?:and|but|for|in|when|because|so|not|from|now|as|with|since|until|while|instead|rather)\s.*$"
    r"|[\s.,;:!?。，；]+$",
    re.IGNORECASE,
)
_NEXT = r"\s*(?:、|,|，|\+|和|与|以及|及|\band\b|&)\s*(?:and\s+)?{known}"
# Words of the sentence, not of the value it begins with.
_VALUE_STARTS = re.compile(
    r"^(?:(?:以后|今后|每次|每当|默认|请|从现在(?:起|开始)|凡是|任何|所有|在|当|对于?|如果|若|但|涉及|the\s|any\s|an?\s|touches\s|involves\s|affects\s)\s*)+(?=.)"
)
_MARKS_END = re.compile(r"[\s.,;:!?。，；]+$")
_NO_VALUES = frozenset(
    {"not", "no", "none", "a", "an", "the", "什么", "不", "不是", "unknown", "tbd"}
)
LISTED_MAX = 8
_QUOTES = "\"'`“”「」『』 "


@dataclass(frozen=True, slots=True)
class Match:
    """One attribute found: the value as it was said, and where (in the clause)."""

    predicate: Predicate
    value: str
    start: int
    end: int
    value_start: int = 0
    dropped: bool = False
    labelled: bool = False
    context: str = "any"
    stages: tuple[str, ...] = ()
    momentary: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    predicate: Predicate
    patterns: tuple[Words, ...]
    labelled: tuple[Words, ...]
    drops: tuple[Words, ...]
    needed: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    averse: bool = False
    following: Words | None = None
    context: str = "any"
    stages: tuple[str, ...] = ()
    momentary: bool = False
    whole: bool = False


def matches(clause: str, folded: str, catalogue: Catalogue) -> list[Match]:
    """The attributes a clause sets, leftmost first; overlapping ones go to the earlier row."""
    found: list[Match] = []
    for row in _rows(catalogue):
        if row.unless and row.unless.search(folded):
            continue
        for match in _of_row(row, clause, folded):
            if not any(_overlap(match, other) for other in found):
                found.append(match)
    found += _listed(clause, folded, found, catalogue)
    return sorted(found, key=lambda m: m.start)


def _of_row(row: _Row, clause: str, folded: str) -> Iterator[Match]:
    for pattern in row.drops:
        if hit := pattern.search(folded):
            yield _match(row, clause, hit, dropped=True)
            return
    for patterns, labelled in ((row.labelled, True), (row.patterns, False)):
        for pattern in patterns:
            made = [_match(row, clause, hit, labelled=labelled) for hit in pattern.finditer(folded)]
            made = [m for m in made if _is_value(m, row, folded)]
            if made:
                yield from made[: 1 if row.predicate.single else LISTED_MAX]
                return


def _listed(clause: str, folded: str, found: list[Match], catalogue: Catalogue) -> Iterator[Match]:
    """What goes on after a found one: "TypeScript and React", "Vue、Vite"."""
    at = max((m.end for m in found if not m.labelled), default=-1)
    for _ in range(LISTED_MAX if at >= 0 else 0):
        rows = (r for r in _rows(catalogue) if r.following)
        hits = (
            (r, h) for r in rows if r.following and (h := r.following.pattern.match(folded, at))
        )
        row, hit = next(hits, (None, None))
        if row is None or hit is None:
            return
        yield _match(row, clause, hit)
        at = hit.end()


def _is_value(match: Match, row: _Row, folded: str) -> bool:
    if not match.value or match.value.casefold() in _NO_VALUES:
        return False
    if row.needed and not row.needed.search(match.value):
        return False
    return not (row.averse and concept("aversion").search(folded[: match.value_start]))


def _match(
    row: _Row, clause: str, hit: re.Match[str], *, dropped: bool = False, labelled: bool = False
) -> Match:
    start, end = hit.span("v")
    said = clause[start:end]
    value = (_MARKS_END if row.whole else _VALUE_ENDS).sub("", said)
    cut = len(said) - len(value)
    value = _VALUE_STARTS.sub("", value.strip(_QUOTES))
    place = (hit.start(), hit.end() - cut if hit.end() == end else hit.end())
    return Match(
        row.predicate,
        value,
        *place,
        value_start=start,
        dropped=dropped,
        labelled=labelled,
        context=row.context,
        stages=row.stages,
        momentary=row.momentary,
    )


def _overlap(a: Match, b: Match) -> bool:
    return a.start < b.end and b.start < a.end


@lru_cache(maxsize=8)
def _rows(catalogue: Catalogue) -> tuple[_Row, ...]:
    spec = data("patterns.yaml")
    rows = [
        _row(row, predicate, spec)
        for row in spec["predicates"]
        if (predicate := catalogue.get(row["predicate"])) is not None
    ]
    named = {row.predicate.name for row in rows}
    return tuple(rows + [_from_template(p) for p in catalogue if p.name not in named])


def _row(row: Mapping[str, Any], predicate: Predicate, spec: Mapping[str, Any]) -> _Row:
    known = _known(predicate)
    frames = spec["frames"].get(row.get("frame"), []) if known else []
    drops = spec["frames"]["drop"] if frames else []
    value = (
        known
        if row.get("value") == "known"
        else f"(?P<v>{spec['values'].get(row.get('value'), '')})"
    )
    labels = _labels(row, value, spec["is"]) if row.get("labels") else []
    needed, unless = row.get("require"), row.get("unless")
    return _Row(
        predicate,
        _compile([*row.get("phrases", ()), *frames], known),
        _compile(labels, known),
        _compile(drops, known),
        re.compile(needed) if needed else None,
        re.compile(unless, re.IGNORECASE) if unless else None,
        averse=bool(known),
        following=_compile([_NEXT], known)[0] if frames else None,
        context=row.get("context", "any"),
        stages=tuple(row.get("stages", ())),
        momentary=row.get("momentary", False),
        whole=row.get("whole", False),
    )


def _labels(row: Mapping[str, Any], value: str, spec_is: str) -> list[str]:
    label = "|".join(row["labels"])
    return [rf"(?<![A-Za-z0-9_-])(?:{label})\"?\s*{row.get('is', spec_is)}\s*[\"'`“]?{value}"]


def _compile(patterns: Iterable[str], known: str) -> tuple[Words, ...]:
    return tuple(
        Words(p.replace("{known}", known).replace("{EN}", _LEFT).replace("{EDGE}", _RIGHT))
        for p in patterns
    )


def _known(predicate: Predicate) -> str:
    """Every spelling of every known value, longest first, as a group ``v``."""
    if not predicate.values:
        return ""
    spellings = sorted(predicate.values, key=lambda s: (-len(s), s))
    return f"(?P<v>{'|'.join(_guarded(s) for s in spellings)})"


def _guarded(spelling: str) -> str:
    # A Latin spelling is a whole word also beside Han characters: "uv" is not in "用uvicorn".
    left = r"(?<![A-Za-z0-9_])" if spelling[0].isascii() and spelling[0].isalnum() else ""
    right = r"(?![A-Za-z0-9_+#])" if spelling[-1].isascii() else ""
    return left + re.escape(spelling).replace(r"\ ", r"\s+") + right


def _from_template(predicate: Predicate) -> _Row:
    """A predicate without patterns of its own is recognised by the sentence it renders."""
    known = _known(predicate)
    value = known or r"(?P<v>[^,，。;；\n]{1,60})"
    phrases = []
    for template in predicate.templates.values():
        before, _, after = template.partition("{value}")
        if len(before.strip()) >= 2:
            phrases.append(re.escape(before).replace(r"\ ", r"\s*") + value + re.escape(after))
    return _Row(predicate, _compile(phrases, known), (), (), None, None)
