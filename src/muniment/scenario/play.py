"""Plays a scenario step by step and says of each what was seen and what failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from muniment.clock import Clock
from muniment.errors import MunimentError, Unavailable
from muniment.memory import Memory
from muniment.scenario.acts import act
from muniment.scenario.expect import (
    context_differences,
    decision_differences,
    differences,
    pair,
    recall_differences,
)
from muniment.scenario.grammar import VERBS
from muniment.scenario.load import Scenario, Step
from muniment.scenario.stage import PAGE, Reopen, Stage
from muniment.scenario.thread_acts import THREAD_ACTS
from muniment.scope import Channel, Principal


@dataclass(frozen=True, slots=True)
class Played:
    """One step after it was played."""

    step: Step
    seen: Any
    failed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether everything expected of it was seen."""
        return not self.failed

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "n": self.step.n,
            "verb": self.step.verb,
            "ok": self.ok,
            "seen": self.seen,
            "failed": list(self.failed),
        }


def play(
    scenario: Scenario, memory: Memory, clock: Clock, *, reopen: Reopen | None = None
) -> Iterator[Played]:
    """Play every step on an open memory; a failing one does not stop the story.

    ``clock`` is the memory's own; ``reopen`` opens the same store anew (for ``crash``).
    """
    stage = Stage.of(scenario, memory, clock, reopen)
    for step in scenario.steps:
        yield _expecting_error(stage, step) if step.error is not None else _expecting(stage, step)


def _expecting(stage: Stage, step: Step) -> Played:
    try:
        seen = act(stage, step)
    except MunimentError as error:
        return Played(step, _error_data(error), [f"expected no error, seen {_told(error)}"])
    except Exception as error:  # a fault of the product is a finding, not the end of the run
        told = f"{type(error).__name__}: {error}"
        return Played(step, {"fault": told}, [f"expected no error, seen {told}"])
    return Played(step, seen, _compare(stage, step, seen))


def _expecting_error(stage: Stage, step: Step) -> Played:
    if step.verb == "say" or step.verb in THREAD_ACTS:
        stage.open_thread()  # opening one is ours, not a trace of the call that fails
    before = _standing(stage)
    try:
        seen = act(stage, step)
    except MunimentError as error:
        failed = []
        if step.error not in (error.kind, error.code):
            failed.append(f"error: expected {step.error}, seen {_told(error)}")
        failed += differences(before, _standing(stage), at="nothing was to change")
        return Played(step, _error_data(error), failed)
    except Exception as error:  # as above
        told = f"{type(error).__name__}: {error}"
        return Played(step, {"fault": told}, [f"error: expected {step.error}, seen {told}"])
    return Played(step, seen, [f"error: expected {step.error}, seen none"])


def _told(error: MunimentError) -> str:
    return f"{error.kind} ({error.code}: {error})"


def _error_data(error: MunimentError) -> dict[str, Any]:
    return {"error": error.kind, "code": error.code, "message": error.message}


def _standing(stage: Stage) -> dict[str, Any]:
    """Everything of the tenant that a refused call could have changed."""
    who = stage.principal
    admin = Principal(
        tenant=who.tenant, user=who.user, channel=Channel.ADMIN, roles=frozenset({"admin"})
    )
    memory = stage.memory
    try:
        counts = memory.doctor(principal=admin)
        states = [(t.thread.id, t.thread.version) for t in memory.threads.list(principal=who)]
        listed: list[tuple[Any, ...]] = []
        after = None
        while page := memory.list(limit=PAGE, after=after, principal=admin):
            listed += [(r.id, r.version, r.status.value, r.muted, r.content) for r in page]
            after = page[-1].id
        held = memory.review(limit=PAGE, principal=admin)
        settings = memory.settings(principal=who)
    except Unavailable as error:
        return {"unavailable": error.code}
    names = ("events", "threads", "records", "held", "erasures_pending")
    return {
        **{name: counts[name] for name in names},
        "listed": sorted(listed),
        "waiting": sorted((h.id, h.digest, h.status.value, h.count) for h in held),
        "settings": settings,
        "states": sorted(states),
    }


# ---------------------------------------------------------------- expected against seen


def _compare(stage: Stage, step: Step, seen: Any) -> list[str]:
    if step.verb == "expect_records":
        return _compare_records(step, seen)
    if step.expect is None:
        return []
    shows = VERBS[step.verb].shows
    if shows == "decisions":
        return _compare_decisions(stage, step, seen)
    if shows == "recall":
        return recall_differences(step.expect, seen["contents"])
    if shows == "context":
        return context_differences(step.expect, seen)
    return differences(step.expect, seen, extra=step.extra)


def _compare_decisions(stage: Stage, step: Step, seen: list[dict[str, Any]]) -> list[str]:
    """Decisions in any order; labels are bound to those that were met."""
    entries = step.expect if isinstance(step.expect, list) else [step.expect]
    wanted = [_resolved(stage, entry) for entry in entries]
    found = pair(wanted, seen, decision_differences, extra=step.extra)
    for e, s in found.pairs.items():
        if "id" in entries[e]:
            stage.labels.bind_decision(entries[e]["id"], seen[s])
    return found.failed


def _resolved(stage: Stage, entry: Mapping[str, Any]) -> dict[str, Any]:
    """An expected decision with the ids its labels stand for."""
    named = ("supersedes", "exception_of")
    return {k: stage.labels.record(v) if k in named else v for k, v in entry.items()}


def _compare_records(step: Step, seen: Mapping[str, Any]) -> list[str]:
    failed = []
    shown = [(r["status"], r["content"]) for r in seen["records"]]
    if "count" in step.given and seen["count"] != step.given["count"]:
        failed.append(f"count: expected {step.given['count']}, seen {seen['count']}: {shown!r}")
    if "count" not in step.given and not seen["count"]:
        failed.append("expected records, seen none")
    if step.expect is not None:
        failed += differences(step.expect, seen, extra=step.extra)
    return failed
