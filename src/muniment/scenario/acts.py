"""What each verb of a scenario does with the product, and what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from muniment.clock import ManualClock
from muniment.errors import InvalidInput
from muniment.records.record import Record
from muniment.scenario.expect import differences
from muniment.scenario.load import Step, moved_to
from muniment.scenario.shown import event_data, held_data, record_data
from muniment.scenario.stage import PAGE, Stage
from muniment.scenario.thread_acts import THREAD_ACTS
from muniment.scope import PARTS, Principal, Scope

# ---------------------------------------------------------------- evidence and the gate


def _thread(stage: Stage, step: Step) -> None:
    stage.threads.open(stage.memory, step.given, stage.principal, stage.scope)
    stage.thread = step.given


def _say(stage: Stage, step: Step) -> dict[str, Any]:
    message = {k: v for k, v in step.given.items() if k != "id"}
    if step.at is not None:
        message["at"] = step.at
    [event] = stage.ask("append_many", [message], thread=stage.open_thread())
    if "id" in step.given:
        stage.labels.events[step.given["id"]] = event.id
    return event_data(event)


def _remember(stage: Stage, step: Step) -> list[dict[str, Any]]:
    given = {"event": step.given} if isinstance(step.given, str) else dict(step.given)
    if "event" in given:
        given["event"] = stage.labels.event(given["event"])
    if "text" in given:
        given = {"thread": stage.open_thread(), **given}
    return [d.to_dict() for d in stage.ask("remember", **given)]


def _propose(stage: Stage, step: Step) -> list[dict[str, Any]]:
    proposal = {k: v for k, v in step.given.items() if k not in ("id", "key")}
    if isinstance(proposal.get("evidence"), list):
        proposal["evidence"] = [stage.labels.event(e) for e in proposal["evidence"]]
    key = step.given.get("key")
    decisions = stage.ask("propose", proposal, scope=stage.scope, key=key)
    shown = [d.to_dict() for d in decisions]
    if "id" in step.given:
        for decision in shown[:1]:
            name = step.given["id"]
            stage.labels.bind_candidate(name, decision["candidate"], decision["digest"])
            stage.labels.bind_decision(name, decision)
    return shown


def _confirm(stage: Stage, step: Step) -> list[dict[str, Any]]:
    label, given = step.given["candidate"], _answered(stage, step.given)
    decision = stage.ask("confirm", **given).to_dict()
    if decision["record"] is not None:
        stage.labels.records[label] = decision["record"]
    return [decision]


def _reject(stage: Stage, step: Step) -> dict[str, Any]:
    return held_data(stage.ask("reject", **_answered(stage, step.given))) | {"status": "rejected"}


def _answered(stage: Stage, given: Mapping[str, Any]) -> dict[str, Any]:
    label = given["candidate"]
    out = {"digest": stage.labels.digest(label), **given}
    out["candidate"] = stage.labels.candidate(label)
    if "answer" in out:
        out["answer"] = stage.labels.event(out["answer"])
    return out


def _revise(stage: Stage, step: Step) -> dict[str, Any]:
    given = dict(step.given)
    label = given.get("record", given.get("candidate"))
    waits = label in stage.labels.candidates and label not in stage.labels.records
    if "candidate" in given or waits:
        given.pop("record", None)
        given["candidate"] = stage.labels.candidate(label)
        return held_data(stage.ask("revise_candidate", **given))
    if "record" in given:
        given["record"] = stage.labels.record(label)
    return record_data(stage.ask("revise", **given))


# ---------------------------------------------------------------- reading


def _recall(stage: Stage, step: Step) -> dict[str, Any]:
    found = stage.ask("recall", **_read(stage, step.given))
    return {"contents": [e.content for e in found], "degraded": list(found.degraded)}


def _context(stage: Stage, step: Step) -> dict[str, Any]:
    found = stage.ask("context", **_read(stage, step.given))
    return {
        "memory": found.memory,
        "policy": list(found.policy),
        "tokens": found.report.tokens,
        "conflicts": len(found.report.conflicts),
        "degraded": found.memory_degraded,
        "incomplete_rules": found.incomplete_rules,
    }


def _read(stage: Stage, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": "", "scope": stage.scope, **given}


def _history(stage: Stage, step: Step) -> dict[str, Any]:
    given = {**step.given, "record": stage.labels.record(step.given["record"])}
    found: dict[str, Any] = stage.ask("history", **given).to_dict()
    return found


def _expect_records(stage: Stage, step: Step) -> dict[str, Any]:
    """Records by status and place; what a listing does not filter by is compared here."""
    where = dict(step.given.get("where", {}))
    if "status" in step.given:
        where["status"] = step.given["status"]
    here = {name: v for name, v in where.items() if v is None or name in _COMPARED}
    asked = {name: v for name, v in where.items() if name not in here}
    found = [record_data(r) for r in every_record(stage, asked)]
    kept = [r for r in found if not differences(here, {**r, **_parts(r)})]
    return {"count": len(kept), "records": kept}


_COMPARED = ("value", "content", "condition", "origin", "version")


def _parts(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: record["scope"].get(name) for name in PARTS}


def every_record(stage: Stage, where: Mapping[str, Any]) -> list[Record]:
    """All pages of a listing."""
    found: list[Record] = []
    while True:
        after = found[-1].id if found else None
        page = stage.ask("list", where=where, limit=PAGE, after=after)
        found += page
        if len(page) < PAGE:
            return found


# ---------------------------------------------------------------- forgetting, settings


def _forget(stage: Stage, step: Step) -> dict[str, Any]:
    given = dict(step.given)
    if "record" in given:
        given["record"] = stage.labels.record(given["record"])
    if "event" in given:
        given["event"] = stage.labels.event(given["event"])
    found: dict[str, Any] = stage.ask(step.verb, **given).to_dict()
    return found


def _settings(stage: Stage, step: Step) -> dict[str, Any]:
    found: dict[str, Any] = stage.ask("settings", **step.given)
    return found


# ---------------------------------------------------------------- the stage itself


def _clock(stage: Stage, step: Step) -> None:
    assert isinstance(stage.clock, ManualClock)
    moved = moved_to(step.given, step.line)
    if isinstance(moved, timedelta):
        stage.clock.advance(moved)
    else:
        stage.clock.set(moved)


def _as(stage: Stage, step: Step) -> None:
    try:
        stage.principal = Principal.of(step.given)
    except TypeError as error:
        raise InvalidInput("principal.invalid", f"as: {error}") from None


def _in(stage: Stage, step: Step) -> None:
    stage.scope = Scope.of(step.given)


def _crash(stage: Stage, step: Step) -> None:
    """Leave everything as it is, without closing, and open the store anew."""
    assert stage.reopen is not None
    stage.memory = stage.reopen()


def act(stage: Stage, step: Step) -> Any:
    """Do what a step says; what it shows as plain data."""
    return _ACTS[step.verb](stage, step)


_ACTS: dict[str, Callable[[Stage, Step], Any]] = {
    "thread": _thread,
    "say": _say,
    "remember": _remember,
    "propose": _propose,
    "confirm": _confirm,
    "reject": _reject,
    "recall": _recall,
    "context": _context,
    "revise": _revise,
    "history": _history,
    **dict.fromkeys(("mute", "unmute", "expire", "delete", "erase"), _forget),
    "settings": _settings,
    "clock": _clock,
    "as": _as,
    "in": _in,
    "crash": _crash,
    "expect_records": _expect_records,
    **THREAD_ACTS,
}
