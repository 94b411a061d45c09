"""What only PostgreSQL has to keep: row-level security, roles, a pool, a first opening by many."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import muniment
from muniment import MunimentError, NotAllowed, Principal
from tests.contract.kit import WEB, Desk, Place, admin_dsn
from tests.support.postgres import Server

pytestmark = pytest.mark.postgres


@pytest.fixture
def pg_place(postgres_server: Server, pg_url: str, tmp_path: Path) -> Place:
    """An empty database of the test's own."""
    dsn = admin_dsn(postgres_server.admin_url, pg_url)
    return Place("postgres", pg_url, tmp_path / "chain.key", tmp_path, "acme", dsn)


@pytest.fixture
def pg_desk(pg_place: Place) -> Iterator[Desk]:
    desk = Desk(pg_place)
    yield desk
    desk.memory.close()


def _app_dsn(place: Place) -> str:
    return place.url.replace("postgresql+psycopg", "postgresql")


def _together(count: int, act: Callable[[int], Any]) -> list[Any]:
    """Run it in that many threads that start at one moment; results or exceptions."""
    barrier = threading.Barrier(count)
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = act(number)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_the_apps_own_role_sees_nothing_without_a_tenant(pg_desk: Desk) -> None:
    """Raw SQL in every table of both schemas: an error, or no row; with the tenant, its rows."""
    pg_desk.remember("This project uses npm.")
    pg_desk.memory.list()
    pg_desk.memory.rebuild_index()
    other = Principal(tenant="other", user="lin", channel="runtime")
    pg_desk.memory.remember("This project uses MARKER.", scope=WEB, principal=other)
    open_to_all = {"meta", "tenant_work", "key_epochs", "alembic_version", "stamp"}
    with psycopg.connect(_app_dsn(pg_desk.place), autocommit=True) as conn:
        tables = conn.execute(
            "SELECT schemaname, tablename FROM pg_tables "
            "WHERE schemaname IN ('public', 'muniment_index')"
        ).fetchall()
        assert len(tables) > 15
        for schema, name in tables:
            if name in open_to_all:
                continue
            for setting in (None, "", "nobody"):
                if setting is None:
                    conn.execute("RESET ALL")
                else:
                    conn.execute("SELECT set_config('muniment.tenant', %s, false)", (setting,))
                try:
                    rows = conn.execute(f'SELECT * FROM "{schema}"."{name}"').fetchall()  # type: ignore[call-overload]
                except psycopg.Error:
                    continue
                assert rows == [], (schema, name, setting)
        conn.execute("SELECT set_config('muniment.tenant', 'acme', false)")
        rows = conn.execute("SELECT payload FROM events").fetchall()
        assert len(rows) == 1 and "MARKER" not in rows[0][0]
        columns = conn.execute("SELECT * FROM tenant_work").description
        assert [c.name for c in columns or []] == ["tenant_id", "due_at"]


def test_the_apps_own_role_cannot_write_into_another_tenant(pg_desk: Desk) -> None:
    """WITH CHECK refuses a row of someone else's, and moving one there."""
    pg_desk.remember("This project uses npm.")
    with psycopg.connect(_app_dsn(pg_desk.place), autocommit=True) as conn:
        conn.execute("SELECT set_config('muniment.tenant', 'acme', false)")
        for statement in (
            "UPDATE events SET tenant_id = 'other'",
            "INSERT INTO tombstones VALUES ('other', 'd', 'r', 1, NULL)",
        ):
            with pytest.raises(psycopg.Error):
                conn.execute(statement)
        conn.execute("INSERT INTO tombstones VALUES ('acme', 'd', 'r', 1, NULL)")


def test_a_role_that_steps_round_the_policies_is_refused(
    postgres_server: Server, pg_place: Place
) -> None:
    """Superusers and BYPASSRLS never open the store; nothing is created for them."""
    url = pg_place.url.replace("muniment_app", "postgres", 1)
    with pytest.raises(NotAllowed) as error:
        muniment.open(url, key_file=pg_place.key_file)
    assert error.value.code == "store.role_bypasses_security"
    pg_place.run("DROP ROLE IF EXISTS sidestep", "CREATE ROLE sidestep LOGIN BYPASSRLS")
    try:
        with pytest.raises(NotAllowed):
            muniment.open(
                pg_place.url.replace("muniment_app", "sidestep", 1), key_file=pg_place.key_file
            )
    finally:
        pg_place.run("DROP ROLE sidestep")
    assert pg_place.run("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]
    assert pg_place.key_file is not None and not pg_place.key_file.exists()


def test_row_level_security_is_forced_on_every_tenant_table(pg_desk: Desk) -> None:
    """Also on its owner, so that no table is forgotten when one is added."""
    rows = pg_desk.place.run(
        "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' "
        "WHERE c.relkind = 'r' AND n.nspname IN ('public', 'muniment_index')"
    )
    assert {name for name, forced in rows if not forced} == {"tenant_work"}
    assert len(rows) > 15


def test_many_can_open_an_empty_database_at_once(pg_place: Place) -> None:
    """One makes the schema, the others wait for it; all work with one key."""
    opened = _together(6, lambda n: pg_place.open())
    failed = [repr(m) for m in opened if isinstance(m, Exception)]
    try:
        assert not failed
        for number, memory in enumerate(opened):
            memory.append(f"hello {number}", thread="t")
        assert opened[0].verify().ok
    finally:
        for memory in opened:
            if not isinstance(memory, Exception):
                memory.close()


def test_more_readers_than_connections_wait_for_their_turn(pg_desk: Desk) -> None:
    """80 recalls at once: all answered, none blocks another for good."""
    pg_desk.remember("This project uses npm.")
    start = time.monotonic()
    answers = _together(80, lambda n: pg_desk.memory.recall("package manager", scope=WEB))
    took = time.monotonic() - start
    assert [a for a in answers if isinstance(a, Exception)] == []
    assert {(len(a), a.degraded) for a in answers} == {(1, ())}
    assert took < 25


def test_the_lexical_index_is_used_under_row_level_security(pg_desk: Desk) -> None:
    """EXPLAIN as the application's role: an index scan on the postings, no sequential one."""
    events = pg_desk.memory.append_many(
        [{"by": "user", "text": f"wombat number {n} of many"} for n in range(400)],
        thread="many",
        principal=pg_desk.who(channel="runtime"),
    )
    assert len(events) == 400
    pg_desk.memory.rebuild_index()
    pg_desk.place.run("ANALYZE muniment_index.postings")
    with psycopg.connect(_app_dsn(pg_desk.place), autocommit=True) as conn:
        conn.execute("SELECT set_config('muniment.tenant', 'acme', false)")
        plan = conn.execute(
            "EXPLAIN SELECT * FROM muniment_index.postings WHERE tenant_id = 'acme' "
            "AND place = 1 AND term IN ('399')"
        ).fetchall()
    text = "\n".join(row[0] for row in plan)
    assert "Index" in text and "Seq Scan" not in text, text


def test_a_server_that_is_gone_is_a_typed_error(pg_place: Place) -> None:
    """Unknown host, unknown database, wrong port: unavailable, with a code."""
    for url in (
        pg_place.url.replace("/muniment_", "/nosuch_", 1).split("?")[0] + "?host=/nowhere",
        "postgresql://u@127.0.0.1:1/db",
    ):
        with pytest.raises(MunimentError) as error:
            muniment.open(url, key_file=pg_place.key_file)
        assert error.value.code == "store.unreachable"


def test_connections_cut_off_by_the_server_are_typed_errors_and_heal(pg_desk: Desk) -> None:
    """After the server ends every session the next calls answer or say unavailable, then work."""
    pg_desk.remember("This project uses npm.")
    pg_desk.place.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    for _ in range(12):
        try:
            desk_records = pg_desk.memory.list()
        except MunimentError as error:
            assert error.code == "store.unreachable"
        else:
            assert len(desk_records) == 1
            break
    else:
        pytest.fail("it did not heal")
    assert pg_desk.remember("I prefer short answers.").action == "activate"


def test_a_thorough_scrub_leaves_no_erased_byte_in_the_tables_files(pg_desk: Desk) -> None:
    """Plain erase says that pages and log may keep words; after `scrub` the pages do not."""
    place = pg_desk.place
    [(data, oid)] = place.run(
        "SELECT current_setting('data_directory'), oid FROM pg_database "
        "WHERE datname = current_database()"
    )
    folder = Path(data) / "base" / str(oid)
    if not os.access(folder, os.R_OK):
        pytest.skip("the server's files are out of reach")

    def files_with(mark: bytes) -> int:
        place.run("CHECKPOINT")
        found = [mark in p.read_bytes() or mark.lower() in p.read_bytes() for p in folder.iterdir()]
        return sum(found)

    text = "I like MARKERQZX tea."
    event = pg_desk.say(text, scope=None)
    assert pg_desk.propose("I like MARKERQZX tea", event, kind="preference").action == "activate"
    pg_desk.memory.rebuild_index()
    assert files_with(b"MARKERQZX") >= 2
    done = pg_desk.memory.erase(event=event.id)
    assert not done.complete
    assert any("write-ahead log" in words for words in done.pending)
    assert any("scrub" in words for words in done.pending)
    left = pg_desk.memory.scrub()["left"]
    assert files_with(b"MARKERQZX") == 0
    assert any("write-ahead log" in words for words in left)
