"""One candidate through the gate and into the store, inside one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from muniment.events.event import Event
from muniment.gate import standing
from muniment.gate.candidate import (
    Candidate,
    CandidateStatus,
    Claim,
    Direction,
    Flag,
    Held,
    Intent,
)
from muniment.gate.decide import decide, limited
from muniment.gate.decision import Action, Decision
from muniment.gate.enact import Settling, carry_out
from muniment.gate.keys import (
    keys_of,
    source_key,
    tombstone_digests,
)
from muniment.gate.polarity import polarity
from muniment.gate.policy import Policy
from muniment.gate.reconcile import same_value
from muniment.gate.rules import Current
from muniment.gate.trust import Source, weakest
from muniment.gate.unit import Unit
from muniment.ids import CandidateId, RecordId
from muniment.records.facts import Predicate
from muniment.records.record import ACTING, Kind, Namespace, Record, Status
from muniment.records.table import Filter, Keys, Place
from muniment.text import tokens
from muniment.trail.entry import Entry, actor_of


def settle(
    work: Settling,
    candidate: Candidate,
    evidence: Sequence[Event],
    *,
    grounded: bool,
    sibling: RecordId | None = None,
    held: Held | None = None,
) -> Decision:
    """Read what bears on it, decide, and write everything the verdict means.

    ``sibling`` is the record an earlier candidate of the same words met; ``held`` the queued
    candidate this settles after a confirmation.
    """
    predicate = work.policy.catalogue.get(candidate.predicate)
    candidate = classed(placed(candidate, evidence, predicate), work.policy)
    keys = keys_of(work.unit, candidate, predicate)
    current = _read_current(work, candidate, keys, predicate, sibling)
    verdict = decide(
        candidate,
        evidence,
        current,
        work.policy,
        channel=work.principal.channel,
        grounded=grounded,
        now=work.now,
    )
    if verdict.action is Action.HOLD and held is None:
        waiting = work.unit.candidates.count_from(source_key(work.unit, evidence), work.now)
        verdict = limited(verdict, waiting, work.policy)
    candidate_id = held.id if held else CandidateId(work.ids.new("cand"))
    decision = carry_out(work, candidate, evidence, verdict, current, candidate_id, predicate, keys)
    if held is not None and decision.action is not Action.HOLD:
        work.unit.candidates.close(held.id, CandidateStatus.DECIDED)
    work.unit.candidates.decide(decision, work.policy.version)
    work.unit.trail.append([_entry(work, decision)])
    return decision


def placed(c: Candidate, evidence: Sequence[Event], predicate: Predicate | None) -> Candidate:
    """In the namespace of its source: what untrusted sources say of the world is `external`, what
    an administrator sets is `policy`, whatever the words look like."""
    source = weakest(evidence, predicate) if evidence else Source.SYSTEM
    if source is Source.UNTRUSTED and c.claim is Claim.WORLD:
        return replace(c, kind=Kind.EXTERNAL, namespace=Namespace.EXTERNAL.value)
    if source is Source.POLICY:
        subject = f"project:{c.scope.project}" if c.scope.project else "tenant"
        scope = c.scope.with_parts(user=None)
        return replace(
            c, kind=Kind.RULE, namespace=Namespace.POLICY.value, subject=subject, scope=scope
        )
    if c.namespace.split("/")[0] == Namespace.POLICY:
        return replace(c, namespace=Namespace.PROJECT.value)
    return c


def classed(c: Candidate, policy: Policy) -> Candidate:
    """With what the policy file finds in the words: its own topics of high impact, on which what
    does not tighten counts as loosening, and statements this product does find worth keeping."""
    if c.kind in ACTING and c.topic is None:
        found = policy.safety.topics(c.content, c.predicate)
        if found:
            tightens = c.direction is Direction.TIGHTENS
            c = replace(c, topic=found[0], direction=c.direction if tightens else Direction.LOOSENS)
    if c.claim is Claim.NOTHING and policy.worth.keeps(c.content, c.predicate):
        return replace(c, claim=Claim.USER, flags=c.flags - {Flag.SMALL_TALK})
    return c


# ---------------------------------------------------------------- reading


def _read_current(
    work: Settling,
    c: Candidate,
    keys: Keys,
    predicate: Predicate | None,
    sibling: RecordId | None,
) -> Current:
    unit = work.unit
    place = Place(c.subject, c.scope.key, c.condition.key)
    name = predicate.name if predicate else None
    near = unit.records.bearing(place, keys, name)
    if standing.due(near, work.now):
        standing.bring_up_to_date(unit, near, work.now)
        near = unit.records.bearing(place, keys, name)
    live = [r for r in near if r.status not in (Status.DELETED, Status.ERASED)]
    active = [r for r in live if r.status is Status.ACTIVE]
    return Current(
        timeline=tuple(r for r in live if predicate and r.predicate == predicate.name),
        twin=next((r for r in active if same_value(c, r, predicate)), None),
        opposite=None if predicate else _opposite(c, active),
        general=_general(unit, c, predicate, sibling),
        revocable=_revocable(unit, c) if c.intent is Intent.REVOCATION else (),
        tombstone_at=unit.tombstones.at(tombstone_digests(unit, c, predicate)),
        switches=work.switches,
    )


def _opposite(c: Candidate, active: Sequence[Record]) -> Record | None:
    """An active record of the same words with the contrary polarity, and nothing vaguer."""
    for record in active:
        bare, negative = polarity(c.content)
        other, other_negative = polarity(record.content or "")
        if record.predicate is None and other == bare and other_negative != negative:
            return record
    return None


def _general(
    unit: Unit, c: Candidate, predicate: Predicate | None, sibling: RecordId | None
) -> Record | None:
    """The rule a conditional candidate stands beside."""
    if c.exception_hint and sibling is not None:
        found = unit.records.get([sibling])
        return found[0] if found else None
    if predicate is None or not c.condition.testable:
        return None
    keys = [c.scope.key, *{c.scope.only(parts).key for parts in (("user",), ("project",))}]
    rows = unit.records.find(
        Filter(
            scope_keys=keys,
            subject=c.subject,
            predicate=predicate.name,
            condition_key="",
            statuses=[Status.ACTIVE],
        )
    )
    return rows[-1] if rows else None


def _revocable(unit: Unit, c: Candidate) -> tuple[Record, ...]:
    """Active records the words can mean: by predicate, else by shared words, newest first."""
    rows = unit.records.find(Filter(subject=c.subject, statuses=[Status.ACTIVE]))
    rows = [r for r in rows if r.scope.user in (None, c.scope.user)]
    if c.predicate is not None:
        rows = [r for r in rows if r.predicate == c.predicate]
    elif c.value is None:  # "that preference": clear only where there is just one
        wishes = [r for r in rows if r.kind is Kind.PREFERENCE]
        rows = wishes if len(wishes) == 1 else []
    else:
        named = set(tokens(str(c.value or c.content)))
        rows = [r for r in rows if named and named <= set(tokens(r.content or ""))]
    exact = [r for r in rows if r.condition.key == c.condition.key and r.scope == c.scope]
    plain = [r for r in rows if r.condition.key == c.condition.key]
    return tuple(reversed(exact or plain or rows))


def _entry(work: Settling, decision: Decision) -> Entry:
    details = told(decision, work.policy.version) | {"title": decision.title}
    return Entry("decide", work.now, actor_of(work.principal), details)


def told(decision: Decision, policy: str) -> dict[str, Any]:
    """A decision in the words of the trail."""
    return {
        "decision": decision.id,
        "candidate": decision.candidate_id,
        "result": decision.action.value,
        "reconcile": decision.reconcile.value,
        "reasons": list(decision.reasons),
        "record": decision.record_id,
        "evidence": list(decision.candidate.evidence),
        "policy": policy,
        "origin": decision.origin.value,
    }
