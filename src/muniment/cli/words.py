"""What several commands take from the command line in the same way."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from muniment.cli.session import Session
from muniment.errors import InvalidInput, Unavailable
from muniment.scope import Scope

STDIN_BYTES_MAX = 16 * 1024 * 1024

By = Annotated[str, typer.Option(help="Who or what said it: user, assistant, tool, file, web, …")]
Thread = Annotated[str | None, typer.Option(help="The conversation: a label of yours, or its id.")]
At = Annotated[str | None, typer.Option(help="When it was said: an instant with a zone.")]
MessageId = Annotated[
    str | None, typer.Option("--id", help="Your own id: the same again is the same event.")
]
Speaker = Annotated[str | None, typer.Option(help="The name of the speaker.")]
FilePath = Annotated[str | None, typer.Option("--path", help="Of a file that said it.")]
SourceUrl = Annotated[str | None, typer.Option(help="The address of a page that said it.")]
Name = Annotated[str | None, typer.Option(help="The name of a tool or document.")]
Metadata = Annotated[str | None, typer.Option(help="More about it, as a JSON object.")]
Key = Annotated[str | None, typer.Option(help="Idempotency key: a replay gets the first answer.")]
Stage = Annotated[str | None, typer.Option(help="The stage of the task, such as wrap_up.")]
Entity = Annotated[list[str] | None, typer.Option("--entity", help="What it touches; repeatable.")]
TaskPath = Annotated[list[str] | None, typer.Option("--path", help="A file of the task.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what it would reach.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def text_of(given: str | None) -> str | None:
    """An argument, or with ``-`` what comes in on standard input."""
    return read(Path("-")) if given == "-" else given


def read(path: Path) -> str:
    """A file, or standard input for ``-``, as text."""
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(STDIN_BYTES_MAX)
        else:
            with path.open("rb") as file:
                data = file.read(STDIN_BYTES_MAX)
        return data.decode("utf-8").removesuffix("\n")
    except OSError as error:
        raise Unavailable("file.unreadable", f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput("text.not_utf8", f"{path}: not UTF-8 text") from None


def write_new(path: Path, text: str) -> None:
    """A new file for its owner alone; one that is there is never written over."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidInput("file.exists", f"{path} exists; name a new file") from None
    except OSError as error:
        raise Unavailable("file.unwritable", f"{path}: {error.strerror}") from None


def json_of(text: str, name: str) -> Any:
    """JSON from the command line or a file."""
    try:
        return json.loads(text)
    except ValueError:
        raise InvalidInput("json.invalid", f"{name}: not JSON") from None


def message_fields(
    id: str | None,
    at: str | None,
    speaker: str | None,
    path: str | None,
    source_url: str | None,
    name: str | None,
    metadata: str | None,
) -> dict[str, Any]:
    """The fields of a message that were given."""
    fields = {
        "id": id,
        "at": at,
        "speaker": speaker,
        "path": path,
        "url": source_url,
        "name": name,
        "metadata": None if metadata is None else json_of(metadata, "metadata"),
    }
    return {k: v for k, v in fields.items() if v is not None}


def place_of(session: Session, thread: str | None, event: str | None = None) -> Scope | None:
    """Where it is said.  A thread keeps the place it was opened in, so that naming no place
    there means that one."""
    scope = session.scope
    return None if (thread is not None or event is not None) and not scope.key else scope
