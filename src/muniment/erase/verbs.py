"""Forgetting as verbs: who may, what it reaches, and the change itself."""

from __future__ import annotations

from dataclasses import replace

from muniment.erase.forget import Plan, Target
from muniment.errors import InvalidInput, NotAllowed, NotFound
from muniment.extract.remember import may_see, may_write
from muniment.gate.unit import Unit
from muniment.ids import EventId, RecordId
from muniment.records.record import Record, Status
from muniment.scope import Channel, Principal, Scope, permits
from muniment.text import check_id

DESTRUCTIVE = frozenset({Channel.USER, Channel.ADMIN})
MUTING = DESTRUCTIVE | {Channel.RUNTIME}


def check_channel(principal: Principal, verb: str) -> None:
    """Whether the channel may forget at all: the runtime only mutes, agents only propose."""
    allowed = MUTING if verb in ("mute", "unmute") else DESTRUCTIVE
    if principal.channel not in allowed:
        raise NotAllowed(
            f"{verb}.channel",
            f"the {principal.channel} channel cannot {verb}; "
            f"use the {' or '.join(sorted(allowed))} channel",
        )


def may_change(principal: Principal, record: Record) -> bool:
    """Own records always; shared ones with the right to write there; admins all."""
    if principal.channel is Channel.ADMIN:
        return True
    if not permits(principal, record.scope):
        return False
    if record.scope.user is not None:
        return record.scope.user == principal.user
    return may_write(principal, record.scope)


def visible(unit: Unit, principal: Principal, record_id: object) -> Record:
    """A record the principal may know of; others' and none at all look the same."""
    wanted = RecordId(check_id(record_id, name="record"))
    found = unit.records.get([wanted])
    admin = principal.channel is Channel.ADMIN
    if (
        not found
        or not (admin or permits(principal, found[0].scope))
        or found[0].status in (Status.DELETED, Status.ERASED)
    ):
        raise NotFound("record.not_found", "no such record")
    return found[0]


def target_of(
    unit: Unit,
    principal: Principal,
    *,
    record: object = None,
    event: object = None,
    subject: object = None,
    scope: object = None,
    match: str = "exact",
) -> Target:
    """Exactly one thing to forget, checked against what the principal may reach."""
    given = [v is not None for v in (record, event, subject, scope)]
    if sum(given) != 1:
        raise InvalidInput("target.one_of", "name exactly one of record, event, subject, scope")
    if match not in ("exact", "within"):
        raise InvalidInput("target.match", "match: use `exact` or `within`")
    if record is not None:
        return Target(record=visible(unit, principal, record).id)
    if event is not None:
        return Target(event=_own_event(unit, principal, event))
    if subject is not None:
        return Target(subject=_own_subject(principal, subject))
    return Target(scope_keys=_own_scopes(unit, principal, Scope.of(scope), match))


def _own_event(unit: Unit, principal: Principal, event: object) -> EventId:
    found = unit.events.get([EventId(check_id(event, name="event"))])
    thread = unit.events.thread(found[0].thread) if found else None
    owner = thread is not None and thread.owner == principal.user
    if not found or not (owner or principal.channel is Channel.ADMIN):
        raise NotFound("event.not_found", "no such event")
    return found[0].id


def _own_subject(principal: Principal, subject: object) -> str:
    name = check_id(subject, name="subject")
    if principal.channel is Channel.ADMIN or name == principal.subject:
        return name
    if name.startswith("user:"):
        raise NotAllowed("subject.not_yours", "only an admin forgets another user")
    return name


def _own_scopes(unit: Unit, principal: Principal, scope: Scope, match: str) -> tuple[str, ...]:
    known = (
        [scope] if match == "exact" else [s for s in unit.scopes(threads=True) if scope.covers(s)]
    )
    admin = principal.channel is Channel.ADMIN
    mine = [s for s in known if admin or permits(principal, s)]
    if match == "exact" and not mine:
        raise NotAllowed("scope.not_member", "the scope is not yours")
    return tuple(s.key for s in mine)


def within_rights(unit: Unit, principal: Principal, plan: Plan, target: Target) -> Plan:
    """The plan without what the principal may not change.

    Naming one record one may not change is an error; in a wider target it is left out.
    """
    if principal.channel is Channel.ADMIN:
        return plan
    mine = tuple(r.id for r in unit.records.get(plan.records) if may_change(principal, r))
    if target.record is not None and target.record not in mine:
        raise NotAllowed("record.not_yours", "changing a shared record needs a role")
    kept = tuple(r.id for r in unit.records.get(plan.kept) if permits(principal, r.scope))
    held = [h for c in plan.candidates if (h := unit.candidates.get(c)) is not None]
    candidates = tuple(h.id for h in held if may_see(principal, h))
    events = tuple(
        e.id
        for e in unit.events.get(plan.events)
        if (thread := unit.events.thread(e.thread)) and thread.owner == principal.user
    )
    return replace(plan, records=mine, kept=kept, candidates=candidates, events=events)
