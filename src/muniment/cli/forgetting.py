"""mute, unmute, expire, delete, erase: four ways to forget, and one way back."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from muniment.cli import words
from muniment.cli.session import Session, pairs, session_of
from muniment.errors import InvalidInput
from muniment.verbs.forgetting import Forgotten

RecordId = Annotated[str, typer.Argument(help="The id of a record.")]
MaybeRecord = Annotated[str | None, typer.Argument(help="A record; or name one of the others.")]
OfEvent = Annotated[str | None, typer.Option(help="Everything that rests on this event.")]
OfSubject = Annotated[
    str | None, typer.Option(help="Everything about it, such as user:ana or person:bo.")
]
InScope = Annotated[
    list[str] | None,
    typer.Option("--in", metavar="KEY=VALUE", help="Everything of a scope; repeatable."),
]
Match = Annotated[
    str | None, typer.Option(help="With --in: exact (that scope) or within (and narrower ones).")
]

_DONE = {
    "mute": "No longer recalled",
    "unmute": "Recalled again",
    "expire": "Ended now; it stays for questions about the past",
    "delete": "Deleted; it is not learnt again unless the user says it anew",
    "erase": "Erased",
}


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (mute, unmute, expire, delete, erase):
        app.command()(command)


def mute(ctx: typer.Context, record: RecordId, dry_run: words.DryRun = False) -> None:
    """Stop recalling a record; `unmute` undoes it."""
    _one(session_of(ctx), "mute", record, dry_run)


def unmute(ctx: typer.Context, record: RecordId, dry_run: words.DryRun = False) -> None:
    """Recall a record again."""
    _one(session_of(ctx), "unmute", record, dry_run)


def expire(ctx: typer.Context, record: RecordId, dry_run: words.DryRun = False) -> None:
    """End a record's validity now; it stays for questions about the past."""
    _one(session_of(ctx), "expire", record, dry_run)


def _one(session: Session, verb: str, record: str, dry_run: bool) -> None:
    with session.open() as memory:
        done = getattr(memory, verb)(record, dry_run=dry_run)
    _show(session, done)


def delete(
    ctx: typer.Context,
    record: MaybeRecord = None,
    event: OfEvent = None,
    subject: OfSubject = None,
    in_scope: InScope = None,
    match: Match = None,
    dry_run: words.DryRun = False,
    yes: words.Yes = False,
) -> None:
    """Logical: out of every answer, kept for the audit, not to be learnt again."""
    target = _target(record, event, subject, in_scope, match)
    _many(session_of(ctx), "delete", target, dry_run, yes)


def erase(
    ctx: typer.Context,
    record: MaybeRecord = None,
    event: OfEvent = None,
    subject: OfSubject = None,
    in_scope: InScope = None,
    match: Match = None,
    dry_run: words.DryRun = False,
    yes: words.Yes = False,
) -> None:
    """Physical: the words gone with everything derived from them.  What is not reached is said."""
    target = _target(record, event, subject, in_scope, match)
    _many(session_of(ctx), "erase", target, dry_run, yes)


def _target(
    record: str | None,
    event: str | None,
    subject: str | None,
    in_scope: list[str] | None,
    match: str | None,
) -> dict[str, Any]:
    if match is not None and not in_scope:
        raise InvalidInput("target.match", "--match goes with --in")
    given = {
        "record": record,
        "event": event,
        "subject": subject,
        "scope": pairs(in_scope, "in") if in_scope else None,
        "match": match,
    }
    return {name: value for name, value in given.items() if value is not None}


def _many(session: Session, verb: str, target: dict[str, Any], dry_run: bool, yes: bool) -> None:
    with session.open() as memory:
        act = getattr(memory, verb)
        if not dry_run and not yes and session.asks:
            reach: Forgotten = act(dry_run=True, **target)
            session.agree(f"{verb} {_reach(reach)}?")
        done = act(dry_run=dry_run, **target)
    _show(session, done)


def _reach(done: Forgotten) -> str:
    shown = ", ".join(
        f"{n} {name.removesuffix('s') if n == 1 else name}" for name, n in done.counts.items() if n
    )
    return shown or "nothing"


def _show(session: Session, done: Forgotten) -> None:
    screen = session.screen
    if session.as_json:
        screen.data(done)
        return
    head = f"Would {done.verb}" if done.dry_run else _DONE[done.verb]
    screen.line(f"{head}: {_reach(done)}", style="bold")
    screen.fields(
        [
            ("records", ", ".join(done.records)),
            ("events", ", ".join(done.events)),
            ("kept, resting on other evidence too", ", ".join(done.kept)),
            ("erasure", done.erasure),
        ],
        indent=2,
    )
    for rest in done.pending:
        screen.line(f"Not reached yet: {rest}", style="yellow")
