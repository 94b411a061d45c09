"""What waits, and a person's answers to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from muniment.erase import forget
from muniment.errors import InvalidInput, NotFound, Unavailable
from muniment.events.event import Event
from muniment.events.message import Message, make_event
from muniment.extract import proposal as proposals
from muniment.extract import remember as remembering
from muniment.gate import settle
from muniment.gate.candidate import CandidateStatus, Held
from muniment.gate.decision import Action, Decision, Reconcile
from muniment.gate.keys import candidate_digest
from muniment.gate.unit import Unit
from muniment.ids import CandidateId, DecisionId
from muniment.records.record import Origin, Status
from muniment.scope import Channel, Principal, Scope, permits
from muniment.text import check_id
from muniment.trail.entry import Entry, actor_of
from muniment.verbs.appending import answers_thread, append_one, own_event
from muniment.verbs.parts import Parts
from muniment.verbs.remembering import once


def review(parts: Parts, principal: Principal, *, limit: object) -> list[Held]:
    """What waits for this principal, oldest first; for an admin, for anyone."""

    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 1000:
        raise InvalidInput("limit.invalid", "limit: a whole number from 1 to 1000")

    def work(unit: Unit) -> list[Held]:
        everything = principal.channel is Channel.ADMIN
        keys = None if everything else _decided_here(unit, principal)
        waiting = unit.candidates.waiting(
            owner=principal.user, scope_keys=keys, now=parts.now(), limit=limit
        )
        return [h for h in waiting if everything or remembering.may_see(principal, h)]

    found = parts.read(principal, work)
    if not parts.audit_read(principal, "review", [h.id for h in found]):
        raise Unavailable("audit.unavailable", "the read could not be audited; nothing is shown")
    return found


def _decided_here(unit: Unit, principal: Principal) -> list[str]:
    """Scopes for which this principal decides what waits, whoever proposed it."""
    scopes = [s for s in map(Scope.of_key, unit.candidates.scope_keys()) if permits(principal, s)]
    own = [s for s in scopes if s.user is not None]
    return [s.key for s in own + [s for s in scopes if remembering.may_decide(principal, s)]]


def evidence_of(unit: Unit, held: Held) -> list[Event]:
    """The events a held candidate stands on."""
    return unit.events.get(held.candidate.evidence)


def confirm(
    parts: Parts,
    principal: Principal,
    candidate: str,
    *,
    digest: str | None,
    answer: str | None,
    key: str | None,
) -> Decision:
    """Confirm a waiting candidate exactly as it was shown; the confirmation becomes evidence."""

    def work(unit: Unit) -> list[Decision]:
        def run() -> list[Decision]:
            settling = parts.settling(unit, principal)
            held = remembering.held_for(settling, _candidate_id(candidate), digest)
            if held.lapses_at <= parts.now():
                raise NotFound("candidate.not_found", "no such candidate waits; it has lapsed")
            given = own_event(unit, principal, answer) if answer is not None else None
            remembering.check_may_answer(principal, held, given, parts.policy)
            if held.reconcile == "delete" and held.target is not None:
                return [_confirm_deletion(parts, unit, principal, held)]
            said = _confirmation(parts, unit, principal, held)
            later = parts.settling(unit, principal)  # what it settles was said before its now
            return [remembering.confirm(later, held, said, evidence_of(unit, held))]

        return once(parts, unit, principal, key, "confirm", [candidate, digest, answer], run)

    return parts.write(principal, work, adds=2)[0]


def _confirmation(parts: Parts, unit: Unit, principal: Principal, held: Held) -> Event:
    """The confirmation as an event of its own in the principal's thread of answers."""
    thread = answers_thread(parts, unit, principal)
    event = make_event(
        Message(
            by="confirmation",
            text=held.candidate.content,
            metadata={"candidate": held.id, "digest": held.digest, "answer": "yes"},
        ),
        thread=thread,
        principal=principal,
        digest=unit.digest,
        new_id=lambda: parts.ids.new("evt"),
        now=parts.now(),
    )
    return append_one(parts, unit, principal, thread, event)


def _confirm_deletion(parts: Parts, unit: Unit, principal: Principal, held: Held) -> Decision:
    """A confirmed "forget that": the muted record is deleted."""
    assert held.target is not None
    plan = forget.plan_delete(unit, forget.Target(record=held.target))
    forget.delete(unit, plan, parts.policy.catalogue, "delete", parts.now())
    unit.candidates.close(held.id, CandidateStatus.DECIDED)
    decision = Decision(
        id=DecisionId(parts.ids.new("dec")),
        action=Action.ACTIVATE,
        reconcile=Reconcile.DELETE,
        reasons=("origin.confirmed",),
        origin=Origin.USER_CONFIRMED,
        candidate=held.candidate,
        decided_at=parts.now(),
        candidate_id=held.id,
        record_id=held.target,
        status=Status.DELETED,
    )
    unit.candidates.decide(decision, parts.policy.version)
    told = settle.told(decision, parts.policy.version)
    details = {"records": [held.target], **told}
    unit.trail.append([Entry("delete", decision.decided_at, actor_of(principal), details)])
    return decision


def reject(
    parts: Parts, principal: Principal, candidate: str, *, digest: str | None, answer: str | None
) -> Held:
    """Reject a waiting candidate and keep it from coming back."""

    def work(unit: Unit) -> Held:
        settling = parts.settling(unit, principal)
        held = remembering.held_for(settling, _candidate_id(candidate), digest)
        given = own_event(unit, principal, answer) if answer is not None else None
        remembering.check_may_reject(principal, held, given)
        return remembering.reject(settling, held)

    return parts.write(principal, work)


def _candidate_id(value: object) -> CandidateId:
    return CandidateId(check_id(value, name="candidate"))


def revise_candidate(
    parts: Parts, principal: Principal, candidate: str, changes: Mapping[str, Any]
) -> Held:
    """Edit a held candidate before it is confirmed; its digest changes with it."""

    def work(unit: Unit) -> Held:
        found = unit.candidates.get(_candidate_id(candidate))
        settling = parts.settling(unit, principal)
        held = remembering.held_for(
            settling, _candidate_id(candidate), found.digest if found else ""
        )
        remembering.check_may_edit(principal)
        changed = proposals.edited(held.candidate, changes, parts.policy.catalogue)
        held = replace(held, candidate=changed, digest=candidate_digest(unit, changed))
        unit.candidates.replace(held)
        parts.audit(unit, principal, "revise", candidate=held.id, digest=held.digest)
        return held

    return parts.write(principal, work)
