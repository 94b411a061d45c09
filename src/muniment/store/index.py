"""The index on SQL: its own SQLite file, or its own schema in PostgreSQL.

Nothing here is the only copy of anything: the file may be deleted at any time and is filled
again from the truth (`muniment rebuild-index`).
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    delete,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool, StaticPool

from muniment.errors import Unavailable
from muniment.gate.unit import Unit
from muniment.recall.index import Doc, Embedded, Layer, Unembedded
from muniment.store.look import SqlLook
from muniment.store.postings import (
    LAYOUT,
    add,
    compared,
    docs,
    known,
    metadata,
    parts,
    postings,
    remove,
    stamp,
    vectors,
)
from muniment.store.private import open_private
from muniment.store.run import EMBEDDED, INDEX_SCHEMA
from muniment.store.sql import chunks
from muniment.store.vectors import VectorCache, embedders, keep, unembedded


class SqlIndex:
    """`muniment.recall.index.Index` over its own engine."""

    def __init__(self, engine: Engine, lock: threading.Lock | None) -> None:
        self._engine, self._lock = engine, lock
        self._cache = VectorCache()
        try:
            self._prepare()
        except DBAPIError as error:
            raise Unavailable(
                "index.unreachable", f"the index cannot be opened: {error.orig}"
            ) from error

    def _prepare(self) -> None:
        with self._writing() as conn:
            if self._engine.dialect.name == "postgresql":
                conn.execute(text("SELECT pg_advisory_xact_lock(hashtext('muniment_index'))"))
                conn.execute(text(f"CREATE SCHEMA IF NOT EXISTS {INDEX_SCHEMA}"))
            if _stamped(conn) != LAYOUT:
                metadata.drop_all(conn)
                metadata.create_all(conn)
                conn.execute(insert(stamp), {"layout": LAYOUT})
                if self._engine.dialect.name == "postgresql":
                    _secure(conn)

    @contextmanager
    def _writing(self, tenant: str = "") -> Iterator[Connection]:
        if self._lock is None:
            with self._engine.connect() as conn, conn.begin():
                _set_tenant(conn, tenant)
                yield conn
            return
        with self._lock, self._engine.connect() as conn:
            conn = conn.execution_options(muniment_begin="IMMEDIATE")
            with conn.begin():
                yield conn

    @contextmanager
    def _reading(self, tenant: str) -> Iterator[Connection]:
        if isinstance(self._engine.pool, StaticPool):
            with self._writing(tenant) as conn:
                yield conn
            return
        with self._engine.connect() as conn, conn.begin():
            _set_tenant(conn, tenant)
            yield conn

    @contextmanager
    def _beside(self, unit: Unit) -> Iterator[Connection]:
        """For a read that is part of a transaction on the truth: on PostgreSQL its own
        connection, so that many readers do not wait for each other's second one."""
        own = getattr(unit, "conn", None)
        if self._engine.dialect.name == "postgresql" and own is not None:
            yield own
            return
        with self._reading(unit.tenant) as conn:
            yield conn

    def put(self, tenant: str, docs_: Sequence[Doc]) -> None:
        replaced = False
        with self._writing(tenant) as conn:
            for part in chunks(docs_):
                new, outdated = compared(conn, tenant, part)
                numbers: dict[tuple[Layer, str], int] = {}
                for layer, ids in outdated.items():
                    numbers |= remove(conn, tenant, layer, ids)
                add(conn, tenant, new, numbers)
                replaced = replaced or bool(numbers)
        if replaced:  # not before it is so: a reader would keep what it read in between
            self._cache.forget(tenant)

    def drop(self, tenant: str, layer: Layer, ids: Iterable[str]) -> None:
        with self._writing(tenant) as conn:
            for part in chunks(ids):
                remove(conn, tenant, layer, part)
        self._cache.forget(tenant)

    @contextmanager
    def look(self, unit: Unit, layer: Layer, partitions: Sequence[str]) -> Iterator[SqlLook]:
        with self._beside(unit) as conn:
            yield SqlLook(conn, unit.tenant, layer, partitions, self._cache)

    def unembedded(self, tenant: str, embedder: str, most: int) -> list[Unembedded]:
        with self._reading(tenant) as conn:
            return unembedded(conn, tenant, embedder, most)

    def embed(self, tenant: str, embedder: str, new: Sequence[Embedded]) -> int:
        with self._writing(tenant) as conn:
            return keep(conn, tenant, embedder, new)

    def embedders(self, tenant: str) -> frozenset[str]:
        with self._reading(tenant) as conn:
            return embedders(conn, tenant)

    def known(self, tenant: str) -> bool:
        with self._reading(tenant) as conn:
            query = select(known.c.tenant_id).where(known.c.tenant_id == tenant)
            return conn.execute(query).first() is not None

    def clear(self, tenant: str) -> None:
        with self._writing(tenant) as conn:
            for table in (postings, vectors, docs, parts, known):
                conn.execute(delete(table).where(table.c.tenant_id == tenant))
            conn.execute(insert(known), {"tenant_id": tenant})
        self._cache.forget(tenant)

    def scrub(self, *, thorough: bool = False) -> list[str]:
        """SQLite: truncate the write-ahead log.  PostgreSQL: vacuum, or rewrite under lock."""
        if self._engine.dialect.name == "postgresql":
            how = "VACUUM FULL" if thorough else "VACUUM"
            with self._engine.connect() as conn:
                auto = conn.execution_options(isolation_level="AUTOCOMMIT")
                for table in (postings, vectors, docs, parts):
                    auto.exec_driver_sql(f"{how} {table.fullname}")
            return []
        if isinstance(self._engine.pool, StaticPool):
            return []
        assert self._lock is not None
        with self._lock, self._engine.connect() as conn:
            busy = conn.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").first()
        held = busy is not None and busy[0]
        return ["a reader still holds the index's write-ahead log; run tidy"] if held else []

    def close(self) -> None:
        self._engine.dispose()


def _stamped(conn: Connection) -> str | None:
    """The layout an index was made with, if there is one."""
    if not inspect(conn).has_table(stamp.name, schema=_schema(conn)):
        return None
    columns = inspect(conn).get_columns(stamp.name, schema=_schema(conn))
    if [c["name"] for c in columns] != ["layout"]:
        return None
    return conn.execute(select(stamp.c.layout)).scalar()


def _schema(conn: Connection) -> str | None:
    return INDEX_SCHEMA if conn.dialect.name == "postgresql" else None


def _secure(conn: Connection) -> None:
    rule = "tenant_id = current_setting('muniment.tenant')"
    for table in (docs, parts, postings, vectors, known):
        name = table.fullname
        conn.execute(text(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY"))
        conn.execute(text(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY"))
        conn.execute(
            text(f"CREATE POLICY tenant_isolation ON {name} USING ({rule}) WITH CHECK ({rule})")
        )


def _set_tenant(conn: Connection, tenant: str) -> None:
    if conn.dialect.name == "postgresql":
        conn.execute(
            text("SELECT set_config('muniment.tenant', :tenant, true)"), {"tenant": tenant}
        )


def sqlite_index(path: Path | None) -> SqlIndex:
    """The index of an embedded store: a file of its own, or memory."""

    if path is not None:
        open_private(path)

    def connect() -> sqlite3.Connection:
        name = ":memory:" if path is None else str(path)
        return sqlite3.connect(name, check_same_thread=False, isolation_level=None, timeout=10)

    pool: dict[str, Any] = {"poolclass": StaticPool}
    if path is not None:
        pool = {"poolclass": QueuePool, "pool_size": 8, "max_overflow": 56}
    engine = create_engine("sqlite://", creator=connect, **pool).execution_options(
        schema_translate_map=EMBEDDED
    )

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA busy_timeout=10000")
        connection.execute("PRAGMA secure_delete=ON")
        if path is not None:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")  # rebuildable: it need not be durable

    @event.listens_for(engine, "begin")
    def _begun(conn: Connection) -> None:
        mode = conn.get_execution_options().get("muniment_begin", "DEFERRED")
        conn.connection.driver_connection.execute(f"BEGIN {mode}")  # type: ignore[union-attr]

    return SqlIndex(engine, threading.Lock())


def postgres_index(engine: Engine) -> SqlIndex:
    """The index beside the truth: another schema, the same server."""
    return SqlIndex(engine, None)
