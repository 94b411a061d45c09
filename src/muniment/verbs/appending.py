"""Threads, and events appended to them as evidence."""

from __future__ import annotations

from collections.abc import Sequence

from muniment.errors import InvalidInput, NotFound, Unavailable
from muniment.events.event import Event
from muniment.events.log import Thread
from muniment.events.message import Message, make_event
from muniment.gate.keys import Digester
from muniment.gate.unit import Unit
from muniment.ids import EventId, ThreadId
from muniment.scope import Principal, Scope, permits, place_of_use
from muniment.text import check_id
from muniment.verbs.parts import Parts


def thread_id_of(keys: Digester, principal: Principal, label: str | None, place: Scope) -> ThreadId:
    """Labels are the caller's own: two users' ``"main"`` are two threads.  What is said without
    a thread goes on in one thread per place."""
    owner = principal.user or ""
    if label is None:
        digest = keys.digest("thread", owner, "", place.key)
    else:
        digest = keys.digest("thread", owner, check_id(label, name="thread"))
    return ThreadId(f"thr_{digest[:26]}")


def find_thread(
    parts: Parts, unit: Unit, principal: Principal, label: str | None, scope: Scope | None
) -> Thread:
    """A thread of the principal's by id or label: as it is, or as it would be opened.

    Raises `NotFound` for someone else's thread id and `InvalidInput` ``thread.other_scope``
    where it was opened in another scope.
    """
    return _found_or_new(parts, unit, principal, label, scope)[0]


def open_thread(
    parts: Parts, unit: Unit, principal: Principal, label: str | None, scope: Scope | None
) -> Thread:
    """`find_thread`, made if it is new."""
    thread, there = _found_or_new(parts, unit, principal, label, scope)
    return thread if there else unit.events.open_thread(thread)


def _found_or_new(
    parts: Parts, unit: Unit, principal: Principal, label: str | None, scope: Scope | None
) -> tuple[Thread, bool]:
    if label is not None and label.startswith("thr_"):
        return own_thread(unit, principal, label, scope), True
    place = place_of_use(principal, scope or Scope())
    thread_id = thread_id_of(unit, principal, label, place)
    found = unit.events.thread(thread_id)
    if found is not None:
        return check_own(found, principal, scope), True
    if parts.store.key is None:  # ids are digests under the key: not found means nothing then
        raise Unavailable(
            "store.read_only", f"threads go by their ids: {parts.store.read_only_reason}"
        )
    made = Thread(thread_id, principal.tenant, place, principal.user, parts.now(), label=label)
    return made, False


def own_thread(
    unit: Unit, principal: Principal, thread_id: str, scope: Scope | None = None
) -> Thread:
    """A thread the principal may read and append to."""
    found = unit.events.thread(ThreadId(check_id(thread_id, name="thread")))
    return check_own(found, principal, scope)


def check_own(thread: Thread | None, principal: Principal, scope: Scope | None = None) -> Thread:
    """The thread, if it is there and the principal's, and its scope the one asked for."""
    if thread is None or thread.owner != principal.user or not permits(principal, thread.scope):
        raise NotFound("thread.not_found", "no such thread")
    if thread.deleted_at is not None:
        raise NotFound("thread.deleted", "the thread was deleted and takes nothing more")
    if scope is not None and place_of_use(principal, scope) != thread.scope:
        raise InvalidInput(
            "thread.other_scope", "the thread was opened in another scope; use another thread"
        )
    return thread


def append(
    parts: Parts,
    principal: Principal,
    messages: Sequence[Message],
    *,
    thread: str | None,
    scope: Scope | None,
    attest: bool = True,
    index: bool = True,
) -> list[Event]:
    """Append messages as evidence, all of them or none; those already there are returned as is.

    Without ``index`` they wait for the caller to bring the index up to date.
    """

    def work(unit: Unit) -> list[Event]:
        return append_in(parts, unit, principal, messages, thread, scope, attest)

    return parts.write(principal, work, adds=len(messages) if index else 0)


def append_in(
    parts: Parts,
    unit: Unit,
    principal: Principal,
    messages: Sequence[Message],
    thread: str | None,
    scope: Scope | None,
    attest: bool = True,
) -> list[Event]:
    """`append` inside a transaction that is already open."""
    opened = open_thread(parts, unit, principal, thread, scope)
    events = [make(parts, principal, opened, m, attest) for m in messages]
    named = [e.id for e, m in zip(events, messages, strict=True) if m.id is not None]
    return store_events(parts, unit, principal, opened, events, named)


def make(
    parts: Parts, principal: Principal, thread: Thread, message: Message, attest: bool = True
) -> Event:
    """The event a message will be in that thread."""
    return make_event(
        message,
        thread=thread,
        principal=principal,
        digest=parts.digester(principal.tenant).digest,
        new_id=lambda: parts.ids.new("evt"),
        now=parts.now(),
        attest=attest,
    )


def store_events(
    parts: Parts,
    unit: Unit,
    principal: Principal,
    thread: Thread,
    events: Sequence[Event],
    named: Sequence[EventId],
) -> list[Event]:
    """Append events to a thread that is open.

    ``named`` are those whose ids follow from what the caller called them, so that they may be
    there already; such are returned as they are.
    """
    known = {e.id: e for e in unit.events.get(named)} if named else {}
    new: dict[EventId, Event] = {}
    for event in events:
        before = known.get(event.id) or new.get(event.id)
        if before is None:
            new[event.id] = event
        elif not before.erased and before.text != event.text:
            raise InvalidInput("event.id_taken", "that id names another text in this thread")
    stored = {e.id: e for e in unit.events.append(thread, list(new.values()))} if new else {}
    if new:
        unit.ledger.reindex("event", new, parts.now())
        parts.audit(
            unit, principal, "append", thread=thread.id, events=list(new)[:100], count=len(new)
        )
    return [known.get(e.id) or stored[e.id] for e in events]


def own_event(unit: Unit, principal: Principal, event_id: str) -> Event:
    """An event of a thread the principal may read; erased ones are gone."""
    found = unit.events.get([EventId(check_id(event_id, name="event"))])
    if found and not found[0].erased:
        thread = unit.events.thread(found[0].thread)
        if thread and thread.owner == principal.user and permits(principal, thread.scope):
            return found[0]
    raise NotFound("event.not_found", "no such event")


def append_one(
    parts: Parts, unit: Unit, principal: Principal, thread: Thread, event: Event
) -> Event:
    [stored] = unit.events.append(thread, [event])
    unit.ledger.reindex("event", [stored.id], parts.now())
    parts.audit(unit, principal, "append", thread=thread.id, events=[stored.id], count=1)
    return stored


def answers_thread(parts: Parts, unit: Unit, principal: Principal) -> Thread:
    return open_thread(parts, unit, principal, "muniment:answers", None)
