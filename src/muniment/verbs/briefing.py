"""The brief of a thread as it stands now: its state, its approvals, its open calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from muniment.errors import NotFound
from muniment.events.event import Event
from muniment.events.log import Thread
from muniment.ids import EventId
from muniment.scope import Principal, permits
from muniment.threads.approvals import Approval, Now, Standing, standing
from muniment.threads.brief import Brief, Item, brief_of
from muniment.threads.checkpoint import Checkpoint
from muniment.threads.ledger import as_seen
from muniment.threads.observations import Observation
from muniment.threads.ports import ThreadUnit
from muniment.verbs.appending import find_thread
from muniment.verbs.approving import in_force
from muniment.verbs.checkpointing import Where, newest
from muniment.verbs.parts import Parts


def opened(parts: Parts, unit: ThreadUnit, where: Where) -> Thread:
    """A thread of the principal's that is there; `NotFound` otherwise."""
    thread = find_thread(parts, unit, where.principal, where.label, where.scope)
    if unit.events.thread(thread.id) is None:
        raise NotFound("thread.not_found", "no such thread")
    return thread


def brief_in(parts: Parts, unit: ThreadUnit, thread: Thread) -> Brief:
    """What whoever goes on with the thread may not lack, as of now."""
    head, now = newest(unit, thread), parts.now()
    return brief_of(
        head.state,
        head.version,
        approvals=_approvals(in_force(unit, thread), head, now),
        unknown_calls=_calls(unit, thread, now),
        fresh=_fresh(head, now, fresh_since(parts, thread)),
    )


def _fresh(head: Checkpoint, now: datetime, since: datetime) -> frozenset[str]:
    """The observations that may be told as fact."""
    seen = map(Observation.of, head.state.get("observations") or ())
    return frozenset(o.name for o in seen if o.stale(now, since) is None)


def fresh_since(parts: Parts, thread: Thread) -> datetime:
    """What was observed up to then is stale: the thread was taken up, or this process began,
    knowing nothing of the outside."""
    return max(parts.opened_at, thread.resumed_at or parts.opened_at)


def _approvals(given: Iterable[Approval], head: Checkpoint, now: datetime) -> Iterator[Item]:
    """Each with what it is worth now; those revoked are over."""
    artifacts = head.state.get("artifacts") or ()
    revisions = {str(a["path"]): str(a["revision"]) for a in artifacts if a.get("revision")}
    for approval in given:
        worth = standing(approval, Now(now, revisions=revisions)).standing
        if worth is not Standing.REVOKED:
            until = None if approval.until is None else approval.until.isoformat()
            evidence = [e for e in (approval.event_id, approval.answer_id) if e]
            data = {"standing": worth.value, "until": until, "by": approval.by}
            yield Item(approval.name, tuple(evidence), {**data, "what": approval.what})


def _calls(unit: ThreadUnit, thread: Thread, now: datetime) -> Iterator[Item]:
    for call in unit.calls.begun(thread.id):
        status = as_seen(call, now).status.value
        data = {"name": call.name, "status": status, "observe": call.observe}
        yield Item(call.key, (), {**data, "attempt": call.attempt})


def readable(unit: ThreadUnit, principal: Principal, ids: Iterable[str]) -> Mapping[str, Event]:
    """Those of the events that are in threads the principal may read, erased ones too."""
    found = unit.events.get(dict.fromkeys(EventId(i) for i in ids))
    threads = {t: unit.events.thread(t) for t in {e.thread for e in found}}
    own = {
        t
        for t, thread in threads.items()
        if thread and thread.owner == principal.user and permits(principal, thread.scope)
    }
    return {e.id: e for e in found if e.thread in own}
