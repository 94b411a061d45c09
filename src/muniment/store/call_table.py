"""Calls of tools and approvals on SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Text,
    bindparam,
    delete,
    literal_column,
    or_,
    select,
    type_coerce,
    update,
)

from muniment.ids import ThreadId
from muniment.store import schema as s
from muniment.store.run import Prepared
from muniment.store.sql import chunks, escaped, prepared_insert, prepared_upsert
from muniment.threads.approvals import Approval
from muniment.threads.ledger import CallStatus, ToolCall

_C, _A = s.tool_calls.c, s.approvals.c
_TENANT: BindParameter[str] = bindparam("tenant")
_THREAD: BindParameter[str] = bindparam("thread")
_CALLS = (_C.tenant_id == _TENANT, _C.thread_id == _THREAD)
_CALL = Prepared(select(s.tool_calls).where(*_CALLS, _C.key == bindparam("of_key")))
_OPEN = Prepared(
    select(s.tool_calls)
    .where(*_CALLS, _C.status == literal_column("'begun'"))
    .order_by(_C.begun_at, _C.key)
)
_ALL = Prepared(
    select(s.tool_calls)
    .where(*_CALLS)
    .order_by(_C.begun_at.desc(), _C.key.desc())
    .limit(bindparam("most"))
)
_FIELDS = tuple(c.name for c in s.tool_calls.c if c.name not in ("tenant_id", "thread_id"))
_GIVEN = Prepared(
    select(s.approvals)
    .where(_A.tenant_id == _TENANT, _A.thread_id == _THREAD)
    .order_by(_A.granted_at, _A.event_id)
)
_GRANT = tuple(c.name for c in s.approvals.c if c.name not in ("tenant_id", "thread_id"))


class SqlCallTable:
    """`muniment.threads.ports.CallTable` over one connection."""

    def __init__(self, conn: Connection, tenant: str, dialect: str) -> None:
        self._conn, self._tenant = conn, tenant
        changed = (f for f in _FIELDS if f != "key")
        self._put = prepared_upsert(dialect, s.tool_calls, *changed)

    def get(self, thread: ThreadId, key: str) -> ToolCall | None:
        params = {"tenant": self._tenant, "thread": thread, "of_key": key}
        row = _CALL.first(self._conn, params)
        return None if row is None else call_of(row)

    def put(self, call: ToolCall) -> None:
        fields = {name: getattr(call, name) for name in _FIELDS}
        row = {"tenant_id": self._tenant, "thread_id": call.thread, **fields}
        self._put.run(self._conn, {**row, "status": call.status.value})

    def begun(self, thread: ThreadId) -> list[ToolCall]:
        params = {"tenant": self._tenant, "thread": thread}
        return [call_of(row) for row in _OPEN.all(self._conn, params)]

    def of(self, thread: ThreadId, limit: int) -> list[ToolCall]:
        params = {"tenant": self._tenant, "thread": thread, "most": limit}
        return [call_of(row) for row in reversed(_ALL.all(self._conn, params))]

    def telling(self, words: Sequence[str]) -> list[ToolCall]:
        found = []
        for which in _quoting(words, _C.result, _C.error, _C.observe):
            query = select(s.tool_calls).where(_C.tenant_id == self._tenant, which)
            found += [call_of(row) for row in self._conn.execute(query)]
        return found

    def clear(self, threads: Sequence[ThreadId]) -> int:
        return _clear(self._conn, self._tenant, s.tool_calls, threads)


class SqlApprovalTable:
    """`muniment.threads.ports.ApprovalTable` over one connection."""

    def __init__(self, conn: Connection, tenant: str, dialect: str) -> None:
        self._conn, self._tenant = conn, tenant
        self._add = prepared_insert(dialect, s.approvals)

    def of(self, thread: ThreadId) -> list[Approval]:
        params = {"tenant": self._tenant, "thread": thread}
        return [approval_of(row) for row in _GIVEN.all(self._conn, params)]

    def add(self, approval: Approval) -> None:
        fields = {name: getattr(approval, name) for name in _GRANT}
        row = {"tenant_id": self._tenant, "thread_id": approval.thread, **fields}
        self._add.run(self._conn, row)

    def revoke(self, thread: ThreadId, name: str, at: datetime) -> int:
        mine = (_A.tenant_id == self._tenant, _A.thread_id == thread, _A.name == name)
        query = update(s.approvals).where(*mine, _A.revoked_at.is_(None)).values(revoked_at=at)
        return self._conn.execute(query).rowcount

    def telling(self, events: Sequence[str], words: Sequence[str]) -> list[Approval]:
        found: dict[str, Approval] = {}
        cited = [or_(_A.event_id.in_(p), _A.answer_id.in_(p)) for p in chunks(events)]
        for which in (*cited, *_quoting(words, _A.what, _A.name)):
            query = select(s.approvals).where(_A.tenant_id == self._tenant, which)
            found |= {row.event_id: approval_of(row) for row in self._conn.execute(query)}
        return list(found.values())

    def remove(self, approvals: Sequence[Approval]) -> None:
        for a in approvals:
            mine = (_A.tenant_id == self._tenant, _A.thread_id == a.thread)
            query = delete(s.approvals).where(*mine, _A.event_id == a.event_id)
            self._conn.execute(query)

    def clear(self, threads: Sequence[ThreadId]) -> int:
        return _clear(self._conn, self._tenant, s.approvals, threads)


def _quoting(words: Sequence[str], *columns: Any) -> Iterator[Any]:
    """Conditions: one of the words stands in one of the columns."""
    for part in chunks((f"%{escaped(word)}%" for word in words), 100):
        texts = [type_coerce(column, Text) for column in columns]
        yield or_(*(text.like(pattern, escape="!") for text in texts for pattern in part))


def _clear(conn: Connection, tenant: str, table: Any, threads: Sequence[ThreadId]) -> int:
    count = 0
    for part in chunks(threads):
        mine = (table.c.tenant_id == tenant, table.c.thread_id.in_(part))
        count += conn.execute(delete(table).where(*mine)).rowcount
    return count


def call_of(row: Any) -> ToolCall:
    """A call from its row."""
    fields = {name: getattr(row, name) for name in _FIELDS}
    return ToolCall(thread=row.thread_id, **{**fields, "status": CallStatus(row.status)})


def approval_of(row: Any) -> Approval:
    """An approval from its row."""
    return Approval(thread=row.thread_id, **{name: getattr(row, name) for name in _GRANT})
