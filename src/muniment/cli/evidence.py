"""append, import: what was said, as evidence."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from muniment.cli import cards, words
from muniment.cli.exits import code_of
from muniment.cli.session import session_of
from muniment.errors import InvalidInput

LINE_EVERY = 5_000  # messages between two lines of progress where there is no terminal
Advance = Callable[[int, int], None]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(append)
    app.command("import")(import_file)


def append(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="The words; - reads them from standard input.")],
    by: words.By = "user",
    thread: words.Thread = None,
    at: words.At = None,
    id: words.MessageId = None,
    speaker: words.Speaker = None,
    path: words.FilePath = None,
    source_url: words.SourceUrl = None,
    name: words.Name = None,
    metadata: words.Metadata = None,
) -> None:
    """Append one event as evidence; nothing is remembered yet."""
    session = session_of(ctx)
    fields = words.message_fields(id, at, speaker, path, source_url, name, metadata)
    with session.open() as memory:
        event = memory.append(
            words.text_of(text) or "",
            by=by,
            thread=thread,
            scope=words.place_of(session, thread),
            **fields,
        )
    if session.as_json:
        session.screen.data(event)
        return
    session.screen.fields(cards.event_fields(event))
    hint = session.command("remember", "--event", event.id)
    session.screen.command(hint, "It is evidence; to put it through the gate:")


def import_file(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="JSON Lines, LoCoMo or MemDaily.")],
    attest: Annotated[
        bool, typer.Option("--attest", help="Vouch for who is said to have spoken.")
    ] = False,
) -> None:
    """Append a file of messages as evidence.  Run it again after an interruption: it goes on."""
    session = session_of(ctx)
    if file.is_dir():
        raise InvalidInput("import.directory", f"{file} is a directory; name a file in it")
    scope = session.scope if session.scope.key else None
    reached = 0

    def advance(done: int, total: int) -> None:
        nonlocal reached
        reached = done
        show(done, total)

    try:
        with session.open() as memory, progress("Importing", known_total=False) as show:
            done = memory.import_file(file, scope=scope, attest=attest, progress=advance)
            memory.tidy()  # what is not indexed yet would be indexed by the first question
    except KeyboardInterrupt:
        print(
            f"\nInterrupted: at least {reached} messages are in for good. Run the same command "
            "again to go on; what is in is not appended twice.",
            file=sys.stderr,
        )
        raise typer.Exit(code_of("interrupted")) from None
    if session.as_json:
        session.screen.data(done)
        return
    screen = session.screen
    screen.line(f"{done.appended} messages appended, {done.known} known already.")
    screen.fields([("conversations", done.threads)])
    screen.command(session.command("recall", "--archive", "…"), "To search them:")


@contextlib.contextmanager
def progress(what: str, *, known_total: bool = True) -> Iterator[Advance]:
    """Progress on stderr: a bar on a terminal, else a line now and then."""
    if not sys.stderr.isatty():
        yield _lines(what)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total if known_total else None)

        yield advance


def _lines(what: str) -> Advance:
    told = 0

    def advance(done: int, _total: int) -> None:
        nonlocal told
        if done - told >= LINE_EVERY:
            told = done
            print(f"{what}: {done}", file=sys.stderr, flush=True)

    return advance
