"""The migrations lead to exactly the schema that new stores get at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text

from muniment.store import ddl, schema


def config(conn: Connection | None = None) -> Config:
    """Alembic's configuration as `muniment db upgrade` makes it."""
    made = Config()
    made.set_main_option("script_location", str(ddl.MIGRATIONS))
    if conn is not None:
        made.attributes["connection"] = conn
    return made


@pytest.fixture(params=["sqlite", "postgresql"])
def conn(request: pytest.FixtureRequest) -> Iterator[Connection]:
    """An empty database of each kind."""
    url = "sqlite://" if request.param == "sqlite" else request.getfixturevalue("pg_url")
    engine = create_engine(url)
    with engine.connect() as connection, connection.begin():
        yield connection
    engine.dispose()


def differences(conn: Connection) -> list[object]:
    """What Alembic would still change."""
    return list(compare_metadata(MigrationContext.configure(conn), schema.metadata))


def test_migrating_an_empty_database_gives_the_schema(conn: Connection) -> None:
    """No table, column or index differs."""
    command.upgrade(config(conn), "head")
    assert differences(conn) == []
    assert ddl.version_of(conn) == ddl.HEAD


def test_a_missing_index_is_noticed(conn: Connection) -> None:
    """The comparison can fail: its control."""
    command.upgrade(config(conn), "head")
    conn.execute(text("DROP INDEX lineage_child"))
    assert differences(conn) != []


def test_the_head_is_the_newest_migration() -> None:
    """`ddl.HEAD` is what new stores are stamped with."""
    assert ScriptDirectory.from_config(config()).get_current_head() == ddl.HEAD


def test_migrated_postgres_tables_are_under_forced_row_level_security(pg_url: str) -> None:
    """As those of a new store are."""
    engine = create_engine(pg_url)
    with engine.connect() as connection, connection.begin():
        command.upgrade(config(connection), "head")
        unsecured = connection.execute(
            text(
                "SELECT relname FROM pg_class WHERE relkind = 'r' "
                "AND relnamespace = 'public'::regnamespace AND NOT relforcerowsecurity"
            )
        ).scalars()
        assert set(unsecured) == {"alembic_version", "meta", "key_epochs", "tenant_work"}
        assert {t.name for t in schema.TENANT_TABLES} <= set(inspect(connection).get_table_names())
    engine.dispose()
