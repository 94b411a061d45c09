"""The event log on SQL."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, delete, exists, insert, select, update

from muniment.clock import micros
from muniment.errors import NotFound
from muniment.events.event import Event, EventKind
from muniment.events.log import Thread
from muniment.ids import EventId, ThreadId
from muniment.scope import Channel, stored_scope
from muniment.store import schema as s
from muniment.store.run import Prepared
from muniment.store.sql import among, chunks, insert_ignore
from muniment.trail.chain import GENESIS, Key, commitment, head_mac, link

SALT_BYTES = 16
_E, _T = s.events.c, s.threads.c
_TENANT: BindParameter[str] = bindparam("tenant")

_THREAD = Prepared(select(s.threads).where(_T.tenant_id == _TENANT, _T.id == bindparam("thread")))
_ADVANCE = Prepared(
    update(s.threads)
    .where(_T.tenant_id == _TENANT, _T.id == bindparam("thread"))
    .values(
        length=bindparam("to"),
        head_tag=bindparam("tag"),
        head_mac=bindparam("mac"),
        key_id=bindparam("key"),
    )
)
_INSERT = Prepared(insert(s.events))
_JOINED = select(s.events, _T.scope.label("thread_scope")).select_from(
    s.events.join(s.threads, (_T.tenant_id == _E.tenant_id) & (_T.id == _E.thread_id))
)
_GET = Prepared(_JOINED.where(_E.tenant_id == _TENANT, among(_E.id, "ids")))
_BETWEEN = Prepared(
    _JOINED.where(
        _E.tenant_id == _TENANT,
        _E.thread_id == bindparam("thread"),
        _E.seq.between(bindparam("low"), bindparam("high")),
    ).order_by(_E.seq)
)
_BLANK = (
    update(s.events)
    .where(_E.tenant_id == _TENANT, _E.id.in_(bindparam("ids", expanding=True)))
    .values(salt=None, payload=None, said_at=None, user_id=None, sealed=None)
)
_SUMMED_UP = delete(s.summaries).where(
    s.summaries.c.tenant_id == _TENANT,
    exists().where(
        _E.tenant_id == _TENANT,
        _E.thread_id == s.summaries.c.thread_id,
        _E.id.in_(bindparam("ids", expanding=True)),
        _E.seq.between(s.summaries.c.first_seq, s.summaries.c.last_seq),
    ),
)

#: Payload fields beside the text; absent ones are left out of the JSON.
_EXTRA = ("speaker", "path", "url", "name")


def event_meta(tenant: str, row: Mapping[str, Any]) -> list[Any]:
    """What of an event is under its tag in the clear: opaque ids, numbers and the kind."""
    return [
        tenant,
        row["id"],
        row["thread_id"],
        row["seq"],
        row["kind"],
        micros(row["recorded_at"]),
        row["run"],
        row["turn"],
        row["step"],
        row["key_id"],
    ]


def thread_name(thread: Thread) -> list[str]:
    """What a thread's head is sealed with: its id, whose it is, and where."""
    return [thread.tenant, thread.id, thread.owner or "", thread.scope.key]


class SqlEventLog:
    """`muniment.events.log.EventLog` over one connection."""

    def __init__(self, conn: Connection, tenant: str, key: Key | None, dialect: str) -> None:
        self._conn, self._tenant, self._key = conn, tenant, key
        self._threads: dict[str, Any] = {}  # as read under this transaction's lock
        self._open = insert_ignore(dialect, s.threads)

    def open_thread(self, thread: Thread) -> Thread:
        key = self._writing_key()
        self._conn.execute(
            self._open,
            {
                "tenant_id": self._tenant,
                "id": thread.id,
                "owner": thread.owner,
                "scope_key": thread.scope.key,
                "scope": thread.scope.to_dict(),
                "created_at": thread.created_at,
                "label": thread.label,
                "version": 0,
                "length": 0,
                "head_tag": GENESIS,
                "head_mac": head_mac(key, "thread", thread_name(thread), 0, GENESIS),
                "key_id": key.id,
            },
        )
        return self.thread(thread.id) or thread

    def thread(self, thread_id: ThreadId) -> Thread | None:
        row = self._thread_row(thread_id)
        return None if row is None else thread_of(self._tenant, row)

    def _thread_row(self, thread_id: str) -> Any | None:
        row = self._threads.get(thread_id)
        if row is None:
            params = {"tenant": self._tenant, "thread": thread_id}
            row = _THREAD.first(self._conn, params)
            if row is not None:
                self._threads[thread_id] = row
        return row

    def append(self, thread: Thread, events: Sequence[Event]) -> list[Event]:
        key = self._writing_key()
        params = {"tenant": self._tenant, "thread": thread.id}
        head = self._thread_row(thread.id)
        if head is None:
            raise NotFound("thread.not_found", "no such thread; open it first")
        previous, seq, rows, stored = head.head_tag, head.length, [], []
        for event in events:
            seq += 1
            event = replace(event, seq=seq)
            row = self._row(event, key, previous)
            previous = row["tag"]
            rows.append(row)
            stored.append(event)
        _INSERT.run(self._conn, *rows)
        mac = head_mac(key, "thread", thread_name(thread_of(self._tenant, head)), seq, previous)
        _ADVANCE.run(self._conn, {**params, "to": seq, "tag": previous, "mac": mac, "key": key.id})
        del self._threads[thread.id]
        return stored

    def get(self, ids: Iterable[EventId]) -> list[Event]:
        wanted = list(ids)
        found: dict[str, Event] = {}
        for part in chunks(wanted):
            for row in _GET.all(self._conn, {"tenant": self._tenant, "ids": part}):
                found[row.id] = self._event_of(row)
        return [found[i] for i in wanted if i in found]

    def around(self, event: Event, before: int, after: int) -> list[Event]:
        return self.between(event.thread, event.seq - before, event.seq + after)

    def between(self, thread_id: ThreadId, first: int, last: int) -> list[Event]:
        params = {"tenant": self._tenant, "thread": thread_id, "low": first, "high": last}
        return [self._event_of(row) for row in _BETWEEN.all(self._conn, params)]

    def blank(self, ids: Iterable[EventId]) -> int:
        gone = 0
        for part in chunks(ids):
            params = {"tenant": self._tenant, "ids": part}
            self._conn.execute(_SUMMED_UP, params)
            gone += self._conn.execute(_BLANK, params).rowcount
        return gone

    def find(
        self,
        *,
        user: str | None = None,
        owner: str | None = None,
        scope_keys: Sequence[str] | None = None,
        thread: ThreadId | None = None,
    ) -> list[EventId]:
        query = select(_E.id).where(_E.tenant_id == self._tenant, _E.payload.is_not(None))
        if user is not None:
            query = query.where(_E.user_id == user)
        if thread is not None:
            query = query.where(_E.thread_id == thread)
        if owner is not None:
            theirs = select(_T.id).where(_T.tenant_id == self._tenant, _T.owner == owner)
            query = query.where(_E.thread_id.in_(theirs))
        if scope_keys is not None:
            inside = select(_T.id).where(
                _T.tenant_id == self._tenant, _T.scope_key.in_(list(scope_keys))
            )
            query = query.where(_E.thread_id.in_(inside))
        return [EventId(i) for i in self._conn.execute(query.order_by(_E.id)).scalars()]

    def _writing_key(self) -> Key:
        assert self._key is not None, "a unit without a key is read-only"
        return self._key

    def _row(self, event: Event, key: Key, previous: bytes) -> dict[str, Any]:
        payload = payload_of(event)
        salt = secrets.token_bytes(SALT_BYTES)
        row: dict[str, Any] = {
            "tenant_id": self._tenant,
            "id": event.id,
            "thread_id": event.thread,
            "seq": event.seq,
            "kind": event.kind.value,
            "recorded_at": event.recorded_at,
            "run": event.run,
            "turn": event.turn,
            "step": event.step,
            "key_id": key.id,
            "salt": salt,
            "payload": payload,
            "said_at": event.said_at,
            "user_id": event.user,
            "sealed": None,
        }
        row["commitment"] = commitment(salt, s.canonical_json(payload))
        row["tag"] = link(key, "event", event_meta(self._tenant, row), row["commitment"], previous)
        return row

    def _event_of(self, row: Any) -> Event:
        p = row.payload or {}
        return Event(
            id=EventId(row.id),
            tenant=self._tenant,
            thread=ThreadId(row.thread_id),
            seq=row.seq,
            kind=EventKind(row.kind),
            said_at=row.said_at or row.recorded_at,
            recorded_at=row.recorded_at,
            text=p.get("text"),
            scope=stored_scope(tuple(row.thread_scope.items())),
            channel=Channel(p.get("channel", "job")),
            attested=p.get("attested", False),
            user=row.user_id,
            run=row.run,
            turn=row.turn,
            step=row.step,
            redacted=p.get("redacted", False),
            metadata=p.get("metadata", {}),
            **{name: p.get(name) for name in _EXTRA},
        )


def payload_of(event: Event) -> dict[str, Any]:
    """Everything erasable of an event, as it is committed to."""
    payload: dict[str, Any] = {
        "text": event.text,
        "said_at": event.said_at.isoformat(),
        "channel": event.channel.value,
        "attested": event.attested,
    }
    if event.user is not None:
        payload["user"] = event.user
    if event.redacted:
        payload["redacted"] = True
    if event.metadata:
        payload["metadata"] = dict(event.metadata)
    payload |= {name: v for name in _EXTRA if (v := getattr(event, name)) is not None}
    return payload


def thread_of(tenant: str, row: Any) -> Thread:
    """A thread from its row."""
    return Thread(
        id=ThreadId(row.id),
        tenant=tenant,
        scope=stored_scope(tuple(row.scope.items())),
        owner=row.owner,
        created_at=row.created_at,
        length=row.length,
        label=row.label,
        version=row.version,
        resumed_at=row.resumed_at,
        deleted_at=row.deleted_at,
    )
