"""Walk every chain of a tenant and name the first row that does not fit.

The decision lane of the trail is read first, for it says what the rest must hold: how many
events each thread was given, which of them were erased, the title of every version, every change
of a record's standing, and every decision.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, Text, select, type_coerce

from muniment.events.log import Thread
from muniment.gate.keys import title_of
from muniment.ids import ThreadId
from muniment.scope import Scope
from muniment.store import schema as s
from muniment.store.event_table import event_meta, thread_name
from muniment.store.told import Broken, Told
from muniment.store.trail_table import entry_meta
from muniment.store.unit import TenantDigester
from muniment.store.verify_ledger import check_ledger
from muniment.store.verify_standing import check_standing
from muniment.store.verify_state import Misfit, check_states
from muniment.trail.chain import GENESIS, Key, commitment, head_mac, link, same

BATCH = 1000


@dataclass(slots=True)
class Verification:
    """``ok`` is false with ``first_bad`` naming table, row and why.

    Rows under a key of an earlier epoch that is not at hand are counted as unverifiable, with
    the instant since when.  Not covered: rolling the whole store back to an earlier state, what
    waits, tombstones, lineage, settings, and what was written before standing was told.
    """

    ok: bool = True
    events: int = 0
    trail_entries: int = 0
    versions: int = 0
    checkpoints: int = 0
    erased: int = 0
    unverifiable: int = 0
    unverifiable_since: str | None = None
    first_bad: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


class Walk:
    """One verification: the connection, the key, and what was found so far."""

    def __init__(self, conn: Connection, tenant: str, key: Key | None) -> None:
        self._conn, self._tenant, self._key = conn, tenant, key
        self._epochs = set(conn.execute(select(s.key_epochs.c.key_id)).scalars())
        self.report, self._told = Verification(), Told()

    def run(self) -> Verification:
        """Check everything; stops at the first bad row."""
        try:
            self._lanes()
            self._threads()
            self._versions()
            self._states()
            sealed = self._key is not None and self._sealed_with_this_key()
            check_standing(self._conn, self._tenant, self._told, self._digest if sealed else None)
        except Broken as broken:
            self.report.ok, self.report.first_bad = False, broken.bad
        return self.report

    # ------------------------------------------------------------ trail

    def _lanes(self) -> None:
        heads = {h.lane: h for h in self._all(s.trail_heads)}
        present = self._distinct(s.trail, s.trail.c.lane)
        for lane in sorted(present - set(heads)):
            raise Broken("trail head", lane or "decisions", "the head is missing")
        written = self._distinct(s.events, s.events.c.thread_id) or self._all(s.threads)
        if "" not in heads and written:
            raise Broken("trail head", "decisions", "the head is missing")
        for lane in sorted(heads):
            self._lane(heads[lane])

    def _lane(self, head: Any) -> None:
        previous, expected = GENESIS, 0
        for row in self._rows(s.trail, s.trail.c.lane == head.lane):
            expected += 1
            name = f"{head.lane or 'decisions'}#{expected}"
            _in_order(row.seq, expected, "trail", name)
            if self._checkable(row.key_id, row.at, "trail", name):
                meta = entry_meta(self._tenant, row._mapping)
                tag = link(self._secret, "trail", meta, str(row.entry).encode(), previous)
                _equal(tag, row.tag, "trail", name, "the row or its order was changed")
            if head.lane == "":
                self._told.hear(row.action, row.at, _json(row.entry, "trail", name))
            previous = row.tag
            self.report.trail_entries += 1
        self._head("trail", [self._tenant, head.lane], head.seq, head.tag, head, expected, previous)

    # ------------------------------------------------------------ events

    def _threads(self) -> None:
        threads = {t.id: t for t in self._all(s.threads)}
        known = self._distinct(s.events, s.events.c.thread_id) | set(self._told.given)
        for missing in sorted(known - set(threads)):
            raise Broken("threads", missing, "the thread's row is missing")
        for thread_id in sorted(threads):
            self._thread(threads[thread_id])

    def _thread(self, thread: Any) -> None:
        previous, expected = GENESIS, 0
        for row in self._rows(s.events, s.events.c.thread_id == thread.id):
            expected += 1
            _in_order(row.seq, expected, "events", f"{thread.id}#{expected}")
            self._payload(row)
            if self._checkable(row.key_id, row.recorded_at, "events", row.id):
                meta = event_meta(self._tenant, row._mapping)
                tag = link(self._secret, "event", meta, _bytes(row.commitment), previous)
                _equal(tag, row.tag, "events", row.id, "the row or its order was changed")
            previous = row.tag
            self.report.events += 1
        if self._told.given[thread.id] != expected:
            why = f"{expected} events, the trail says {self._told.given[thread.id]}"
            raise Broken("events", thread.id, why)
        self._head(
            "thread", self._name(thread), thread.length, thread.head_tag, thread, expected, previous
        )

    def _name(self, thread: Any) -> list[str]:
        scope = Scope.of(_json(thread.scope, "threads", thread.id))
        if scope.key != thread.scope_key:
            raise Broken("threads", thread.id, "the scope column is not the scope's key")
        return thread_name(
            Thread(ThreadId(thread.id), self._tenant, scope, thread.owner, thread.created_at)
        )

    def _payload(self, row: Any) -> None:
        if row.payload is None:
            if row.id not in self._told.erased_events:
                raise Broken("events", row.id, "the payload is gone and no erasure says so")
            self.report.erased += 1
            return
        bound = row.salt is not None and commitment(_bytes(row.salt), row.payload)
        _equal(
            bound or b"",
            row.commitment,
            "events",
            row.id,
            "the payload is not the one that was committed to",
        )
        payload = _json(row.payload, "events", row.id)
        if row.user_id != payload.get("user"):
            raise Broken("events", row.id, "the speaker column is not the payload's")
        if row.said_at is None or row.said_at.isoformat() != payload.get("said_at"):
            raise Broken("events", row.id, "the time said is not the payload's")

    # ------------------------------------------------------------ versions

    def _versions(self) -> None:
        """Every version has the title the trail gave it, and none that it named is missing."""
        if self._key is None:
            return
        left = dict(self._told.titles)
        columns: list[Any] = [
            s.versions.c[n] for n in ("record_id", "version", "content", "value", "origin")
        ] + [s.records.c[n] for n in ("kind", "subject", "scope_key", "condition_key", "predicate")]
        columns[3] = type_coerce(columns[3], Text).label("value")
        join = s.versions.join(
            s.records,
            (s.records.c.tenant_id == s.versions.c.tenant_id)
            & (s.records.c.id == s.versions.c.record_id),
        )
        query = select(*columns).select_from(join).where(s.versions.c.tenant_id == self._tenant)
        for row in self._conn.execute(query.order_by(s.versions.c.record_id)):
            name = f"{row.record_id}/{row.version}"
            value = None if row.value is None else _json(row.value, "versions", name)
            title = title_of(self._digest, {**row._mapping, "value": value})
            if left.pop(name, None) != title and self._sealed_with_this_key():
                raise Broken("versions", name, "the words or their title were changed")
            self.report.versions += 1
        for name in sorted(left):
            if name.split("/")[0] not in self._told.erased_records:
                raise Broken("versions", name, "the version is missing and no erasure says so")

    def _states(self) -> None:
        """Every checkpoint, call and approval has the seal the trail gave it, and every newest
        state its own."""
        if self._key is None or not self._sealed_with_this_key():
            return
        keys = TenantDigester(self._key, self._tenant)
        threads = [t for t in self._all(s.threads) if t.version or t.id in self._told.state.seals]
        try:
            self.report.checkpoints = check_states(
                self._conn, self._tenant, keys, self._told.state, threads
            )
            check_ledger(self._conn, self._tenant, keys, self._told.ledger)
        except Misfit as misfit:
            raise Broken(*misfit.args) from None

    def _sealed_with_this_key(self) -> bool:
        return self.report.unverifiable == 0

    def _digest(self, domain: str, *parts: str) -> str:
        return self._secret.digest(domain, self._tenant, *parts)

    # ------------------------------------------------------------ plumbing

    @property
    def _secret(self) -> Key:
        assert self._key is not None
        return self._key

    def _all(self, table: Table) -> list[Any]:
        return list(self._conn.execute(_raw(table).where(table.c.tenant_id == self._tenant)))

    def _distinct(self, table: Table, column: Any) -> set[str]:
        query = select(column).where(table.c.tenant_id == self._tenant).distinct()
        return set(self._conn.execute(query).scalars())

    def _rows(self, table: Table, which: Any) -> Iterator[Any]:
        """A chain in order, in batches, its JSON as the text it is."""
        last = -(2**31)  # the least value of the column on PostgreSQL
        mine = (table.c.tenant_id == self._tenant, which)
        while True:
            query = _raw(table).where(*mine, table.c.seq > last)
            rows = self._conn.execute(query.order_by(table.c.seq).limit(BATCH)).all()
            yield from rows
            if len(rows) < BATCH:
                return
            last = rows[-1].seq

    def _checkable(self, key_id: str, at: Any, table: str, row: str) -> bool:
        if self._key is not None and self._key.id == key_id:
            return True
        if key_id not in self._epochs:
            raise Broken(table, row, "the key it names was never this store's")
        self.report.unverifiable += 1
        self.report.unverifiable_since = self.report.unverifiable_since or at.isoformat()
        return False

    def _head(
        self,
        chain: str,
        name: list[str],
        length: int,
        tag: bytes,
        head: Any,
        counted: int,
        last: bytes,
    ) -> None:
        row = name[1] or "decisions"
        if length != counted or not same(_bytes(tag), _bytes(last)):
            raise Broken(f"{chain} head", row, f"{counted} rows, the head says {length}")
        mac = head.mac if chain == "trail" else head.head_mac
        if self._key is None or self._key.id != head.key_id:
            if head.key_id not in self._epochs:
                raise Broken(f"{chain} head", row, "the key it names was never this store's")
            return
        sealed = head_mac(self._key, chain, name, length, tag)
        _equal(sealed, mac, f"{chain} head", row, "the head was changed")


def verify(conn: Connection, tenant: str, key: Key | None) -> Verification:
    """Check all of a tenant's chains, in batches; stops at the first bad row."""
    return Walk(conn, tenant, key).run()


def _raw(table: Table) -> Any:
    """A select of every column, JSON ones as text."""
    return select(
        *(type_coerce(c, Text).label(c.name) if isinstance(c.type, s.Json) else c for c in table.c)
    )


def _in_order(seq: int, expected: int, table: str, row: str) -> None:
    if seq != expected:
        raise Broken(table, row, "a row is missing")


def _equal(a: bytes, b: object, table: str, row: str, why: str) -> None:
    if not same(a, _bytes(b)):
        raise Broken(table, row, why)


def _bytes(value: object) -> bytes:
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b""


def _json(text: object, table: str, row: str) -> dict[str, Any]:
    try:
        return json.loads(str(text))  # type: ignore[no-any-return]
    except ValueError:
        raise Broken(table, row, "not JSON any more") from None
