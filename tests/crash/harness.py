"""Kills a process at its n-th statement inside one verb, for every n, and looks at what is left.

    python -m tests.crash.harness sqlite FOLDER VERB [eager]
    python -m tests.crash.harness postgres URL VERB KEY_FILE

prints one JSON line for each n.  Everything that touches a store happens in a forked child, so
that no connection crosses a fork and the imports are paid for once.  ``eager`` is the broken
twin: a driver that commits after every statement.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import muniment
from muniment import Memory, Principal
from muniment.clock import ManualClock

KILLED = 9
NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
WEB = {"project": "web"}
TABLES = (
    "events threads candidates decisions records versions transitions lineage tombstones trail "
    "idempotency checkpoints thread_state tool_calls approvals blobs"
).split()


class Fuse:
    """Counts statements once armed and ends the process before the n-th, without a goodbye."""

    def __init__(self, at: int, *, eager: bool = False) -> None:
        self.at, self.eager, self.count, self.armed = at, eager, 0, False

    def burn(self) -> None:
        if self.armed:
            self.count += 1
            if self.count == self.at:
                os._exit(KILLED)


def sqlite_creator(path: Path, fuse: Fuse) -> Callable[[], sqlite3.Connection]:
    """Connections whose every statement, and commit, burns the fuse."""

    class Cursor(sqlite3.Cursor):
        def execute(self, *args: Any) -> Any:
            fuse.burn()
            result = super().execute(*args)
            if fuse.eager and fuse.armed and args[0].startswith(("INSERT", "UPDATE", "DELETE")):
                super().execute("COMMIT")
                super().execute("BEGIN IMMEDIATE")
            return result

        def executemany(self, *args: Any) -> Any:
            fuse.burn()
            return super().executemany(*args)

    class Connection(sqlite3.Connection):
        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def execute(self, *args: Any) -> Any:
            return self.cursor().execute(*args)

        def commit(self) -> None:
            fuse.burn()
            super().commit()
            fuse.burn()

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            path, check_same_thread=False, isolation_level=None, timeout=10, factory=Connection
        )

    return connect


def patch_psycopg(fuse: Fuse) -> None:
    """The same for PostgreSQL, in this process only."""
    import psycopg

    def burning(real: Callable[..., Any], *, twice: bool = False) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            fuse.burn()
            result = real(self, *args, **kwargs)
            if twice:
                fuse.burn()
            return result

        return call

    psycopg.Cursor.execute = burning(psycopg.Cursor.execute)  # type: ignore[method-assign]
    psycopg.Cursor.executemany = burning(psycopg.Cursor.executemany)  # type: ignore[method-assign]
    psycopg.Connection.commit = burning(psycopg.Connection.commit, twice=True)  # type: ignore[method-assign]


def skip_scrubbing(memory: Memory) -> None:
    """Leave out what follows the transaction of an erase: the index, a VACUUM for each table."""
    parts: Any = memory._parts
    type(parts).catch_up = lambda *_: None
    parts.store.backend.scrub = lambda **_: []
    parts.index.scrub = lambda **_: []


# ---------------------------------------------------------------- what is done

Prepared = dict[str, Any]


def prepare(memory: Memory, clock: ManualClock) -> Prepared:
    """A record, a held candidate, a second source and a begun call, from before the crash."""
    runtime = Principal(tenant=memory.principal.tenant, user="lin", channel="runtime")
    event = memory.append("This project uses npm.", thread="t", scope=WEB, principal=runtime)
    [made] = memory.remember(event=event, principal=runtime)
    clock.advance(timedelta(minutes=1))
    guess = memory.append(
        "I think the entry point is src/a.ts",
        by="assistant",
        thread="t",
        scope=WEB,
        principal=runtime,
    )
    [held] = memory.propose(
        {"content": "the entry point is src/a.ts", "kind": "fact", "evidence": [guess.id]},
        principal=runtime,
    )
    assert held.action == "hold"
    memory.threads.begin("t", "begun", "push", worker="w", principal=runtime)
    clock.advance(timedelta(minutes=1))
    return {
        "record": made.record_id,
        "event": event.id,
        "candidate": held.candidate_id,
        "digest": held.digest,
    }


VERBS: dict[str, Callable[[Memory, Prepared], Any]] = {
    "remember": lambda m, p: m.remember("I prefer short answers.", thread="u", key="k"),
    "supersede": lambda m, p: m.remember("This project uses pnpm.", thread="u", scope=WEB),
    "append_many": lambda m, p: m.append_many(
        [{"by": "user", "text": f"wombat {n}"} for n in range(5)], thread="u"
    ),
    "confirm": lambda m, p: m.confirm(p["candidate"], digest=p["digest"]),
    "reject": lambda m, p: m.reject(p["candidate"], digest=p["digest"]),
    "revise": lambda m, p: m.revise(p["record"], if_version=1, value="yarn"),
    "delete": lambda m, p: m.delete(record=p["record"]),
    "erase": lambda m, p: m.erase(record=p["record"]),
    "checkpoint": lambda m, p: m.threads.checkpoint(
        "u", {"goal": "g", "open": ["a", "b"]}, messages=[{"by": "user", "text": "go on"}]
    ),
    "begin": lambda m, p: m.threads.begin("u", "k", "push", {"to": "main"}),
    "done": lambda m, p: m.threads.done("t", "begun", ["wombat"] * 20_000, worker="w"),
    "approve": lambda m, p: m.threads.approve("u", "push", {"do": "push"}),
}


def look(memory: Memory) -> dict[str, Any]:
    """Everything one transaction of a verb writes, as counts and states."""
    tenant = memory.principal.tenant

    def work(unit: Any) -> dict[str, Any]:
        def rows(query: str) -> list[Any]:
            found = unit.conn.exec_driver_sql(query.replace("$T", f"tenant_id = '{tenant}'"))
            return [list(row) for row in found.all()]

        counts = {
            t: rows(f"SELECT count(*) FROM {t} WHERE $T")[0][0] for t in TABLES if t != "trail"
        }
        counts["trail"] = rows("SELECT count(*) FROM trail WHERE $T AND lane = ''")[0][0]
        states = rows("SELECT status, version FROM records WHERE $T ORDER BY status, version")
        held = rows("SELECT status FROM candidates WHERE $T ORDER BY status")
        blanked = rows("SELECT count(*) FROM events WHERE $T AND payload IS NULL")
        calls = rows("SELECT status FROM tool_calls WHERE $T ORDER BY status")
        return {**counts, "states": states, "held": held, "blanked": blanked, "calls": calls}

    state: dict[str, Any] = memory._parts.store.read(tenant, work)
    report = memory.verify()
    return {
        "state": state,
        "verified": report.ok,
        "bad": report.first_bad,
        "active_values": sorted(
            str(r.value) for r in memory.list(where={"kind": "fact", "status": "active"})
        ),
    }


# ---------------------------------------------------------------- children


def child(work: Callable[[], Any]) -> tuple[int, Any]:
    """Run in a forked process; its exit status and what it answered."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            answer = json.dumps(work()).encode()
            with contextlib.suppress(OSError):
                os.write(writing, answer)
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status, json.loads(data) if data else None


class SqliteStage:
    """Each n works on a copy of one prepared folder."""

    def __init__(self, folder: Path, *, eager: bool) -> None:
        self.folder, self.eager = folder, eager
        self.first = folder / "0"
        self.first.mkdir()
        status, self.prepared = child(self._prepare)
        assert status == 0

    def _prepare(self) -> Prepared:
        clock = ManualClock(NOW)
        with self._open(self.first, clock) as memory:
            return prepare(memory, clock)

    def _open(self, folder: Path, clock: ManualClock, **options: Any) -> Memory:
        who = Principal(tenant="acme", user="lin", channel="user")
        return muniment.open(f"sqlite:///{folder}/m.db", principal=who, clock=clock, **options)

    def crash(self, number: int, verb: str) -> int:
        """The exit status of a process that runs the verb and ends at that statement."""
        here = self.folder / str(number)
        shutil.copytree(self.first, here)
        fuse = Fuse(number, eager=self.eager)

        def work() -> None:
            creator = sqlite_creator(here / "m.db", fuse)
            memory = self._open(here, ManualClock(LATER), creator=creator)
            fuse.armed = True
            VERBS[verb](memory, self.prepared)
            os._exit(0)

        return child(work)[0]

    def open(self, number: int) -> Memory:
        """As a new process finds it."""
        return self._open(self.folder / str(number), ManualClock(LATER))


class PostgresStage:
    """Each n works in a tenant of its own."""

    def __init__(self, url: str, key_file: str) -> None:
        self.url, self.key_file = url, key_file
        status, _ = child(lambda: self._ready(0, ManualClock(NOW)) and None)
        assert status == 0

    def _open(self, number: int, clock: ManualClock) -> Memory:
        who = Principal(tenant=f"crash-{number}", user="lin", channel="user")
        return muniment.open(self.url, key_file=self.key_file, principal=who, clock=clock)

    def _ready(self, number: int, clock: ManualClock) -> tuple[Memory, Prepared]:
        memory = self._open(number, clock)
        return memory, prepare(memory, clock)

    def crash(self, number: int, verb: str) -> int:
        """The exit status of a process that runs the verb and ends at that statement."""
        fuse = Fuse(number)

        def work() -> None:
            clock = ManualClock(NOW)
            memory, prepared = self._ready(number, clock)
            clock.set(LATER)
            patch_psycopg(fuse)
            skip_scrubbing(memory)
            fuse.armed = True
            VERBS[verb](memory, prepared)
            os._exit(0)

        return child(work)[0]

    def open(self, number: int) -> Memory:
        """As a new process finds it."""
        return self._open(number, ManualClock(LATER))


def look_at_all(stage: SqliteStage | PostgresStage, last: int) -> None:
    """One line for each crash."""
    for number in range(last + 1):
        with stage.open(number) as memory:
            print(json.dumps({"n": number, "died": number < last, **look(memory)}), flush=True)


def warm_up() -> None:
    """Load what is loaded once (words, patterns), so that children need not."""
    clock = ManualClock(NOW)
    with muniment.open("sqlite://", principal={"user": "lin", "channel": "user"}, clock=clock) as m:
        prepare(m, clock)
        VERBS["remember"](m, {})


def main(store: str, where: str, verb: str, last: str = "") -> None:
    """Loop n until the verb survives it, then look at what each left."""
    warm_up()
    stage: SqliteStage | PostgresStage
    if store == "sqlite":
        stage = SqliteStage(Path(where), eager=last == "eager")
    else:
        stage = PostgresStage(where, last)
    for number in range(1, 400):
        status = stage.crash(number, verb)
        assert status in (0, KILLED), status
        if status == 0:
            look_at_all(stage, number)
            return
    raise AssertionError("it never came to an end")


if __name__ == "__main__":
    main(*sys.argv[1:])
