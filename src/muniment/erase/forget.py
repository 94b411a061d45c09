"""The four forgettings inside one transaction: mute, expire, delete, erase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from muniment.erase.reword import reword
from muniment.gate import standing
from muniment.gate.candidate import CandidateStatus
from muniment.gate.keys import tombstone_digests
from muniment.gate.unit import Unit
from muniment.ids import CandidateId, EventId, RecordId
from muniment.records.facts import Catalogue
from muniment.records.record import Record, Status
from muniment.records.table import Filter


@dataclass(frozen=True, slots=True)
class Target:
    """What to forget.  Exactly one of the four is set; ``match`` goes with ``scope_keys``."""

    record: RecordId | None = None
    event: EventId | None = None
    subject: str | None = None
    scope_keys: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a forgetting reaches, found by lineage before anything is touched.

    ``kept`` are records that lose a source and stay with their others; ``events`` lose their
    payload only on erase.
    """

    records: tuple[RecordId, ...] = ()
    kept: tuple[RecordId, ...] = ()
    candidates: tuple[CandidateId, ...] = ()
    events: tuple[EventId, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """How much of each."""
        return {
            "records": len(self.records),
            "kept": len(self.kept),
            "candidates": len(self.candidates),
            "events": len(self.events),
        }


def plan_delete(unit: Unit, target: Target) -> Plan:
    """The records a delete, expire or mute means."""
    records = [r.id for r in _records(unit, target) if r.status is not Status.DELETED]
    candidates = _candidates_of(unit, target, records)
    return Plan(records=tuple(records), candidates=tuple(candidates))


def plan_erase(unit: Unit, target: Target) -> Plan:
    """The closure of an erasure over lineage.

    A record erased takes the words it stands on with it: its evidence is blanked unless another
    record, not being erased, stands on it too.  An event erased takes every record that has no
    other evidence left.  A person erased takes what they said, and the threads they own.
    """
    records: set[RecordId] = set()
    kept: set[RecordId] = set()
    events: set[EventId] = set()
    if target.event is not None:
        events = {target.event}
    else:
        records = {r.id for r in _records(unit, target)}
        records |= _derived(unit, records)
        events = _evidence_only_of(unit, records) | _events_of(unit, target)
    more, kept = _without_evidence(unit, events)
    if target.record is None:
        records |= more
    edges = unit.lineage.children("event", sorted(events))
    candidates = {CandidateId(e.child_id) for e in edges if e.child_kind == "candidate"}
    return Plan(
        records=tuple(sorted(records)),
        kept=tuple(sorted(kept - records)),
        candidates=tuple(sorted(candidates)),
        events=tuple(sorted(events)),
    )


def _events_of(unit: Unit, target: Target) -> set[EventId]:
    """Events a wide target means by itself, whatever became of them."""
    if target.scope_keys is not None:
        return set(unit.events.find(scope_keys=list(target.scope_keys)))
    kind, _, name = (target.subject or "").partition(":")
    if kind != "user":
        return set()
    return set(unit.events.find(user=name)) | set(unit.events.find(owner=name))


def _records(unit: Unit, target: Target) -> list[Record]:
    if target.record is not None:
        return unit.records.get([target.record])
    if target.event is not None:
        records, _ = _by_event(unit, target.event)
        return unit.records.get(sorted(records))
    if target.subject is not None:
        return unit.records.find(Filter(subject=target.subject))
    return unit.records.find(Filter(scope_keys=target.scope_keys))


def _by_event(unit: Unit, event: EventId) -> tuple[set[RecordId], set[RecordId]]:
    gone, kept = _without_evidence(unit, {event})
    return gone, kept


def _without_evidence(unit: Unit, events: set[EventId]) -> tuple[set[RecordId], set[RecordId]]:
    """Records of these events: (with no other evidence, with some)."""
    touched = {
        e.child_id
        for e in unit.lineage.children("event", sorted(events))
        if e.child_kind == "record"
    }
    sources: dict[str, set[str]] = {t: set() for t in touched}
    for edge in unit.lineage.parents("record", sorted(touched)):
        if edge.parent_kind == "event":
            sources[edge.child_id].add(edge.parent_id)
    gone = {RecordId(r) for r, its in sources.items() if its <= set(events)}
    gone |= _derived(unit, gone)
    return gone, {RecordId(r) for r in touched} - gone


def _derived(unit: Unit, records: set[RecordId]) -> set[RecordId]:
    """Records derived from these (not those that merely replaced them)."""
    out: set[RecordId] = set()
    frontier = set(records)
    while frontier:
        edges = unit.lineage.children("record", sorted(frontier))
        frontier = (
            {
                RecordId(e.child_id)
                for e in edges
                if e.child_kind == "record" and e.relation != "superseded_by"
            }
            - out
            - records
        )
        out |= frontier
    return out


def _evidence_only_of(unit: Unit, records: set[RecordId]) -> set[EventId]:
    """Events on which no surviving record stands."""
    evidence = {
        e.parent_id
        for e in unit.lineage.parents("record", sorted(records))
        if e.parent_kind == "event"
    }
    shared = {
        e.parent_id
        for e in unit.lineage.children("event", sorted(evidence))
        if e.child_kind == "record" and e.child_id not in records
    }
    return {EventId(e) for e in evidence - shared}


def _candidates_of(unit: Unit, target: Target, records: Sequence[RecordId]) -> list[CandidateId]:
    """Held candidates that stand on the same evidence, so that a delete leaves none waiting."""
    evidence = {
        e.parent_id for e in unit.lineage.parents("record", records) if e.parent_kind == "event"
    }
    if target.event is not None:
        evidence.add(target.event)
    return [
        CandidateId(e.child_id)
        for e in unit.lineage.children("event", sorted(evidence))
        if e.child_kind == "candidate"
    ]


def mute(unit: Unit, ids: Iterable[RecordId], muted: bool, now: datetime) -> int:
    """Stop (or resume) recalling; how many changed."""
    count = 0
    for record in unit.records.get(ids):
        if record.muted != muted and record.status in (Status.ACTIVE, Status.SCHEDULED):
            moved = replace(record, muted=muted, updated_at=now)
            unit.records.move(moved, "mute" if muted else "unmute", now)
            count += 1
    return count


def expire(unit: Unit, ids: Iterable[RecordId], now: datetime) -> int:
    """End their validity now; they stay for time questions."""
    count = 0
    for record in unit.records.get(ids):
        if record.status in (Status.ACTIVE, Status.SCHEDULED):
            end = now if record.expires_at is None else min(now, record.expires_at)
            moved = replace(
                record,
                status=Status.EXPIRED,
                expires_at=end,
                valid_to=max(end, record.valid_from),
                updated_at=now,
            )
            standing.reopen(unit, record, now)
            unit.records.move(moved, "expire", now)
            unit.ledger.reindex("record", [record.id], now)
            count += 1
    return count


def delete(unit: Unit, plan: Plan, catalogue: Catalogue, reason: str, now: datetime) -> int:
    """Logical: out of every answer, kept for the audit, and not to be learnt again."""
    count = 0
    for record in unit.records.get(plan.records):
        bury(unit, record, catalogue, reason, now)
        standing.reopen(unit, record, now)
        unit.records.move(replace(record, status=Status.DELETED, updated_at=now), "delete", now)
        unit.ledger.reindex("record", [record.id], now)
        count += 1
    for candidate_id in plan.candidates:
        if unit.candidates.get(candidate_id) is not None:
            unit.candidates.close(candidate_id, CandidateStatus.REJECTED)
    return count


def bury(unit: Unit, record: Record, catalogue: Catalogue, reason: str, now: datetime) -> None:
    """Set the tombstones of everything a record ever said, old versions too."""
    predicate = catalogue.get(record.predicate)
    for version in unit.records.versions(record.id):
        state = replace(record, content=version.content, value=version.value)
        unit.tombstones.bury(tombstone_digests(unit, state, predicate), reason, now)


def erase(unit: Unit, plan: Plan, catalogue: Catalogue, now: datetime) -> dict[str, str]:
    """Physical: rows gone, payloads and salts gone, lineage cut, index told.

    Returns the new titles of records that stay with other evidence and lost these words.
    """
    for record in unit.records.get(plan.records):
        bury(unit, record, catalogue, "erase", now)
        standing.reopen(unit, record, now)
    for candidate_id in plan.candidates:
        held = unit.candidates.get(candidate_id)
        if held is not None:
            predicate = catalogue.get(held.candidate.predicate)
            digests = tombstone_digests(unit, held.candidate, predicate)
            unit.tombstones.bury(digests, "erase", now)
            unit.candidates.close(candidate_id, CandidateStatus.REJECTED)
    unit.records.remove(plan.records)
    unit.events.blank(plan.events)
    unit.lineage.cut("record", plan.records)
    unit.lineage.cut("event", plan.events)
    unit.lineage.cut("candidate", plan.candidates)
    titles: dict[str, str] = {}
    for record in unit.records.get(plan.kept):
        titles |= reword(unit, record, catalogue, now)
    unit.ledger.reindex("record", (*plan.records, *plan.kept), now)
    unit.ledger.reindex("event", plan.events, now)
    return titles
