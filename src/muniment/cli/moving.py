"""export, import-backup, backup: out, and back through the gate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from muniment.cli.session import session_of


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(export)
    app.command("import-backup")(import_backup)
    app.command()(backup)


def export(
    ctx: typer.Context, file: Annotated[Path, typer.Argument(help="The file to write.")]
) -> None:
    """Everything you may know of (an admin: the tenant) with its evidence, as JSON Lines."""
    session = session_of(ctx)
    with session.open() as memory:
        done = memory.export(file)
    if session.as_json:
        session.screen.data(done)
    else:
        session.screen.line(f"{done.records} records and {done.events} events in {done.path}")


def import_backup(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="An export of Muniment.")],
    attest: Annotated[
        bool, typer.Option("--attest", help="Vouch for a foreign export (admin).")
    ] = False,
) -> None:
    """Bring an export back through the gate: what was erased or deleted stays away."""
    session = session_of(ctx)
    with session.open() as memory:
        done = memory.import_backup(file, attest=attest)
    if session.as_json:
        session.screen.data(done)
        return
    session.screen.line(f"{done.activated} records in force, {done.waiting} waiting.")
    for row in done.blocked:
        session.screen.line(f"Stayed away: {row}", indent=2)


def backup(
    ctx: typer.Context, file: Annotated[Path, typer.Argument(help="The file to write.")]
) -> None:
    """A consistent copy of an embedded store while it is in use; its key file is not in it."""
    session = session_of(ctx)
    with session.open() as memory:
        done = memory.backup(file)
    if session.as_json:
        session.screen.data({"path": done})
    else:
        session.screen.line(f"Copied to {done}. Keep a copy of the key file, apart from it.")
