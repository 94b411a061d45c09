"""A candidate: what someone would like remembered, before anyone has decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from muniment.ids import CandidateId, EventId, RecordId
from muniment.records.condition import Condition
from muniment.records.record import Durability, Kind, Sensitivity, Value
from muniment.scope import Scope


class Intent(StrEnum):
    """What the words do to what is already known."""

    NEW = "new"
    SUPPLEMENT = "supplement"
    CORRECTION = "correction"  # it was never so: closes the belief
    CHANGE = "change"  # it was so until now: closes the validity
    REVOCATION = "revocation"  # stop using it


class Claim(StrEnum):
    """Which column of the event table a candidate falls into."""

    WORLD = "world"  # about a project or a system
    USER = "user"  # about the user
    RULE = "rule"  # a standing rule
    NOTHING = "nothing"  # statement-like, and worth nothing


class Direction(StrEnum):
    """Whether a rule allows more or less than before; undecidable counts as loosening."""

    NEUTRAL = "neutral"
    TIGHTENS = "tightens"
    LOOSENS = "loosens"


class CandidateStatus(StrEnum):
    """A candidate's life."""

    HELD = "held"
    DECIDED = "decided"
    REJECTED = "rejected"
    LAPSED = "lapsed"


class Flag(StrEnum):
    """What reading the words showed.  Flags never decide alone; the gate's rules do."""

    EXPLICIT = "explicit"  # "remember…": an explicit wish to keep it
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    QUOTED = "quoted"  # a retelling or quotation, of an old value perhaps
    STEERING = "steering"  # tries to govern later sessions or to speak for the user
    CONFIG = "config"  # the agent's own running: retries, models, budgets
    SMALL_TALK = "small_talk"
    QUALIFIER_LOST = "qualifier_lost"
    ECHO = "echo"  # repeats a block of ours
    HEDGED = "hedged"  # maybe, probably
    SECRET = "secret"
    CONTROLS = "controls"  # would change approvals, permissions or safety


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposal with everything reading its words could tell.

    Extractors and proposals both end here, so that one gate judges both.  ``scope`` is never
    wider than the words and the thread support; ``wider`` is a scope the words would like
    beyond what the speaker may write.
    """

    content: str
    kind: Kind
    subject: str
    scope: Scope
    evidence: tuple[EventId, ...]
    said_at: datetime
    predicate: str | None = None
    value: Value = None
    condition: Condition = field(default_factory=Condition)
    namespace: str = "project"
    claim: Claim = Claim.WORLD
    intent: Intent = Intent.NEW
    durability: Durability = Durability.LONG_TERM
    direction: Direction = Direction.NEUTRAL
    topic: str | None = None
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    flags: frozenset[Flag] = frozenset()
    language: str = "en"
    span: tuple[int, int] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    refresh: str | None = None
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    wider: Scope | None = None
    exception_hint: bool = False
    writer: str = "runtime"
    write_reason: str = "explicit"

    def has(self, flag: Flag) -> bool:
        """Whether reading the words raised that flag."""
        return flag in self.flags


@dataclass(frozen=True, slots=True)
class Held:
    """A candidate in the queue: not memory, capped, lapsing, never recalled."""

    id: CandidateId
    candidate: Candidate
    digest: str
    status: CandidateStatus
    reasons: tuple[str, ...]
    reconcile: str
    origin: str
    created_at: datetime
    lapses_at: datetime
    count: int = 1
    target: RecordId | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
