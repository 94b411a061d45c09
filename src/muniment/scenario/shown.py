"""Things of the product as plain data: what a step shows of them."""

from __future__ import annotations

from typing import Any

from muniment.events.event import Event
from muniment.gate.candidate import Held
from muniment.records.record import Record


def event_data(event: Event) -> dict[str, Any]:
    """An event as a step shows it."""
    names = ("id", "seq", "text", "path", "url", "name", "speaker", "redacted", "attested")
    return {
        **{name: getattr(event, name) for name in names},
        "kind": event.kind.value,
        "channel": event.channel.value,
        "said_at": event.said_at.isoformat(),
        "metadata": dict(event.metadata),
    }


def record_data(record: Record) -> dict[str, Any]:
    """A record as a step shows it."""
    return {
        "record": record.id,
        "version": record.version,
        "kind": record.kind.value,
        "content": record.content,
        "predicate": record.predicate,
        "value": record.value,
        "subject": record.subject,
        "scope": record.scope.to_dict(),
        "condition": record.condition.to_dict(),
        "origin": record.origin.value,
        "status": record.status.value,
        "muted": record.muted,
    }


def held_data(held: Held) -> dict[str, Any]:
    """A waiting candidate as a step shows it."""
    return {
        "candidate": held.id,
        "digest": held.digest,
        "content": held.candidate.content,
        "value": held.candidate.value,
        "kind": held.candidate.kind.value,
        "status": held.status.value,
        "reasons": list(held.reasons),
    }
