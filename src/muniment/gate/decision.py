"""The gate's answer: a value with its reasons, never an exception."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from muniment.gate.candidate import Candidate
from muniment.ids import CandidateId, DecisionId, RecordId
from muniment.records.record import Origin, Status


class Action(StrEnum):
    """What becomes of a candidate."""

    ACTIVATE = "activate"
    HOLD = "hold"
    THREAD_ONLY = "thread_only"
    IGNORE = "ignore"
    REFUSE = "refuse"


class Reconcile(StrEnum):
    """What it does to what is already there."""

    INSERT = "insert"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    DELETE = "delete"
    IGNORE = "ignore"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The pure part of a decision: what `decide` computes before anything is written.

    ``target`` is the record merged into, superseded, muted or asked about; ``status`` that of
    the record to be; ``valid_to`` its end where it enters as history.
    """

    action: Action
    reconcile: Reconcile
    reasons: tuple[str, ...]
    origin: Origin
    sure: bool
    status: Status = Status.ACTIVE
    target: RecordId | None = None
    exception_of: RecordId | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    closes_tombstone: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict that has been committed, with the ids of what it wrote."""

    id: DecisionId
    action: Action
    reconcile: Reconcile
    reasons: tuple[str, ...]
    origin: Origin
    candidate: Candidate
    decided_at: datetime
    candidate_id: CandidateId | None = None
    digest: str | None = None
    record_id: RecordId | None = None
    supersedes: RecordId | None = None
    exception_of: RecordId | None = None
    status: Status | None = None
    expires_at: datetime | None = None
    version: int | None = None
    title: str | None = None
    replayed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain data, in the words of the documentation."""
        c = self.candidate
        return {
            "decision": self.id,
            "action": self.action.value,
            "reconcile": self.reconcile.value,
            "reasons": list(self.reasons),
            "kind": c.kind.value,
            "origin": self.origin.value,
            "subject": c.subject,
            "scope": c.scope.to_dict(),
            "condition": c.condition.to_dict(),
            "predicate": c.predicate,
            "value": c.value,
            "content": c.content,
            "status": self.status.value if self.status else None,
            "record": self.record_id,
            "candidate": self.candidate_id,
            "digest": self.digest,
            "supersedes": self.supersedes,
            "exception_of": self.exception_of,
            "expires_at": self.expires_at.isoformat() if self.expires_at else None,
            "evidence": list(c.evidence),
            "replayed": self.replayed,
        }
