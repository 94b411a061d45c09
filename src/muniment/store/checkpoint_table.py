"""Checkpoints, newest states, blobs and the marks of threads on SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Text,
    bindparam,
    case,
    cast,
    delete,
    insert,
    or_,
    select,
    type_coerce,
    update,
)

from muniment.events.log import Thread
from muniment.ids import ThreadId
from muniment.store import schema as s
from muniment.store.backend import RaceLost
from muniment.store.event_table import thread_of
from muniment.store.run import Prepared
from muniment.store.sql import among, chunks, escaped, insert_ignore, prepared_upsert
from muniment.threads.checkpoint import CheckpointInfo, Section

_K, _H, _T = s.checkpoints.c, s.thread_state.c, s.threads.c
_B, _U = s.blobs.c, s.blob_uses.c
_TENANT: BindParameter[str] = bindparam("tenant")
_THREAD: BindParameter[str] = bindparam("thread")

_MINE = (_H.tenant_id == _TENANT, _H.thread_id == _THREAD)
_ALL = Prepared(
    select(_H.section, _H.digest, _H.size, type_coerce(_H.data, Text).label("data")).where(*_MINE)
)
_SOME = Prepared(
    select(
        _H.section,
        _H.digest,
        _H.size,
        case((among(_H.section, "wanted"), type_coerce(_H.data, Text))).label("data"),
    ).where(*_MINE)
)
_DROP = Prepared(delete(s.thread_state).where(*_MINE, among(_H.section, "gone")))
_INSERT = Prepared(insert(s.checkpoints))
_FORWARD = Prepared(
    update(s.threads)
    .where(_T.tenant_id == _TENANT, _T.id == _THREAD, _T.version == bindparam("before"))
    .values(version=bindparam("to"))
)
_OF = (_K.tenant_id == _TENANT, _K.thread_id == _THREAD)
_STEP = Prepared(select(s.checkpoints).where(*_OF, _K.version == bindparam("at_version")))
_UP_TO = Prepared(
    select(s.checkpoints).where(*_OF, _K.version <= bindparam("last")).order_by(_K.version)
)
_WHOLE = Prepared(
    select(_K.version)
    .where(*_OF, _K.version <= bindparam("last"), _K.whole.is_(True))
    .order_by(_K.version.desc())
    .limit(1)
)
_SINCE = Prepared(
    select(s.checkpoints)
    .where(*_OF, _K.version.between(bindparam("first"), bindparam("last")))
    .order_by(_K.version)
)
_OUTLINE = Prepared(
    select(*(c for c in s.checkpoints.c if c.name != "data"))
    .where(*_OF, _K.version < bindparam("before"))
    .order_by(_K.version.desc())
    .limit(bindparam("most"))
)
_NEWEST = 2**31 - 1


class SqlCheckpointTable:
    """`muniment.threads.ports.CheckpointTable` over one connection."""

    def __init__(self, conn: Connection, tenant: str, dialect: str) -> None:
        self._conn, self._tenant = conn, tenant
        self._set = prepared_upsert(dialect, s.thread_state, "digest", "size", "data")

    def sections(self, thread: ThreadId, wanted: Iterable[str] | None = None) -> list[Section]:
        params = {"tenant": self._tenant, "thread": thread}
        if wanted is None:
            rows = _ALL.all(self._conn, params)
        else:
            rows = _SOME.all(self._conn, params | {"wanted": list(wanted)})
        return [Section(*row) for row in rows]

    def put(
        self, thread: Thread, step: CheckpointInfo, changed: Sequence[Section], gone: Sequence[str]
    ) -> None:
        params = {"tenant": self._tenant, "thread": thread.id}
        before = step.version - 1
        if _FORWARD.run(self._conn, {**params, "before": before, "to": step.version}) != 1:
            raise RaceLost("the thread is at another version")
        _INSERT.run(self._conn, self._row(thread.id, step))
        if changed:
            self._set.run(self._conn, *(self._section(thread.id, c) for c in changed))
        if gone:
            _DROP.run(self._conn, {**params, "gone": list(gone)})

    def replace(
        self, thread: ThreadId, steps: Sequence[CheckpointInfo], state: Sequence[Section]
    ) -> None:
        self.clear([thread])
        if steps:
            _INSERT.run(self._conn, *(self._row(thread, step) for step in steps))
        if state:
            self._set.run(self._conn, *(self._section(thread, c) for c in state))
        version = steps[-1].version if steps else 0
        self._conn.execute(
            update(s.threads)
            .where(_T.tenant_id == self._tenant, _T.id == thread)
            .values(version=version)
        )

    def step(self, thread: ThreadId, version: int) -> CheckpointInfo | None:
        params = {"tenant": self._tenant, "thread": thread, "at_version": version}
        row = _STEP.first(self._conn, params)
        return None if row is None else _step_of(row)

    def steps(self, thread: ThreadId, through: int | None = None) -> list[CheckpointInfo]:
        params = {"tenant": self._tenant, "thread": thread}
        if through is None:
            return [_step_of(r) for r in _UP_TO.all(self._conn, params | {"last": _NEWEST})]
        whole = _WHOLE.first(self._conn, params | {"last": through})
        first = whole.version if whole is not None else 1
        asked = params | {"first": first, "last": through}
        return [_step_of(row) for row in _SINCE.all(self._conn, asked)]

    def outline(
        self, thread: ThreadId, limit: int, before: int | None = None
    ) -> list[CheckpointInfo]:
        params = {"tenant": self._tenant, "thread": thread, "most": limit}
        rows = _OUTLINE.all(self._conn, params | {"before": before or _NEWEST})
        return [_step_of(row) for row in rows]

    def holding(self, texts: Iterable[str]) -> list[ThreadId]:
        patterns = [f"%{escaped(text)}%" for text in texts]
        found: set[str] = set()
        for part in chunks(patterns, 100):
            has = or_(*(cast(_K.data, Text).like(p, escape="!") for p in part))
            query = select(_K.thread_id).where(_K.tenant_id == self._tenant, has).distinct()
            found.update(self._conn.execute(query).scalars())
        return [ThreadId(t) for t in sorted(found)]

    def clear(self, threads: Sequence[ThreadId]) -> int:
        count = 0
        for part in chunks(threads):
            for table in (s.thread_state, s.checkpoints):
                count = self._conn.execute(
                    delete(table).where(
                        table.c.tenant_id == self._tenant, table.c.thread_id.in_(part)
                    )
                ).rowcount
            self._conn.execute(
                update(s.threads)
                .where(_T.tenant_id == self._tenant, _T.id.in_(part))
                .values(version=0)
            )
        return count

    def _section(self, thread: str, section: Section) -> dict[str, Any]:
        return {
            "tenant_id": self._tenant,
            "thread_id": thread,
            "section": section.name,
            "digest": section.digest,
            "size": section.size,
            "data": s.Encoded(section.data or "null"),
        }

    def _row(self, thread: str, step: CheckpointInfo) -> dict[str, Any]:
        return {
            "tenant_id": self._tenant,
            "thread_id": thread,
            "data": dict(step.data),
            **{n: getattr(step, n) for n in _STEP_FIELDS},
        }


_STEP_FIELDS = (
    *("version", "at", "through", "whole", "digest", "size", "tail"),
    *("format", "parent", "run", "turn", "step"),
)


def _step_of(row: Any) -> CheckpointInfo:
    data = getattr(row, "data", None) or {}
    return CheckpointInfo(data=data, **{n: _bool(n, getattr(row, n)) for n in _STEP_FIELDS})


def _bool(name: str, value: Any) -> Any:
    return bool(value) if name == "whole" else value


class SqlBlobStore:
    """`muniment.threads.ports.BlobStore` over one connection."""

    def __init__(self, conn: Connection, tenant: str, dialect: str) -> None:
        self._conn, self._tenant = conn, tenant
        self._keep = insert_ignore(dialect, s.blobs)
        self._use = insert_ignore(dialect, s.blob_uses)

    def keep(self, digest: str, kind: str, data: bytes, thread: ThreadId, used_in: str) -> None:
        mine = {"tenant_id": self._tenant, "digest": digest}
        self._conn.execute(self._keep, {**mine, "type": kind, "size": len(data), "data": data})
        self._conn.execute(self._use, {**mine, "thread_id": thread, "used_in": used_in})

    def get(self, thread: ThreadId, digest: str) -> tuple[str, bytes] | None:
        used = select(_U.digest).where(
            _U.tenant_id == self._tenant, _U.thread_id == thread, _U.digest == digest
        )
        query = select(_B.type, _B.data).where(
            _B.tenant_id == self._tenant, _B.digest == digest, _B.digest.in_(used)
        )
        row = self._conn.execute(query).first()
        return None if row is None else (row.type, bytes(row.data))

    def holding(self, words: Sequence[str]) -> list[str]:
        sought = [word.encode() for word in words]
        query = select(_B.digest, _B.data).where(_B.tenant_id == self._tenant)
        if not sought:
            return []
        rows = self._conn.execute(query.execution_options(yield_per=1))
        return [r.digest for r in rows if any(word in r.data for word in sought)]

    def use(self, digests: Iterable[str], thread: ThreadId, used_in: str, source: ThreadId) -> None:
        mine = {"tenant_id": self._tenant, "thread_id": thread, "used_in": used_in}
        for part in chunks(digests):
            theirs = select(_U.digest).where(
                _U.tenant_id == self._tenant, _U.thread_id == source, _U.digest.in_(part)
            )
            rows = [
                {**mine, "digest": digest}
                for digest in self._conn.execute(theirs.distinct()).scalars()
            ]
            if rows:
                self._conn.execute(self._use, rows)

    def release(
        self, threads: Sequence[ThreadId], used_in: str | None = None, but: Sequence[str] = ()
    ) -> int:
        ended: set[str] = set()
        for part in chunks(threads):
            mine = [_U.tenant_id == self._tenant, _U.thread_id.in_(part)]
            if used_in is not None:
                mine.append(_U.used_in == used_in)
            if but:
                mine.append(_U.digest.not_in(list(but)))
            ended.update(self._conn.execute(select(_U.digest).where(*mine)).scalars())
            self._conn.execute(delete(s.blob_uses).where(*mine))
        count = 0
        for digests in chunks(sorted(ended)):
            used = select(_U.digest).where(_U.tenant_id == self._tenant, _U.digest.in_(digests))
            gone = delete(s.blobs).where(
                _B.tenant_id == self._tenant, _B.digest.in_(digests), _B.digest.not_in(used)
            )
            count += self._conn.execute(gone).rowcount
        return count


class SqlThreadTable:
    """`muniment.threads.ports.ThreadTable` over one connection."""

    def __init__(self, conn: Connection, tenant: str) -> None:
        self._conn, self._tenant = conn, tenant

    def mine(self, owner: str | None, limit: int) -> list[Thread]:
        query = (
            select(s.threads)
            .where(_T.tenant_id == self._tenant, _owned(owner), _T.deleted_at.is_(None))
            .order_by(_T.created_at.desc(), _T.id.desc())
            .limit(limit)
        )
        return [thread_of(self._tenant, row) for row in self._conn.execute(query)]

    def of(
        self, *, owner: str | None = None, scope_keys: Sequence[str] | None = None
    ) -> list[ThreadId]:
        query = select(_T.id).where(_T.tenant_id == self._tenant)
        if owner is not None:
            query = query.where(_T.owner == owner)
        if scope_keys is not None:
            query = query.where(_T.scope_key.in_(list(scope_keys)))
        return [ThreadId(i) for i in self._conn.execute(query.order_by(_T.id)).scalars()]

    def resumed(self, thread: ThreadId, at: datetime) -> None:
        self._mark([thread], resumed_at=at)

    def delete(self, thread: ThreadId, at: datetime) -> None:
        self._mark([thread], deleted_at=at, label=None)

    def blank(self, threads: Sequence[ThreadId]) -> None:
        self._mark(threads, label=None)

    def _mark(self, threads: Sequence[ThreadId], **values: Any) -> None:
        for part in chunks(threads):
            self._conn.execute(
                update(s.threads)
                .where(_T.tenant_id == self._tenant, _T.id.in_(part))
                .values(**values)
            )


def _owned(owner: str | None) -> Any:
    return _T.owner.is_(None) if owner is None else _T.owner == owner
