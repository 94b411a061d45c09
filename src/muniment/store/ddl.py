"""Making and checking the schema.  New stores get it whole; older ones are migrated by Alembic."""

from __future__ import annotations

from importlib import resources
from typing import Any

from sqlalchemy import Connection, inspect, text

from muniment.errors import Unavailable
from muniment.store.backend import Backend
from muniment.store.schema import TENANT_TABLES, metadata

HEAD = "0001"
MIGRATIONS = resources.files("muniment.store").joinpath("migrations")
_POLICY = "tenant_isolation"


def prepare(backend: Backend) -> None:
    """Create the schema in an empty database; refuse one of another version.

    Raises `Unavailable` ``schema.outdated``, ``schema.newer`` or ``schema.missing``.
    """
    with backend.engine.connect() as conn:
        found = version_of(conn)
    if found is None and backend.read_only:
        raise Unavailable("schema.missing", "the file is read-only and has no tables")
    if found is None:
        with backend.administering() as conn:
            if conn.dialect.name == "postgresql":  # SQLite's writers queue by themselves
                conn.execute(text("SELECT pg_advisory_xact_lock(hashtext('muniment_schema'))"))
            if version_of(conn) is None:
                _create(conn)
    elif found != HEAD:
        raise _mismatch(found)


def version_of(conn: Connection) -> str | None:
    """The schema's revision, or ``None`` for an empty database."""
    tables = set(inspect(conn).get_table_names())
    if "alembic_version" in tables:
        return conn.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if tables & {"events", "records"}:
        raise Unavailable(
            "schema.foreign", "this database has other tables of these names; use an empty one"
        )
    return None


def _mismatch(found: str) -> Unavailable:
    if found > HEAD:
        return Unavailable(
            "schema.newer",
            f"the store has schema {found}, this version knows {HEAD}; upgrade Muniment",
        )
    return Unavailable(
        "schema.outdated",
        f"the store has schema {found}, this version needs {HEAD}; run `muniment db upgrade`",
    )


def _create(conn: Connection) -> None:
    metadata.create_all(conn)
    if conn.dialect.name == "postgresql":
        secure_rows(conn)
    conn.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)"))
    conn.execute(text("INSERT INTO alembic_version VALUES (:v)"), {"v": HEAD})


def secure_rows(conn: Connection) -> None:
    """FORCE row-level security on every table of a tenant; an unset tenant sees nothing."""
    rule = "tenant_id = current_setting('muniment.tenant')"
    for table in TENANT_TABLES:
        conn.execute(text(f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY"))
        conn.execute(text(f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY"))
        conn.execute(
            text(f"CREATE POLICY {_POLICY} ON {table.name} USING ({rule}) WITH CHECK ({rule})")
        )


def upgrade(backend: Backend) -> tuple[str | None, str]:
    """Migrate to the newest schema.  Returns (from, to)."""
    # Only an upgrade pays for importing Alembic.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    with backend.administering() as conn:
        before = version_of(conn)
        if before is not None and before > HEAD:
            raise _mismatch(before)
        if before is None:
            _create(conn)
        else:
            config: Any = Config()
            config.set_main_option("script_location", str(MIGRATIONS))
            config.attributes["connection"] = conn
            try:
                command.upgrade(config, "head")
            except CommandError:
                raise Unavailable(
                    "schema.unknown", f"schema {before} was never released; restore a backup"
                ) from None
    return before, HEAD
