"""From a file to steps, checked as a whole before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from muniment.clock import as_utc
from muniment.errors import MunimentError
from muniment.scenario import grammar
from muniment.scenario.grammar import span_of
from muniment.scenario.lines import Map, NotAScenario, read
from muniment.scope import Principal, Scope

_HEAD = ("name", "now", "as", "in", "steps", "needs")


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a verb, what it is given, and what must be seen."""

    n: int
    line: int
    verb: str
    given: Any
    at: str | None = None
    expect: Any = None
    error: str | None = None
    extra: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """A story in steps.  ``now`` is ``None`` where the file leaves the time to the machine."""

    name: str
    path: Path
    now: datetime | None
    principal: Mapping[str, Any]
    scope: Mapping[str, Any]
    steps: tuple[Step, ...]

    def line_of(self, verb: str) -> int | None:
        """The line of the first step with that verb."""
        return next((s.line for s in self.steps if s.verb == verb), None)

    @property
    def moves_time(self) -> bool:
        """Whether the story needs a clock of its own."""
        return self.now is not None or self.line_of("clock") is not None


def load(path: Path) -> Scenario:
    """The scenario in a file; `NotAScenario` names the first line that is none."""
    data = read(path)
    if not isinstance(data, Map):
        raise NotAScenario("a scenario is a mapping with `name` and `steps`", 1)
    grammar.check_names(data, _HEAD, "a scenario")
    if not isinstance(data.get("name"), str) or not data["name"].strip():
        raise NotAScenario("`name` is missing: one sentence", data.line_of("name"))
    if "needs" in data:
        raise NotAScenario(
            f"this scenario needs {data['needs']}, which this version does not have",
            data.line_of("needs"),
        )
    scope = _place(data)
    return Scenario(
        name=data["name"],
        path=path,
        now=_now(data),
        principal=_principal(data, scope),
        scope=scope,
        steps=_steps(data),
    )


def _now(data: Map) -> datetime | None:
    if "now" not in data:
        return None
    try:
        as_utc(data["now"], name="now")
        return datetime.fromisoformat(data["now"])  # its zone is the scenario's
    except MunimentError as error:
        raise NotAScenario(str(error), data.line_of("now")) from None


def _place(data: Map) -> dict[str, Any]:
    try:
        return Scope.of(data.get("in")).to_dict()
    except MunimentError as error:
        raise NotAScenario(f"`in`: {error}", data.line_of("in")) from None


def _principal(data: Map, scope: Mapping[str, Any]) -> Mapping[str, Any]:
    given = data.get("as", {"user": scope.get("user", "me")})
    try:
        Principal.of(given)
    except (MunimentError, TypeError) as error:
        raise NotAScenario(f"`as`: {error}", data.line_of("as")) from None
    return dict(given)


def _steps(data: Map) -> tuple[Step, ...]:
    steps = data.get("steps")
    if not isinstance(steps, list) or not steps:
        raise NotAScenario("`steps` is missing: a list of steps", data.line_of("steps"))
    for n, step in enumerate(steps, start=1):
        if not isinstance(step, Map):
            raise NotAScenario(f"step {n} is not a mapping", data.line_of("steps"))
    return tuple(_step(n, step) for n, step in enumerate(steps, start=1))


def _step(n: int, data: Map) -> Step:
    verb = grammar.verb_of(data)
    given = data[verb]
    line = data.line_of(verb)
    grammar.check_given(verb, given, line)
    if verb == "clock":
        moved_to(given, line)
    grammar.check_expectation(verb, data)
    return Step(
        n=n,
        line=line,
        verb=verb,
        given=given,
        at=data.get("at"),
        expect=data.get("expect"),
        error=data.get("error"),
        extra=data.get("extra", False),
    )


def moved_to(given: str, line: int) -> timedelta | datetime:
    """What a `clock` step says: a span to move by, or an instant to jump to."""
    span = span_of(given)
    if span is not None:
        return span
    try:
        return as_utc(given, name="clock")
    except MunimentError as error:
        raise NotAScenario(f"{error}; or a span such as +3d, +2h, +30m", line) from None
