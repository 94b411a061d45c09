"""What models drafted of threads, on SQL: one row a thread, dropped with any event in its range."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, select

from muniment.ids import ThreadId
from muniment.store import schema as s
from muniment.store.sql import chunks, upsert
from muniment.threads.compactor import Draft

_S = s.summaries.c
_OF = (_S.tenant_id == bindparam("tenant"), _S.thread_id == bindparam("thread"))
_GET = select(s.summaries).where(*_OF)
_CLEAR = delete(s.summaries).where(
    _S.tenant_id == bindparam("tenant"), _S.thread_id.in_(bindparam("threads", expanding=True))
)


class SqlSummaryTable:
    """`muniment.threads.compactor.DraftTable` over one connection."""

    def __init__(self, conn: Connection, tenant: str, dialect: str) -> None:
        self._conn, self._tenant, self._dialect = conn, tenant, dialect

    def get(self, thread: ThreadId) -> Draft | None:
        row = self._conn.execute(_GET, {"tenant": self._tenant, "thread": thread}).one_or_none()
        if row is None:
            return None
        return Draft(row.author, row.first_seq, row.last_seq, row.lines, row.seal)

    def put(self, thread: ThreadId, draft: Draft, at: datetime) -> None:
        data = {
            "first_seq": draft.first_seq,
            "last_seq": draft.last_seq,
            "author": draft.author,
            "at": at,
            "lines": dict(draft.lines),
            "seal": draft.seal,
        }
        row = {"tenant_id": self._tenant, "thread_id": thread, **data}
        self._conn.execute(upsert(self._dialect, s.summaries, *data), row)

    def clear(self, threads: Sequence[ThreadId]) -> int:
        return sum(
            self._conn.execute(_CLEAR, {"tenant": self._tenant, "threads": part}).rowcount
            for part in chunks(threads)
        )
