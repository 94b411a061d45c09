"""What the contract tests share: a store to open, a desk to work at, and looks behind it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy.engine import make_url

import muniment
from muniment import Decision, Event, Memory, Principal, Record
from muniment.clock import Clock, ManualClock

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WEB = {"project": "web"}


@dataclass
class Place:
    """Where a store lies, and the tenant the test works in."""

    name: str
    url: str
    key_file: Path | None
    folder: Path
    tenant: str
    admin_dsn: str | None = None

    @property
    def durable(self) -> bool:
        """Whether it can be opened again."""
        return self.name != "memory"

    @property
    def file(self) -> Path:
        """The database file of an embedded store."""
        return self.folder / "memory.db"

    def open(self, clock: Clock | None = None, **options: Any) -> Memory:
        """Open it as the tenant's user `lin` at the keyboard."""
        options.setdefault("principal", self.who())
        if self.key_file is not None:
            options.setdefault("key_file", self.key_file)
        return muniment.open(self.url, clock=clock or ManualClock(NOW), **options)

    def who(self, user: str | None = "lin", channel: str = "user", **more: Any) -> Principal:
        """A principal of the test's tenant."""
        return Principal(**{"tenant": self.tenant, "user": user, "channel": channel, **more})

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Raw SQL behind the product's back; the rows of the last statement."""
        with self._raw() as conn:
            rows: list[tuple[Any, ...]] = []
            for statement in statements:
                cursor = conn.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
            return rows

    @contextlib.contextmanager
    def _raw(self) -> Iterator[Any]:
        if self.admin_dsn is not None:
            with psycopg.connect(self.admin_dsn, autocommit=True) as conn:
                yield conn
            return
        conn = sqlite3.connect(self.file, timeout=20)
        try:
            yield conn
            conn.commit()
        finally:
            conn.close()


def admin_dsn(admin_url: str, app_url: str) -> str:
    """The administrator's connection to the application's database (no row-level security)."""
    url = make_url(admin_url).set(drivername="postgresql", database=make_url(app_url).database)
    return url.render_as_string(hide_password=False).replace("%2F", "/")


TABLES = (
    *("candidates", "decisions", "events", "idempotency", "lineage", "records", "settings"),
    *("threads", "tombstones", "trail", "trail_heads", "transitions", "uses", "versions"),
    *("erasures", "checkpoints", "thread_state", "tool_calls", "approvals", "summaries"),
    *("blobs", "blob_uses"),
)


def dump(memory: Memory, tenant: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the tenant; not the lanes of reads, and not the index's outbox."""
    backend = memory._parts.store.backend
    out: dict[str, list[tuple[Any, ...]]] = {}
    with backend.reading(tenant) as conn:
        for table in TABLES:
            where = "tenant_id = '{}'".format(tenant.replace("'", "''"))
            if table.startswith("trail"):
                where += " AND lane = ''"
            rows = conn.exec_driver_sql(f"SELECT * FROM {table} WHERE {where}").all()
            out[table] = sorted(tuple(map(repr, row)) for row in rows)
    return out


@dataclass
class Desk:
    """An open memory with a clock that one moves, and shorthands for the common steps."""

    place: Place
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))
    options: dict[str, Any] = field(default_factory=dict)
    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        self.memory = self.place.open(self.clock, **self.options)

    def reopen(self) -> None:
        """Close, and open the same store again."""
        self.memory.close()
        self.memory = self.place.open(self.clock, **self.options)

    def who(self, user: str | None = "lin", channel: str = "user", **more: Any) -> Principal:
        return self.place.who(user, channel, **more)

    def wait(self, span: timedelta = HOUR) -> None:
        self.clock.advance(span)

    def say(self, text: str, *, user: str = "lin", thread: str = "talk", **more: Any) -> Event:
        """One event through the application (channel runtime)."""
        scope = more.pop("scope", WEB)
        return self.memory.append(
            text, thread=thread, scope=scope, principal=self.who(user, "runtime"), **more
        )

    def remember(self, text: str, *, user: str = "lin", **more: Any) -> Decision:
        """Say it and put it through the gate; the first decision."""
        key = more.pop("key", None)
        event = self.say(text, user=user, **more)
        return self.memory.remember(event=event, principal=self.who(user, "runtime"), key=key)[0]

    def propose(
        self,
        content: str,
        evidence: Event,
        *,
        user: str = "lin",
        channel: str = "runtime",
        **f: Any,
    ) -> Decision:
        """Propose words of one's own on that evidence; the first decision."""
        f.setdefault("kind", "fact")
        proposal = {"content": content, "evidence": [evidence.id], **f}
        return self.memory.propose(proposal, principal=self.who(user, channel))[0]

    def guess(self, value: str = "pnpm", *, user: str = "lin", **more: Any) -> Decision:
        """What a model inferred, so that it is held."""
        event = self.say(f"I think the project uses {value}.", user=user, by="assistant", **more)
        return self.propose(
            f"the project uses {value}",
            event,
            user=user,
            predicate="package_manager",
            value=value,
        )

    def schedule(self, value: str, at: datetime) -> Decision:
        """What will hold from then on."""
        event = self.say(f"Later on the project uses {value}.")
        return self.propose(
            f"the project uses {value}",
            event,
            predicate="package_manager",
            value=value,
            valid_from=at.isoformat(),
        )

    def found(self, text: str, *, user: str = "lin", scope: Any = WEB, **more: Any) -> list[str]:
        """The contents a recall returns."""
        recalled = self.memory.recall(text, scope=scope, principal=self.who(user), **more)
        assert not recalled.degraded, recalled.degraded
        return [e.content for e in recalled]

    def values(self, text: str = "which package manager", **more: Any) -> list[Any]:
        """The values a recall returns."""
        scope = more.pop("scope", WEB)
        principal = self.who(more.pop("user", "lin"))
        return [e.value for e in self.memory.recall(text, scope=scope, principal=principal, **more)]

    def records(self, *, user: str = "lin", **where: Any) -> list[Record]:
        """What `list` shows."""
        return self.memory.list(where=where, principal=self.who(user), limit=1000)

    def trail(self) -> list[tuple[str, str]]:
        """(action, entry) of the tenant's audit, in order of lanes and time."""
        self.memory.verify()  # writes what the read lane still holds
        with self.memory._parts.store.backend.reading(self.place.tenant) as conn:
            rows = conn.exec_driver_sql(
                "SELECT action, entry FROM trail WHERE tenant_id = "
                f"'{self.place.tenant}' ORDER BY lane, seq"
            ).all()
        return [(row[0], row[1]) for row in rows]
