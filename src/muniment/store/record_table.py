"""Records, versions and transitions on SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Row,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from muniment.errors import Conflict
from muniment.gate.keys import move_of
from muniment.ids import CandidateId, EventId, RecordId
from muniment.records.condition import Condition
from muniment.records.record import (
    Durability,
    Kind,
    Origin,
    Record,
    Sensitivity,
    Status,
    Transition,
    Version,
)
from muniment.records.table import Filter, Keys, Place
from muniment.scope import stored_scope
from muniment.store import schema as s
from muniment.store.run import Prepared
from muniment.store.sql import among, chunks, fixed

_R, _V, _M = s.records.c, s.versions.c, s.transitions.c
_TENANT: BindParameter[str] = bindparam("tenant")

_INSERT_RECORD, _INSERT_VERSION = Prepared(insert(s.records)), Prepared(insert(s.versions))
_INSERT_MOVE = Prepared(insert(s.transitions))
_JOINED = select(
    s.records, _V.content, _V.value, _V.language, _V.tags, _V.origin.label("words_origin")
).select_from(
    s.records.join(
        s.versions,
        (_V.tenant_id == _R.tenant_id) & (_V.record_id == _R.id) & (_V.version == _R.version),
    )
)
_GET = Prepared(_JOINED.where(_R.tenant_id == _TENANT, among(_R.id, "ids")))
_AT = (
    _R.tenant_id == _TENANT,
    _R.subject == bindparam("at_subject"),
    _R.scope_key == bindparam("at_scope"),
    _R.condition_key == bindparam("at_condition"),
)
_TWINS = Prepared(
    _JOINED.where(*_AT, _R.words_key == bindparam("words"), _R.status == fixed(Status.ACTIVE.value))
)
_HOLDERS = Prepared(_JOINED.where(*_AT, _R.predicate == bindparam("of_predicate")))
_CONDITIONS: Mapping[str, ColumnElement[bool]] = {
    "subject": _R.subject == bindparam("subject"),
    "predicate": _R.predicate == bindparam("predicate"),
    "condition_key": _R.condition_key == bindparam("condition_key"),
    "muted": _R.muted == bindparam("muted"),
    "scope_keys": among(_R.scope_key, "scope_keys"),
    "statuses": among(_R.status, "statuses"),
    "kinds": among(_R.kind, "kinds"),
    "predicates": among(_R.predicate, "predicates"),
    "ids": among(_R.id, "ids"),
    "after": _R.id > bindparam("after"),
    "expiring_before": _R.expires_at <= bindparam("expiring_before"),
}


@cache
def _finding(names: tuple[str, ...]) -> Prepared:
    """The statement for a filter that names these."""
    conditions = [_CONDITIONS[name] for name in names if name != "limit"]
    query = _JOINED.where(_R.tenant_id == _TENANT, *conditions)
    return Prepared(query.order_by(_R.id).limit(bindparam("limit")) if "limit" in names else query)


_EVIDENCE = Prepared(
    select(s.lineage.c.child_id, s.lineage.c.parent_id).where(
        s.lineage.c.tenant_id == _TENANT,
        s.lineage.c.child_kind == fixed("record"),
        among(s.lineage.c.child_id, "ids"),
        s.lineage.c.parent_kind == fixed("event"),
    )
)
_NEXT_MOVE = Prepared(
    select((func.coalesce(func.max(_M.seq), 0) + 1).label("seq")).where(
        _M.tenant_id == _TENANT, _M.record_id == bindparam("record")
    )
)
_MOVE = Prepared(
    update(s.records)
    .where(_R.tenant_id == _TENANT, _R.id == bindparam("record"))
    .values(
        status=bindparam("to_status"),
        muted=bindparam("to_muted"),
        valid_from=bindparam("to_from"),
        valid_to=bindparam("to_to"),
        expires_at=bindparam("to_expiry"),
        updated_at=bindparam("at"),
    )
)
_REVISE = Prepared(
    update(s.records)
    .where(
        _R.tenant_id == _TENANT,
        _R.id == bindparam("record"),
        _R.version == bindparam("expected"),
    )
    .values(
        version=bindparam("expected") + 1,
        content_key=bindparam("to_key"),
        words_key=bindparam("to_words"),
        origin=bindparam("to_origin"),
        writer=bindparam("to_writer"),
        write_reason=bindparam("to_reason"),
        updated_at=bindparam("at"),
    )
)


class SqlRecordTable:
    """`muniment.records.table.RecordTable` over one connection."""

    def __init__(self, conn: Connection, tenant: str, digest: Callable[..., str]) -> None:
        self._conn, self._tenant, self._digest = conn, tenant, digest
        #: Changes of standing made here, for the trail: record/number -> keyed digest.
        self.moves: dict[str, str] = {}

    def insert(self, record: Record, keys: Keys, cause: str) -> None:
        _INSERT_RECORD.run(self._conn, _record_row(record, keys))
        _INSERT_VERSION.run(self._conn, _version_row(record, record.created_at))
        self._moved(_move_row(record, 1, cause, record.created_at))

    def get(self, ids: Iterable[RecordId]) -> list[Record]:
        wanted = list(ids)
        found: dict[str, Record] = {}
        for part in chunks(wanted):
            params = {"tenant": self._tenant, "ids": part}
            evidence: dict[str, list[EventId]] = {}
            for child, parent in _EVIDENCE.all(self._conn, params):
                evidence.setdefault(child, []).append(EventId(parent))
            for row in _GET.all(self._conn, params):
                found[row.id] = _record_of(row, tuple(sorted(evidence.get(row.id, ()))))
        return [found[i] for i in wanted if i in found]

    def bearing(self, place: Place, keys: Keys, predicate: str | None) -> list[Record]:
        params = {
            "tenant": self._tenant,
            "at_subject": place.subject,
            "at_scope": place.scope_key,
            "at_condition": place.condition_key,
        }
        if predicate is not None:
            rows = _HOLDERS.all(self._conn, params | {"of_predicate": predicate})
        else:
            rows = _TWINS.all(self._conn, params | {"words": keys.words})
        return sorted((_record_of(row, ()) for row in rows), key=lambda r: r.id)

    def find(self, where: Filter) -> list[Record]:
        given = {
            f.name: v
            for f in fields(where)
            if f.name != "tag" and (v := getattr(where, f.name)) is not None
        }
        if where.tag is not None:
            given.pop("limit", None)  # tags are compared here
        rows = _finding(tuple(given)).all(self._conn, {"tenant": self._tenant} | given)
        # Sorted here: asked to sort, SQLite walks the whole tenant by id instead.
        found = sorted((_record_of(row, ()) for row in rows), key=lambda r: r.id)
        if where.tag is None:
            return found
        # exact membership, so that `_` and `%` mean themselves
        return [r for r in found if where.tag in r.tags][: where.limit]

    def revise(self, record: Record, keys: Keys) -> None:
        changed = _REVISE.run(
            self._conn,
            {
                "tenant": self._tenant,
                "record": record.id,
                "expected": record.version - 1,
                "to_key": keys.content,
                "to_words": keys.words,
                "to_origin": record.origin.value,
                "to_writer": record.writer,
                "to_reason": record.write_reason,
                "at": record.updated_at,
            },
        )
        if changed != 1:
            raise Conflict(
                "record.stale_version", "the record has changed; read it again, then decide"
            )
        _INSERT_VERSION.run(self._conn, _version_row(record, record.updated_at))

    def move(self, record: Record, cause: str, at: datetime) -> None:
        params = {"tenant": self._tenant, "record": record.id}
        _MOVE.run(
            self._conn,
            {
                **params,
                "to_status": record.status.value,
                "to_muted": record.muted,
                "to_from": record.valid_from,
                "to_to": record.valid_to,
                "to_expiry": record.expires_at,
                "at": at,
            },
        )
        [(seq,)] = _NEXT_MOVE.all(self._conn, params)
        self._moved(_move_row(record, seq, cause, at))

    def _moved(self, row: dict[str, Any]) -> None:
        _INSERT_MOVE.run(self._conn, row)
        self.moves[f"{row['record_id']}/{row['seq']}"] = move_of(self._digest, row)

    def reword(self, record: Record, versions: Sequence[Version]) -> None:
        mine = (_R.tenant_id == self._tenant, _R.id == record.id)
        self._conn.execute(update(s.records).where(*mine).values(source=dict(record.source)))
        for v in versions:
            self._conn.execute(
                update(s.versions)
                .where(
                    _V.tenant_id == self._tenant,
                    _V.record_id == record.id,
                    _V.version == v.version,
                )
                .values(content=v.content, value=v.value, tags=list(v.tags))
            )

    def versions(self, record_id: RecordId) -> list[Version]:
        query = (
            select(s.versions)
            .where(_V.tenant_id == self._tenant, _V.record_id == record_id)
            .order_by(_V.version)
        )
        return [_version_of(row) for row in self._conn.execute(query)]

    def transitions(self, ids: Iterable[RecordId]) -> list[Transition]:
        out = []
        for part in chunks(ids):
            query = (
                select(s.transitions)
                .where(_M.tenant_id == self._tenant, _M.record_id.in_(part))
                .order_by(_M.recorded_at, _M.record_id, _M.seq)
            )
            out += [_transition_of(row) for row in self._conn.execute(query)]
        return out

    def remove(self, ids: Iterable[RecordId]) -> int:
        count = 0
        for part in chunks(ids):
            for table, column in (
                (s.versions, _V.record_id),
                (s.transitions, _M.record_id),
                (s.uses, s.uses.c.record_id),
                (s.records, _R.id),
            ):
                query = delete(table).where(table.c.tenant_id == self._tenant, column.in_(part))
                count += self._conn.execute(query).rowcount if table is s.records else 0
                if table is not s.records:
                    self._conn.execute(query)
        return count


_ALWAYS = Condition()


def _record_row(r: Record, keys: Keys) -> dict[str, Any]:
    return {
        "tenant_id": r.tenant,
        "id": r.id,
        "subject": r.subject,
        "scope_key": r.scope.key,
        "scope": r.scope.to_dict(),
        "namespace": r.namespace,
        "kind": r.kind.value,
        "predicate": r.predicate,
        "condition_key": r.condition.key,
        "condition": r.condition.to_dict(),
        "single": r.single,
        "content_key": keys.content,
        "words_key": keys.words,
        "status": r.status.value,
        "muted": r.muted,
        "version": r.version,
        "origin": r.origin.value,
        "sure": r.sure,
        "confirmed": r.confirmed,
        "confidence": r.confidence,
        "sensitivity": r.sensitivity.value,
        "durability": r.durability.value,
        "said_at": r.said_at,
        "valid_from": r.valid_from,
        "valid_to": r.valid_to,
        "expires_at": r.expires_at,
        "created_at": r.created_at,
        "updated_at": r.updated_at,
        "supersedes": r.supersedes,
        "exception_of": r.exception_of,
        "refresh": r.refresh,
        "source": dict(r.source),
        "candidate_id": r.candidate,
        "writer": r.writer,
        "write_reason": r.write_reason,
    }


def _version_row(r: Record, at: datetime) -> dict[str, Any]:
    return {
        "tenant_id": r.tenant,
        "record_id": r.id,
        "version": r.version,
        "content": r.content,
        "value": r.value,
        "sealed": None,
        "origin": r.origin.value,
        "language": r.language,
        "tags": list(r.tags),
        "recorded_at": at,
        "writer": r.writer,
        "write_reason": r.write_reason,
    }


def _move_row(r: Record, seq: int, cause: str, at: datetime) -> dict[str, Any]:
    return {
        "tenant_id": r.tenant,
        "record_id": r.id,
        "seq": seq,
        "status": r.status.value,
        "muted": r.muted,
        "valid_from": r.valid_from,
        "valid_to": r.valid_to,
        "expires_at": r.expires_at,
        "recorded_at": at,
        "cause": cause,
    }


def _record_of(row: Any, evidence: tuple[EventId, ...]) -> Record:
    return Record(
        id=RecordId(row.id),
        tenant=row.tenant_id,
        subject=row.subject,
        scope=stored_scope(tuple(row.scope.items())),
        namespace=row.namespace,
        kind=Kind(row.kind),
        content=row.content,
        origin=Origin(row.origin),
        said_at=row.said_at,
        valid_from=row.valid_from,
        created_at=row.created_at,
        updated_at=row.updated_at,
        predicate=row.predicate,
        value=row.value,
        condition=Condition.of(row.condition) if row.condition else _ALWAYS,
        sure=row.sure,
        status=Status(row.status),
        muted=row.muted,
        valid_to=row.valid_to,
        expires_at=row.expires_at,
        version=row.version,
        single=row.single,
        supersedes=row.supersedes,
        exception_of=row.exception_of,
        sensitivity=Sensitivity(row.sensitivity),
        durability=Durability(row.durability),
        confirmed=row.confirmed,
        confidence=row.confidence,
        language=row.language,
        tags=tuple(row.tags),
        refresh=row.refresh,
        source=row.source,
        evidence=evidence,
        candidate=CandidateId(row.candidate_id) if row.candidate_id else None,
        writer=row.writer,
        write_reason=row.write_reason,
    )


def _version_of(row: Row[Any]) -> Version:
    return Version(
        record=RecordId(row.record_id),
        version=row.version,
        content=row.content,
        value=row.value,
        origin=Origin(row.origin),
        recorded_at=row.recorded_at,
        writer=row.writer,
        write_reason=row.write_reason,
        language=row.language,
        tags=tuple(row.tags),
    )


def _transition_of(row: Row[Any]) -> Transition:
    return Transition(
        record=RecordId(row.record_id),
        seq=row.seq,
        status=Status(row.status),
        muted=row.muted,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        expires_at=row.expires_at,
        recorded_at=row.recorded_at,
        cause=row.cause,
    )
