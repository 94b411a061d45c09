"""What differs on PostgreSQL: roles, row-level security, transactions and errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from muniment.errors import InvalidInput, MunimentError, NotAllowed, Unavailable
from muniment.store.backend import RaceLost
from muniment.store.schema import TENANT_TABLES

WAL_KEEPS = (
    "PostgreSQL's write-ahead log keeps deleted bytes until its segments are recycled; "
    "replicas, archives and base backups keep them until they expire"
)

POOL_SIZE = 10
POOL_OVERFLOW = 54

_SET_TENANT = text("SELECT set_config('muniment.tenant', :tenant, true)")
_ROLE = text(
    "SELECT bool_or(rolsuper OR rolbypassrls), string_agg(rolname, ', ') FROM pg_roles "
    "WHERE rolname IN (current_user, session_user)"
)


class PostgresBackend:
    """One database; the application's role must not be able to step round row-level security."""

    dialect = "postgresql"
    in_memory = False

    def __init__(self, url: str) -> None:
        self.url = _driver_url(url)
        self.read_only = False
        self.engine = self._engine()
        self.driver_error: type[Exception] = self.engine.dialect.dbapi.Error  # type: ignore[union-attr]
        self._refuse_bypassing_role()

    def _engine(self) -> Engine:
        try:
            engine = create_engine(
                self.url,
                pool_size=POOL_SIZE,
                max_overflow=POOL_OVERFLOW,
                isolation_level="READ COMMITTED",
                connect_args={"connect_timeout": 10},
            )
        except ModuleNotFoundError:
            raise Unavailable(
                "store.driver_missing", "install the driver: pip install 'muniment[postgres]'"
            ) from None
        event.listen(engine, "connect", _on_connect)
        return engine

    def _refuse_bypassing_role(self) -> None:
        try:
            with self.engine.connect() as conn:
                bypasses, role = conn.execute(_ROLE).one()
        except Exception as error:
            self.engine.dispose()
            translated = self.translate(getattr(error, "orig", None) or error)
            if isinstance(translated, MunimentError):
                raise translated from None
            raise
        if bypasses:
            self.engine.dispose()
            raise NotAllowed(
                "store.role_bypasses_security",
                f"role {role} bypasses row-level security; connect as an ordinary role: "
                "`muniment db role NAME` prints the statements that make one",
            )

    @contextmanager
    def writing(self, tenant: str) -> Iterator[Connection]:
        """Read committed, on one tenant; the store takes the tenant's lock first."""
        with self.engine.connect() as conn, conn.begin():
            conn.execute(_SET_TENANT, {"tenant": tenant})
            yield conn

    @contextmanager
    def reading(self, tenant: str) -> Iterator[Connection]:
        """One snapshot, and no way to write from it."""
        with self.engine.connect() as conn:
            conn = conn.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            with conn.begin():
                conn.execute(_SET_TENANT, {"tenant": tenant})
                yield conn

    @contextmanager
    def administering(self) -> Iterator[Connection]:
        """A transaction outside any tenant."""
        with self.engine.connect() as conn, conn.begin():
            yield conn

    def translate(self, error: BaseException) -> MunimentError | RaceLost | None:
        """psycopg's errors in Muniment's words, by SQLSTATE."""
        state = getattr(error, "sqlstate", None)
        if state is None:
            return _without_state(error)
        if state in ("23505", "40001", "40P01"):
            return RaceLost(str(error))
        for prefix, code, message in _STATES:
            if state.startswith(prefix):
                return Unavailable(code, message)
        return Unavailable("store.failed", f"the database answered {state}: {error}")

    def exposed(self) -> list[str]:
        """None: its files are the server's."""
        return []

    def scrub(self, *, thorough: bool = False) -> list[str]:
        """Vacuum what held deleted rows; ``thorough`` rewrites the tables under lock.

        Plain vacuum leaves some deleted words in free space until it is used again; neither
        reaches the write-ahead log, which is the operator's.
        """
        how = "VACUUM FULL" if thorough else "VACUUM"
        with self.engine.connect() as conn:
            auto = conn.execution_options(isolation_level="AUTOCOMMIT")
            for table in TENANT_TABLES:
                auto.exec_driver_sql(f'{how} "{table.name}"')
            if thorough:
                return [WAL_KEEPS]
        return ["freed pages may keep deleted words: `muniment scrub` rewrites them", WAL_KEEPS]

    def copy_to(self, target: Path) -> None:
        """Left to the database's own tools."""
        raise InvalidInput("backup.use_pg_dump", "back up PostgreSQL with pg_dump or its archive")

    def close(self) -> None:
        """Release every connection."""
        self.engine.dispose()


def _without_state(error: BaseException) -> MunimentError | None:
    """Errors that never reached the server, or came from no server."""
    name = type(error).__name__
    if not type(error).__module__.startswith("psycopg"):
        return None
    if name in ("OperationalError", "InterfaceError", "ConnectionTimeout", "PoolTimeout"):
        return Unavailable("store.unreachable", f"PostgreSQL cannot be reached: {error}")
    return Unavailable("store.failed", f"the driver refused the statement: {error}")


def _driver_url(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise InvalidInput(
            "store.url", "the URL cannot be read; write postgresql://user:password@host:5432/name"
        ) from None
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername != "postgresql+psycopg":
        raise InvalidInput("store.url", "use postgresql://…, or sqlite:///path.db")
    return parsed


def _on_connect(connection: Any, _record: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET client_encoding TO 'UTF8'")
        # A generic plan would not see the tenant and misses the partial indexes.
        cursor.execute("SET plan_cache_mode TO force_custom_plan")
    connection.commit()


_STATES = (
    ("53100", "store.full", "the server's disk is full; nothing was written"),
    ("53", "store.busy", "the server is out of resources; try again"),
    ("25006", "store.read_only", "the database is read-only; nothing was written"),
    ("42P01", "schema.missing", "the tables are missing; run `muniment db upgrade`"),
    ("42703", "schema.missing", "columns are missing; run `muniment db upgrade`"),
    ("3D000", "store.unreachable", "no such database; create it first"),
    ("28", "store.unreachable", "the server refused the login"),
    ("08", "store.unreachable", "PostgreSQL cannot be reached"),
    ("57P", "store.unreachable", "PostgreSQL is shutting down"),
    ("55P03", "store.busy", "another writer holds the row; try again"),
    ("42501", "store.forbidden", "row-level security or a missing grant forbids it"),
)
