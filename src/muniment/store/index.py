"""The lexical index on SQL: its own SQLite file, or its own schema in PostgreSQL.

Nothing here is the only copy of anything: the file may be deleted at any time and is filled
again from the truth (`muniment rebuild-index`).
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool, StaticPool
from sqlalchemy.sql.dml import Insert

from muniment.errors import Unavailable
from muniment.gate.unit import Unit
from muniment.recall.index import Doc, Layer, Posting
from muniment.store.sql import chunks
from muniment.text import TOKENISER

SCHEMA = "muniment_index"
_SEPARATOR = "\n"  # no term holds white space

metadata = MetaData(schema=SCHEMA)
stamp = Table("stamp", metadata, Column("tokeniser", Text, primary_key=True))
docs = Table(
    "docs",
    metadata,
    Column("tenant_id", Text, nullable=False),
    Column("layer", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("part", Text, nullable=False),
    Column("length", Integer, nullable=False),
    Column("terms", Text, nullable=False),
    PrimaryKeyConstraint("tenant_id", "layer", "id"),
    sqlite_with_rowid=False,
)
parts = Table(
    "parts",
    metadata,
    Column("tenant_id", Text, nullable=False),
    Column("layer", Text, nullable=False),
    Column("part", Text, nullable=False),
    Column("docs", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    PrimaryKeyConstraint("tenant_id", "layer", "part"),
    sqlite_with_rowid=False,
)
postings = Table(
    "postings",
    metadata,
    Column("tenant_id", Text, nullable=False),
    Column("layer", Text, nullable=False),
    Column("part", Text, nullable=False),
    Column("term", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("count", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    PrimaryKeyConstraint("tenant_id", "layer", "part", "term", "id"),
    sqlite_with_rowid=False,
)

known = Table("known", metadata, Column("tenant_id", Text, primary_key=True))

_P, _D, _S = postings.c, docs.c, parts.c
_PLACE = (_P.tenant_id == bindparam("tenant"), _P.layer == bindparam("in_layer"))
_FIND = select(_P.term, _P.id, _P.count, _P.length).where(
    *_PLACE,
    _P.part.in_(bindparam("in_parts", expanding=True)),
    _P.term.in_(bindparam("terms", expanding=True)),
)
_FIND_OF = _FIND.where(_P.id.in_(bindparam("ids", expanding=True)))
_COUNT = (
    select(_P.term, func.count())
    .where(
        *_PLACE,
        _P.part.in_(bindparam("in_parts", expanding=True)),
        _P.term.in_(bindparam("terms", expanding=True)),
    )
    .group_by(_P.term)
)
_SIZE = select(_S.part, _S.docs, _S.length).where(
    _S.tenant_id == bindparam("tenant"),
    _S.layer == bindparam("in_layer"),
    _S.part.in_(bindparam("in_parts", expanding=True)),
    _S.docs > 0,
)
_KNOWN = select(docs).where(
    _D.tenant_id == bindparam("tenant"),
    _D.layer == bindparam("in_layer"),
    _D.id.in_(bindparam("ids", expanding=True)),
)
_UNPOST = delete(postings).where(
    *_PLACE,
    _P.part == bindparam("in_part"),
    _P.term == bindparam("of_term"),
    _P.id == bindparam("of_id"),
)
_UNDOC = delete(docs).where(
    _D.tenant_id == bindparam("tenant"),
    _D.layer == bindparam("in_layer"),
    _D.id.in_(bindparam("ids", expanding=True)),
)


class SqlIndex:
    """`muniment.recall.index.Index` over its own engine."""

    def __init__(self, engine: Engine, lock: threading.Lock | None) -> None:
        self._engine, self._lock = engine, lock
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
                conn.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
            metadata.create_all(conn)
            if self._engine.dialect.name == "postgresql":
                _secure(conn)
            found = list(conn.execute(select(stamp.c.tokeniser)).scalars())
            if found != [TOKENISER]:
                for table in (postings, docs, parts, known, stamp):
                    conn.execute(delete(table))
                conn.execute(insert(stamp), {"tokeniser": TOKENISER})

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
        with self._writing(tenant) as conn:
            for part in chunks(docs_):
                for layer in Layer:
                    _remove(conn, tenant, layer, [d.id for d in part if d.layer is layer])
                _insert(conn, tenant, part)

    def drop(self, tenant: str, layer: Layer, ids: Iterable[str]) -> None:
        with self._writing(tenant) as conn:
            for part in chunks(ids):
                _remove(conn, tenant, layer, part)

    def find(
        self,
        unit: Unit,
        layer: Layer,
        partitions: Sequence[str],
        terms: Sequence[str],
        ids: Iterable[str] | None = None,
    ) -> list[Posting]:
        with self._beside(unit) as conn:
            params = self._asked(conn, unit.tenant, layer, partitions, terms)
            if params is None:
                return []
            if ids is None:
                rows = list(conn.execute(_FIND, params))
            else:
                parts_ = chunks(ids)
                rows = [r for i in parts_ for r in conn.execute(_FIND_OF, params | {"ids": i})]
        return [Posting(*row) for row in rows]

    def frequencies(
        self, unit: Unit, layer: Layer, partitions: Sequence[str], terms: Sequence[str]
    ) -> Mapping[str, int]:
        with self._beside(unit) as conn:
            params = self._asked(conn, unit.tenant, layer, partitions, terms)
            if params is None:
                return {}
            return {term: n for term, n in conn.execute(_COUNT, params)}

    def held(
        self, unit: Unit, layer: Layer, partitions: Sequence[str], ids: Iterable[str]
    ) -> Mapping[str, int]:
        allowed = set(partitions)
        out: dict[str, int] = {}
        with self._beside(unit) as conn:
            for part in chunks(ids):
                params = {"tenant": unit.tenant, "in_layer": layer.value, "ids": part}
                rows = conn.execute(_KNOWN, params)
                out |= {r.id: r.length for r in rows if r.part in allowed}
        return out

    def size(self, unit: Unit, layer: Layer, partitions: Sequence[str]) -> tuple[int, int]:
        with self._beside(unit) as conn:
            rows = _sizes(conn, unit.tenant, layer, partitions)
        return sum(n for _, n, _ in rows), sum(length for _, _, length in rows)

    def _asked(
        self,
        conn: Connection,
        tenant: str,
        layer: Layer,
        partitions: Sequence[str],
        terms: Sequence[str],
    ) -> dict[str, Any] | None:
        """Parameters for the partitions that hold anything; ``None`` if none does."""
        present = [p for p, _, _ in _sizes(conn, tenant, layer, partitions)]
        if not present or not terms:
            return None
        return {
            "tenant": tenant,
            "in_layer": layer.value,
            "in_parts": present,
            "terms": list(terms),
        }

    def known(self, tenant: str) -> bool:
        with self._reading(tenant) as conn:
            query = select(known.c.tenant_id).where(known.c.tenant_id == tenant)
            return conn.execute(query).first() is not None

    def clear(self, tenant: str) -> None:
        with self._writing(tenant) as conn:
            for table in (postings, docs, parts, known):
                conn.execute(delete(table).where(table.c.tenant_id == tenant))
            conn.execute(insert(known), {"tenant_id": tenant})

    def scrub(self, *, thorough: bool = False) -> list[str]:
        """SQLite: truncate the write-ahead log.  PostgreSQL: vacuum, or rewrite under lock."""
        if self._engine.dialect.name == "postgresql":
            how = "VACUUM FULL" if thorough else "VACUUM"
            with self._engine.connect() as conn:
                auto = conn.execution_options(isolation_level="AUTOCOMMIT")
                for table in (postings, docs, parts):
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


def _sizes(
    conn: Connection, tenant: str, layer: Layer, partitions: Sequence[str]
) -> list[tuple[str, int, int]]:
    rows: list[tuple[str, int, int]] = []
    for part in chunks(partitions):
        params = {"tenant": tenant, "in_layer": layer.value, "in_parts": part}
        rows += [(r.part, r.docs, r.length) for r in conn.execute(_SIZE, params)]
    return rows


def _remove(conn: Connection, tenant: str, layer: Layer, ids: Sequence[str]) -> None:
    if not ids:
        return
    params = {"tenant": tenant, "in_layer": layer.value, "ids": list(ids)}
    known = conn.execute(_KNOWN, params).all()
    if not known:
        return
    gone = [
        {
            "tenant": tenant,
            "in_layer": layer.value,
            "in_part": row.part,
            "of_term": term,
            "of_id": row.id,
        }
        for row in known
        for term in row.terms.split(_SEPARATOR)
    ]
    conn.execute(_UNPOST, gone)
    conn.execute(_UNDOC, params)
    for row in known:
        _resize(conn, tenant, layer, row.part, -1, -row.length)


def _insert(conn: Connection, tenant: str, new: Sequence[Doc]) -> None:
    if not new:
        return
    conn.execute(
        insert(docs),
        [
            {
                "tenant_id": tenant,
                "layer": d.layer.value,
                "id": d.id,
                "part": d.partition,
                "length": d.length,
                "terms": _SEPARATOR.join(d.terms),
            }
            for d in new
        ],
    )
    rows = [
        {
            "tenant_id": tenant,
            "layer": d.layer.value,
            "part": d.partition,
            "term": term,
            "id": d.id,
            "count": count,
            "length": d.length,
        }
        for d in new
        for term, count in d.terms.items()
    ]
    if rows:
        conn.execute(insert(postings), rows)
    totals: dict[tuple[Layer, str], list[int]] = {}
    for d in new:
        total = totals.setdefault((d.layer, d.partition), [0, 0])
        total[0] += 1
        total[1] += d.length
    for (layer, partition), (count, length) in totals.items():
        _resize(conn, tenant, layer, partition, count, length)


def _resize(
    conn: Connection, tenant: str, layer: Layer, partition: str, count: int, length: int
) -> None:
    conn.execute(
        _grow(conn.dialect.name),
        {
            "tenant_id": tenant,
            "layer": layer.value,
            "part": partition,
            "docs": count,
            "length": length,
        },
    )


@cache
def _grow(dialect: str) -> Insert:
    make = postgresql.insert(parts) if dialect == "postgresql" else sqlite.insert(parts)
    return make.on_conflict_do_update(
        index_elements=list(parts.primary_key.columns),
        set_={
            "docs": parts.c.docs + make.excluded.docs,
            "length": parts.c.length + make.excluded.length,
        },
    )


def _secure(conn: Connection) -> None:
    rule = "tenant_id = current_setting('muniment.tenant')"
    for table in (docs, parts, postings, known):
        name = table.fullname
        exists = conn.execute(
            text("SELECT 1 FROM pg_policies WHERE schemaname = :s AND tablename = :t"),
            {"s": SCHEMA, "t": table.name},
        ).first()
        if exists is None:
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

    def connect() -> sqlite3.Connection:
        name = ":memory:" if path is None else str(path)
        return sqlite3.connect(name, check_same_thread=False, isolation_level=None, timeout=10)

    pool: dict[str, Any] = {"poolclass": StaticPool}
    if path is not None:
        pool = {"poolclass": QueuePool, "pool_size": 8, "max_overflow": 56}
    engine = create_engine("sqlite://", creator=connect, **pool).execution_options(
        schema_translate_map={SCHEMA: None}
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
        conn.exec_driver_sql(f"BEGIN {mode}")

    return SqlIndex(engine, threading.Lock())


def postgres_index(engine: Engine) -> SqlIndex:
    """The index beside the truth: another schema, the same server."""
    return SqlIndex(engine, None)
