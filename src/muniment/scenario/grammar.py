"""The words of a scenario: its verbs, what each is given, and what may be expected of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from muniment.scenario.lines import Map, NotAScenario

MODIFIERS = ("at", "expect", "error", "extra")
ERRORS = ("invalid_input", "not_found", "not_allowed", "conflict", "unavailable")

DECISION = (
    *("action", "reconcile", "kind", "origin", "subject", "scope", "condition", "predicate"),
    *("value", "status", "supersedes", "expires_at", "reasons", "id"),
    *("content", "exception_of", "replayed"),
)
RECALL = ("includes", "excludes", "max", "order", "silent")
CONTEXT = ("contains", "lacks", "max_tokens", "conflicts", "degraded", "incomplete_rules")
_TARGET = ("record", "scope", "match", "subject", "event", "dry_run")
_READ = ("text", "scope", "stage", "entities", "paths", "limit")


@dataclass(frozen=True, slots=True)
class Verb:
    """What a verb is given (``fields=None``: the product judges them) and shows.

    ``shows`` names how an expectation is compared; ``""`` where there is nothing to see.
    """

    shows: str
    shape: tuple[type, ...] = (dict,)
    fields: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()


_FORGET = Verb("value", fields=_TARGET)
VERBS: dict[str, Verb] = {
    "thread": Verb("", (str,)),
    "say": Verb("value"),
    "remember": Verb("decisions", (str, dict)),
    "propose": Verb("decisions"),
    "confirm": Verb("decisions", fields=("candidate", "digest", "answer"), needs=("candidate",)),
    "reject": Verb("value", fields=("candidate", "digest", "answer"), needs=("candidate",)),
    "recall": Verb("recall", fields=(*_READ, "kinds", "layers", "neighbours")),
    "context": Verb("context", fields=(*_READ, "budget_tokens", "window", "language")),
    "revise": Verb("value"),
    "history": Verb("value", fields=("record", "as_of", "believed_at"), needs=("record",)),
    **dict.fromkeys(("mute", "unmute", "expire", "delete", "erase"), _FORGET),
    "settings": Verb("value"),
    "checkpoint": Verb("value"),
    "approve": Verb("value", needs=("name",)),
    "revoke": Verb("", (str,)),
    "tool": Verb("value", needs=("key", "name")),
    "tool_done": Verb("value", needs=("key",)),
    "tool_failed": Verb("value", needs=("key",)),
    "resume": Verb("value", fields=("worker", "current")),
    "crash": Verb("", fields=()),
    "clock": Verb("", (str,)),
    "as": Verb(""),
    "in": Verb(""),
    "expect_records": Verb("value", fields=("status", "count", "where")),
}


def verb_of(step: Map) -> str:
    """The one verb of a step; everything beside it has to be a modifier."""
    names = [name for name in step if name not in MODIFIERS]
    for name in names:
        if name not in VERBS:
            raise NotAScenario(
                f"`{name}` is neither a verb nor one of {_listed(MODIFIERS)}; "
                f"the verbs are {_listed(VERBS)}",
                step.line_of(name),
            )
    if len(names) != 1:
        found = _listed(names) if names else "none"
        raise NotAScenario(f"a step has exactly one verb; this one has {found}", step.line)
    return names[0]


def check_names(data: Map, allowed: Iterable[str], what: str) -> None:
    """Whether a mapping has only known names."""
    known = tuple(allowed)
    for name in data:
        if name not in known:
            raise NotAScenario(
                f"`{name}` is unknown in {what}; known are {_listed(known) or 'none'}",
                data.line_of(name),
            )


def check_given(verb: str, given: Any, line: int) -> None:
    """Whether a verb is given what it takes."""
    spec = VERBS[verb]
    if not isinstance(given, spec.shape):
        words: dict[type, str] = {dict: "a mapping", str: "a word"}
        wanted = " or ".join(words[s] for s in spec.shape)
        raise NotAScenario(f"`{verb}` takes {wanted}", line)
    if isinstance(given, Map) and spec.fields is not None:
        check_names(given, spec.fields, f"`{verb}`")
    if verb in ("say", "propose") and not isinstance(given.get("id", ""), str):
        raise NotAScenario("`id` is a label: a word, in quotes if it is a number", line)
    for name in spec.needs:
        if not isinstance(given.get(name), str):
            raise NotAScenario(f"`{verb}` needs `{name}`, a label", line)
    if verb == "expect_records":
        _check_records(given, line)


def _check_records(given: Map, line: int) -> None:
    if "count" in given:
        _whole(given["count"], "count", line)
    if not isinstance(given.get("where", {}), dict):
        raise NotAScenario("`where` takes a mapping", line)


def check_expectation(verb: str, step: Map) -> None:
    """Whether what must be seen is written so that it can be compared."""
    if "at" in step and (verb != "say" or not isinstance(step["at"], str)):
        raise NotAScenario("`at` is an instant, beside `say` only", step.line_of("at"))
    if not isinstance(step.get("extra", False), bool):
        raise NotAScenario("`extra` is true or false", step.line_of("extra"))
    _check_error(step)
    if "expect" not in step:
        return
    shows, line = VERBS[verb].shows, step.line_of("expect")
    if not shows:
        raise NotAScenario(f"`{verb}` shows nothing that could be expected", line)
    if "error" in step:
        raise NotAScenario("a step expects either an error or something to see", line)
    _CHECKS[shows](step["expect"], line)


def _check_error(step: Map) -> None:
    if "error" not in step:
        return
    code = step["error"]
    if not isinstance(code, str) or ("." not in code and code not in ERRORS):
        raise NotAScenario(f"`error` is one of {_listed(ERRORS)}", step.line_of("error"))


def _check_decisions(expect: Any, line: int) -> None:
    entries = expect if isinstance(expect, list) else [expect]
    for entry in entries:
        if not isinstance(entry, Map):
            raise NotAScenario("expect a list of decisions, each a mapping", line)
        check_names(entry, DECISION, "an expected decision")
        if "reasons" in entry:
            _texts(entry["reasons"], "reasons", entry.line_of("reasons"))
        if "id" in entry and not isinstance(entry["id"], str):
            raise NotAScenario("`id` is a label", entry.line_of("id"))


def _check_recall(expect: Any, line: int) -> None:
    _check_read(expect, line, RECALL, ("includes", "excludes", "order"), ("max",), ("silent",))


def _check_context(expect: Any, line: int) -> None:
    flags = ("degraded", "incomplete_rules")
    _check_read(expect, line, CONTEXT, ("contains", "lacks"), ("max_tokens", "conflicts"), flags)


def _check_read(
    expect: Any,
    line: int,
    allowed: Iterable[str],
    texts: Iterable[str],
    numbers: Iterable[str],
    flags: Iterable[str],
) -> None:
    if not isinstance(expect, Map):
        raise NotAScenario("expect a mapping here", line)
    check_names(expect, allowed, "this expectation")
    for name in expect:
        where = expect.line_of(name)
        if name in texts:
            _texts(expect[name], name, where)
        elif name in numbers:
            _whole(expect[name], name, where)
        elif name in flags and not isinstance(expect[name], bool):
            raise NotAScenario(f"`{name}` is true or false", where)


def _check_value(expect: Any, line: int) -> None:
    if not isinstance(expect, Map):
        raise NotAScenario("expect a mapping here", line)


_CHECKS: dict[str, Callable[[Any, int], None]] = {
    "decisions": _check_decisions,
    "recall": _check_recall,
    "context": _check_context,
    "value": _check_value,
}


def _texts(value: Any, name: str, line: int) -> None:
    plain = isinstance(value, list) and all(
        isinstance(v, str | int | float) and not isinstance(v, bool) for v in value
    )
    if not plain:
        raise NotAScenario(f"`{name}` is a list of texts", line)


def _whole(value: Any, name: str, line: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise NotAScenario(f"`{name}` is a whole number", line)


_SPAN = re.compile(r"\+(\d{1,6})\s*([wdhms])")
_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def span_of(text: str) -> timedelta | None:
    """``+3d``, ``+2h``, ``+30m`` as a span; ``None`` for anything else."""
    found = _SPAN.fullmatch(text.strip())
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
