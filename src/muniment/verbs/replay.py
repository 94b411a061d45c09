"""Decisions as they are kept for replays: ids and codes, never words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muniment.clock import as_utc
from muniment.gate.candidate import Candidate
from muniment.gate.decision import Action, Decision, Reconcile
from muniment.gate.unit import Unit
from muniment.ids import CandidateId, DecisionId, EventId, RecordId
from muniment.records.record import Kind, Origin, Status
from muniment.scope import Scope


def decision_data(decision: Decision) -> dict[str, Any]:
    """What is stored under an idempotency key."""
    return {
        "id": decision.id,
        "action": decision.action.value,
        "reconcile": decision.reconcile.value,
        "reasons": list(decision.reasons),
        "origin": decision.origin.value,
        "kind": decision.candidate.kind.value,
        "scope": decision.candidate.scope.to_dict(),
        "evidence": list(decision.candidate.evidence),
        "decided_at": decision.decided_at.isoformat(),
        "candidate_id": decision.candidate_id,
        "digest": decision.digest,
        "record_id": decision.record_id,
        "supersedes": decision.supersedes,
        "exception_of": decision.exception_of,
        "status": decision.status.value if decision.status else None,
        "expires_at": decision.expires_at.isoformat() if decision.expires_at else None,
        "version": decision.version,
    }


def decision_of(unit: Unit, data: Mapping[str, Any]) -> Decision:
    """The first decision again; its words are read from where they stand, if they still do."""
    d = dict(data)
    return Decision(
        id=DecisionId(d["id"]),
        action=Action(d["action"]),
        reconcile=Reconcile(d["reconcile"]),
        reasons=tuple(d["reasons"]),
        origin=Origin(d["origin"]),
        candidate=_candidate(unit, d),
        decided_at=as_utc(d["decided_at"], name="decided_at"),
        candidate_id=_id(CandidateId, d["candidate_id"]),
        digest=d["digest"],
        record_id=_id(RecordId, d["record_id"]),
        supersedes=_id(RecordId, d["supersedes"]),
        exception_of=_id(RecordId, d["exception_of"]),
        status=Status(d["status"]) if d["status"] else None,
        expires_at=as_utc(d["expires_at"], name="expires_at") if d["expires_at"] else None,
        version=d["version"],
        replayed=True,
    )


def _candidate(unit: Unit, d: Mapping[str, Any]) -> Candidate:
    """From the record it made, or the candidate still held; else without words."""
    held = unit.candidates.get(CandidateId(d["candidate_id"])) if d["candidate_id"] else None
    if held is not None:
        return held.candidate
    found = unit.records.get([RecordId(d["record_id"])]) if d["record_id"] else []
    r = found[0] if found else None
    return Candidate(
        content=(r.content or "") if r else "",
        kind=r.kind if r else Kind(d["kind"]),
        subject=r.subject if r else "",
        scope=r.scope if r else Scope.of(d["scope"]),
        evidence=tuple(EventId(e) for e in d["evidence"]),
        said_at=r.said_at if r else as_utc(d["decided_at"], name="decided_at"),
        predicate=r.predicate if r else None,
        value=r.value if r else None,
    )


def _id(make: Any, value: str | None) -> Any:
    return None if value is None else make(value)
