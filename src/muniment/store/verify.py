"""Walk every chain of a tenant and name the first row that does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from muniment.store import schema as s
from muniment.store.event_table import event_meta
from muniment.store.trail_table import entry_meta
from muniment.trail.chain import GENESIS, Key, commitment, head_mac, link, same

BATCH = 1000


@dataclass(slots=True)
class Verification:
    """``ok`` is false with ``first_bad`` naming table, row and why; rows under a key that is
    not at hand are counted as unverifiable, with the instant since when."""

    ok: bool = True
    events: int = 0
    trail_entries: int = 0
    erased: int = 0
    unverifiable: int = 0
    unverifiable_since: str | None = None
    first_bad: dict[str, Any] | None = None
    heads: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


class _Broken(Exception):
    def __init__(self, table: str, row: str, why: str) -> None:
        super().__init__(why)
        self.bad = {"table": table, "row": row, "why": why}


def verify(conn: Connection, tenant: str, key: Key | None) -> Verification:
    """Check all of a tenant's chains, in batches; stops at the first bad row."""
    report = Verification()
    try:
        for thread in conn.execute(
            select(s.threads).where(s.threads.c.tenant_id == tenant).order_by(s.threads.c.id)
        ).all():
            _thread(conn, tenant, key, thread, report)
        for head in conn.execute(
            select(s.trail_heads)
            .where(s.trail_heads.c.tenant_id == tenant)
            .order_by(s.trail_heads.c.lane)
        ).all():
            _lane(conn, tenant, key, head, report)
    except _Broken as broken:
        report.ok, report.first_bad = False, broken.bad
    return report


def _rows(conn: Connection, table: Any, *conditions: Any) -> Iterator[Any]:
    last = 0
    while True:
        query = (
            select(table).where(*conditions, table.c.seq > last).order_by(table.c.seq).limit(BATCH)
        )
        rows = conn.execute(query).all()
        yield from rows
        if len(rows) < BATCH:
            return
        last = rows[-1].seq


def _thread(
    conn: Connection, tenant: str, key: Key | None, thread: Any, report: Verification
) -> None:
    previous, expected = GENESIS, 0
    mine = (s.events.c.tenant_id == tenant, s.events.c.thread_id == thread.id)
    for row in _rows(conn, s.events, *mine):
        expected += 1
        if row.seq != expected:
            raise _Broken("events", f"{thread.id}#{expected}", "a row is missing")
        _payload(row, report)
        if _checkable(key, row.key_id, row.recorded_at, report):
            assert key is not None
            tag = link(key, "event", event_meta(tenant, row._mapping), row.commitment, previous)
            if not same(tag, row.tag):
                raise _Broken("events", row.id, "the row or its order was changed")
        previous = row.tag
        report.events += 1
    _head(
        key,
        "thread",
        [tenant, thread.id],
        thread.length,
        thread.head_tag,
        thread.head_mac,
        thread.key_id,
        expected,
        previous,
    )
    report.heads[thread.id] = previous.hex()


def _payload(row: Any, report: Verification) -> None:
    if row.payload is None:
        report.erased += 1
    elif row.salt is None or not same(
        commitment(row.salt, s.canonical_json(row.payload)), row.commitment
    ):
        raise _Broken("events", row.id, "the payload is not the one that was committed to")
    elif row.user_id != row.payload.get("user"):
        raise _Broken("events", row.id, "the speaker column is not the payload's")
    elif row.said_at is None or row.said_at.isoformat() != row.payload["said_at"]:
        raise _Broken("events", row.id, "the time said is not the payload's")


def _lane(conn: Connection, tenant: str, key: Key | None, head: Any, report: Verification) -> None:
    previous, expected = GENESIS, 0
    mine = (s.trail.c.tenant_id == tenant, s.trail.c.lane == head.lane)
    for row in _rows(conn, s.trail, *mine):
        expected += 1
        name = f"{head.lane or 'decisions'}#{expected}"
        if row.seq != expected:
            raise _Broken("trail", name, "a row is missing")
        if _checkable(key, row.key_id, row.at, report):
            assert key is not None
            content = s.canonical_json(row.entry).encode()
            tag = link(key, "trail", entry_meta(tenant, row._mapping), content, previous)
            if not same(tag, row.tag):
                raise _Broken("trail", name, "the row or its order was changed")
        previous = row.tag
        report.trail_entries += 1
    _head(
        key,
        "trail",
        [tenant, head.lane],
        head.seq,
        head.tag,
        head.mac,
        head.key_id,
        expected,
        previous,
    )


def _checkable(key: Key | None, key_id: str, at: Any, report: Verification) -> bool:
    if key is not None and key.id == key_id:
        return True
    report.unverifiable += 1
    report.unverifiable_since = report.unverifiable_since or at.isoformat()
    return False


def _head(
    key: Key | None,
    chain: str,
    name: list[str],
    length: int,
    tag: bytes,
    mac: bytes,
    key_id: str,
    counted: int,
    last: bytes,
) -> None:
    row = "/".join(name[1:]) or "decisions"
    if length != counted or not same(tag, last):
        raise _Broken(f"{chain} head", row, f"{counted} rows, the head says {length}")
    known = key is not None and key.id == key_id
    if known and not same(head_mac(key, chain, name, length, tag), mac):  # type: ignore[arg-type]
        raise _Broken(f"{chain} head", row, "the head was changed")
