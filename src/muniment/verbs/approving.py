"""Approvals of a thread: given by a person, bound to the very thing, checked whenever asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from muniment.clock import as_utc
from muniment.errors import InvalidInput, NotAllowed, NotFound
from muniment.events.event import Event
from muniment.events.log import Thread
from muniment.events.message import Message
from muniment.gate.keys import Digester
from muniment.scope import Channel, Principal
from muniment.text import check_id
from muniment.threads import approvals as rules
from muniment.threads.approvals import WHAT_BYTES_MAX, Approval, Checked, Now, digest_of
from muniment.threads.ports import ThreadUnit
from muniment.verbs.appending import append_one, find_thread, make, open_thread, own_event
from muniment.verbs.checkpointing import Where, newest
from muniment.verbs.keptvalues import plain_of
from muniment.verbs.parts import Parts


def approve(
    parts: Parts, where: Where, name: object, what: object, *, until: object, answer: object
) -> Approval:
    """Record that exactly this may be done in this thread, until then.

    The same approval given again with the same answer is the one that is there.
    """
    named = check_id(name, name="name")
    term = _until(until, parts.now())
    thing, encoded = plain_of(what, "what", WHAT_BYTES_MAX, parts, where.principal)
    answer_id = None if answer is None else check_id(getattr(answer, "id", answer), name="answer")

    def work(unit: ThreadUnit) -> Approval:
        thread = open_thread(parts, unit, where.principal, where.label, where.scope)
        before = unit.approvals.of(thread.id)
        said = None if answer_id is None else own_event(unit, where.principal, answer_id)
        rules.check_may_approve(where.principal, thread.id, said, _revoked(before, named))
        digest = digest_of(unit, thread.id, thing)
        again = _answered(before, said, named, digest, term)
        if again is not None:
            return again
        given = _granted(parts, unit, where.principal, thread, named, thing, encoded, term, said)
        unit.approvals.add(given)
        parts.audit(
            unit,
            where.principal,
            "approve",
            thread=thread.id,
            approval=given.event_id,
            seal=given.seal(unit),
        )
        return given

    return parts.write(where.principal, work)


def _granted(
    parts: Parts,
    unit: ThreadUnit,
    principal: Principal,
    thread: Thread,
    name: str,
    thing: Any,
    encoded: str,
    until: datetime | None,
    answer: Event | None,
) -> Approval:
    """The approval with the event that is its evidence."""
    digest = digest_of(unit, thread.id, thing)
    told = {"approval": name, "digest": digest}
    told |= {} if until is None else {"until": until.isoformat()}
    told |= {} if answer is None else {"answer": answer.id}
    message = Message(by="approval", text=f"{name}: {encoded}", metadata=told)
    event = append_one(parts, unit, principal, thread, make(parts, principal, thread, message))
    return Approval(
        thread=thread.id,
        name=name,
        digest=digest,
        what=thing,
        by=principal.user or principal.channel.value,
        channel=principal.channel.value,
        event_id=event.id,
        granted_at=event.recorded_at,
        until=until,
        answer_id=None if answer is None else answer.id,
    )


def _revoked(before: Iterable[Approval], name: str) -> datetime | None:
    return max((a.revoked_at for a in before if a.name == name and a.revoked_at), default=None)


def _answered(
    before: Iterable[Approval],
    answer: Event | None,
    name: str,
    digest: str,
    until: datetime | None,
) -> Approval | None:
    """One answer approves one thing; asking again for that very thing gives what is there."""
    if answer is None:
        return None
    for a in before:
        if a.answer_id != answer.id:
            continue
        if (a.name, a.digest, a.until, a.revoked_at) == (name, digest, until, None):
            return a
        raise NotAllowed("approve.answer_used", "that answer has approved something; ask again")
    return None


def revoke(parts: Parts, where: Where, name: object) -> None:
    """End the approvals of that name in that thread."""
    if where.principal.channel not in (Channel.USER, Channel.ADMIN, Channel.RUNTIME):
        raise NotAllowed("revoke.channel", f"the {where.principal.channel} channel cannot revoke")
    named = check_id(name, name="name")

    def work(unit: ThreadUnit) -> None:
        thread = find_thread(parts, unit, where.principal, where.label, where.scope)
        ended = [a for a in unit.approvals.of(thread.id) if a.name == named and not a.revoked_at]
        if not ended:
            raise NotFound("approval.not_found", "nothing of that name is approved in this thread")
        now = parts.now()
        unit.approvals.revoke(thread.id, named, now)
        seals = {a.event_id: a.ended(now).seal(unit) for a in ended}
        parts.audit(unit, where.principal, "revoke", thread=thread.id, seals=seals)

    parts.write(where.principal, work)


def approvals(parts: Parts, where: Where, current: object = None) -> list[Checked]:
    """The newest approval of each name with what it is worth now."""

    def work(unit: ThreadUnit) -> list[Checked]:
        thread = find_thread(parts, unit, where.principal, where.label, where.scope)
        state = newest(unit, thread).state
        known = Now(
            parts.now(),
            digests_of(parts, unit, where.principal, thread.id, current),
            revisions=revisions_of(state),
        )
        return [rules.standing(a, known) for a in in_force(unit, thread)]

    return parts.read(where.principal, work)


def in_force(unit: ThreadUnit, thread: Thread) -> list[Approval]:
    """The newest of each name."""
    return list({a.name: a for a in unit.approvals.of(thread.id)}.values())


def digests_of(
    parts: Parts, keys: Digester, principal: Principal, thread: str, current: object
) -> dict[str, str] | None:
    """The things as they are now, as digests approvals can be compared with."""
    if current is None:
        return None
    if not isinstance(current, Mapping):
        raise InvalidInput("current.invalid", "current: a mapping from approvals to things")
    things = {
        check_id(n, name="current"): plain_of(t, "current", WHAT_BYTES_MAX, parts, principal)[0]
        for n, t in current.items()
    }
    return {n: digest_of(keys, thread, t) for n, t in things.items()}


def revisions_of(state: Mapping[str, Any]) -> dict[str, str]:
    """The revisions of artifacts that a state records."""
    found = state.get("artifacts") or ()
    return {a["path"]: a["revision"] for a in found if a.get("revision")}


def _until(value: object, now: datetime) -> datetime | None:
    if value is None:
        return None
    try:
        until = now + value if isinstance(value, timedelta) else as_utc(value, name="until")
    except OverflowError:
        until = now
    if until <= now:
        raise InvalidInput("until.past", "until: an instant that is still to come")
    return until
