"""The first schema, whole.

One function a table; on PostgreSQL every table of a tenant is put under forced row-level security.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_RULE = "tenant_id = current_setting('muniment.tenant')"
_TENANT_TABLES = (
    "approvals",
    "blob_uses",
    "blobs",
    "candidates",
    "checkpoints",
    "decisions",
    "erasures",
    "events",
    "idempotency",
    "lineage",
    "outbox",
    "records",
    "settings",
    "summaries",
    "thread_state",
    "threads",
    "tombstones",
    "tool_calls",
    "trail",
    "trail_heads",
    "transitions",
    "uses",
    "versions",
)


def upgrade() -> None:
    _approvals()
    _blob_uses()
    _blobs()
    _candidates()
    _checkpoints()
    _decisions()
    _erasures()
    _events()
    _idempotency()
    _key_epochs()
    _lineage()
    _meta()
    _outbox()
    _records()
    _settings()
    _summaries()
    _tenant_work()
    _thread_state()
    _threads()
    _tombstones()
    _tool_calls()
    _trail()
    _trail_heads()
    _transitions()
    _uses()
    _versions()
    if op.get_bind().dialect.name == "postgresql":
        _secure()


def _secure() -> None:
    for table in _TENANT_TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant_isolation ON {table} USING ({_RULE}) WITH CHECK ({_RULE})"
        )


def downgrade() -> None:
    raise NotImplementedError("restore a backup instead: going back would drop evidence")


def _approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("granted_at", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("answer_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "thread_id", "event_id"),
    )


def _blob_uses() -> None:
    op.create_table(
        "blob_uses",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("used_in", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "thread_id", "used_in", "digest"),
    )
    op.create_index("blob_uses_digest", "blob_uses", ["tenant_id", "digest"], unique=False)


def _blobs() -> None:
    op.create_table(
        "blobs",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "digest"),
    )


def _candidates() -> None:
    op.create_table(
        "candidates",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("scope_key", sa.Text(), nullable=False),
        sa.Column("dedupe_key", sa.Text(), nullable=False),
        sa.Column("source_key", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("reconcile", sa.Text(), nullable=False),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("lapses_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index(
        "candidates_held",
        "candidates",
        ["tenant_id", "dedupe_key"],
        unique=True,
        sqlite_where=sa.text("status = 'held'"),
        postgresql_where=sa.text("status = 'held'"),
    )
    op.create_index(
        "candidates_source", "candidates", ["tenant_id", "status", "source_key"], unique=False
    )


def _checkpoints() -> None:
    op.create_table(
        "checkpoints",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("parent", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("turn", sa.Text(), nullable=True),
        sa.Column("step", sa.Text(), nullable=True),
        sa.Column("through", sa.Integer(), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("whole", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("tail", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "thread_id", "version"),
    )


def _decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("candidate_id", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("reconcile", sa.Text(), nullable=False),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("record_id", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.Column("policy_version", sa.Text(), nullable=False),
        sa.Column("writer", sa.Text(), nullable=False),
        sa.Column("write_reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("decisions_candidate", "decisions", ["tenant_id", "candidate_id"], unique=False)
    op.create_index("decisions_record", "decisions", ["tenant_id", "record_id"], unique=False)


def _erasures() -> None:
    op.create_table(
        "erasures",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("turn", sa.Text(), nullable=True),
        sa.Column("step", sa.Text(), nullable=True),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("commitment", sa.LargeBinary(), nullable=False),
        sa.Column("tag", sa.LargeBinary(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=True),
        sa.Column("said_at", sa.BigInteger(), nullable=True),
        sa.Column("user_id", sa.Text(), nullable=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("events_thread", "events", ["tenant_id", "thread_id", "seq"], unique=True)
    op.create_index("events_user", "events", ["tenant_id", "user_id"], unique=False)


def _idempotency() -> None:
    op.create_table(
        "idempotency",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("verb", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "key"),
    )


def _key_epochs() -> None:
    op.create_table(
        "key_epochs",
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("check_value", sa.LargeBinary(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key_id"),
    )


def _lineage() -> None:
    op.create_table(
        "lineage",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("parent_kind", sa.Text(), nullable=False),
        sa.Column("parent_id", sa.Text(), nullable=False),
        sa.Column("child_kind", sa.Text(), nullable=False),
        sa.Column("child_id", sa.Text(), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "parent_kind", "parent_id", "child_kind", "child_id"),
    )
    op.create_index(
        "lineage_child",
        "lineage",
        ["tenant_id", "child_kind", "child_id", "parent_kind", "parent_id"],
        unique=False,
    )


def _meta() -> None:
    op.create_table(
        "meta",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("target_kind", sa.Text(), nullable=False),
        sa.Column("target_id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )


def _records() -> None:
    op.create_table(
        "records",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("scope_key", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("predicate", sa.Text(), nullable=True),
        sa.Column("condition_key", sa.Text(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=False),
        sa.Column("single", sa.Boolean(), nullable=False),
        sa.Column("content_key", sa.Text(), nullable=False),
        sa.Column("words_key", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("muted", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("sure", sa.Boolean(), nullable=False),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("sensitivity", sa.Text(), nullable=False),
        sa.Column("durability", sa.Text(), nullable=False),
        sa.Column("said_at", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("supersedes", sa.Text(), nullable=True),
        sa.Column("exception_of", sa.Text(), nullable=True),
        sa.Column("refresh", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("candidate_id", sa.Text(), nullable=True),
        sa.Column("writer", sa.Text(), nullable=False),
        sa.Column("write_reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index(
        "records_fact",
        "records",
        ["tenant_id", "predicate", "subject", "scope_key", "condition_key"],
        unique=False,
    )
    op.create_index(
        "records_no_twin",
        "records",
        ["tenant_id", "content_key", "subject", "scope_key", "condition_key"],
        unique=True,
        sqlite_where=sa.text("status = 'active'"),
        postgresql_where=sa.text("status = 'active'"),
    )
    op.create_index(
        "records_one_value",
        "records",
        ["tenant_id", "subject", "predicate", "scope_key", "condition_key"],
        unique=True,
        sqlite_where=sa.text("status = 'active' AND single"),
        postgresql_where=sa.text("status = 'active' AND single"),
    )
    op.create_index(
        "records_scope", "records", ["tenant_id", "scope_key", "status", "kind"], unique=False
    )
    op.create_index("records_subject", "records", ["tenant_id", "subject"], unique=False)
    op.create_index(
        "records_words",
        "records",
        ["tenant_id", "words_key", "status", "scope_key", "condition_key"],
        unique=False,
    )


def _settings() -> None:
    op.create_table(
        "settings",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "owner"),
    )


def _summaries() -> None:
    op.create_table(
        "summaries",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("first_seq", sa.Integer(), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("lines", sa.Text(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "thread_id"),
    )


def _tenant_work() -> None:
    op.create_table(
        "tenant_work",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id"),
    )


def _thread_state() -> None:
    op.create_table(
        "thread_state",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "thread_id", "section"),
    )


def _threads() -> None:
    op.create_table(
        "threads",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("scope_key", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("head_tag", sa.LargeBinary(), nullable=False),
        sa.Column("head_mac", sa.LargeBinary(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("resumed_at", sa.BigInteger(), nullable=True),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("threads_owner", "threads", ["tenant_id", "owner"], unique=False)
    op.create_index("threads_scope", "threads", ["tenant_id", "scope_key"], unique=False)


def _tombstones() -> None:
    op.create_table(
        "tombstones",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "digest"),
    )


def _tool_calls() -> None:
    op.create_table(
        "tool_calls",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("args_digest", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("begun_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("observe", sa.Text(), nullable=True),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("turn", sa.Text(), nullable=True),
        sa.Column("step", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "thread_id", "key"),
    )
    op.create_index(
        "tool_calls_begun",
        "tool_calls",
        ["tenant_id", "thread_id"],
        unique=False,
        sqlite_where=sa.text("status = 'begun'"),
        postgresql_where=sa.text("status = 'begun'"),
    )


def _trail() -> None:
    op.create_table(
        "trail",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("entry", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("tag", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "lane", "seq"),
    )


def _trail_heads() -> None:
    op.create_table(
        "trail_heads",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("tag", sa.LargeBinary(), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "lane"),
    )


def _transitions() -> None:
    op.create_table(
        "transitions",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("record_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("muted", sa.Boolean(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "record_id", "seq"),
    )


def _uses() -> None:
    op.create_table(
        "uses",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("turn", sa.Text(), nullable=False),
        sa.Column("record_id", sa.Text(), nullable=False),
        sa.Column("use", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "turn", "record_id", "use"),
    )
    op.create_index("uses_record", "uses", ["tenant_id", "record_id", "use"], unique=False)


def _versions() -> None:
    op.create_table(
        "versions",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("record_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("writer", sa.Text(), nullable=False),
        sa.Column("write_reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "record_id", "version"),
    )
