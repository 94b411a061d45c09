"""db: the schema, the role and the key of a store."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from muniment.cli import words
from muniment.cli.session import Session, session_of, shown_url
from muniment.clock import SystemClock
from muniment.errors import Conflict, InvalidInput, MunimentError, Unavailable
from muniment.ids import SortableIds
from muniment.store import ddl
from muniment.store.backend import Backend
from muniment.store.connect import backend_of, connect, file_of

db = typer.Typer(help="Look after the database: schema, role, key.")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]{0,62}")


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(db, name="db")


@db.command()
def upgrade(ctx: typer.Context) -> None:
    """Bring the schema to this version's; a new database gets it whole."""
    session = session_of(ctx)
    session.forbid_agents("change the schema")
    backend = _database(session.url)
    try:
        before = _version(backend)
        after = before if before == ddl.HEAD else ddl.upgrade(backend)[1]
    except Exception as error:
        raise _translated(backend, error) from error
    finally:
        backend.close()
    if session.as_json:
        session.screen.data({"from": before, "to": after})
    elif before == after:
        session.screen.line(f"The schema is {after} already.")
    else:
        session.screen.line(f"Schema {before or '(none)'} -> {after}")


@db.command()
def info(ctx: typer.Context) -> None:
    """What kind of store it is and which schema it has, also where it cannot be opened."""
    session = session_of(ctx)
    _must_exist(session.url)
    backend = _database(session.url)
    try:
        found = _version(backend)
    except Exception as error:
        raise _translated(backend, error) from error
    finally:
        backend.close()
    answer: dict[str, Any] = {
        "url": shown_url(session.url),
        "store": backend.dialect,
        "schema": found,
        "schema_of_this_version": ddl.HEAD,
        "file_is_read_only": backend.read_only,
    }
    if session.as_json:
        session.screen.data(answer)
        return
    session.screen.fields([(name.replace("_", " "), value) for name, value in answer.items()])
    if found != ddl.HEAD:
        session.screen.command(session.command("db", "upgrade"), "To bring the schema up to date:")


@db.command()
def role(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="The role to make.")],
    database: Annotated[str, typer.Option(help="The database it is to own.")] = "muniment",
) -> None:
    """Print the statements that make an ordinary PostgreSQL role and its database.

    Nothing is executed: an administrator runs them, for instance with psql.
    """
    session = session_of(ctx)
    statements = role_statements(name, database)
    if session.as_json:
        session.screen.data({"statements": statements})
        return
    session.screen.raw("-- Run as an administrator; then set a password: \\password " + name)
    for statement in statements:
        session.screen.raw(statement)


def role_statements(name: str, database: str) -> list[str]:
    """SQL for a role that row-level security holds for, owner of one database."""
    for what, word in (("role", name), ("database", database)):
        if not _NAME.fullmatch(word):
            raise InvalidInput("db.name", f"{what}: letters, digits, _ and -, not {word!r}")
    return [
        f'CREATE ROLE "{name}" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION '
        "NOBYPASSRLS;",
        f'CREATE DATABASE "{database}" OWNER "{name}" ENCODING \'UTF8\' TEMPLATE template0;',
        f'REVOKE ALL ON DATABASE "{database}" FROM PUBLIC;',
    ]


@db.command("new-key")
def new_key(ctx: typer.Context, yes: words.Yes = False) -> None:
    """Start anew with a new chain key after losing the old one.

    What was written before stays readable, and can never be verified again.
    """
    session = session_of(ctx)
    session.forbid_agents("start a new key epoch")
    _must_exist(session.url)
    store, index = connect(
        session.url,
        key_file=session.given.key_file or session.settings.key_file,
        data_home=session.settings.data_home,
        ids=SortableIds(),
        now=SystemClock().now(),
    )
    try:
        if store.key is not None:
            raise Conflict("key.present", "the key is there and fits; nothing to do")
        if store.backend.read_only:
            raise Unavailable("store.read_only", "the database file is read-only")
        if not yes:
            _ask(session)
        key = store.new_epoch(SystemClock().now())
    finally:
        index.close()
        store.close()
    if session.as_json:
        session.screen.data({"key": key.id})
    else:
        session.screen.line(f"New epoch with {key.id}. Back the key file up, apart from the data.")


def _ask(session: Session) -> None:
    if not session.asks:
        raise InvalidInput("confirmation.missing", "pass --yes: this cannot be undone")
    session.agree("Start a new epoch? Older rows can never be verified again.")


def _database(url: str) -> Backend:
    """The bare database, which outlives the command."""
    backend = backend_of(url)
    if backend.in_memory:
        raise InvalidInput("store.url", "use sqlite:///relative.db or sqlite:////absolute.db")
    return backend


def _must_exist(url: str) -> None:
    """Looking at a file must not make it."""
    path = file_of(url)
    if path is not None and not path.exists():
        raise Unavailable("store.missing", f"{path} does not exist")


def _version(backend: Backend) -> str | None:
    with backend.engine.connect() as conn:
        return ddl.version_of(conn)


def _translated(backend: Backend, error: Exception) -> Exception:
    if isinstance(error, MunimentError):
        return error
    found = backend.translate(getattr(error, "orig", None) or error)
    return found if found is not None else error
