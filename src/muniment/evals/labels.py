"""Labelled turns: what is said, and what should come of it.

The format is that of `docs/reference/eval-write.md`.  A file is checked as a whole before
anything of it is played; every complaint names the file, the line and the turn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from pathlib import Path
from typing import Any, NoReturn

from muniment.clock import as_utc
from muniment.errors import InvalidInput, Unavailable
from muniment.events.event import SAID_BY
from muniment.events.message import Message
from muniment.gate.decision import Action
from muniment.lines import Map, NotYaml, parse
from muniment.records.record import Kind, Origin
from muniment.scope import Channel, Scope

GROUPS = (
    *("explicit_remember", "standing_wish", "project_fact", "team_agreement", "correction"),
    *("change", "supplement", "exception", "condition", "one_off", "revocation", "third_person"),
    *("question", "quotation", "retelling", "hypothetical", "irony", "small_talk"),
    *("assistant_suggestion", "non_answer", "tool_observation", "document_text", "secret"),
    *("sensitive", "high_impact", "several_in_one", "episode"),
)
LANGUAGES = ("zh", "en", "mixed")
ACTIONS = tuple(a.value for a in Action)
ANY = "any"
SAID = "2026-09-01T09:00:00+08:00"
FILE_BYTES_MAX = 4 * 1024 * 1024
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_TURN = ("id", "group", "lang", "in", "channel", "said", "before", "say", "expect", "secret")
_NEEDED = ("id", "group", "lang", "in", "say", "expect")
_MESSAGE = tuple(f.name for f in fields(Message))
_WORDS = {"kind": [k.value for k in Kind], "origin": [o.value for o in Origin]}
_EXPECT = ("action", "kind", "scope", "origin", "subject", "until", "about", "replaces")


@dataclass(frozen=True, slots=True)
class Said:
    """A message; ``deleted`` says that what it made current is deleted before it goes on."""

    message: Message
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Expected:
    """One thing that should come of a turn.

    ``stated`` has those of kind, scope, origin, subject and until that the label states; what it
    leaves out is left open.  ``until`` is a date (the last day, where it was said), `ANY` end,
    or None for no end.
    """

    action: str
    about: str | None = None
    replaces: str | None = None
    stated: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """One labelled turn.  ``said`` keeps the zone it was written with."""

    id: str
    group: str
    language: str
    place: Scope
    said: datetime
    say: Said
    expect: tuple[Expected, ...]
    before: tuple[Said, ...] = ()
    channel: Channel = Channel.RUNTIME
    secret: str | None = None

    @property
    def entries(self) -> tuple[Expected, ...]:
        """What is expected; where that is nothing, that it be ignored."""
        return self.expect or (Expected(Action.IGNORE.value),)


@dataclass(frozen=True, slots=True)
class Labelled:
    """The turns of some files, in order, and the fingerprint of these files."""

    turns: tuple[Turn, ...]
    fingerprint: str


def load(paths: Sequence[Path]) -> Labelled:
    """The turns of files; ids are unique over all of them.

    Raises `Unavailable` ``eval.unreadable``, and `InvalidInput`: ``labels.too_large``,
    ``labels.empty``, ``labels.invalid``, ``labels.unknown``, ``labels.duplicate``.
    """
    turns: list[Turn] = []
    seen: dict[str, str] = {}
    digests = []
    for path in paths:
        data = _bytes(path)
        digests.append(hashlib.sha256(data).hexdigest())
        for row in _rows(path, data):
            turn, at = _turn(row, path), f"{path}:{row.line}"
            if turn.id in seen:
                raise InvalidInput(
                    "labels.duplicate",
                    f"{at}: turn {turn.id} is already at {seen[turn.id]}; use a new id",
                )
            seen[turn.id] = at
            turns.append(turn)
    whole = hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()
    return Labelled(tuple(turns), whole[:16])


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise Unavailable("eval.unreadable", f"{path}: {error.strerror}") from None
    if len(data) > FILE_BYTES_MAX:
        raise InvalidInput(
            "labels.too_large", f"{path}: more than {FILE_BYTES_MAX} bytes; make it several files"
        )
    return data


def _rows(path: Path, data: bytes) -> list[Map]:
    try:
        rows = parse(data.decode("utf-8-sig"))
    except NotYaml as error:
        _invalid(f"{path}:{error.line}" if error.line else f"{path}", error.message)
    except UnicodeDecodeError:
        _invalid(f"{path}", "no UTF-8 text")
    if rows is None or rows == []:
        raise InvalidInput("labels.empty", f"{path}: no turn in it; write a list of turns")
    if not isinstance(rows, list):
        _invalid(f"{path}:1", "write a list of turns, each beginning with `- id:`")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Map):
            _invalid(f"{path}", f"entry {number} is no mapping with the fields of a turn")
    return rows


# ---------------------------------------------------------------- a turn


def _turn(row: Map, path: Path) -> Turn:
    name = row.get("id")
    read = _Reader(path, f": turn {name}" if isinstance(name, str) else "")
    read.known(row, _TURN)
    for needed in _NEEDED:
        if needed not in row:
            _invalid(read.at(row), f"`{needed}` is missing")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        rule = "1 to 80 of a-z, 0-9, `.`, `_`, `-`; in quotes where it is a number"
        _invalid(read.at(row, "id"), f"`id`: {rule}")
    turn = Turn(
        id=name,
        group=read.word(row, "group", GROUPS),
        language=read.word(row, "lang", LANGUAGES),
        place=read.scope(row, "in"),
        channel=Channel(read.word(row, "channel", list(Channel), Channel.RUNTIME)),
        said=read.said(row),
        before=tuple(
            read.message(m, row, "before", (*_MESSAGE, "then")) for m in read.entries(row, "before")
        ),
        say=read.message(row["say"], row, "say", _MESSAGE),
        expect=tuple(read.expected(e, row) for e in read.entries(row, "expect")),
        secret=read.text(row, "secret"),
    )
    words = [m.message.text for m in (*turn.before, turn.say)]
    if turn.secret is not None and not any(turn.secret in text for text in words):
        _invalid(read.at(row, "secret"), "`secret`: it occurs in nothing that is said")
    return turn


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the fields of one turn; what is wrong is told with its line."""

    path: Path
    turn: str

    def at(self, row: Map, key: str = "") -> str:
        return f"{self.path}:{row.line_of(key)}{self.turn}"

    def known(self, row: Map, names: Sequence[str]) -> None:
        for key in row:
            if key not in names:
                _unknown(self.at(row, key), f"field `{key}`", names)

    def text(self, row: Map, key: str) -> str | None:
        if key not in row:
            return None
        value = row[key]
        if not isinstance(value, str) or not value.strip():
            _invalid(self.at(row, key), f"`{key}`: some text; in quotes where it is a number")
        return value

    def word(self, row: Map, key: str, known: Collection[str], default: str | None = None) -> str:
        value = row.get(key, default)
        if not isinstance(value, str) or value not in known:
            _unknown(self.at(row, key), f"`{key}`: {value!r}", known)
        return value

    def entries(self, row: Map, key: str) -> list[Any]:
        value = row.get(key, [])
        if not isinstance(value, list):
            _invalid(self.at(row, key), f"`{key}`: a list")
        return value

    def scope(self, row: Map, key: str) -> Scope:
        if not isinstance(row[key], Map):
            _invalid(self.at(row, key), f"`{key}`: a mapping such as {{user: lin}}")
        try:
            return Scope.of(row[key])
        except InvalidInput as error:
            _invalid(self.at(row, key), f"`{key}`: {error}")

    def said(self, row: Map) -> datetime:
        value = row.get("said", SAID)
        self._instant(row, "said", value)
        return datetime.fromisoformat(value)

    def _instant(self, row: Map, key: str, value: object) -> None:
        try:
            as_utc(value, name=key)
        except InvalidInput as error:
            _invalid(self.at(row, key), str(error))

    def message(self, given: object, row: Map, key: str, names: Sequence[str]) -> Said:
        if not isinstance(given, Map):
            _invalid(self.at(row, key), f"`{key}`: a mapping with `by` and `text`")
        self.known(given, names)
        if "by" not in given or "text" not in given:
            _invalid(self.at(given), f"`{key}`: `by` and `text` are required")
        self.word(given, "by", sorted(SAID_BY))
        self.word(given, "then", ("delete",), "delete")
        if "at" in given:
            self._instant(given, "at", given["at"])
        for name in given.keys() & set(_MESSAGE) - {"metadata"}:
            self.text(given, name)
        return Said(Message.of({k: v for k, v in given.items() if k != "then"}), "then" in given)

    def expected(self, given: object, row: Map) -> Expected:
        if not isinstance(given, Map):
            _invalid(self.at(row, "expect"), "`expect`: a list of mappings with an `action`")
        self.known(given, _EXPECT)
        if "action" not in given:
            _invalid(self.at(given), "`action` is missing")
        stated: dict[str, Any] = {}
        for name, words in _WORDS.items():
            if name in given:
                stated[name] = self.word(given, name, words)
        if "scope" in given:
            stated["scope"] = self.scope(given, "scope")
        if "subject" in given:
            stated["subject"] = self.text(given, "subject")
        if "until" in given:
            stated["until"] = self.until(given)
        return Expected(
            action=self.word(given, "action", ACTIONS),
            about=self.text(given, "about"),
            replaces=self.text(given, "replaces"),
            stated=stated,
        )

    def until(self, row: Map) -> date | str | None:
        value = row["until"]
        if value is None or value == ANY:
            return None if value is None else ANY
        try:
            return date.fromisoformat(value)
        except (TypeError, ValueError):
            _invalid(self.at(row, "until"), "`until`: null, any, or a day such as 2026-09-30")


def _invalid(at: str, what: str) -> NoReturn:
    raise InvalidInput("labels.invalid", f"{at}: {what}")


def _unknown(at: str, what: str, known: Collection[str]) -> NoReturn:
    raise InvalidInput("labels.unknown", f"{at}: {what} is not known; use {', '.join(known)}")
