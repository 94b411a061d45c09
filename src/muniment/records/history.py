"""Questions about time: what was true on day X, and what did we believe on day Y.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from muniment.records.record import Record, Status, Transition, Version

_EVER_TRUE = (Status.ACTIVE, Status.SCHEDULED, Status.SUPERSEDED, Status.EXPIRED)


@dataclass(frozen=True, slots=True)
class History:
    """The answer at one point, and everything behind it.

    ``record``, ``content`` and ``value`` are what held at ``as_of`` according to what was
    believed at ``believed_at`` (``None`` if nothing did); ``versions`` counts the asked
    record's versions; ``timeline`` follows the fact key across records.
    """

    as_of: datetime
    believed_at: datetime
    record: str | None
    content: str | None
    value: Any
    versions: int
    timeline: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "as_of": self.as_of.isoformat(),
            "believed_at": self.believed_at.isoformat(),
            "record": self.record,
            "content": self.content,
            "value": self.value,
            "versions": self.versions,
            "timeline": [dict(t) for t in self.timeline],
        }


def believed(transitions: Sequence[Transition], at: datetime) -> Transition | None:
    """The standing a record had in our eyes then."""
    known = [t for t in transitions if t.recorded_at <= at]
    return max(known, key=lambda t: t.seq) if known else None


def holds(standing: Transition, as_of: datetime) -> bool:
    """Whether it was true then, expiry included."""
    return (
        standing.status in _EVER_TRUE
        and standing.valid_from <= as_of
        and (standing.valid_to is None or as_of < standing.valid_to)
        and (standing.expires_at is None or as_of < standing.expires_at)
    )


def answer(
    asked: Record,
    records: Sequence[Record],
    transitions: Sequence[Transition],
    versions: Sequence[Version],
    *,
    as_of: datetime,
    believed_at: datetime,
) -> History:
    """What held at ``as_of`` as believed at ``believed_at``, over the records of one fact key.

    ``versions`` are those of all the records.
    """
    best: tuple[Transition, Record] | None = None
    for record in records:
        mine = [t for t in transitions if t.record == record.id]
        standing = believed(mine, believed_at)
        if standing is None or not holds(standing, as_of):
            continue
        if best is None or standing.valid_from >= best[0].valid_from:
            best = (standing, record)
    words = _words(best[1], versions, believed_at) if best else None
    return History(
        as_of=as_of,
        believed_at=believed_at,
        record=best[1].id if best else None,
        content=words.content if words else None,
        value=words.value if words else None,
        versions=sum(v.record == asked.id for v in versions),
        timeline=tuple(_entry(r) for r in sorted(records, key=lambda r: (r.valid_from, r.id))),
    )


def _words(record: Record, versions: Sequence[Version], at: datetime) -> Version | None:
    known = [v for v in versions if v.record == record.id and v.recorded_at <= at]
    return max(known, key=lambda v: v.version) if known else None


def _entry(record: Record) -> dict[str, Any]:
    return {
        "record": record.id,
        "status": record.status.value,
        "content": record.content,
        "value": record.value,
        "said_at": record.said_at.isoformat(),
        "valid_from": record.valid_from.isoformat(),
        "valid_to": record.valid_to.isoformat() if record.valid_to else None,
        "version": record.version,
        "muted": record.muted,
    }
