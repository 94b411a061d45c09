"""An event: one immutable piece of evidence in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from muniment.errors import InvalidInput
from muniment.ids import EventId, ThreadId
from muniment.scope import Channel, Scope


class EventKind(StrEnum):
    """The closed set of things that can be evidence."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SIDE_EFFECT = "side_effect"
    FILE = "file"
    WEB = "web"
    DOCUMENT = "document"
    MAIL = "mail"
    APPROVAL = "approval"
    CONFIRMATION = "confirmation"
    REVISION = "revision"
    POLICY = "policy"
    SYSTEM = "system"


#: What callers write in ``by`` and the kind it stands for.
SAID_BY: Mapping[str, EventKind] = {
    **{kind.value: kind for kind in EventKind},
    "tool": EventKind.TOOL_RESULT,
    "search": EventKind.WEB,
    "mcp_resource": EventKind.DOCUMENT,
}

#: Kinds in which a person speaks.
PERSONAL = frozenset({EventKind.USER, EventKind.CONFIRMATION, EventKind.REVISION})
_ANSWERS = (EventKind.CONFIRMATION, EventKind.REVISION)

#: What each channel may append.  `runtime` attests who spoke; an agent can attest nothing.
APPENDS: Mapping[Channel, frozenset[EventKind]] = {
    Channel.RUNTIME: frozenset(EventKind) - {EventKind.POLICY},
    Channel.USER: frozenset({EventKind.USER, EventKind.APPROVAL, *_ANSWERS}),
    Channel.AGENT: frozenset({EventKind.ASSISTANT, EventKind.TOOL_RESULT, EventKind.TOOL_CALL}),
    Channel.ADMIN: frozenset({EventKind.POLICY, EventKind.FILE, EventKind.APPROVAL, *_ANSWERS}),
    Channel.IMPORT: frozenset(EventKind) - {EventKind.POLICY},
    Channel.JOB: frozenset({EventKind.SYSTEM}),
}


@dataclass(frozen=True, slots=True)
class Event:
    """Evidence as it was said, seen or done.

    ``said_at`` is when it happened, ``recorded_at`` when Muniment learnt of it.  ``attested``
    tells whether the channel vouches for the speaker; ``live`` whether it was said through a
    channel a person sits at (not imported, not replayed).  ``text`` is ``None`` once erased.
    """

    id: EventId
    tenant: str
    thread: ThreadId
    seq: int
    kind: EventKind
    said_at: datetime
    recorded_at: datetime
    text: str | None
    scope: Scope
    channel: Channel
    attested: bool = True
    user: str | None = None
    speaker: str | None = None
    path: str | None = None
    url: str | None = None
    name: str | None = None
    run: str | None = None
    turn: str | None = None
    step: str | None = None
    redacted: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def live(self) -> bool:
        """Said now, by a person, through a channel that was there when it was said."""
        return self.kind in PERSONAL and self.channel in (Channel.RUNTIME, Channel.USER)

    @property
    def erased(self) -> bool:
        """Whether the payload is gone; the chain still holds its place."""
        return self.text is None


def kind_of(by: object) -> EventKind:
    """The event kind a caller's ``by`` stands for; `InvalidInput` ``event.kind`` for others."""
    kind = SAID_BY.get(by) if isinstance(by, str) else None
    if kind is None:
        raise InvalidInput("event.kind", f"by: use one of {', '.join(sorted(SAID_BY))}")
    return kind
