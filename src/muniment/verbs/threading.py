"""Whole threads: list, fork, copy, prune, delete; and what an erasure takes from their state."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from muniment.errors import Conflict, InvalidInput
from muniment.events.log import Thread
from muniment.ids import ThreadId
from muniment.scope import permits
from muniment.threads import checkpoint as points
from muniment.threads.checkpoint import Checkpoint, CheckpointInfo
from muniment.threads.history import STATE, begin_anew, end, seal, sections_of
from muniment.threads.large import digests
from muniment.threads.ledger import call_digest
from muniment.threads.ports import ThreadUnit
from muniment.threads.state import State
from muniment.verbs.appending import find_thread, open_thread, own_thread
from muniment.verbs.checkpointing import Where, at_version, newest
from muniment.verbs.parts import Parts

LIST_MAX = 1000
CALLS_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread as a list shows it: ``goal`` and ``next`` of its newest state, when that is from."""

    thread: Thread
    at: datetime | None = None
    goal: str | None = None
    next: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        t = self.thread
        return {
            "id": t.id,
            "label": t.label,
            "scope": t.scope.to_dict(),
            "created_at": t.created_at.isoformat(),
            "events": t.length,
            "version": t.version,
            "at": self.at.isoformat() if self.at else None,
            "goal": self.goal,
            "next": self.next,
            "resumed_at": t.resumed_at.isoformat() if t.resumed_at else None,
        }


def listed(parts: Parts, where: Where, limit: object) -> list[ThreadInfo]:
    """The principal's threads that are not deleted, newest first."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LIST_MAX:
        raise InvalidInput("limit.invalid", f"limit: a whole number from 1 to {LIST_MAX}")
    who = where.principal

    def work(unit: ThreadUnit) -> list[ThreadInfo]:
        mine = unit.threads.mine(who.user, limit)
        return [_info(unit, t) for t in mine if _shown_to(where, t)]

    return parts.read(who, work)


def _shown_to(where: Where, thread: Thread) -> bool:
    inside = where.scope is None or where.scope.covers(thread.scope)
    return inside and permits(where.principal, thread.scope)


def _info(unit: ThreadUnit, thread: Thread) -> ThreadInfo:
    if not thread.version:
        return ThreadInfo(thread)
    last = unit.checkpoints.outline(thread.id, 1)
    said = {
        s.name: json.loads(s.data)
        for s in unit.checkpoints.sections(thread.id, ("goal", "next"))
        if s.data
    }
    at = last[0].at if last else None
    return ThreadInfo(thread, at, said.get("goal"), said.get("next"))


def fork(parts: Parts, where: Where, at: int | None, to: str) -> CheckpointInfo:
    """A new thread that goes on from a version of another; the other is left as it is.

    Calls settled by then come along, so that the fork repeats none; approvals do not, for they
    are bound to their thread, and neither do events: `parent` says where they are.
    """

    def work(unit: ThreadUnit) -> CheckpointInfo:
        source = find_thread(parts, unit, where.principal, where.label, where.scope)
        found = newest(unit, source) if at is None else at_version(unit, source, at)
        target = _empty(parts, unit, where, source, to)
        parent = f"{source.id}@{found.version}"
        begin_anew(unit, target.id, found.state, found, version=1, at=parts.now(), parent=parent)
        _copy_calls(parts, unit, where, source.id, target.id, found.at)
        _share(unit, target.id, found.state, source.id)
        return _audited(parts, unit, where, "thread_fork", target.id, source.id)

    return parts.write(where.principal, work, adds=0)


def copy(parts: Parts, where: Where, to: str) -> CheckpointInfo:
    """The same history under another label: state, checkpoints and settled calls."""

    def work(unit: ThreadUnit) -> CheckpointInfo:
        source = find_thread(parts, unit, where.principal, where.label, where.scope)
        found = newest(unit, source)  # raises if it is damaged
        target = _empty(parts, unit, where, source, to)
        state: State = {}
        copied = []
        for step in unit.checkpoints.steps(source.id):
            state = points.replayed([_as_whole(state, step.version - 1), step])
            copied.append(replace(step, digest=seal(unit, target.id, step, state)))
        unit.checkpoints.replace(target.id, copied, sections_of(unit, target.id, found.state))
        _copy_calls(parts, unit, where, source.id, target.id, parts.now())
        for step in copied:
            _share(unit, target.id, step.data, source.id)
        return _audited(parts, unit, where, "thread_copy", target.id, source.id)

    return parts.write(where.principal, work, adds=0)


def prune(parts: Parts, where: Where, keep: object) -> int:
    """Remove all but the newest ``keep`` checkpoints; how many went.  The state is not touched."""
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
        raise InvalidInput("keep.invalid", "keep: a whole number, at least 1")

    def work(unit: ThreadUnit) -> int:
        thread = own_thread(unit, where.principal, _id_of(parts, unit, where))
        steps = unit.checkpoints.steps(thread.id)
        if len(steps) <= keep:
            return 0
        first = at_version(unit, thread, steps[-keep].version)
        _rewrite(unit, thread, newest(unit, thread), first, steps[len(steps) - keep :])
        gone = len(steps) - keep
        parts.audit(unit, where.principal, "thread_prune", thread=thread.id, count=gone)
        return gone

    return parts.write(where.principal, work, adds=0)


def delete(parts: Parts, where: Where) -> dict[str, int]:
    """Remove a thread's state, checkpoints, calls, approvals and blobs, and refuse what comes
    late.  Its events stay evidence until they are erased; records made of them stay, too."""

    def work(unit: ThreadUnit) -> dict[str, int]:
        thread = own_thread(unit, where.principal, _id_of(parts, unit, where))
        counts = end(unit, [thread.id])
        unit.threads.delete(thread.id, parts.now())
        parts.audit(unit, where.principal, "thread_delete", thread=thread.id, **counts)
        return counts

    return parts.write(where.principal, work, adds=0)


# ---------------------------------------------------------------- pieces


def _id_of(parts: Parts, unit: ThreadUnit, where: Where) -> ThreadId:
    return find_thread(parts, unit, where.principal, where.label, where.scope).id


def _empty(parts: Parts, unit: ThreadUnit, where: Where, source: Thread, to: str) -> Thread:
    """The thread to copy into: new, in the source's scope."""
    target = open_thread(parts, unit, where.principal, to, source.scope)
    if target.version or target.length or target.id == source.id:
        raise Conflict("thread.exists", "a thread of that label has begun; use another label")
    return target


def _rewrite(
    unit: ThreadUnit,
    thread: Thread,
    now: Checkpoint,
    first: Checkpoint,
    kept: Sequence[CheckpointInfo],
) -> None:
    """The kept checkpoints, the first of them whole."""
    whole = replace(kept[0], whole=True, tail=0, data=first.state)
    steps = [whole, *kept[1:]]
    unit.checkpoints.replace(thread.id, steps, sections_of(unit, thread.id, now.state))
    used = [d for step in steps for d in digests(step.data)]
    unit.blobs.release([thread.id], STATE, but=used)


def _as_whole(state: State, version: int) -> CheckpointInfo:
    at = datetime.fromtimestamp(0).astimezone()
    return CheckpointInfo(version, at, 0, True, "", 0, 0, data=state)


def _share(unit: ThreadUnit, thread: ThreadId, data: Mapping[str, Any], source: ThreadId) -> None:
    unit.blobs.use(dict.fromkeys(digests(data)), thread, STATE, source)


def _copy_calls(
    parts: Parts,
    unit: ThreadUnit,
    where: Where,
    source: ThreadId,
    target: ThreadId,
    until: datetime,
) -> None:
    """Calls settled by then, with their results."""
    seals: dict[str, str] = {}
    for call in unit.calls.of(source, CALLS_MAX):
        if call.finished_at is not None and call.finished_at <= until:
            copied = replace(call, thread=target)
            unit.calls.put(copied)
            unit.blobs.use(digests(call.result), target, f"call:{call.key}", source)
            seals[call_digest(unit, target, call.key)] = copied.seal(unit)
    if seals:
        parts.audit(unit, where.principal, "tool_copy", thread=target, seals=seals)


def _audited(
    parts: Parts, unit: ThreadUnit, where: Where, action: str, made: ThreadId, source: ThreadId
) -> CheckpointInfo:
    last = unit.checkpoints.outline(made, 1)
    if not last:
        raise InvalidInput("thread.no_state", "that thread has no state to copy")
    entry = {"thread": made, "source": source, "version": last[0].version}
    parts.audit(unit, where.principal, action, **entry, digest=last[0].digest)
    return last[0]
