"""learn: what the files of a repository state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from muniment.cli.session import Session, session_of
from muniment.errors import InvalidInput
from muniment.gate.reasons import explain
from muniment.verbs.learning import Change, Learnt

_SIGNS = {
    "learn": ("+", "bold green"),
    "change": ("~", "bold yellow"),
    "confirm": ("=", ""),
    "history": (".", "dim"),
    "hold": ("?", "bold yellow"),
    "refuse": ("!", "bold red"),
    "expire": ("-", "bold red"),
}


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(learn)


def learn(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(help="A folder of a Git repository, or one file of it.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be known.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Learn a project from its files: what would be known is shown first, then written.

    Run it again after a change: what a file states anew replaces, what it no longer does expires.
    """
    session = session_of(ctx)
    if not (yes or dry_run or session.asks):
        raise InvalidInput("confirmation.missing", "nobody is there to be asked; pass --yes")
    with session.open() as memory:
        if not yes:
            found = memory.learn(path, scope=session.scope, dry_run=True)
            if dry_run or not found.news:
                _show(session, found)
                return
            if not session.as_json:
                _show(session, found)
            session.agree("Write this?")
        done = memory.learn(path, scope=session.scope)
    if yes or session.as_json:
        _show(session, done)
    else:
        session.screen.line(f"Written: {len(done.news)}.")


def _show(session: Session, found: Learnt) -> None:
    screen = session.screen
    if session.as_json:
        screen.data(found)
        return
    for change in found.news:
        sign, style = _SIGNS[change.what]
        screen.line(f"{sign} {_told(change)}", style=style)
        if change.what in ("hold", "refuse"):
            screen.line(explain(change.reasons[0], session.language), indent=4)
    if not found.news:
        screen.line("Nothing new: what the files state is known.")
    for change in found.changes:
        if change.what == "differ":
            screen.line(f"Not taken: {_told(change)}; another file is asked first.", style="dim")
    for path in found.skipped:
        screen.line(f"Not read: {path}", style="dim")


def _told(change: Change) -> str:
    before = f"{change.before} -> " if change.before not in (None, change.value) else ""
    commit = f"@{change.commit[:10]}" if change.commit else ""
    return f"{change.predicate}: {before}{change.value}  ({change.path}{commit})"
