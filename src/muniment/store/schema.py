"""The one schema of both stores (SQLAlchemy Core).

Every table of a tenant has ``tenant_id`` first in its primary key and in every index, no
constraint crosses tenants, ids are made by the application, and instants are integers
(microseconds since 1970, UTC), so that both stores sort and compare alike.
`docs/internals/data.md` says for each table what it holds, who deletes its rows and why.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.types import TypeDecorator

from muniment.clock import from_micros, micros


class Instant(TypeDecorator[datetime]):
    """An aware datetime, kept as microseconds since 1970 in UTC."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        return None if value is None else micros(value)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        return None if value is None else from_micros(value)


class Encoded(str):
    """Canonical JSON text that need not be encoded again."""

    __slots__ = ()


class Json(TypeDecorator[Any]):
    """A JSON value as canonical text: equal values are equal bytes; NULL stays ``None``."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:
        if isinstance(value, Encoded):
            return str(value)
        return None if value is None else canonical_json(value)

    def process_result_value(self, value: str | None, dialect: Any) -> Any:
        if value is None:
            return None
        empty = _EMPTY.get(value)  # most stored objects and lists are
        return empty() if empty is not None else json.loads(value)


_EMPTY: dict[str, Any] = {"{}": dict, "[]": list}


def canonical_json(value: Any) -> str:
    """Sorted keys, no blanks, no NaN: what is stored and what digests are taken of."""
    return _CANONICAL.encode(value)


_CANONICAL = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


metadata = MetaData()


def _tenant_table(name: str, *columns: Any, key: tuple[str, ...]) -> Table:
    return Table(
        name,
        metadata,
        Column("tenant_id", Text, nullable=False),
        *columns,
        PrimaryKeyConstraint("tenant_id", *key),
    )


meta = Table(
    "meta", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False)
)

#: Which tenants have work waiting; outside row-level security and holding nothing else.
tenant_work = Table(
    "tenant_work",
    metadata,
    Column("tenant_id", Text, primary_key=True),
    Column("due_at", Instant, nullable=False),
)

key_epochs = Table(
    "key_epochs",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("check_value", LargeBinary, nullable=False),
    Column("since", Instant, nullable=False),
)

settings = _tenant_table(
    "settings",
    Column("owner", Text, nullable=False),  # "" is the tenant itself
    Column("data", Json, nullable=False),
    Column("version", Integer, nullable=False),
    Column("updated_at", Instant, nullable=False),
    key=("owner",),
)

threads = _tenant_table(
    "threads",
    Column("id", Text, nullable=False),
    Column("owner", Text),
    Column("scope_key", Text, nullable=False),
    Column("scope", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("length", Integer, nullable=False),
    Column("head_tag", LargeBinary, nullable=False),
    Column("head_mac", LargeBinary, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("label", Text),  # what its owner calls it
    Column("version", Integer, nullable=False),  # of its state, 0 without one
    Column("resumed_at", Instant),
    Column("deleted_at", Instant),
    key=("id",),
)
Index("threads_scope", threads.c.tenant_id, threads.c.scope_key)
Index("threads_owner", threads.c.tenant_id, threads.c.owner)

events = _tenant_table(
    "events",
    Column("id", Text, nullable=False),
    # chain meta: opaque, and under the tag
    Column("thread_id", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    Column("run", Text),
    Column("turn", Text),
    Column("step", Text),
    Column("key_id", Text, nullable=False),
    Column("commitment", LargeBinary, nullable=False),
    Column("tag", LargeBinary, nullable=False),
    # under the salted commitment, NULL once erased
    Column("salt", LargeBinary),
    Column("payload", Json),
    Column("said_at", Instant),
    Column("user_id", Text),
    Column("sealed", LargeBinary),  # sealed mode: payload encrypted under a key per subject
    key=("id",),
)
Index("events_thread", events.c.tenant_id, events.c.thread_id, events.c.seq, unique=True)
Index("events_user", events.c.tenant_id, events.c.user_id)

candidates = _tenant_table(
    "candidates",
    Column("id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("owner", Text),
    Column("subject", Text, nullable=False),
    Column("scope_key", Text, nullable=False),
    Column("dedupe_key", Text, nullable=False),
    Column("source_key", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("data", Json),  # the words, only while held
    Column("origin", Text, nullable=False),
    Column("reconcile", Text, nullable=False),
    Column("reasons", Json, nullable=False),
    Column("target", Text),
    Column("count", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("lapses_at", Instant, nullable=False),
    key=("id",),
)
Index(
    "candidates_held",
    candidates.c.tenant_id,
    candidates.c.dedupe_key,
    unique=True,
    sqlite_where=text("status = 'held'"),
    postgresql_where=text("status = 'held'"),
)
Index("candidates_source", candidates.c.tenant_id, candidates.c.status, candidates.c.source_key)

decisions = _tenant_table(
    "decisions",
    Column("id", Text, nullable=False),
    Column("candidate_id", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("reconcile", Text, nullable=False),
    Column("reasons", Json, nullable=False),
    Column("origin", Text, nullable=False),
    Column("record_id", Text),
    Column("decided_at", Instant, nullable=False),
    Column("policy_version", Text, nullable=False),
    Column("writer", Text, nullable=False),
    Column("write_reason", Text, nullable=False),
    key=("id",),
)
Index("decisions_candidate", decisions.c.tenant_id, decisions.c.candidate_id)
Index("decisions_record", decisions.c.tenant_id, decisions.c.record_id)

records = _tenant_table(
    "records",
    Column("id", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("scope_key", Text, nullable=False),
    Column("scope", Json, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("predicate", Text),
    Column("condition_key", Text, nullable=False),
    Column("condition", Json, nullable=False),
    Column("single", Boolean, nullable=False),
    Column("content_key", Text, nullable=False),  # keyed digest of predicate and value or words
    Column("words_key", Text, nullable=False),  # the same of the words without their negation
    Column("status", Text, nullable=False),
    Column("muted", Boolean, nullable=False),
    Column("version", Integer, nullable=False),
    Column("origin", Text, nullable=False),
    Column("sure", Boolean, nullable=False),
    Column("confirmed", Boolean, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("sensitivity", Text, nullable=False),
    Column("durability", Text, nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("valid_from", Instant, nullable=False),
    Column("valid_to", Instant),
    Column("expires_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("supersedes", Text),
    Column("exception_of", Text),
    Column("refresh", Text),
    Column("source", Json, nullable=False),
    Column("candidate_id", Text),
    Column("writer", Text, nullable=False),
    Column("write_reason", Text, nullable=False),
    key=("id",),
)
_ACTIVE = "status = 'active'"
_ACTIVE_SINGLE = "status = 'active' AND single"
Index(
    "records_one_value",
    records.c.tenant_id,
    records.c.subject,
    records.c.predicate,
    records.c.scope_key,
    records.c.condition_key,
    unique=True,
    sqlite_where=text(_ACTIVE_SINGLE),
    postgresql_where=text(_ACTIVE_SINGLE),
)
Index(
    "records_no_twin",
    records.c.tenant_id,
    records.c.content_key,
    records.c.subject,
    records.c.scope_key,
    records.c.condition_key,
    unique=True,
    sqlite_where=text(_ACTIVE),
    postgresql_where=text(_ACTIVE),
)
# Both have every column their query compares, so that no planner prefers a wider index.
Index(
    "records_words",
    records.c.tenant_id,
    records.c.words_key,
    records.c.status,
    records.c.scope_key,
    records.c.condition_key,
)
Index("records_scope", records.c.tenant_id, records.c.scope_key, records.c.status, records.c.kind)
Index(
    "records_fact",
    records.c.tenant_id,
    records.c.predicate,
    records.c.subject,
    records.c.scope_key,
    records.c.condition_key,
)
Index("records_subject", records.c.tenant_id, records.c.subject)

versions = _tenant_table(
    "versions",
    Column("record_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("content", Text),
    Column("value", Json),
    Column("sealed", LargeBinary),
    Column("origin", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("tags", Json, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    Column("writer", Text, nullable=False),
    Column("write_reason", Text, nullable=False),
    key=("record_id", "version"),
)

#: Every change of standing, so that "what did we believe on day Y" has an answer.
transitions = _tenant_table(
    "transitions",
    Column("record_id", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("muted", Boolean, nullable=False),
    Column("valid_from", Instant, nullable=False),
    Column("valid_to", Instant),
    Column("expires_at", Instant),
    Column("recorded_at", Instant, nullable=False),
    Column("cause", Text, nullable=False),
    key=("record_id", "seq"),
)

#: parent -> child over events, candidates, records, versions, index entries, exports…
lineage = _tenant_table(
    "lineage",
    Column("parent_kind", Text, nullable=False),
    Column("parent_id", Text, nullable=False),
    Column("child_kind", Text, nullable=False),
    Column("child_id", Text, nullable=False),
    Column("relation", Text, nullable=False),
    key=("parent_kind", "parent_id", "child_kind", "child_id"),
)
Index(
    "lineage_child",
    lineage.c.tenant_id,
    lineage.c.child_kind,
    lineage.c.child_id,
    lineage.c.parent_kind,
    lineage.c.parent_id,
)

tombstones = _tenant_table(
    "tombstones",
    Column("digest", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("closed_at", Instant),
    key=("digest",),
)

#: lane "" holds decisions and changes; each process has a lane of its own for reads.
trail = _tenant_table(
    "trail",
    Column("lane", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("at", Instant, nullable=False),
    Column("action", Text, nullable=False),
    Column("entry", Json, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("tag", LargeBinary, nullable=False),
    key=("lane", "seq"),
)

trail_heads = _tenant_table(
    "trail_heads",
    Column("lane", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("tag", LargeBinary, nullable=False),
    Column("mac", LargeBinary, nullable=False),
    Column("key_id", Text, nullable=False),
    key=("lane",),
)

outbox = _tenant_table(
    "outbox",
    Column("id", Text, nullable=False),
    Column("target_kind", Text, nullable=False),
    Column("target_id", Text, nullable=False),
    Column("at", Instant, nullable=False),
    key=("id",),
)

#: Offered, injected, cited, corrected: what a turn did with a record.
uses = _tenant_table(
    "uses",
    Column("turn", Text, nullable=False),
    Column("record_id", Text, nullable=False),
    Column("use", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("at", Instant, nullable=False),
    key=("turn", "record_id", "use"),
)
Index("uses_record", uses.c.tenant_id, uses.c.record_id, uses.c.use)

idempotency = _tenant_table(
    "idempotency",
    Column("key", Text, nullable=False),
    Column("verb", Text, nullable=False),
    Column("request", Text, nullable=False),  # keyed digest of what was asked
    Column("result", Json, nullable=False),
    Column("at", Instant, nullable=False),
    key=("key",),
)

erasures = _tenant_table(
    "erasures",
    Column("id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("report", Json, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("finished_at", Instant),
    key=("id",),
)

# ---------------------------------------------------------------- short-term state

#: Each step of a thread's state: what changed, or the whole of it (``whole``).
checkpoints = _tenant_table(
    "checkpoints",
    Column("thread_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("parent", Text),  # "thread@version" it goes on from, if not its own version before
    Column("at", Instant, nullable=False),
    Column("run", Text),
    Column("turn", Text),
    Column("step", Text),
    Column("through", Integer, nullable=False),  # the last event of the thread it knows
    Column("format", Integer, nullable=False),
    Column("whole", Boolean, nullable=False),
    Column("digest", Text, nullable=False),  # keyed, of the whole state at this version
    Column("size", Integer, nullable=False),
    Column("tail", Integer, nullable=False),  # bytes of changes since the last whole one
    Column("data", Json, nullable=False),
    key=("thread_id", "version"),
)

#: The newest state, section by section; derived from the checkpoints.
thread_state = _tenant_table(
    "thread_state",
    Column("thread_id", Text, nullable=False),
    Column("section", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("data", Json, nullable=False),
    key=("thread_id", "section"),
)

tool_calls = _tenant_table(
    "tool_calls",
    Column("thread_id", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("args_digest", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("worker", Text, nullable=False),
    Column("lease_until", Instant, nullable=False),
    Column("begun_at", Instant, nullable=False),
    Column("finished_at", Instant),
    Column("result", Json),
    Column("error", Text),
    Column("observe", Text),
    Column("run", Text),
    Column("turn", Text),
    Column("step", Text),
    key=("thread_id", "key"),
)
Index(
    "tool_calls_begun",
    tool_calls.c.tenant_id,
    tool_calls.c.thread_id,
    sqlite_where=text("status = 'begun'"),
    postgresql_where=text("status = 'begun'"),
)

approvals = _tenant_table(
    "approvals",
    Column("thread_id", Text, nullable=False),
    Column("event_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("what", Json),
    Column("by", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("granted_at", Instant, nullable=False),
    Column("until", Instant),
    Column("revoked_at", Instant),
    Column("answer_id", Text),
    key=("thread_id", "event_id"),
)

#: What a model drafted of the first events of a thread, to be used again; derived.
summaries = _tenant_table(
    "summaries",
    Column("thread_id", Text, nullable=False),
    Column("first_seq", Integer, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("author", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("lines", Json, nullable=False),
    Column("seal", Text, nullable=False),  # keyed digest of all of it
    key=("thread_id",),
)

#: Large values of thread state, named by a keyed digest of their type and bytes.
blobs = _tenant_table(
    "blobs",
    Column("digest", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    key=("digest",),
)

blob_uses = _tenant_table(
    "blob_uses",
    Column("digest", Text, nullable=False),
    Column("thread_id", Text, nullable=False),
    Column("used_in", Text, nullable=False),  # "checkpoint:7", "call:push-1"
    key=("thread_id", "used_in", "digest"),
)
Index("blob_uses_digest", blob_uses.c.tenant_id, blob_uses.c.digest)

#: Tables that hold a tenant's data and so lie under row-level security.
TENANT_TABLES = tuple(
    t for t in metadata.sorted_tables if "tenant_id" in t.c and t is not tenant_work
)
