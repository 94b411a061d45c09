"""Lineage, tombstones, settings, idempotency, outbox and uses on SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from muniment.errors import Conflict
from muniment.ids import Ids, RecordId
from muniment.records.table import Edge
from muniment.store import schema as s
from muniment.store.run import Prepared
from muniment.store.sql import (
    among,
    chunks,
    fixed,
    insert_ignore,
    prepared_insert,
    prepared_upsert,
    upsert,
)

_L, _B, _S, _I, _O, _U = (
    s.lineage.c,
    s.tombstones.c,
    s.settings.c,
    s.idempotency.c,
    s.outbox.c,
    s.uses.c,
)
_TENANT: BindParameter[str] = bindparam("tenant")
_BURIED = Prepared(
    select(_B.at).where(
        _B.tenant_id == _TENANT, _B.digest == bindparam("of_digest"), _B.closed_at.is_(None)
    )
)
_SETTINGS = select(_S.data, _S.version).where(
    _S.tenant_id == _TENANT, _S.owner == bindparam("owner")
)
_SWITCHES = Prepared(
    select(_S.data).where(
        _S.tenant_id == _TENANT, or_(_S.owner == "", _S.owner == bindparam("owner"))
    )
)
_REPLAY = Prepared(select(s.idempotency).where(_I.tenant_id == _TENANT, _I.key == bindparam("key")))
_WAITING = Prepared(
    select(_O.id, _O.target_kind, _O.target_id)
    .where(_O.tenant_id == _TENANT)
    .order_by(_O.id)
    .limit(bindparam("limit"))
)
_QUEUE = Prepared(insert(s.outbox))
_DONE = Prepared(delete(s.outbox).where(_O.tenant_id == _TENANT, among(_O.id, "ids")))
_CITED = Prepared(
    select(_U.record_id, func.count().label("times"))
    .where(_U.tenant_id == _TENANT, among(_U.record_id, "ids"), _U.use == fixed("cited"))
    .group_by(_U.record_id)
)


class SqlLineage:
    """`muniment.gate.unit.Lineage` over one connection."""

    def __init__(self, conn: Connection, tenant: str, dialect: str) -> None:
        self._conn, self._tenant = conn, tenant
        self._link = prepared_insert(dialect, s.lineage)

    def link(self, edges: Iterable[Edge]) -> None:
        rows = [
            {
                "tenant_id": self._tenant,
                "parent_kind": e.parent_kind,
                "parent_id": e.parent_id,
                "child_kind": e.child_kind,
                "child_id": e.child_id,
                "relation": e.relation,
            }
            for e in edges
        ]
        if rows:
            self._link.run(self._conn, *rows)

    def children(self, kind: str, ids: Iterable[str]) -> list[Edge]:
        return self._edges(_L.parent_kind == kind, _L.parent_id, ids)

    def parents(self, kind: str, ids: Iterable[str]) -> list[Edge]:
        return self._edges(_L.child_kind == kind, _L.child_id, ids)

    def cut(self, kind: str, ids: Iterable[str]) -> int:
        count = 0
        for part in chunks(ids):
            for end, column in ((_L.parent_kind, _L.parent_id), (_L.child_kind, _L.child_id)):
                query = delete(s.lineage).where(
                    _L.tenant_id == self._tenant, end == kind, column.in_(part)
                )
                count += self._conn.execute(query).rowcount
        return count

    def _edges(self, kind: Any, column: Any, ids: Iterable[str]) -> list[Edge]:
        out = []
        for part in chunks(ids):
            query = select(s.lineage).where(_L.tenant_id == self._tenant, kind, column.in_(part))
            out += [
                Edge(r.parent_kind, r.parent_id, r.child_kind, r.child_id, r.relation)
                for r in self._conn.execute(query)
            ]
        return out


class SqlTombstones:
    """`muniment.gate.unit.Tombstones` over one connection."""

    def __init__(self, conn: Connection, tenant: str, dialect: str) -> None:
        self._conn, self._tenant = conn, tenant
        self._bury = upsert(dialect, s.tombstones, "reason", "at", "closed_at")

    def bury(self, digests: Iterable[str], reason: str, at: datetime) -> None:
        rows = [
            {
                "tenant_id": self._tenant,
                "digest": d,
                "reason": reason,
                "at": at,
                "closed_at": None,
            }
            for d in digests
        ]
        if rows:
            self._conn.execute(self._bury, rows)

    def at(self, digests: Iterable[str]) -> datetime | None:
        params = [{"tenant": self._tenant, "of_digest": d} for d in digests]
        rows = [row for p in params if (row := _BURIED.first(self._conn, p)) is not None]
        return max((row.at for row in rows), default=None)

    def close(self, digests: Iterable[str], at: datetime) -> None:
        self._conn.execute(
            update(s.tombstones)
            .where(_B.tenant_id == self._tenant, _B.digest.in_(list(digests)))
            .values(closed_at=at)
        )


class SqlLedger:
    """`muniment.gate.unit.Ledger` over one connection."""

    def __init__(self, conn: Connection, tenant: str, dialect: str, ids: Ids) -> None:
        self._conn, self._tenant, self._ids = conn, tenant, ids
        self._use = insert_ignore(dialect, s.uses)
        self._answer = insert_ignore(dialect, s.idempotency)
        self._due = prepared_upsert(dialect, s.tenant_work, "due_at")
        self._outbox: dict[tuple[str, str], datetime] = {}

    def settings(self, owner: str) -> tuple[dict[str, Any], int]:
        params = {"tenant": self._tenant, "owner": owner}
        row = self._conn.execute(_SETTINGS, params).first()
        return ({}, 0) if row is None else (row.data, row.version)

    def switches(self, owner: str) -> list[dict[str, Any]]:
        rows = _SWITCHES.all(self._conn, {"tenant": self._tenant, "owner": owner})
        return [row.data for row in rows]

    def save_settings(
        self, owner: str, data: Mapping[str, Any], version: int, at: datetime
    ) -> None:
        values = {"data": dict(data), "version": version + 1, "updated_at": at}
        if version == 0:
            row = {"tenant_id": self._tenant, "owner": owner, **values}
            self._conn.execute(insert(s.settings), row)
            return
        query = (
            update(s.settings)
            .where(_S.tenant_id == self._tenant, _S.owner == owner, _S.version == version)
            .values(**values)
        )
        if self._conn.execute(query).rowcount != 1:
            raise Conflict("settings.stale_version", "the settings have changed; read them again")

    def replayed(self, key: str, verb: str, request: str) -> Any | None:
        row = _REPLAY.first(self._conn, {"tenant": self._tenant, "key": key})
        if row is None:
            return None
        if (row.verb, row.request) != (verb, request):
            raise Conflict(
                "idempotency.reused", "that key has answered another call; use a new key"
            )
        return row.result

    def remember_answer(self, key: str, verb: str, request: str, result: Any, at: datetime) -> None:
        self._conn.execute(
            self._answer,
            {
                "tenant_id": self._tenant,
                "key": key,
                "verb": verb,
                "request": request,
                "result": result,
                "at": at,
            },
        )

    def forget_answers(self, before: datetime) -> int:
        query = delete(s.idempotency).where(_I.tenant_id == self._tenant, _I.at < before)
        return self._conn.execute(query).rowcount

    def reindex(self, kind: str, ids: Iterable[str], at: datetime) -> None:
        self._outbox.update(dict.fromkeys(((kind, i) for i in ids), at))

    def flush(self) -> None:
        """Write the outbox rows of the transaction; called before it commits."""
        if not self._outbox:
            return
        rows = [
            {
                "tenant_id": self._tenant,
                "id": self._ids.new("out"),
                "target_kind": kind,
                "target_id": target,
                "at": at,
            }
            for (kind, target), at in self._outbox.items()
        ]
        _QUEUE.run(self._conn, *rows)
        self._due.run(self._conn, {"tenant_id": self._tenant, "due_at": rows[-1]["at"]})
        self._outbox = {}

    def waiting(self, limit: int) -> list[tuple[str, str, str]]:
        params = {"tenant": self._tenant, "limit": limit}
        return [tuple(row) for row in _WAITING.all(self._conn, params)]

    def done(self, ids: Iterable[str]) -> None:
        for part in chunks(ids):
            _DONE.run(self._conn, {"tenant": self._tenant, "ids": part})

    def used(
        self, turn: str, use: str, records: Iterable[tuple[RecordId, int]], at: datetime
    ) -> None:
        rows = [
            {
                "tenant_id": self._tenant,
                "turn": turn,
                "record_id": record,
                "use": use,
                "version": version,
                "at": at,
            }
            for record, version in records
        ]
        if rows:
            self._conn.execute(self._use, rows)

    def use_counts(self, ids: Iterable[RecordId]) -> Mapping[RecordId, int]:
        counts: dict[RecordId, int] = {}
        for part in chunks(ids):
            for record, n in _CITED.all(self._conn, {"tenant": self._tenant, "ids": part}):
                counts[RecordId(record)] = n
        return counts


_X = s.erasures.c


class SqlErasures:
    """`muniment.gate.unit.Erasures` over one connection."""

    def __init__(self, conn: Connection, tenant: str) -> None:
        self._conn, self._tenant = conn, tenant

    def begin(self, erasure: str, report: Mapping[str, int], at: datetime) -> None:
        self._conn.execute(
            insert(s.erasures),
            {
                "tenant_id": self._tenant,
                "id": erasure,
                "state": "removed",
                "report": dict(report),
                "started_at": at,
            },
        )

    def finish(self, erasure: str, at: datetime) -> None:
        self._conn.execute(
            update(s.erasures)
            .where(_X.tenant_id == self._tenant, _X.id == erasure)
            .values(state="scrubbed", finished_at=at)
        )

    def unfinished(self) -> list[str]:
        query = select(_X.id).where(_X.tenant_id == self._tenant, _X.state != "scrubbed")
        return list(self._conn.execute(query).scalars())
