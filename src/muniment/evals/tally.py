"""What judged turns come to: shares with their 95 % intervals, overall and by group and language.

A result holds ids, labels and numbers, never a word of what was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import muniment
from muniment.evals.judge import FIELDS, KEPT, Judged
from muniment.evals.labels import ACTIONS, Labelled
from muniment.evals.report import ALL, commit
from muniment.evals.statistics import wilson

FORMAT = "muniment-eval-write-1"
#: Groups of which hardly anything is worth a record.
PASSING = ("one_off", "small_talk")
Count = tuple[int, int]


def result_of(
    labelled: Labelled, judged: Sequence[Judged], *, store: str, limit: int | None
) -> dict[str, Any]:
    """The result as plain data."""
    return {
        "format": FORMAT,
        "labels": labelled.fingerprint,
        "limit": limit,
        "store": store,
        "version": muniment.__version__,
        "commit": commit(),
        "summary": summary_of(judged),
        "confusion": confusion(judged),
        "turns": [_row(j) for j in judged],
    }


def summary_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """For all turns, for each language and each group: how many, and every share of `COUNTS`."""
    parts: dict[str, list[Judged]] = {ALL: list(judged)}
    for name, of in (("lang", _language), ("group", _group)):
        for j in sorted(judged, key=of):
            parts.setdefault(f"{name} {of(j)}", []).append(j)
    return {name: _part(members) for name, members in parts.items()}


def confusion(judged: Iterable[Judged]) -> dict[str, dict[str, int]]:
    """How often an action was expected (outer) and another came of it (inner)."""
    found = {expected: dict.fromkeys(ACTIONS, 0) for expected in ACTIONS}
    for j in judged:
        for expected, seen in j.units:
            found[expected][seen] += 1
    return found


def _language(j: Judged) -> str:
    return j.language


def _group(j: Judged) -> str:
    return j.group


def _part(judged: Sequence[Judged]) -> dict[str, Any]:
    return {"n": len(judged), "shares": {n: share(*count(judged)) for n, count in COUNTS.items()}}


def share(count: int, of: int) -> dict[str, Any]:
    """A count of how many, as a share with its interval; none of these where there are none."""
    if of == 0:
        return {"count": 0, "of": 0, "share": None, "low": None, "high": None}
    found = wilson(count, of)
    bounds = {"share": found.mean, "low": found.low, "high": found.high}
    return {"count": count, "of": of, **{k: round(v, 4) for k, v in bounds.items()}}


# ---------------------------------------------------------------- what is counted


def _share_of(flags: Iterable[bool]) -> Count:
    every = list(flags)
    return sum(every), len(every)


def _right(judged: Sequence[Judged]) -> Count:
    return _share_of(not j.faults for j in judged)


def _precision(action: str) -> Callable[[Sequence[Judged]], Count]:
    return lambda judged: _share_of(e == s for j in judged for e, s in j.units if s == action)


def _recall(action: str) -> Callable[[Sequence[Judged]], Count]:
    return lambda judged: _share_of(e == s for j in judged for e, s in j.units if e == action)


def _field(name: str) -> Callable[[Sequence[Judged]], Count]:
    def count(judged: Sequence[Judged]) -> Count:
        met = [j.fields[name] for j in judged if name in j.fields]
        return sum(right for right, _ in met), sum(of for _, of in met)

    return count


def _conflicts(judged: Sequence[Judged]) -> Count:
    return sum(j.replaced[0] for j in judged), sum(j.replaced[1] for j in judged)


def _never_there(judged: Sequence[Judged]) -> Count:
    return sum(j.replaced[2] for j in judged), sum(j.replaced[1] for j in judged)


def _duplicates(judged: Sequence[Judged]) -> Count:
    return sum(j.twice for j in judged), sum(j.made for j in judged)


def _kept_in_passing(judged: Sequence[Judged]) -> Count:
    return _share_of(
        any(e != KEPT and s == KEPT for e, s in j.units) for j in judged if j.group in PASSING
    )


def _third_person(judged: Sequence[Judged]) -> Count:
    return _share_of(j.misattributed for j in judged if j.misattributed is not None)


def _leaks(judged: Sequence[Judged]) -> Count:
    return _share_of(j.leaked for j in judged if j.leaked is not None)


#: Every share by its name, in the order in which it is shown.
COUNTS: Mapping[str, Callable[[Sequence[Judged]], Count]] = {
    "turns right": _right,
    **{f"{action} precision": _precision(action) for action in ACTIONS},
    **{f"{action} recall": _recall(action) for action in ACTIONS},
    **{f"{name} right": _field(name) for name in FIELDS},
    "conflicts found": _conflicts,
    "conflicts never there": _never_there,
    "duplicates": _duplicates,
    "kept in passing": _kept_in_passing,
    "third person errors": _third_person,
    "leaks": _leaks,
}


def _row(j: Judged) -> dict[str, Any]:
    return {
        "id": j.id,
        "group": j.group,
        "lang": j.language,
        "right": not j.faults,
        "units": [list(pair) for pair in j.units],
        "fields": {name: list(counts) for name, counts in j.fields.items()},
        "replaced": list(j.replaced),
        "made": j.made,
        "twice": j.twice,
        "third_person_error": j.misattributed,
        "leaked": j.leaked,
    }
