"""The records as their users need them (a port)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from muniment.ids import RecordId
from muniment.records.record import Kind, Record, Status, Transition, Version


@dataclass(frozen=True, slots=True)
class Edge:
    """One step of lineage."""

    parent_kind: str
    parent_id: str
    child_kind: str
    child_id: str
    relation: str = "derived"


@dataclass(frozen=True, slots=True)
class Keys:
    """Keyed digests: of what a record says, and of its words without their negation."""

    content: str
    words: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fact can have one value."""

    subject: str
    scope_key: str
    condition_key: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Exact conditions only; ``None`` means any, an empty sequence means none at all."""

    scope_keys: Sequence[str] | None = None
    subject: str | None = None
    statuses: Sequence[Status] | None = None
    kinds: Sequence[Kind] | None = None
    predicate: str | None = None
    predicates: Sequence[str] | None = None
    condition_key: str | None = None
    tag: str | None = None
    muted: bool | None = None
    after: RecordId | None = None
    expiring_before: datetime | None = None
    limit: int | None = None
    ids: Sequence[RecordId] | None = field(default=None)


class RecordTable(Protocol):
    """Records of one tenant, inside one transaction."""

    def insert(self, record: Record, keys: Keys, cause: str) -> None:
        """A new record with its first version and its first transition.

        Raises the store's race error if an active twin or a second active value of a
        single-valued key exists; the caller's transaction is then run again.
        """
        ...

    def get(self, ids: Iterable[RecordId]) -> list[Record]:
        """The records that exist, in the order asked for."""
        ...

    def bearing(self, place: Place, keys: Keys, predicate: str | None) -> list[Record]:
        """What a candidate has to settle with at its place, by id: every record (of any standing)
        of its predicate or, without one, active records of the same words or their contrary."""
        ...

    def find(self, where: Filter) -> list[Record]:
        """Records by exact conditions, by id."""
        ...

    def revise(self, record: Record, keys: Keys) -> None:
        """Store ``record`` as the next version; `Conflict` if its predecessor is not current."""
        ...

    def move(self, record: Record, cause: str, at: datetime) -> None:
        """Store a change of standing (status, muted, validity, expiry) and its transition."""
        ...

    def reword(self, record: Record, versions: Sequence[Version]) -> None:
        """Replace the words of versions, and the record's source, after an erasure."""
        ...

    def versions(self, record_id: RecordId) -> list[Version]:
        """Every version, oldest first."""
        ...

    def transitions(self, ids: Iterable[RecordId]) -> list[Transition]:
        """Every change of standing of these, oldest first."""
        ...

    def remove(self, ids: Iterable[RecordId]) -> int:
        """Physically delete rows, versions and transitions.  Count of records."""
        ...
