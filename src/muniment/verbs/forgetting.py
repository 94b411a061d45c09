"""Mute, unmute, expire, delete, erase: dry run first, exact reach, honest reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from muniment.erase import forget, threads
from muniment.erase.verbs import check_channel, target_of, within_rights
from muniment.errors import NotFound
from muniment.gate.unit import Unit
from muniment.ids import EventId, ThreadId
from muniment.scope import Principal
from muniment.threads.checkpoint import Checkpoint
from muniment.threads.ports import ThreadUnit
from muniment.verbs.checkpointing import newest
from muniment.verbs.parts import Parts


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a forgetting did, or with ``dry_run`` would do.

    ``pending`` says in words what could not be reached; nothing calls itself complete while it
    is not empty.
    """

    verb: str
    dry_run: bool
    counts: dict[str, int]
    records: tuple[str, ...]
    kept: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    erasure: str | None = None
    out_of_reach: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything it should reach was reached."""
        return not self.pending

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "verb": self.verb,
            "dry_run": self.dry_run,
            "complete": self.complete,
            "counts": dict(self.counts),
            "records": list(self.records),
            "kept": list(self.kept),
            "events": list(self.events),
            "pending": list(self.pending),
            "erasure": self.erasure,
            "out_of_reach": list(self.out_of_reach),
        }


#: What no erase of this version reaches, said with every erase.
OUT_OF_REACH = "copies outside this store (backups, exports, a model's own context) are not reached"


def simple(
    parts: Parts, principal: Principal, verb: str, target: dict[str, Any], *, dry_run: bool
) -> Forgotten:
    """Mute, unmute, expire or delete."""
    check_channel(principal, verb)

    def work(unit: Unit) -> Forgotten:
        meant = target_of(unit, principal, **target)
        plan = within_rights(unit, principal, forget.plan_delete(unit, meant), meant)
        if not dry_run:
            _ACT[verb](parts, unit, plan)
            parts.audit(unit, principal, verb, records=list(plan.records))
        counts = plan.counts() | {"events": 0}
        return Forgotten(verb, dry_run, counts, plan.records)

    if dry_run:
        return parts.read(principal, work)
    return parts.write(principal, work)


def _mute(parts: Parts, unit: Unit, plan: forget.Plan) -> None:
    forget.mute(unit, plan.records, True, parts.now())


def _unmute(parts: Parts, unit: Unit, plan: forget.Plan) -> None:
    forget.mute(unit, plan.records, False, parts.now())


def _expire(parts: Parts, unit: Unit, plan: forget.Plan) -> None:
    forget.expire(unit, plan.records, parts.now())


def _delete(parts: Parts, unit: Unit, plan: forget.Plan) -> None:
    forget.delete(unit, plan, parts.policy.catalogue, "delete", parts.now())


_ACT: dict[str, Callable[[Parts, Unit, forget.Plan], None]] = {
    "mute": _mute,
    "unmute": _unmute,
    "expire": _expire,
    "delete": _delete,
}


def erase(
    parts: Parts, principal: Principal, target: dict[str, Any], *, dry_run: bool
) -> Forgotten:
    """Physically remove a record, event, subject or scope with everything derived from it.

    The rows go in one transaction, which also logs the erasure; then the index and the freed
    bytes are scrubbed.  What is not reached is said in ``pending`` and tried again by `tidy`.
    """
    check_channel(principal, "erase")

    def plan(unit: ThreadUnit) -> tuple[forget.Plan, threads.Reach]:
        meant = target_of(unit, principal, **target)
        reach = within_rights(unit, principal, forget.plan_erase(unit, meant), meant)
        state = threads.reach(unit, meant, unit.events.get(reach.events), _newest)
        approved = (EventId(a.event_id) for a in state.approvals)  # their events say it, too
        return replace(reach, events=tuple(sorted({*reach.events, *approved}))), state

    if dry_run:
        planned, there = parts.read(principal, plan)
        return _report(planned, True, None, (), there.counts())
    erasure = parts.ids.new("era")

    def work(unit: ThreadUnit) -> tuple[forget.Plan, dict[str, int]]:
        reach, state = plan(unit)
        titles = forget.erase(unit, reach, parts.policy.catalogue, parts.now())
        rows, seals = threads.take(unit, state)
        if ledger := threads.take_from_ledger(unit, state):
            parts.audit(unit, principal, "erase_ledger", erasure=erasure, **ledger)
        taken = state.counts()
        unit.erasures.begin(erasure, reach.counts() | taken, parts.now())
        for number, (records, events) in enumerate(_pages(reach.records, reach.events)):
            parts.audit(
                unit,
                principal,
                "erase",
                erasure=erasure,
                counts=reach.counts() | taken,
                threads=[*state.whole, *state.left] if number == 0 else [],
                states=seals if number == 0 else {},
                rows=rows if number == 0 else {},
                records=records,
                events=events,
                titles=titles if number == 0 else {},
            )
        return reach, taken

    reach, taken = parts.write(principal, work)
    pending = scrub(parts, principal.tenant)
    if not pending:
        parts.store.write(principal.tenant, lambda unit: unit.erasures.finish(erasure, parts.now()))
    return _report(reach, False, erasure, tuple(pending), taken)


def _newest(unit: ThreadUnit, thread: ThreadId) -> Checkpoint:
    found = unit.events.thread(thread)
    if found is None:
        raise NotFound("thread.not_found", "no such thread")
    return newest(unit, found)


def _pages(
    records: Sequence[str], events: Sequence[str], size: int = 1000
) -> Iterator[tuple[list[str], list[str]]]:
    """Every id goes into the trail, in entries of a bounded size; at least one."""
    for start in range(0, max(len(records), len(events), 1), size):
        yield list(records[start : start + size]), list(events[start : start + size])


def scrub(parts: Parts, tenant: str, *, thorough: bool = False) -> list[str]:
    """Take what was erased out of the index and off the disk; what is left, in words.

    ``thorough`` rewrites PostgreSQL's tables under lock; SQLite needs no such thing.
    """
    parts.catch_up(tenant)
    pending = []
    if parts.store.read(tenant, lambda unit: len(unit.ledger.waiting(1))):
        pending.append("the index has not caught up; run `muniment rebuild-index`")
    pending += parts.index.scrub(thorough=thorough)
    return [*pending, *parts.store.scrub(thorough=thorough)]


def _report(
    plan: forget.Plan,
    dry_run: bool,
    erasure: str | None,
    pending: tuple[str, ...],
    state: dict[str, int],
) -> Forgotten:
    return Forgotten(
        "erase",
        dry_run,
        plan.counts() | state,
        tuple(plan.records),
        tuple(plan.kept),
        tuple(plan.events),
        pending,
        erasure,
        (OUT_OF_REACH,),
    )


def finish(
    parts: Parts, tenant: str, now: datetime, *, thorough: bool = False
) -> tuple[int, list[str]]:
    """Erasures whose scrubbing was pending: try again.  How many are done, and what is left."""
    waiting = parts.store.read(tenant, lambda unit: unit.erasures.unfinished())
    if not waiting and not thorough:
        return 0, []
    left = scrub(parts, tenant, thorough=thorough)
    if left and not thorough:
        return 0, left

    def done(unit: Unit) -> None:
        for erasure in waiting:
            unit.erasures.finish(erasure, now)

    parts.store.write(tenant, done)
    return len(waiting), left
