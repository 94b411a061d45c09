"""Taking a thread up again, and observing what it knows of the outside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from muniment.errors import InvalidInput, MunimentError
from muniment.events.log import Thread
from muniment.threads.approvals import Approval, artifacts_in
from muniment.threads.artifacts import Seen, Workspace
from muniment.threads.checkpoint import Checkpoint
from muniment.threads.ledger import ToolCall
from muniment.threads.observations import Observation
from muniment.threads.ports import ThreadUnit
from muniment.threads.resume import Head, Resumption, resumption
from muniment.verbs.appending import find_thread
from muniment.verbs.approving import digests_of, in_force
from muniment.verbs.calling import worker_of
from muniment.verbs.checkpointing import Where, newest
from muniment.verbs.parts import Parts, switches_of

Found = tuple[Head, list[ToolCall], list[Approval], tuple[str, ...], Thread]


def resume(
    parts: Parts, where: Where, *, worker: object, current: object, look: Workspace | None
) -> Resumption:
    """What to know and to do first, as of now; what was observed before is stale from here on.

    A workspace that cannot be looked at is said to be so; the thread is resumed all the same.
    """
    who = worker_of(parts, worker)
    if look is not None and not callable(getattr(look, "look", None)):
        raise InvalidInput("look.invalid", "look: a workspace such as GitWorkspace(path)")

    def work(unit: ThreadUnit) -> Found:
        thread = find_thread(parts, unit, where.principal, where.label, where.scope)
        head = head_of(newest(unit, thread), thread)
        degraded = _without_memory(parts, unit, where)
        return head, unit.calls.begun(thread.id), in_force(unit, thread), degraded, thread

    head, calls, approvals, degraded, thread = parts.read(where.principal, work)
    digests = digests_of(
        parts, parts.digester(where.principal.tenant), where.principal, head.thread, current
    )
    seen, not_looked = _look(look, head, approvals)
    now = parts.now()
    _mark(parts, where, thread, head)
    return resumption(
        head,
        calls,
        approvals,
        now,
        worker=who,
        current=digests,
        seen=seen,
        not_looked=not_looked,
        memory_degraded=degraded,
    )


def head_of(point: Checkpoint, thread: Thread) -> Head:
    """The committed state as a resumption takes it."""
    return Head(
        thread=thread.id,
        version=point.version,
        at=point.at if point.version else None,
        sections=point.state,
        through=point.through,
        length=thread.length,
    )


def _look(
    look: Workspace | None, head: Head, approvals: Sequence[Approval]
) -> tuple[Seen | None, str | None]:
    """The state's artifacts, and those that approvals are bound to."""
    if look is None:
        return None, None
    named = [str(a["path"]) for a in head.items("artifacts")]
    named += [path for a in approvals for path, _ in artifacts_in(a.what)]
    try:
        return look.look(list(dict.fromkeys(named))), None
    except MunimentError as error:
        return None, error.code


def _mark(parts: Parts, where: Where, thread: Thread, head: Head) -> None:
    """Note when it was taken up, if there is anything that goes stale by it."""
    before = thread.resumed_at
    observed = [Observation.of(item) for item in head.items("observations")]
    if parts.store.read_only or not any(o.stale(o.observed_at, before) is None for o in observed):
        return
    now = parts.now()
    parts.write(where.principal, lambda unit: unit.threads.resumed(thread.id, now), adds=0)


def _without_memory(parts: Parts, unit: ThreadUnit, where: Where) -> tuple[str, ...]:
    """Why long-term memory has no say, if it has none; a thread is resumed without it."""
    if parts.memory_off:
        return ("memory_off",)
    return ("recall_paused",) if switches_of(unit, where.principal).pause_recall else ()


def observation(
    parts: Parts, name: object, value: object, how: object, good_for: object
) -> dict[str, Any]:
    """An observation made now, as a change of a state."""
    term = good_for.total_seconds() if isinstance(good_for, timedelta) else good_for
    item = {"name": name, "value": value, "how": how, "good_for_s": term}
    return {"observations": [{**item, "observed_at": parts.now().isoformat()}]}
