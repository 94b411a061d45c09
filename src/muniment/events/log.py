"""The event log as its users need it (a port): append-only, one chain per thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from muniment.events.event import Event
from muniment.ids import EventId, ThreadId
from muniment.scope import Scope


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation or task.

    ``owner`` is the user whose thread it is, ``label`` what they call it; ``length`` counts its
    events, ``version`` the checkpoints of its state.  A deleted thread takes no more of either.
    """

    id: ThreadId
    tenant: str
    scope: Scope
    owner: str | None
    created_at: datetime
    length: int = 0
    label: str | None = None
    version: int = 0
    resumed_at: datetime | None = None
    deleted_at: datetime | None = None


class EventLog(Protocol):
    """Evidence of one tenant, inside one transaction."""

    def open_thread(self, thread: Thread) -> Thread:
        """The thread by that id, created if it is new."""
        ...

    def thread(self, thread_id: ThreadId) -> Thread | None:
        """A thread, or ``None``."""
        ...

    def append(self, thread: Thread, events: Sequence[Event]) -> list[Event]:
        """Chain the events on, in order; returns them with their ``seq``."""
        ...

    def get(self, ids: Iterable[EventId]) -> list[Event]:
        """The events that exist, in the order asked for."""
        ...

    def around(self, event: Event, before: int, after: int) -> list[Event]:
        """The event with its neighbours in the thread."""
        ...

    def between(self, thread_id: ThreadId, first: int, last: int) -> list[Event]:
        """The events of a thread by their numbers, both ends included, in order."""
        ...

    def blank(self, ids: Iterable[EventId]) -> int:
        """Remove payloads and salts for good, and what a model summed them up in; the chain
        keeps verifying.  Count of events."""
        ...

    def find(
        self,
        *,
        user: str | None = None,
        owner: str | None = None,
        scope_keys: Sequence[str] | None = None,
        thread: ThreadId | None = None,
    ) -> list[EventId]:
        """Ids of the events a person said, in threads they own, in scopes, or in a thread."""
        ...
