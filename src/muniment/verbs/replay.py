"""Decisions as they are kept for replays: ids and codes, never the words again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from muniment.clock import as_utc
from muniment.gate.candidate import Candidate
from muniment.gate.codec import candidate_from_dict, candidate_to_dict
from muniment.gate.decision import Action, Decision, Reconcile
from muniment.gate.unit import Unit
from muniment.ids import CandidateId, DecisionId, RecordId
from muniment.records.record import Origin, Status

_WORDS = {"content": "", "value": None}


def decision_data(decision: Decision) -> dict[str, Any]:
    """What is stored under an idempotency key."""
    return {
        "id": decision.id,
        "action": decision.action.value,
        "reconcile": decision.reconcile.value,
        "reasons": list(decision.reasons),
        "origin": decision.origin.value,
        "candidate": {**candidate_to_dict(decision.candidate), **_WORDS},
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
    """The first decision again, its words read from the record it made (if it still stands)."""
    d = dict(data)
    return Decision(
        id=DecisionId(d["id"]),
        action=Action(d["action"]),
        reconcile=Reconcile(d["reconcile"]),
        reasons=tuple(d["reasons"]),
        origin=Origin(d["origin"]),
        candidate=_with_words(unit, candidate_from_dict(d["candidate"]), d["record_id"]),
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


def _with_words(unit: Unit, candidate: Candidate, record_id: str | None) -> Candidate:
    found = unit.records.get([RecordId(record_id)]) if record_id else []
    if not found:
        return candidate
    return replace(candidate, content=found[0].content or "", value=found[0].value)


def _id(make: Any, value: str | None) -> Any:
    return None if value is None else make(value)
