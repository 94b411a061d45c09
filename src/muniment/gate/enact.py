"""Everything a verdict means, written: held, merged, inserted, superseded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from muniment.events.event import Event, EventKind
from muniment.gate.candidate import Candidate, CandidateStatus, Held, Intent
from muniment.gate.decision import Action, Decision, Reconcile, Verdict
from muniment.gate.keys import (
    candidate_digest,
    held_key,
    source_key,
    title_digest,
    tombstone_digests,
)
from muniment.gate.policy import Policy, Switches
from muniment.gate.rules import Current
from muniment.gate.unit import Unit
from muniment.ids import CandidateId, DecisionId, Ids, RecordId
from muniment.records.facts import Predicate
from muniment.records.record import Record, Status
from muniment.records.table import Edge, Keys
from muniment.scope import Principal


@dataclass(frozen=True, slots=True)
class Settling:
    """What stays the same for all candidates of one call."""

    unit: Unit
    principal: Principal
    policy: Policy
    ids: Ids
    now: datetime
    switches: Switches = field(default_factory=Switches)


def carry_out(
    work: Settling,
    c: Candidate,
    evidence: Sequence[Event],
    verdict: Verdict,
    current: Current,
    candidate_id: CandidateId,
    predicate: Predicate | None,
    keys: Keys,
) -> Decision:
    decision = Decision(
        id=DecisionId(work.ids.new("dec")),
        action=verdict.action,
        reconcile=verdict.reconcile,
        reasons=verdict.reasons,
        origin=verdict.origin,
        candidate=c,
        decided_at=work.now,
        expires_at=verdict.expires_at,
    )
    if verdict.action is Action.HOLD:
        return _hold(work, decision, evidence, verdict, candidate_id, predicate)
    if verdict.action is not Action.ACTIVATE:
        return replace(decision, candidate_id=candidate_id)
    if verdict.closes_tombstone:
        work.unit.tombstones.close(tombstone_digests(work.unit, c, predicate), work.now)
    decision = replace(decision, candidate_id=candidate_id)
    if verdict.reconcile is Reconcile.MERGE:
        return _merge(work, decision, evidence, verdict)
    return _insert(work, decision, evidence, verdict, current, predicate, keys)


def _hold(
    work: Settling,
    decision: Decision,
    evidence: Sequence[Event],
    verdict: Verdict,
    candidate_id: CandidateId,
    predicate: Predicate | None,
) -> Decision:
    c = decision.candidate
    if c.intent is Intent.REVOCATION and verdict.target is not None:
        set_muted(work, verdict.target, True, "revocation")
    held = Held(
        id=candidate_id,
        candidate=c,
        digest=candidate_digest(work.unit, c),
        status=CandidateStatus.HELD,
        reasons=verdict.reasons,
        reconcile=verdict.reconcile.value,
        origin=verdict.origin.value,
        created_at=work.now,
        lapses_at=work.now + work.policy.held_lapse_after,
        target=verdict.target,
    )
    held = work.unit.candidates.hold(
        held,
        owner=work.principal.user,
        dedupe_key=held_key(work.unit, c, predicate, work.principal.user),
        source_key=source_key(work.unit, evidence),
    )
    work.unit.lineage.link(Edge("event", e, "candidate", held.id) for e in c.evidence)
    return replace(
        decision,
        candidate=held.candidate,
        candidate_id=held.id,
        digest=held.digest,
        record_id=verdict.target,
    )


def _merge(
    work: Settling, decision: Decision, evidence: Sequence[Event], verdict: Verdict
) -> Decision:
    assert verdict.target is not None
    record = work.unit.records.get([verdict.target])[0]
    work.unit.lineage.link(
        Edge("event", e, "record", record.id, "evidence") for e in decision.candidate.evidence
    )
    renewed = verdict.expires_at
    if renewed is not None and record.expires_at is not None and renewed > record.expires_at:
        record = replace(record, expires_at=renewed, updated_at=work.now)
        work.unit.records.move(record, "renewed", work.now)
    if record.muted and any(e.live and e.said_at > record.updated_at for e in evidence):
        set_muted(work, record.id, False, "said_again")
    return replace(
        decision,
        record_id=record.id,
        status=record.status,
        version=record.version,
        expires_at=record.expires_at,
    )


def _insert(
    work: Settling,
    decision: Decision,
    evidence: Sequence[Event],
    verdict: Verdict,
    current: Current,
    predicate: Predicate | None,
    keys: Keys,
) -> Decision:
    unit = work.unit
    record = _record(work, decision, evidence, verdict, predicate)
    _make_room(work, record, verdict, current)
    unit.records.insert(record, keys, decision.id)
    edges = [Edge("event", e, "record", record.id, "evidence") for e in record.evidence]
    if decision.candidate_id is not None:
        edges.append(Edge("candidate", decision.candidate_id, "record", record.id))
    if record.supersedes is not None:
        edges.append(Edge("record", record.supersedes, "record", record.id, "superseded_by"))
    unit.lineage.link(edges)
    unit.ledger.reindex("record", [record.id], work.now)
    return replace(
        decision,
        record_id=record.id,
        status=record.status,
        supersedes=record.supersedes,
        exception_of=record.exception_of,
        expires_at=record.expires_at,
        version=1,
        title=title_digest(unit, record),
    )


def _make_room(work: Settling, record: Record, verdict: Verdict, current: Current) -> None:
    """Close what the new record follows, in the same transaction; and what was planned before it
    was said, for the later word counts."""
    for planned in current.timeline:
        later = record.status is not Status.SUPERSEDED and planned.said_at <= record.said_at
        if planned.status is Status.SCHEDULED and record.single and later:
            close_validity(work, planned, planned.valid_from, Status.SUPERSEDED, "overtaken")
    for neighbour in current.timeline:
        if neighbour.id == verdict.target or neighbour.valid_from > record.valid_from:
            continue
        open_there = neighbour.valid_to is None or neighbour.valid_to > record.valid_from
        if record.status is Status.SUPERSEDED and open_there:
            close_validity(work, neighbour, record.valid_from, neighbour.status, "older_statement")
    if verdict.reconcile is Reconcile.SUPERSEDE and verdict.target is not None:
        old = work.unit.records.get([verdict.target])[0]
        status = old.status if record.status is Status.SCHEDULED else Status.SUPERSEDED
        close_validity(work, old, record.valid_from, status, "superseded")


def close_validity(
    work: Settling, record: Record, at: datetime, status: Status, cause: str
) -> None:
    """End a record's validity then."""
    end = max(at, record.valid_from)
    moved = replace(record, valid_to=end, status=status, updated_at=work.now)
    work.unit.records.move(moved, cause, work.now)
    work.unit.ledger.reindex("record", [record.id], work.now)


def set_muted(work: Settling, record_id: RecordId, muted: bool, cause: str) -> None:
    """Stop or resume recalling a record."""
    record = work.unit.records.get([record_id])[0]
    if record.muted != muted:
        work.unit.records.move(replace(record, muted=muted, updated_at=work.now), cause, work.now)


def _record(
    work: Settling,
    decision: Decision,
    evidence: Sequence[Event],
    verdict: Verdict,
    predicate: Predicate | None,
) -> Record:
    c = decision.candidate
    last = max(evidence, key=lambda e: (e.said_at, e.seq))
    confirmed = any(e.kind is EventKind.CONFIRMATION for e in evidence)
    source = {"thread": last.thread, "event": last.id, "seq": last.seq, "kind": last.kind.value}
    source |= {k: v for k in ("path", "url", "name") if (v := getattr(last, k))}
    if c.span is not None:
        source["span"] = list(c.span)
    supersedes = verdict.target if verdict.reconcile is Reconcile.SUPERSEDE else None
    return Record(
        id=RecordId(work.ids.new("rec")),
        tenant=work.unit.tenant,
        subject=c.subject,
        scope=c.scope,
        namespace=c.namespace,
        kind=c.kind,
        content=c.content,
        origin=verdict.origin,
        said_at=c.said_at,
        valid_from=verdict.valid_from or c.said_at,
        valid_to=verdict.valid_to,
        created_at=work.now,
        updated_at=work.now,
        expires_at=verdict.expires_at,
        predicate=c.predicate if predicate else None,
        value=c.value,
        condition=c.condition,
        sure=verdict.sure,
        status=verdict.status,
        single=bool(predicate and predicate.single),
        supersedes=supersedes,
        exception_of=verdict.exception_of,
        sensitivity=c.sensitivity,
        durability=c.durability,
        confirmed=confirmed,
        confidence=c.confidence,
        language=c.language,
        tags=c.tags,
        refresh=c.refresh or (predicate.refresh if predicate else None),
        source=source,
        evidence=tuple(c.evidence),
        candidate=decision.candidate_id,
        writer=c.writer,
        write_reason=c.write_reason,
    )
