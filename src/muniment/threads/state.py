"""The state of a thread: sections, how a change merges into them, and what differs.

A state is JSON data by sections.  A *change* names some of them: a text replaces, items of a list
merge by their key (the first time an item is named it is added at the end), ``null`` for a section
clears it, and ``{"<key>": …, "remove": true}`` takes one item out.  ``data`` is the caller's own
and merges as RFC 7386 says.  Applying the same changes in the same order gives the same state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from typing import Any

from muniment.clock import as_utc
from muniment.errors import InvalidInput, Unavailable
from muniment.text import check_text

FORMAT = 1
TEXT_BYTES_MAX = 64 * 1024
NAME_BYTES_MAX = 2048
STATE_BYTES_MAX = 8 * 1024 * 1024
ITEMS_MAX = 20_000

State = dict[str, Any]

TEXTS = ("goal", "next")
#: Lists, each with the field that names its items; ``progress`` is a log and has none.
LISTS: Mapping[str, str | None] = {
    "constraints": "text",
    "acceptance": "name",
    "plan": "step",
    "artifacts": "path",
    "side_effects": "name",
    "observations": "name",
    "decisions": "text",
    "open": "text",
    "failures": "text",
    "setup": "text",
    "progress": None,
}
OBJECTS = ("data", "opaque")
SECTIONS = (*TEXTS, *LISTS, *OBJECTS)

STEP_STATUS = ("todo", "running", "done", "failed", "skipped")
ACCEPTANCE_STATUS = ("open", "met", "failed")
VERIFIERS = ("self", "test", "other")

#: How a state of an older format becomes one of the next.
MIGRATIONS: Mapping[int, Callable[[State], State]] = {}


def migrated(state: State, found: int) -> State:
    """A state of an older format as one of this version's.

    Raises `Unavailable` ``state.newer_format`` for one that a later version wrote.
    """
    if found > FORMAT:
        raise Unavailable(
            "state.newer_format",
            f"the state has format {found}, this version knows {FORMAT}; upgrade Muniment",
        )
    for number in range(found, FORMAT):
        state = MIGRATIONS[number](state)
    return state


# ---------------------------------------------------------------- a change, checked


def parse(changes: object, now: datetime) -> State:
    """A change as it will be kept: checked, texts as items, times absolute.

    Raises `InvalidInput`; nothing is guessed and no unknown section is dropped.
    """
    if not isinstance(changes, Mapping):
        raise InvalidInput("state.invalid", "checkpoint: pass a mapping of sections")
    unknown = sorted(str(name) for name in changes if name not in SECTIONS)
    if unknown:
        raise InvalidInput(
            "state.unknown_section",
            f"checkpoint: unknown {', '.join(unknown)}; the sections are {', '.join(SECTIONS)}",
        )
    return {str(name): _section(str(name), value, now) for name, value in changes.items()}


def _section(name: str, value: object, now: datetime) -> Any:
    if value is None:
        return None
    if name in TEXTS:
        return check_text(value, name=name, max_bytes=TEXT_BYTES_MAX)
    if name in OBJECTS:
        if not isinstance(value, Mapping):
            raise InvalidInput("state.invalid", f"{name}: pass a mapping")
        return _plain(value, name)
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise InvalidInput("state.invalid", f"{name}: pass a list")
    if len(value) > ITEMS_MAX:
        raise InvalidInput("state.too_large", f"{name}: at most {ITEMS_MAX} items")
    return [_item(name, item, now) for item in value]


def _item(section: str, given: object, now: datetime) -> dict[str, Any]:
    key = LISTS[section] or "text"
    if isinstance(given, str):
        given = {key: given}
    if not isinstance(given, Mapping):
        raise InvalidInput("state.invalid", f"{section}: each item is a mapping with `{key}`")
    item: dict[str, Any] = _plain(given, section)
    item[key] = check_text(item.get(key), name=f"{section}.{key}", max_bytes=NAME_BYTES_MAX)
    if item.get("remove") not in (None, True):
        raise InvalidInput("state.invalid", f"{section}.remove: true, or leave it out")
    check = _CHECKS.get(section)
    if check is not None and not item.get("remove"):
        check(item, now)
    evidence = item.get("evidence")
    if evidence is not None:
        item["evidence"] = list(_ids(evidence, f"{section}.evidence"))
    return item


def _step(item: dict[str, Any], _now: datetime) -> None:
    _closed(item, "plan", "status", STEP_STATUS)
    if "after" in item:
        item["after"] = list(_ids(item["after"], "plan.after"))


def _criterion(item: dict[str, Any], _now: datetime) -> None:
    _closed(item, "acceptance", "status", ACCEPTANCE_STATUS)
    _closed(item, "acceptance", "verified_by", VERIFIERS)


def _artifact(item: dict[str, Any], _now: datetime) -> None:
    if item.get("revision") is not None:
        check_text(item["revision"], name="artifacts.revision", max_bytes=NAME_BYTES_MAX)


def _observation(item: dict[str, Any], now: datetime) -> None:
    seen = item.get("observed_at")
    at = now if seen is None else as_utc(seen, name="observations.observed_at")
    if at > now:
        raise InvalidInput("time.future", "observed_at: nothing is observed in the future")
    item["observed_at"] = at.isoformat()
    term = item.get("good_for_s")
    if term is not None and (isinstance(term, bool) or not isinstance(term, int | float)):
        raise InvalidInput("state.invalid", "observations.good_for_s: seconds, as a number")
    if item.get("how") is not None:
        check_text(item["how"], name="observations.how", max_bytes=NAME_BYTES_MAX)


def _logged(item: dict[str, Any], now: datetime) -> None:
    at = item.get("at")
    item["at"] = (now if at is None else as_utc(at, name="progress.at")).isoformat()


_CHECKS: Mapping[str, Callable[[dict[str, Any], datetime], None]] = {
    "plan": _step,
    "acceptance": _criterion,
    "artifacts": _artifact,
    "observations": _observation,
    "progress": _logged,
}


def _closed(item: Mapping[str, Any], section: str, name: str, words: Sequence[str]) -> None:
    if item.get(name) is not None and item[name] not in words:
        raise InvalidInput("state.invalid", f"{section}.{name}: use {', '.join(words)}")


def _ids(value: object, name: str) -> Iterator[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput("state.invalid", f"{name}: pass a list")
    for each in value:
        yield check_text(each, name=name, max_bytes=NAME_BYTES_MAX)


def _plain(value: object, name: str) -> Any:
    """A copy as JSON data; what JSON has no word for is refused."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode("utf-8")
        plain = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("state.invalid", f"{name}: JSON data only, not too deep") from None
    if "\\u0000" in text:
        raise InvalidInput("state.invalid", f"{name}: no NUL characters")
    return plain


# ---------------------------------------------------------------- merging


def merged(section: str, old: Any, change: Any) -> Any:
    """A section after a change; ``None`` if nothing is left of it."""
    if change is None:
        return None
    if section in TEXTS:
        return change
    if section == "data":
        return _patched(old, change) or None
    if section == "opaque":
        kept = {**(old or {}), **change}
        return {name: blob for name, blob in kept.items() if blob is not None} or None
    key = LISTS[section]
    if key is None:
        return [*(old or []), *(i for i in change if not i.get("remove"))] or None
    items = {item[key]: item for item in old or []}
    for item in change:
        if item.get("remove"):
            items.pop(item[key], None)
        else:
            joined = {**items.get(item[key], {}), **item}
            items[item[key]] = {n: v for n, v in joined.items() if v is not None or n == "value"}
    return list(items.values()) or None


def _patched(old: Any, patch: Any) -> Any:
    """RFC 7386, *JSON Merge Patch*."""
    if not isinstance(patch, dict):
        return patch
    base = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        if value is None:
            base.pop(name, None)
        else:
            base[name] = _patched(base.get(name), value)
    return base


def applied(state: Mapping[str, Any], change: Mapping[str, Any]) -> State:
    """The state after a parsed change."""
    out = dict(state)
    for section, value in change.items():
        left = merged(section, out.get(section), value)
        if left is None:
            out.pop(section, None)
        else:
            out[section] = left
    return out


def rewires(change: Sequence[Mapping[str, Any]] | None) -> bool:
    """Whether a change of a plan can make a circle or leave a step without what it comes after:
    one that says nothing of the order, and takes out no step, cannot."""
    return any("after" in item or item.get("remove") for item in change or ())


def check_plan(plan: Sequence[Mapping[str, Any]] | None) -> None:
    """Raises `InvalidInput` ``plan.unknown_step`` or ``plan.cycle``."""
    graph = {item["step"]: item.get("after", []) for item in plan or ()}
    for step, after in graph.items():
        if missing := [name for name in after if name not in graph]:
            raise InvalidInput(
                "plan.unknown_step", f"plan: {step!r} comes after {missing[0]!r}, which is no step"
            )
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " → ".join(map(str, error.args[1]))
        raise InvalidInput(
            "plan.cycle", f"plan: these steps wait for each other: {circle}"
        ) from None


# ---------------------------------------------------------------- differences


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that two states say differently; ``None`` is absent."""

    section: str
    key: str | None
    before: Any
    after: Any

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {n: getattr(self, n) for n in ("section", "key", "before", "after")}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """What changed, by section and item, in the order of `SECTIONS`."""
    out: list[Difference] = []
    for section in SECTIONS:
        old, new = before.get(section), after.get(section)
        if old == new:
            continue
        olds, news = _named(section, old), _named(section, new)
        for key in dict.fromkeys([*olds, *news]):
            if olds.get(key) != news.get(key):
                out.append(Difference(section, key, olds.get(key), news.get(key)))
    return out


def _named(section: str, value: Any) -> dict[str | None, Any]:
    if value is None:
        return {}
    if section in TEXTS:
        return {None: value}
    if section in OBJECTS:
        return dict(value)
    key = LISTS[section]
    if key is None:
        return {f"#{number}": item for number, item in enumerate(value, 1)}
    return {item[key]: item for item in value}


def citing(item: Any, events: frozenset[str]) -> bool:
    """Whether an item stands on one of these events."""
    return isinstance(item, Mapping) and not events.isdisjoint(item.get("evidence") or ())


def without(state: Mapping[str, Any], drop: Callable[[str, Any], bool]) -> tuple[State, int]:
    """The state without the items (or texts) for which ``drop`` says so, and how many went."""
    out: State = {}
    gone = 0
    for section, value in state.items():
        if section in LISTS:
            kept: Any = [item for item in value if not drop(section, item)]
            gone += len(value) - len(kept)
        elif section in OBJECTS:
            kept = {n: v for n, v in value.items() if not drop(section, v)}
            gone += len(value) - len(kept)
        else:
            kept = None if drop(section, value) else value
            gone += kept is None
        if kept:
            out[section] = kept
    return out, gone
