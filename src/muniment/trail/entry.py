"""The audit trail as its users need it: entries hold ids, codes and digests, never text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from muniment.scope import Principal


@dataclass(frozen=True, slots=True)
class Entry:
    """Who did what to which ids, and why."""

    action: str
    at: datetime
    actor: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict)
    seq: int | None = None
    lane: str = ""

    def to_dict(self) -> dict[str, Any]:
        """What is stored, and covered by the chain."""
        return {"actor": dict(self.actor), **self.details}


def actor_of(principal: Principal) -> dict[str, Any]:
    """The principal in the words of the trail."""
    parts = {"channel": principal.channel.value, "user": principal.user, "agent": principal.agent}
    return {k: v for k, v in parts.items() if v is not None}


class Trail(Protocol):
    """The audit of one tenant, inside one transaction."""

    def append(self, entries: Sequence[Entry], lane: str = "") -> None:
        """Chain the entries on; if it fails, so does the transaction it belongs to."""
        ...

    def read(self, *, target: str | None = None, lane: str = "", limit: int = 100) -> list[Entry]:
        """Entries, newest first, or those that name an id."""
        ...
