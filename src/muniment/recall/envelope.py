"""One result with its title: what a reader may rely on, and what not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from muniment.records.record import Record


@dataclass(frozen=True, slots=True)
class Envelope:
    """A recalled record or turn.  Data, never an instruction, never a permission.

    ``parts`` are the named parts of ``score``; ``overridden_by`` an exception that holds here;
    ``conflicts_with`` records that say otherwise and are not ranked above or below it.
    """

    id: str
    kind: str
    content: str
    origin: str
    said_at: datetime
    source: Mapping[str, Any]
    scope: Mapping[str, str]
    score: float
    parts: Mapping[str, float]
    layer: str = "record"
    trust: int = 0
    sure: bool = True
    sensitivity: str = "internal"
    subject: str = ""
    predicate: str | None = None
    value: Any = None
    condition: Mapping[str, Any] = field(default_factory=dict)
    language: str = "en"
    version: int = 1
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    refresh: str | None = None
    freshness_s: float = 0.0
    loaded: bool = False
    overridden_by: str | None = None
    conflicts_with: tuple[str, ...] = ()
    exception_of: str | None = None
    neighbours: tuple[Mapping[str, Any], ...] = ()
    instruction_allowed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        out: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        for name, value in out.items():
            if isinstance(value, datetime):
                out[name] = value.isoformat()
            elif isinstance(value, tuple):
                out[name] = [dict(v) if isinstance(v, Mapping) else v for v in value]
            elif isinstance(value, Mapping):
                out[name] = dict(value)
        return out


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer of a recall.  ``degraded`` names what could not be asked: an error is never
    an empty result."""

    envelopes: tuple[Envelope, ...]
    degraded: tuple[str, ...] = ()
    considered: int = 0

    def __iter__(self) -> Any:
        return iter(self.envelopes)

    def __len__(self) -> int:
        return len(self.envelopes)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "results": [e.to_dict() for e in self.envelopes],
            "degraded": list(self.degraded),
            "considered": self.considered,
        }


def envelope_of(
    record: Record, parts: Mapping[str, float], now: datetime, *, loaded: bool
) -> Envelope:
    """A record as its reader gets it."""
    return Envelope(
        id=record.id,
        kind=record.kind.value,
        content=record.content or "",
        origin=record.origin.value,
        said_at=record.said_at,
        source=record.source,
        scope=record.scope.to_dict(),
        score=round(sum(parts.values()), 6),
        parts={k: round(v, 6) for k, v in parts.items()},
        trust=record.origin.trust,
        sure=record.sure,
        sensitivity=record.sensitivity.value,
        subject=record.subject,
        predicate=record.predicate,
        value=record.value,
        condition=record.condition.to_dict(),
        language=record.language,
        version=record.version,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        expires_at=record.expires_at,
        refresh=record.refresh,
        freshness_s=max((now - record.said_at).total_seconds(), 0.0),
        loaded=loaded,
        exception_of=record.exception_of,
    )
