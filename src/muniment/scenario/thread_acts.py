"""What the steps about a thread's own state do with the product, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from muniment.errors import InvalidInput
from muniment.scenario.grammar import span_of
from muniment.scenario.load import Step
from muniment.scenario.stage import Stage

WORKER = "scenario"  # the same after a crash: what it had begun is then unknown at once
_BESIDE = ("run", "turn", "step", "if_version", "messages", "key")


def _checkpoint(stage: Stage, step: Step) -> dict[str, Any]:
    """Approvals are given one by one, the rest is merged into the state and committed."""
    given = dict(step.given)
    thread = stage.open_thread()
    for item in given.pop("approvals", None) or ():
        _approve_item(stage, thread, item)
    beside = {name: given.pop(name) for name in _BESIDE if name in given}
    made = stage.ask_threads("checkpoint", thread, _with_ids(stage, given), **beside)
    return dict(made.to_dict())


def _with_ids(stage: Stage, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Labels in ``evidence`` as the ids of their events."""

    def item(value: Any) -> Any:
        if isinstance(value, Mapping) and isinstance(value.get("evidence"), list):
            return {**value, "evidence": [stage.labels.event(e) for e in value["evidence"]]}
        return value

    return {n: [item(i) for i in v] if isinstance(v, list) else v for n, v in changes.items()}


def _approve_item(stage: Stage, thread: str, item: Any) -> None:
    if not isinstance(item, Mapping) or "name" not in item:
        raise InvalidInput("approvals.invalid", "approvals: each is a mapping with a `name`")
    given = dict(item)
    _give(stage, thread, given.pop("name"), given)


def _give(stage: Stage, thread: str, name: Any, given: dict[str, Any]) -> Any:
    until, answer = given.pop("until", None), given.pop("answer", None)
    span = span_of(until) if isinstance(until, str) else None
    return stage.ask_threads(
        "approve",
        thread,
        name,
        given.pop("what", given or name),
        until=span if isinstance(span, timedelta) else until,
        answer=None if answer is None else stage.labels.event(answer),
    )


def _approve(stage: Stage, step: Step) -> dict[str, Any]:
    given = dict(step.given)
    name = given.pop("name")
    made = _give(stage, stage.open_thread(), name, given)
    return {"name": made.name, "by": made.by, "digest": made.digest}


def _revoke(stage: Stage, step: Step) -> None:
    stage.ask_threads("revoke", stage.open_thread(), step.given)


def _tool(stage: Stage, step: Step) -> dict[str, Any]:
    given = dict(step.given)
    key, name = given.pop("key"), given.pop("name")
    found = stage.ask_threads(
        "begin", stage.open_thread(), key, name, **{"worker": WORKER, **given}
    )
    return dict(found.to_dict())


def _settled(verb: str, field: str) -> Callable[[Stage, Step], dict[str, Any]]:
    def act(stage: Stage, step: Step) -> dict[str, Any]:
        given = dict(step.given)
        key = given.pop("key")
        value = given.pop(field, given.pop("result", None if field == "result" else "failed"))
        asked = {"worker": WORKER, **given}
        return dict(stage.ask_threads(verb, stage.open_thread(), key, value, **asked).to_dict())

    return act


def _resume(stage: Stage, step: Step) -> dict[str, Any]:
    found = stage.ask_threads(
        "resume", stage.open_thread(), **{"worker": WORKER, **dict(step.given)}
    )
    return {
        **found.to_dict(),
        "unknown_tools": [call.key for call in found.unknown],
        "running_tools": [call.key for call in found.running],
        "stale": [seen.name for seen in found.stale],
        "approvals": {c.approval.name: c.standing.value for c in found.approvals},
        "task": None if found.task is None else found.task.text,
    }


THREAD_ACTS: dict[str, Callable[[Stage, Step], Any]] = {
    "checkpoint": _checkpoint,
    "approve": _approve,
    "revoke": _revoke,
    "tool": _tool,
    "tool_done": _settled("done", "result"),
    "tool_failed": _settled("failed", "error"),
    "resume": _resume,
}
