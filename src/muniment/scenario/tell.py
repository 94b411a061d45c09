"""A scenario's run in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from muniment.scenario.lines import NotAScenario
from muniment.scenario.load import Scenario, Step
from muniment.scenario.play import Played

WIDTH = 100
#: What is told of a step about a thread's own state.
_TOLD = {
    "checkpoint": ("version",),
    "approve": ("name", "by"),
    **dict.fromkeys(("tool", "tool_done", "tool_failed"), ("status", "attempt", "result", "error")),
    "resume": ("version", "unknown_tools", "running_tools", "stale", "approvals", "task"),
}


def heading(scenario: Scenario) -> str:
    """The story's name."""
    return f"{scenario.name}  ({scenario.path})"


def step(played: Played) -> str:
    """One step: what was done, what was seen, and what should have been."""
    done = played.step
    mark = "ok  " if played.ok else "FAIL"
    lines = [f"  {mark} {done.n:>3}  {done.verb} {_given(done)}".rstrip()]
    lines += [f"             {line}" for line in _seen(done, played.seen)]
    if not played.ok:
        lines.append(f"         line {done.line}:")
        lines += [f"         - {line}" for line in played.failed]
    return "\n".join(lines)


def summary(steps: Sequence[Played]) -> str:
    """How it ended."""
    failed = [p.step.n for p in steps if not p.ok]
    if not failed:
        return f"  held: all {len(steps)} steps\n"
    return f"  failed: step {', '.join(map(str, failed))} of {len(steps)}\n"


def problem(path: Path, found: NotAScenario) -> str:
    """Why a file was not played, with its line."""
    line = f"{path}:{found.line}" if found.line is not None else str(path)
    return f"{line}: {found.message}"


def problem_data(path: Path, found: NotAScenario) -> dict[str, Any]:
    """The same as plain data."""
    error = {"file": str(path), "line": found.line, "message": found.message}
    return {"name": None, "ok": False, "steps": [], "error": error}


def _given(done: Step) -> str:
    if isinstance(done.given, str):
        return _cut(done.given)
    if done.verb == "say":
        return _cut(f"{done.given.get('by')}: {done.given.get('text')}")
    return _cut(json.dumps(done.given, ensure_ascii=False, default=str)) if done.given else ""


def _seen(done: Step, seen: Any) -> list[str]:
    if done.error is not None and isinstance(seen, Mapping) and "error" in seen:
        return [f"refused: {seen['error']} ({seen['code']})"]
    if isinstance(seen, list):
        return [_decision(d) for d in seen] or ["no candidate"]
    if not isinstance(seen, Mapping):
        return []
    if "contents" in seen:
        return [_cut(f"- {text}") for text in seen["contents"]] or ["- nothing"]
    if "memory" in seen and "tokens" in seen:
        return [*seen["memory"].splitlines(), f"({seen['tokens']} tokens)"]
    if done.verb in _TOLD:
        shown = [f"{name} {seen[name]}" for name in _TOLD[done.verb] if seen.get(name)]
        return [_cut(", ".join(shown))]
    if done.verb == "expect_records":
        return [f"{seen['count']} found"] if "count" in seen else []
    return []


def _decision(seen: Mapping[str, Any]) -> str:
    place = ", ".join(f"{k} {v}" for k, v in seen["scope"].items()) or "the tenant"
    reasons = ", ".join(seen["reasons"])
    words = f"{seen['action']}/{seen['reconcile']} {seen['kind']} in {place}: {seen['content']}"
    return _cut(f"{words}  [{reasons}]", WIDTH + 60)


def _cut(text: str, width: int = WIDTH) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"
