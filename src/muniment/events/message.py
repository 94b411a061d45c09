"""From what a caller says happened to an event: checked, attested by its channel, redacted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from muniment.clock import as_utc
from muniment.errors import InvalidInput, NotAllowed
from muniment.events.event import APPENDS, PERSONAL, Event, EventKind, kind_of
from muniment.events.log import Thread
from muniment.ids import EventId
from muniment.scope import Channel, Principal
from muniment.secrets import TooLarge, redact, redact_json
from muniment.text import check_id, check_text

TEXT_BYTES_MAX = 1024 * 1024
NAME_BYTES_MAX = 4096
METADATA_BYTES_MAX = 64 * 1024

#: What a caller might try to state about standing; it follows from the channel alone.
RESERVED = frozenset(
    {"attested", "channel", "origin", "status", "tenant", "tenant_id", "trust", "user", "user_id"}
)
_NAMES = ("speaker", "path", "url", "name")
_POSITIONS = ("run", "turn", "step")


@dataclass(frozen=True, slots=True)
class Message:
    """What a caller may say of an event; everything else is refused.

    ``id`` makes appending idempotent: the same id in the same thread is the same event.
    """

    by: str
    text: str
    id: str | None = None
    at: datetime | str | None = None
    speaker: str | None = None
    path: str | None = None
    url: str | None = None
    name: str | None = None
    run: str | None = None
    turn: str | None = None
    step: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, value: object) -> Message:
        """A message from a mapping; `InvalidInput` names unknown or missing fields."""
        if isinstance(value, Message):
            return value
        if not isinstance(value, Mapping):
            raise InvalidInput("message.invalid", "message: pass a mapping with `by` and `text`")
        unknown = sorted(str(k) for k in set(value) - {f.name for f in fields(cls)})
        if unknown:
            raise InvalidInput("message.unknown_field", f"message: unknown {', '.join(unknown)}")
        if "by" not in value or "text" not in value:
            raise InvalidInput("message.missing_field", "message: `by` and `text` are required")
        return cls(**value)


def make_event(
    message: Message,
    *,
    thread: Thread,
    principal: Principal,
    digest: Callable[..., str],
    new_id: Callable[[], str],
    now: datetime,
    attest: bool = True,
) -> Event:
    """The event to append.

    Block-grade secrets become typed placeholders in every stored field; the event then says
    ``redacted``.  Raises `InvalidInput` for what is malformed and `NotAllowed`
    ``channel.cannot_attest`` where the channel may not vouch for such a speaker.
    """
    kind = kind_of(message.by)
    _check_channel(kind, principal)
    text = check_text(message.text, name="text", max_bytes=TEXT_BYTES_MAX)
    shown, found = redact(text, _short(digest))
    names = {n: _name(getattr(message, n), n, digest) for n in _NAMES}
    metadata, found_there = _metadata(message.metadata, digest)
    said_at = now if message.at is None else as_utc(message.at, name="at")
    if said_at > now and principal.channel is not Channel.IMPORT:
        raise InvalidInput("time.future", "at: an event cannot have been said in the future")
    return Event(
        id=_event_id(message, thread, digest, new_id),
        tenant=principal.tenant,
        thread=thread.id,
        seq=0,
        kind=kind,
        said_at=min(said_at, now) if principal.channel is Channel.IMPORT else said_at,
        recorded_at=now,
        text=shown,
        scope=thread.scope,
        channel=principal.channel,
        attested=_attested(kind, principal.channel, attest),
        user=principal.user if kind in PERSONAL else None,
        redacted=any(f.grade.name == "BLOCK" for f in found) or found_there,
        metadata=metadata,
        **{p: position(getattr(message, p), p) for p in _POSITIONS},
        **{n: v for n, (v, _) in names.items()},
    )


def _check_channel(kind: EventKind, principal: Principal) -> None:
    if kind not in APPENDS[principal.channel]:
        raise NotAllowed(
            "channel.cannot_attest",
            f"the {principal.channel} channel cannot append {kind} events; "
            "only a channel that was there can say who spoke",
        )


def _attested(kind: EventKind, channel: Channel, attest: bool) -> bool:
    if channel is Channel.AGENT:
        return kind is EventKind.ASSISTANT
    return attest


def _event_id(
    message: Message, thread: Thread, digest: Callable[..., str], new_id: Callable[[], str]
) -> EventId:
    if message.id is None:
        return EventId(new_id())
    given = check_id(message.id, name="id")
    return EventId("evt_" + digest("event-id", thread.id, given)[:26])


def _short(digest: Callable[..., str]) -> Callable[[str], str]:
    return lambda secret: digest("secret", secret)[:8]


def _name(value: object, name: str, digest: Callable[..., str]) -> tuple[str | None, bool]:
    if value is None:
        return None, False
    checked = check_text(value, name=name, max_bytes=NAME_BYTES_MAX)
    shown, found = redact(checked, _short(digest))
    return shown, bool(found)


def position(value: object, name: str) -> str | None:
    """A run, turn or step as an id; numbers will do."""
    return (
        None
        if value is None
        else check_id(str(value) if isinstance(value, int) else value, name=name)
    )


def _texts(value: Any) -> Iterator[str]:
    """Every key and text in JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _metadata(value: object, digest: Callable[..., str]) -> tuple[dict[str, Any], bool]:
    if not isinstance(value, Mapping):
        raise InvalidInput("metadata.invalid", "metadata: pass a mapping")
    forged = sorted(RESERVED & {k for k in value if isinstance(k, str)})
    if forged:
        raise InvalidInput(
            "metadata.reserved",
            f"metadata: {', '.join(forged)} follows from the channel and cannot be stated",
        )
    try:
        encoded = json.dumps(value, allow_nan=False)
        plain = json.loads(encoded)
        shown, found = redact_json(plain, _short(digest))
    except (TypeError, ValueError, RecursionError, TooLarge):
        raise InvalidInput("metadata.invalid", "metadata: JSON data only, not too deep") from None
    if len(encoded) > METADATA_BYTES_MAX:
        raise InvalidInput("metadata.too_long", f"metadata: at most {METADATA_BYTES_MAX} bytes")
    for text in _texts(plain):
        if text:
            check_text(text, name="metadata", max_bytes=METADATA_BYTES_MAX)
    return shown, any(f.finding.grade.name == "BLOCK" for f in found)
