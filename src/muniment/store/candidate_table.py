"""The queue of held candidates and the log of decisions on SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, Row, bindparam, func, insert, or_, select, update

from muniment.gate.candidate import CandidateStatus, Held
from muniment.gate.codec import candidate_from_dict, candidate_to_dict
from muniment.gate.decision import Decision
from muniment.ids import CandidateId, RecordId
from muniment.store import schema as s
from muniment.store.run import Prepared
from muniment.store.sql import fixed

_C, _D = s.candidates.c, s.decisions.c
_COUNTER = s.candidates.c["count"]  # `.count` is a method of every row and column set
_TENANT: BindParameter[str] = bindparam("tenant")
_HELD = fixed(CandidateStatus.HELD.value)

_GET = select(s.candidates).where(
    _C.tenant_id == _TENANT, _C.id == bindparam("candidate"), _C.status == _HELD
)
_TWIN = select(s.candidates).where(
    _C.tenant_id == _TENANT, _C.dedupe_key == bindparam("key"), _C.status == _HELD
)
_COUNT = select(func.count()).where(
    _C.tenant_id == _TENANT,
    _C.status == _HELD,
    _C.source_key == bindparam("source"),
    _C.lapses_at > bindparam("now", type_=s.Instant()),
)
_INSERT, _DECIDE = insert(s.candidates), Prepared(insert(s.decisions))
_AGAIN = (
    update(s.candidates)
    .where(_C.tenant_id == _TENANT, _C.id == bindparam("candidate"))
    .values(count=_COUNTER + 1)
)


class SqlCandidateTable:
    """`muniment.gate.unit.CandidateTable` over one connection."""

    def __init__(self, conn: Connection, tenant: str) -> None:
        self._conn, self._tenant = conn, tenant

    def hold(self, held: Held, *, owner: str | None, dedupe_key: str, source_key: str) -> Held:
        row = self._conn.execute(_TWIN, {"tenant": self._tenant, "key": dedupe_key}).first()
        if row is not None and row.lapses_at > held.created_at:
            return self._again(_held_of(row), held)
        if row is not None:
            self.close(CandidateId(row.id), CandidateStatus.LAPSED)
        self._conn.execute(
            _INSERT,
            {
                "tenant_id": self._tenant,
                "id": held.id,
                "status": held.status.value,
                "owner": owner,
                "subject": held.candidate.subject,
                "scope_key": held.candidate.scope.key,
                "dedupe_key": dedupe_key,
                "source_key": source_key,
                "digest": held.digest,
                "data": candidate_to_dict(held.candidate),
                "origin": held.origin,
                "reconcile": held.reconcile,
                "reasons": list(held.reasons),
                "target": held.target,
                "count": 1,
                "created_at": held.created_at,
                "lapses_at": held.lapses_at,
            },
        )
        return held

    def _again(self, waiting: Held, new: Held) -> Held:
        """Count it onto what waits; other words replace what was shown."""
        self._conn.execute(_AGAIN, {"tenant": self._tenant, "candidate": waiting.id})
        waiting = replace(waiting, count=waiting.count + 1)
        old, now = waiting.candidate, new.candidate
        if (old.content, old.value) != (now.content, now.value):
            waiting = replace(waiting, candidate=now, digest=new.digest)
            self.replace(waiting)
        return waiting

    def get(self, candidate_id: CandidateId) -> Held | None:
        params = {"tenant": self._tenant, "candidate": candidate_id}
        row = self._conn.execute(_GET, params).first()
        return None if row is None else _held_of(row)

    def replace(self, held: Held) -> None:
        self._conn.execute(
            update(s.candidates)
            .where(_C.tenant_id == self._tenant, _C.id == held.id)
            .values(digest=held.digest, data=candidate_to_dict(held.candidate))
        )

    def close(self, candidate_id: CandidateId, status: CandidateStatus) -> None:
        self._conn.execute(
            update(s.candidates)
            .where(_C.tenant_id == self._tenant, _C.id == candidate_id)
            .values(status=status.value, data=None, subject="", source_key="")
        )

    def waiting(
        self, *, owner: str | None, scope_keys: Sequence[str] | None, now: datetime, limit: int
    ) -> list[Held]:
        query = select(s.candidates).where(
            _C.tenant_id == self._tenant, _C.status == _HELD, _C.lapses_at > now
        )
        if scope_keys is not None:
            mine = _C.owner == owner if owner is not None else _C.owner.is_(None)
            query = query.where(or_(mine, _C.scope_key.in_(list(scope_keys))))
        rows = self._conn.execute(query.order_by(_C.created_at, _C.id).limit(limit))
        return [_held_of(row) for row in rows]

    def scope_keys(self) -> list[str]:
        query = select(_C.scope_key).where(_C.tenant_id == self._tenant, _C.status == _HELD)
        return list(self._conn.execute(query.distinct()).scalars())

    def count_from(self, source_key: str, now: datetime) -> int:
        params = {"tenant": self._tenant, "source": source_key, "now": now}
        return int(self._conn.execute(_COUNT, params).scalar_one())

    def lapse(self, now: datetime) -> list[CandidateId]:
        due = (_C.tenant_id == self._tenant) & (_C.status == _HELD) & (_C.lapses_at <= now)
        ids = list(self._conn.execute(select(_C.id).where(due)).scalars())
        for candidate_id in ids:
            self.close(candidate_id, CandidateStatus.LAPSED)
        return [CandidateId(i) for i in ids]

    def decide(self, decision: Decision, policy_version: str) -> None:
        _DECIDE.run(
            self._conn,
            {
                "tenant_id": self._tenant,
                "id": decision.id,
                "candidate_id": decision.candidate_id,
                "action": decision.action.value,
                "reconcile": decision.reconcile.value,
                "reasons": list(decision.reasons),
                "origin": decision.origin.value,
                "record_id": decision.record_id,
                "decided_at": decision.decided_at,
                "policy_version": policy_version,
                "writer": decision.candidate.writer,
                "write_reason": _closed(decision.candidate.write_reason),
            },
        )

    def decisions_about(self, record_id: RecordId) -> list[Mapping[str, Any]]:
        query = (
            select(s.decisions)
            .where(_D.tenant_id == self._tenant, _D.record_id == record_id)
            .order_by(_D.id)
        )
        return [dict(row) for row in self._conn.execute(query).mappings()]


_WRITE_REASONS = ("explicit", "proposed", "confirmed", "revision", "imported", "file")


def _closed(write_reason: str) -> str:
    """Decisions outlive an erasure, so they keep no words of anybody's: those are with the
    record."""
    return write_reason if write_reason in _WRITE_REASONS else "stated"


def _held_of(row: Row[Any]) -> Held:
    return Held(
        id=CandidateId(row.id),
        candidate=candidate_from_dict(row.data),
        digest=row.digest,
        status=CandidateStatus(row.status),
        reasons=tuple(row.reasons),
        reconcile=row.reconcile,
        origin=row.origin,
        created_at=row.created_at,
        lapses_at=row.lapses_at,
        count=row._mapping["count"],
        target=RecordId(row.target) if row.target else None,
        extra={"owner": row.owner},
    )
