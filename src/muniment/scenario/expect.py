"""Whether what was seen is what was expected.  Pure; every answer is a list of differences.

Expectations are partial: named fields must agree, maps inside too; ``null`` means absent; a list
is matched entry by entry in any order with none left over, unless more may come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muniment.clock import as_utc
from muniment.errors import InvalidInput

Differ = Callable[[Any, Any], list[str]]
_PRESENT = "present"


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which expected entry met which seen one, and what did not agree."""

    pairs: Mapping[int, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


def differences(expected: Any, seen: Any, *, extra: bool = False, at: str = "") -> list[str]:
    """How ``seen`` departs from what was expected of it; empty if it does not."""
    if expected is None:
        return [] if absent(seen) else [_said(at, "nothing", seen)]
    if isinstance(expected, Mapping):
        if not isinstance(seen, Mapping):
            return [_said(at, expected, seen)]
        return [
            line
            for name, wanted in expected.items()
            for line in differences(
                wanted, seen.get(name), extra=extra, at=f"{at}.{name}" if at else str(name)
            )
        ]
    if isinstance(expected, list):
        if not isinstance(seen, list | tuple):
            return [_said(at, expected, seen)]
        return pair(
            expected, seen, lambda e, s: differences(e, s, extra=extra), extra=extra, at=at
        ).failed
    return [] if _same(expected, seen) else [_said(at, expected, seen)]


def absent(seen: Any) -> bool:
    """Whether nothing is there: no such field, or an empty list or map."""
    return seen is None or (isinstance(seen, Mapping | list | tuple) and not seen)


def decision_differences(expected: Mapping[str, Any], seen: Mapping[str, Any]) -> list[str]:
    """How a decision departs from the expected one.

    Reasons must be among those seen; ``expires_at`` is an instant, or ``present``.
    """
    plain = {k: v for k, v in expected.items() if k not in ("id", "reasons", "expires_at")}
    failed = differences(plain, seen)
    missing = [r for r in expected.get("reasons") or () if r not in seen.get("reasons", ())]
    if missing:
        failed.append(_said("reasons", expected["reasons"], list(seen.get("reasons", ()))))
    if "expires_at" in expected:
        failed += _time_differences(expected["expires_at"], seen.get("expires_at"))
    return failed


def _time_differences(expected: Any, seen: Any) -> list[str]:
    if expected == _PRESENT:
        return [_said("expires_at", "an instant", seen)] if seen is None else []
    if expected is None or seen is None:
        return differences(expected, seen, at="expires_at")
    try:
        same = as_utc(expected, name="expires_at") == as_utc(seen, name="expires_at")
    except InvalidInput:
        same = False
    return [] if same else [_said("expires_at", expected, seen)]


def pair(
    expected: Sequence[Any],
    seen: Sequence[Any],
    differ: Differ,
    *,
    extra: bool = False,
    at: str = "",
) -> Pairing:
    """The best assignment of expected entries to seen ones: as many as can be met at once."""
    found = [[differ(e, s) for s in seen] for e in expected]
    owner: dict[int, int] = {}  # seen -> expected

    def place(e: int, tried: set[int]) -> bool:
        for s in range(len(seen)):
            if found[e][s] or s in tried:
                continue
            tried.add(s)
            if s not in owner or place(owner[s], tried):
                owner[s] = e
                return True
        return False

    for e in range(len(expected)):
        place(e, set())
    pairs = {e: s for s, e in owner.items()}
    return Pairing(pairs, _left(expected, seen, found, pairs, extra, at))


def _left(
    expected: Sequence[Any],
    seen: Sequence[Any],
    found: Sequence[Sequence[list[str]]],
    pairs: Mapping[int, int],
    extra: bool,
    at: str,
) -> list[str]:
    """What is unmet, each told by the entry that came closest, and what is left over."""
    spare = [s for s in range(len(seen)) if s not in pairs.values()]
    failed = []
    for e in (e for e in range(len(expected)) if e not in pairs):
        closest = min(spare, key=lambda s: len(found[e][s]), default=None)
        if closest is None:
            failed.append(_said(at, expected[e], "nothing more"))
            continue
        spare.remove(closest)
        failed += [f"{at}{': ' if at else ''}{line}" for line in found[e][closest]]
    if not extra:
        failed += [_said(at, "nothing more", seen[s]) for s in spare]
    return failed


def recall_differences(expected: Mapping[str, Any], contents: Sequence[str]) -> list[str]:
    """``includes, excludes, max, order, silent`` against the contents of the envelopes."""
    failed = _substrings(expected.get("includes"), expected.get("excludes"), contents)
    if "max" in expected and len(contents) > expected["max"]:
        failed.append(_said("max", expected["max"], len(contents)))
    if "silent" in expected and (not contents) is not expected["silent"]:
        failed.append(_said("silent", expected["silent"], list(contents)))
    return failed + _order_differences(expected.get("order") or (), contents)


def _substrings(includes: Any, excludes: Any, texts: Sequence[str]) -> list[str]:
    shown = list(texts)
    missing = [w for w in includes or () if not any(str(w) in t for t in texts)]
    found = [w for w in excludes or () if any(str(w) in t for t in texts)]
    return [f"expected to hold {w!r}, seen {shown!r}" for w in missing] + [
        f"expected without {w!r}, seen {shown!r}" for w in found
    ]


def _order_differences(wanted: Sequence[str], contents: Sequence[str]) -> list[str]:
    """The first envelope that holds each, strictly later than the one before."""
    last = -1
    for word in wanted:
        first = next((i for i, text in enumerate(contents) if str(word) in text), None)
        if first is None or first <= last:
            return [_said("order", list(wanted), list(contents))]
        last = first
    return []


def context_differences(expected: Mapping[str, Any], seen: Mapping[str, Any]) -> list[str]:
    """``contains, lacks, max_tokens, conflicts, degraded`` against a block and its report."""
    failed = _substrings(expected.get("contains"), expected.get("lacks"), [seen["memory"]])
    if "max_tokens" in expected and seen["tokens"] > expected["max_tokens"]:
        failed.append(_said("max_tokens", expected["max_tokens"], seen["tokens"]))
    named = {k: expected[k] for k in ("conflicts", "degraded", "incomplete_rules") if k in expected}
    return failed + differences(named, seen)


def _same(expected: Any, seen: Any) -> bool:
    # True == 1 in Python, but not in a scenario.
    return isinstance(expected, bool) is isinstance(seen, bool) and bool(expected == seen)


def _said(at: str, expected: Any, seen: Any) -> str:
    name = f"{at}: " if at else ""
    return f"{name}expected {_short(expected)}, seen {_short(seen)}"


def _short(value: Any) -> str:
    return value if value in ("nothing", "nothing more", "an instant") else repr(value)
