"""What one transaction offers the functional core (ports): truth of one tenant, all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from muniment.events.log import EventLog
from muniment.gate.candidate import CandidateStatus, Held
from muniment.gate.decision import Decision
from muniment.ids import CandidateId, RecordId
from muniment.records.table import Edge, RecordTable
from muniment.scope import Scope
from muniment.trail.entry import Trail


class CandidateTable(Protocol):
    """The queue of held candidates, and the log of decisions."""

    def hold(self, held: Held, *, owner: str | None, dedupe_key: str, source_key: str) -> Held:
        """Queue it, or count it onto the one already waiting under the same key.

        Other words under the same key replace what waits, with a new digest, so that nobody
        confirms what was not shown.  Returns what waits now.
        """
        ...

    def get(self, candidate_id: CandidateId) -> Held | None:
        """A candidate while it is held, else ``None``."""
        ...

    def replace(self, held: Held) -> None:
        """An edit before confirmation; the digest changes with it."""
        ...

    def close(self, candidate_id: CandidateId, status: CandidateStatus) -> None:
        """Decided, rejected or lapsed: the words go, the row stays for the trail."""
        ...

    def waiting(
        self, *, owner: str | None, scope_keys: Sequence[str] | None, now: datetime, limit: int
    ) -> list[Held]:
        """Held candidates that have not lapsed, oldest first."""
        ...

    def scope_keys(self) -> list[str]:
        """The keys of the scopes for which anything waits."""
        ...

    def count_from(self, source_key: str, now: datetime) -> int:
        """How many wait from one source and have not lapsed."""
        ...

    def lapse(self, now: datetime) -> list[CandidateId]:
        """Close those whose time has passed."""
        ...

    def decide(self, decision: Decision, policy_version: str) -> None:
        """Log a decision."""
        ...

    def decisions_about(self, record_id: RecordId) -> list[Mapping[str, Any]]:
        """The decisions that led to or touched a record, oldest first."""
        ...


class Lineage(Protocol):
    """Edges parent → child over everything derived."""

    def link(self, edges: Iterable[Edge]) -> None:
        """Add edges; one that exists is left alone."""
        ...

    def children(self, kind: str, ids: Iterable[str]) -> list[Edge]:
        """What was derived from these."""
        ...

    def parents(self, kind: str, ids: Iterable[str]) -> list[Edge]:
        """What these were derived from."""
        ...

    def cut(self, kind: str, ids: Iterable[str]) -> int:
        """Remove every edge that touches these."""
        ...


class Tombstones(Protocol):
    """Keyed digests that stop re-learning."""

    def bury(self, digests: Iterable[str], reason: str, at: datetime) -> None:
        """Block these digests from now on."""
        ...

    def at(self, digests: Iterable[str]) -> datetime | None:
        """When the latest open tombstone among these was set, or ``None``."""
        ...

    def close(self, digests: Iterable[str], at: datetime) -> None:
        """A new statement of the user brings it back."""
        ...


class Ledger(Protocol):
    """Settings, idempotency keys, the outbox, what turns used, and erasures under way."""

    def settings(self, owner: str) -> tuple[dict[str, Any], int]:
        """An owner's switches and their version (``{}``, 0 if never set)."""
        ...

    def switches(self, owner: str) -> list[dict[str, Any]]:
        """The switches of the tenant and of an owner; of those who never set any, none."""
        ...

    def save_settings(
        self, owner: str, data: Mapping[str, Any], version: int, at: datetime
    ) -> None:
        """Replace the switches of version ``version``; `Conflict` if it has moved on."""
        ...

    def replayed(self, key: str, verb: str, request: str) -> Any | None:
        """The first answer given under that key; `Conflict` if it answered another question."""
        ...

    def remember_answer(self, key: str, verb: str, request: str, result: Any, at: datetime) -> None:
        """Keep the answer for replays."""
        ...

    def forget_answers(self, before: datetime) -> int:
        """Drop answers kept for replays that are older; how many."""
        ...

    def reindex(self, kind: str, ids: Iterable[str], at: datetime) -> None:
        """Put work for the index into the outbox."""
        ...

    def waiting(self, limit: int) -> list[tuple[str, str, str]]:
        """Outbox rows (id, target kind, target id), oldest first."""
        ...

    def done(self, ids: Iterable[str]) -> None:
        """Index work finished: delete those outbox rows."""
        ...

    def used(
        self, turn: str, use: str, records: Iterable[tuple[RecordId, int]], at: datetime
    ) -> None:
        """Record that a turn was offered, injected, cited or corrected these."""
        ...

    def use_counts(self, ids: Iterable[RecordId]) -> Mapping[RecordId, int]:
        """How often each was cited."""
        ...


class Erasures(Protocol):
    """Erasures under way: rows removed, bytes perhaps not yet scrubbed."""

    def begin(self, erasure: str, report: Mapping[str, int], at: datetime) -> None:
        """Log an erasure in the transaction that removes."""
        ...

    def finish(self, erasure: str, at: datetime) -> None:
        """Everything in reach is scrubbed."""
        ...

    def unfinished(self) -> list[str]:
        """Erasures whose scrubbing is pending."""
        ...


class Unit(Protocol):
    """One transaction on one tenant."""

    tenant: str

    @property
    def events(self) -> EventLog: ...
    @property
    def records(self) -> RecordTable: ...
    @property
    def candidates(self) -> CandidateTable: ...
    @property
    def lineage(self) -> Lineage: ...
    @property
    def tombstones(self) -> Tombstones: ...
    @property
    def ledger(self) -> Ledger: ...
    @property
    def trail(self) -> Trail: ...
    @property
    def erasures(self) -> Erasures: ...

    def digest(self, domain: str, *parts: str) -> str:
        """A keyed digest of this store."""
        ...

    def scopes(self, *, threads: bool = False) -> list[Scope]:
        """Every scope that records (and threads) of the tenant have."""
        ...
