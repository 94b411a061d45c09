"""The audit trail on SQL: chained entries per tenant and lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Text, bindparam, cast, insert, select, update

from muniment.clock import micros
from muniment.store import schema as s
from muniment.store.run import Prepared
from muniment.store.sql import escaped, insert_ignore
from muniment.trail.chain import GENESIS, Key, head_mac, link
from muniment.trail.entry import Entry

_A, _H = s.trail.c, s.trail_heads.c
_HEAD = Prepared(
    select(_H.seq, _H.tag)
    .where(_H.tenant_id == bindparam("tenant"), _H.lane == bindparam("lane_"))
    .with_for_update()
)
_INSERT = Prepared(insert(s.trail))
_ADVANCE = Prepared(
    update(s.trail_heads)
    .where(_H.tenant_id == bindparam("tenant"), _H.lane == bindparam("lane_"))
    .values(
        seq=bindparam("to"),
        tag=bindparam("to_tag"),
        mac=bindparam("to_mac"),
        key_id=bindparam("to_key"),
    )
)


def entry_meta(tenant: str, row: Mapping[str, Any]) -> list[Any]:
    """What of an entry is under its tag beside its content."""
    return [tenant, row["lane"], row["seq"], micros(row["at"]), row["action"], row["key_id"]]


class SqlTrail:
    """`muniment.trail.entry.Trail` over one connection."""

    def __init__(self, conn: Connection, tenant: str, key: Key | None, dialect: str) -> None:
        self._conn, self._tenant, self._key = conn, tenant, key
        self._open = insert_ignore(dialect, s.trail_heads)
        self._entries: list[Entry] = []

    def lock(self) -> None:
        """Take the tenant's lock until the transaction ends."""
        assert self._key is not None, "a unit without a key is read-only"
        self._head(self._key, "")

    def append(self, entries: Sequence[Entry], lane: str = "") -> None:
        if lane:
            self._chain(entries, lane)
        else:  # chained together at the end of the transaction they belong to
            self._entries += entries

    def flush(self, moves: Mapping[str, str]) -> None:
        """Chain on what the transaction did; called before it commits.

        Its last entry tells what changed its standing, which nothing may without an entry.
        """
        assert self._entries or not moves, "a change of standing that no entry tells"
        if moves:
            told = self._entries[-1]
            self._entries[-1] = replace(told, details={**told.details, "moves": dict(moves)})
        if self._entries:
            self._chain(self._entries, "")
            self._entries = []

    def _chain(self, entries: Sequence[Entry], lane: str) -> None:
        key = self._key
        assert key is not None, "a unit without a key is read-only"
        seq, previous = self._head(key, lane)
        rows = []
        for entry in entries:
            seq += 1
            row = {
                "tenant_id": self._tenant,
                "lane": lane,
                "seq": seq,
                "at": entry.at,
                "action": entry.action,
                "entry": entry.to_dict(),
                "key_id": key.id,
            }
            content = s.canonical_json(row["entry"]).encode()
            previous = link(key, "trail", entry_meta(self._tenant, row), content, previous)
            rows.append({**row, "tag": previous})
        _INSERT.run(self._conn, *rows)
        _ADVANCE.run(
            self._conn,
            {
                "tenant": self._tenant,
                "lane_": lane,
                "to": seq,
                "to_tag": previous,
                "to_mac": head_mac(key, "trail", [self._tenant, lane], seq, previous),
                "to_key": key.id,
            },
        )

    def read(self, *, target: str | None = None, lane: str = "", limit: int = 100) -> list[Entry]:
        query = select(s.trail).where(_A.tenant_id == self._tenant, _A.lane == lane)
        if target is not None:
            pattern = f'%"{escaped(target)}"%'
            query = query.where(cast(_A.entry, Text).like(pattern, escape="!"))
        rows = self._conn.execute(query.order_by(_A.seq.desc()).limit(limit))
        return [_entry_of(r.action, r.at, r.entry, r.seq, lane) for r in rows]

    def _head(self, key: Key, lane: str) -> tuple[int, bytes]:
        params = {"tenant": self._tenant, "lane_": lane}
        row = _HEAD.first(self._conn, params)
        if row is None:
            self._conn.execute(
                self._open,
                {
                    "tenant_id": self._tenant,
                    "lane": lane,
                    "seq": 0,
                    "tag": GENESIS,
                    "mac": head_mac(key, "trail", [self._tenant, lane], 0, GENESIS),
                    "key_id": key.id,
                },
            )
            row = _HEAD.first(self._conn, params)
            assert row is not None
        return row.seq, row.tag


def _entry_of(action: str, at: datetime, data: dict[str, Any], seq: int, lane: str) -> Entry:
    details = {k: v for k, v in data.items() if k != "actor"}
    return Entry(action, at, data.get("actor", {}), details, seq, lane)
