"""One transaction's view of one tenant: the ports of `muniment.gate.unit` over one connection."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Text, column, func, select, text

from muniment.ids import Ids
from muniment.scope import Scope
from muniment.store import schema as s
from muniment.store.call_table import SqlApprovalTable, SqlCallTable
from muniment.store.candidate_table import SqlCandidateTable
from muniment.store.checkpoint_table import SqlBlobStore, SqlCheckpointTable, SqlThreadTable
from muniment.store.event_table import SqlEventLog
from muniment.store.ledger_table import SqlErasures, SqlLedger, SqlLineage, SqlTombstones
from muniment.store.record_table import SqlRecordTable
from muniment.store.run import Prepared
from muniment.store.summary_table import SqlSummaryTable
from muniment.store.trail_table import SqlTrail
from muniment.trail.chain import Key


@dataclass(frozen=True, slots=True)
class TenantDigester:
    """Keyed digests in which the tenant takes part, so that no two tenants' ever coincide."""

    key: Key | None
    tenant: str

    def digest(self, domain: str, *parts: str) -> str:
        """A keyed digest (of no use without the store's key)."""
        return (self.key or _NO_KEY).digest(domain, self.tenant, *parts)


class SqlUnit:
    """`muniment.gate.unit.Unit`; tables are made when first asked for."""

    def __init__(self, conn: Connection, tenant: str, key: Key | None, ids: Ids) -> None:
        self.conn, self.tenant = conn, tenant
        self._key, self._ids = key, ids
        self._dialect = conn.dialect.name

    @cached_property
    def events(self) -> SqlEventLog:
        return SqlEventLog(self.conn, self.tenant, self._key, self._dialect)

    @cached_property
    def records(self) -> SqlRecordTable:
        return SqlRecordTable(self.conn, self.tenant, self.digest)

    @cached_property
    def candidates(self) -> SqlCandidateTable:
        return SqlCandidateTable(self.conn, self.tenant)

    @cached_property
    def lineage(self) -> SqlLineage:
        return SqlLineage(self.conn, self.tenant, self._dialect)

    @cached_property
    def tombstones(self) -> SqlTombstones:
        return SqlTombstones(self.conn, self.tenant, self._dialect)

    @cached_property
    def ledger(self) -> SqlLedger:
        return SqlLedger(self.conn, self.tenant, self._dialect, self._ids)

    @cached_property
    def trail(self) -> SqlTrail:
        return SqlTrail(self.conn, self.tenant, self._key, self._dialect)

    @cached_property
    def erasures(self) -> SqlErasures:
        return SqlErasures(self.conn, self.tenant)

    @cached_property
    def checkpoints(self) -> SqlCheckpointTable:
        return SqlCheckpointTable(self.conn, self.tenant, self._dialect)

    @cached_property
    def summaries(self) -> SqlSummaryTable:
        return SqlSummaryTable(self.conn, self.tenant, self._dialect)

    @cached_property
    def blobs(self) -> SqlBlobStore:
        return SqlBlobStore(self.conn, self.tenant, self._dialect)

    @cached_property
    def threads(self) -> SqlThreadTable:
        return SqlThreadTable(self.conn, self.tenant)

    @cached_property
    def calls(self) -> SqlCallTable:
        return SqlCallTable(self.conn, self.tenant, self._dialect)

    @cached_property
    def approvals(self) -> SqlApprovalTable:
        return SqlApprovalTable(self.conn, self.tenant, self._dialect)

    def flush(self) -> None:
        """Write what was collected: outbox rows, then the trail over all of it."""
        self.ledger.flush()
        self.trail.flush(self.records.moves)

    def digest(self, domain: str, *parts: str) -> str:
        """A keyed digest of this store (of no use without its key)."""
        return TenantDigester(self._key, self.tenant).digest(domain, *parts)

    def census(self) -> dict[str, Any]:
        """How many events, threads, and records of each standing the tenant has."""
        out: dict[str, Any] = {}
        for table in (s.events, s.threads):
            query = select(func.count()).where(table.c.tenant_id == self.tenant)
            out[table.name] = self.conn.execute(query).scalar_one()
        r = s.records.c
        by_status = select(r.status, func.count()).where(r.tenant_id == self.tenant)
        out["records"] = {k: n for k, n in self.conn.execute(by_status.group_by(r.status))}
        return out

    def scopes(self, *, threads: bool = False) -> list[Scope]:
        """Every scope that records (and threads) of the tenant have."""
        tables = ("records", "threads") if threads else ("records",)
        params = {"tenant": self.tenant}
        keys = {row.key for name in tables for row in _SCOPE_KEYS[name].all(self.conn, params)}
        return [Scope.of_key(key) for key in sorted(keys)]


# From one key to the next through the index: as many steps as there are keys, not rows.
_SCOPE_KEYS = {
    name: Prepared(
        text(
            f"WITH RECURSIVE k(key) AS ("
            f"SELECT min(scope_key) FROM {name} WHERE tenant_id = :tenant UNION ALL "
            f"SELECT (SELECT min(scope_key) FROM {name} WHERE tenant_id = :tenant "
            f"AND scope_key > k.key) FROM k WHERE k.key IS NOT NULL"
            f") SELECT key FROM k WHERE key IS NOT NULL"
        ).columns(column("key", Text))
    )
    for name in ("records", "threads")
}
_NO_KEY = Key("none", b"\0" * 32)  # read-only stores compare nothing with it
