"""Files of conversations as batches of messages: JSON Lines, LoCoMo, MemDaily.  Reading only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from muniment.errors import InvalidInput, Unavailable
from muniment.events.message import Message
from muniment.scope import Scope

LINE_BYTES_MAX = 4 * 1024 * 1024
_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "function": "tool"}
_OWN = {"thread", "scope", "role", "content", "time", "said_at"}


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one thread, and the line of the last one (for error messages)."""

    thread: str
    messages: tuple[Message, ...]
    line: int
    scope: Scope | None = None


def read_batches(path: Path, size: int) -> Iterator[Batch]:
    """The messages of a file, in order, in batches of one thread.

    Raises `InvalidInput` naming the line at fault; batches before it are already out.
    """
    try:
        first = _first_character(path)
    except OSError as error:
        raise Unavailable("import.unreadable", f"{path}: {error.strerror}") from None
    if first == "[":
        return _dataset(path, size)
    return _lines(path, size)


def count_messages(path: Path) -> int:
    """How many lines a JSON Lines file has; 0 for data sets, whose size is not known beforehand."""
    try:
        if _first_character(path) == "[":
            return 0
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 0


def _first_character(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(64).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")[:1]


def _lines(path: Path, size: int) -> Iterator[Batch]:
    pending: list[Message] = []
    thread, scope, number = "", None, 0
    with path.open("rb") as file:
        while raw := file.readline(LINE_BYTES_MAX + 1):
            number += 1
            if len(raw) > LINE_BYTES_MAX:
                raise InvalidInput("import.line_too_long", f"line {number}: too long")
            if not raw.strip():
                continue
            where, place, message = _row(raw, number, f"import:{path.stem}")
            if pending and (where != thread or place != scope or len(pending) >= size):
                yield Batch(thread, tuple(pending), number - 1, scope)
                pending = []
            thread, scope = where, place
            pending.append(message)
    if pending:
        yield Batch(thread, tuple(pending), number, scope)


def _row(raw: bytes, number: int, unnamed: str) -> tuple[str, Scope | None, Message]:
    try:
        row = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise InvalidInput("import.not_json", f"line {number}: not a JSON object") from None
    if not isinstance(row, dict):
        raise InvalidInput("import.not_json", f"line {number}: not a JSON object")
    known = {f.name for f in fields(Message)} | _OWN
    unknown = sorted(set(row) - known)
    if unknown:
        raise InvalidInput("import.unknown_field", f"line {number}: unknown {', '.join(unknown)}")
    by = row.get("by", row.get("role", "user"))
    data = {k: v for k, v in row.items() if k not in _OWN and k != "by"}
    data["by"] = _ROLES.get(by, by) if isinstance(by, str) else by
    data.setdefault("text", row.get("content"))
    data.setdefault("at", row.get("said_at", row.get("time")))
    try:
        scope = Scope.of(row["scope"]) if row.get("scope") else None
        message = Message.of({k: v for k, v in data.items() if v is not None})
    except InvalidInput as error:
        raise InvalidInput(error.code, f"line {number}: {error.message}") from None
    return str(row.get("thread", unnamed)), scope, message


def _dataset(path: Path, size: int) -> Iterator[Batch]:
    try:
        rows = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidInput("import.not_json", f"{path}: not a JSON file") from None
    for number, row in enumerate(rows, 1):
        if isinstance(row, Mapping) and "conversation" in row:
            reader = _locomo(row, size, number)
        elif isinstance(row, Mapping) and "message_list" in row:
            reader = _memdaily(row, path.stem, size, number)
        else:
            raise InvalidInput(
                "import.unknown_format", f"entry {number}: neither LoCoMo nor MemDaily"
            )
        yield from _shaped(reader, number)


def _shaped(reader: Iterator[Batch], number: int) -> Iterator[Batch]:
    """The batches of one entry; an entry of another shape is an error that names it."""
    try:
        yield from reader
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidInput(
            "import.invalid_entry", f"entry {number}: a field is missing or of the wrong type"
        ) from None


def _locomo(row: Mapping[str, Any], size: int, number: int) -> Iterator[Batch]:
    """One thread a conversation; a turn keeps its own id, such as ``D1:3``."""
    name, talk = str(row.get("sample_id", number)), row["conversation"]
    sessions = sorted(
        (k for k in talk if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:])
    )
    turns: list[Message] = []
    for session in sessions:
        at = _locomo_time(talk.get(f"{session}_date_time", ""), number)
        turns += [_locomo_turn(t, at, talk) for t in talk[session]]
    for start in range(0, len(turns), size):
        yield Batch(f"locomo:{name}", tuple(turns[start : start + size]), number)


def _locomo_turn(turn: Mapping[str, Any], at: datetime, talk: Mapping[str, Any]) -> Message:
    caption = turn.get("blip_caption")
    text = turn["text"] + (f" [shares {caption}]" if caption else "")
    return Message(by="user", text=text, id=turn["dia_id"], at=at, speaker=turn["speaker"])


_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"


def _locomo_time(text: str, number: int) -> datetime:
    """`1:56 pm on 8 May, 2023`; the data states no zone, UTC is assumed."""
    try:
        return datetime.strptime(text, _LOCOMO_TIME).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidInput("time.invalid", f"entry {number}: session time {text!r}") from None


def _memdaily(row: Mapping[str, Any], name: str, size: int, number: int) -> Iterator[Batch]:
    """One thread a trajectory; a message keeps its ``mid``."""
    messages = tuple(
        Message(
            by="user",
            text=m["message"],
            id=str(m["mid"]),
            at=_memdaily_time(m.get("time", ""), number),
            metadata={"place": m["place"]} if m.get("place") else {},
        )
        for m in row["message_list"]
    )
    for start in range(0, len(messages), size):
        part = messages[start : start + size]
        yield Batch(f"memdaily:{name}:{row.get('tid', number)}", part, number)


_MEMDAILY_TIME = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日\D*(\d{1,2}):(\d{2})")


def _memdaily_time(text: str, number: int) -> datetime | None:
    match = _MEMDAILY_TIME.match(text)
    if match is None:
        return None
    year, month, day, hour, minute = map(int, match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)
