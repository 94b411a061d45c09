"""A record: a long-term memory with its title."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from muniment.ids import CandidateId, EventId, RecordId
from muniment.records.condition import Condition
from muniment.scope import Scope

Value = str | int | float | bool | None | list[Any] | dict[str, Any]


class Kind(StrEnum):
    """What a record is good for; the predicate catalogue says which where two would do."""

    PREFERENCE = "preference"  # how its owner likes things done; yields to a request
    FACT = "fact"  # how something is
    RULE = "rule"  # a must or a never for its scope
    LESSON = "lesson"  # what an experience taught
    EPISODE = "episode"  # what happened once: features, actions, failure, fix, result
    RUN_NOTE = "run_note"  # the outcome of one run
    SKILL = "skill"  # a reviewed procedure
    EXTERNAL = "external"  # what an outside system was seen to say
    POINTER = "pointer"  # where and how to look a volatile thing up


#: Kinds that say how to act; the others say how something is, which permits nothing.
ACTING = (Kind.RULE, Kind.PREFERENCE, Kind.SKILL, Kind.LESSON)


class Origin(StrEnum):
    """The path by which something came to be known.  Confidence never changes it."""

    ADMIN_POLICY = "admin_policy"
    USER_CONFIRMED = "user_confirmed"
    USER_STATED = "user_stated"
    TOOL_OBSERVED = "tool_observed"
    MODEL_INFERRED = "model_inferred"

    @property
    def trust(self) -> int:
        """4 (policy) down to 0 (a guess); what is derived takes the lowest of its roots."""
        return _TRUST[self]


_TRUST = {origin: 4 - place for place, origin in enumerate(Origin)}


class Status(StrEnum):
    """Where a record stands; `muted` is a flag beside it."""

    SCHEDULED = "scheduled"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    DELETED = "deleted"
    ERASED = "erased"


class Namespace(StrEnum):
    """First segments; write permission goes by (channel, first segment), never applicability."""

    PROFILE = "profile"
    PREFERENCES = "preferences"
    PROJECT = "project"
    EPISODE = "episode"
    SKILL = "skill"
    POLICY = "policy"
    EXTERNAL = "external"


class Sensitivity(StrEnum):
    """What class of data it is; from `personal` upwards policy decides what may be kept."""

    PUBLIC = "public"
    INTERNAL = "internal"
    PERSONAL = "personal"
    SENSITIVE = "sensitive"  # health, finance, precise location, beliefs and the like


class Durability(StrEnum):
    """How long it is meant to hold."""

    LONG_TERM = "long_term"
    VOLATILE = "volatile"
    ONE_OFF = "one_off"


@dataclass(frozen=True, slots=True)
class Record:
    """One memory as of one version.  Content and value are ``None`` once erased."""

    id: RecordId
    tenant: str
    subject: str
    scope: Scope
    namespace: str
    kind: Kind
    content: str | None
    origin: Origin
    said_at: datetime
    valid_from: datetime
    created_at: datetime
    updated_at: datetime
    predicate: str | None = None
    value: Value = None
    condition: Condition = field(default_factory=Condition)
    sure: bool = True
    status: Status = Status.ACTIVE
    muted: bool = False
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    version: int = 1
    single: bool = False
    supersedes: RecordId | None = None
    exception_of: RecordId | None = None
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    durability: Durability = Durability.LONG_TERM
    confirmed: bool = False
    confidence: float = 1.0
    language: str = "en"
    tags: tuple[str, ...] = ()
    refresh: str | None = None
    source: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[EventId, ...] = ()
    candidate: CandidateId | None = None
    writer: str = "runtime"
    write_reason: str = "explicit"

    def current_at(self, now: datetime) -> bool:
        """Whether it may be recalled then: readers compare the times, jobs only tidy."""
        return (
            self.status in (Status.ACTIVE, Status.SCHEDULED)
            and not self.muted
            and self.valid_from <= now
            and (self.valid_to is None or now < self.valid_to)
            and (self.expires_at is None or now < self.expires_at)
        )

    def status_at(self, now: datetime) -> Status:
        """The status as of then: stored ones lag behind the clock until something tidies."""
        if self.status not in (Status.ACTIVE, Status.SCHEDULED):
            return self.status
        if self.expires_at is not None and self.expires_at <= now:
            return Status.EXPIRED
        if self.valid_to is not None and self.valid_to <= now:
            return Status.SUPERSEDED
        return Status.ACTIVE if self.valid_from <= now else Status.SCHEDULED

    @property
    def fact_key(self) -> tuple[str, str, str, str] | None:
        """(subject, predicate, scope key, condition key): one value where single-valued."""
        if self.predicate is None:
            return None
        return (self.subject, self.predicate, self.scope.key, self.condition.key)


@dataclass(frozen=True, slots=True)
class Version:
    """One immutable state of a record's words."""

    record: RecordId
    version: int
    content: str | None
    value: Value
    origin: Origin
    recorded_at: datetime
    writer: str
    write_reason: str
    language: str = "en"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of standing: what the system believed from ``recorded_at`` on."""

    record: RecordId
    seq: int
    status: Status
    muted: bool
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    recorded_at: datetime
    cause: str
