"""What differs on SQLite: connections, transactions, errors and scrubbing."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool, StaticPool

from muniment.errors import MunimentError, Unavailable
from muniment.store.backend import RaceLost
from muniment.store.private import make_private, open_private, readable_by_others

BUSY_TIMEOUT_MS = 10_000
Creator = Callable[[], sqlite3.Connection]

_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA secure_delete=ON",  # drivers differ in their default
    "PRAGMA foreign_keys=ON",
    "PRAGMA trusted_schema=OFF",
)


class SqliteBackend:
    """One file (or memory): WAL, ``synchronous=FULL``, one writer at a time.

    ``creator`` is the one seam through which connections come, so that a fault-injecting
    driver can be put under the product itself.
    """

    dialect = "sqlite"
    driver_error: type[Exception] = sqlite3.Error

    def __init__(self, path: Path | None, *, creator: Creator | None = None) -> None:
        self.path = path
        self.read_only = path is not None and path.exists() and not _writable(path)
        if path is not None:
            open_private(path)
        self._creator = creator or self._connect
        self._writer = threading.RLock() if path is None else threading.Lock()
        self.engine = self._engine()

    @property
    def in_memory(self) -> bool:
        """Whether everything is gone on close."""
        return self.path is None

    def _connect(self) -> sqlite3.Connection:
        if self.path is None:
            return sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        mode = "ro" if self.read_only else "rwc"
        uri = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
        return sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)

    def _engine(self) -> Engine:
        pool: dict[str, Any] = {"poolclass": StaticPool}
        if self.path is not None:
            pool = {"poolclass": QueuePool, "pool_size": 8, "max_overflow": 56}
        engine = create_engine("sqlite://", creator=self._creator, **pool)
        event.listen(engine, "connect", self._on_connect)
        event.listen(engine, "begin", _on_begin)
        return engine

    def _on_connect(self, connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        if self.path is not None and not self.read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")

    @contextmanager
    def writing(self, tenant: str) -> Iterator[Connection]:
        """``BEGIN IMMEDIATE``; writers of one process queue fairly before SQLite's lock."""
        with self._writer, self.engine.connect() as conn:
            conn = conn.execution_options(muniment_begin="IMMEDIATE")
            with conn.begin():
                yield conn

    @contextmanager
    def reading(self, tenant: str) -> Iterator[Connection]:
        """A snapshot; in memory the one connection is shared, so readers queue too."""
        if self.path is None:
            with self._writer, self.engine.connect() as conn, conn.begin():
                yield conn
            return
        with self.engine.connect() as conn, conn.begin():
            yield conn

    @contextmanager
    def administering(self) -> Iterator[Connection]:
        """A write transaction outside any tenant: schema, keys."""
        with self.writing("") as conn:
            yield conn

    def translate(self, error: BaseException) -> MunimentError | RaceLost | None:
        """SQLite's errors in Muniment's words."""
        text = str(error).lower()
        if isinstance(error, sqlite3.IntegrityError):
            return RaceLost(str(error))
        for part, code, message in _MESSAGES:
            if part in text:
                return Unavailable(code, message)
        if isinstance(error, sqlite3.DatabaseError | sqlite3.ProgrammingError):
            return Unavailable("store.failed", f"the database answered: {error}")
        return None

    def scrub(self, *, thorough: bool = False) -> list[str]:
        """Make deleted bytes unreadable: merge and truncate the WAL.  What is left, in words.

        Freed pages are zeroed as they are freed (``secure_delete``), so this is always thorough.
        """
        if self.path is None:
            return []
        with self._writer, self.engine.connect() as conn:
            busy = conn.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").first()
        if busy is not None and busy[0]:
            return ["a reader still holds the write-ahead log; run erase again to finish"]
        return []

    def exposed(self) -> list[str]:
        """The names of files that others on this machine can read."""
        if self.path is None:
            return []
        files = (self.path, self.path.with_name(self.path.name + ".index"))
        return [file.name for file in files if readable_by_others(file)]

    def copy_to(self, target: Path) -> None:
        """A consistent copy while others write (SQLite's online backup)."""
        source = self.engine.raw_connection()
        make_private(target)
        copy = sqlite3.connect(target)
        try:
            source.driver_connection.backup(copy)  # type: ignore[union-attr]
        finally:
            copy.close()
            source.close()

    def close(self) -> None:
        """Release every connection."""
        self.engine.dispose()


def _on_begin(conn: Connection) -> None:
    mode = conn.get_execution_options().get("muniment_begin", "DEFERRED")
    conn.connection.driver_connection.execute(f"BEGIN {mode}")  # type: ignore[union-attr]


def _writable(path: Path) -> bool:
    """Whether the file's mode lets its owner write; root ignores the mode, Muniment does not."""
    mode = path.stat().st_mode
    return bool(mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)) and os.access(path, os.W_OK)


_MESSAGES = (
    ("locked", "store.busy", "another writer holds the database; try again"),
    ("busy", "store.busy", "another writer holds the database; try again"),
    ("full", "store.full", "the disk is full; nothing was written; free some space"),
    ("readonly", "store.read_only", "the database file is read-only; nothing was written"),
    ("read-only", "store.read_only", "the database file is read-only; nothing was written"),
    ("no such table", "schema.missing", "the tables are missing; run `muniment db upgrade`"),
    ("no such column", "schema.missing", "columns are missing; run `muniment db upgrade`"),
    ("malformed", "store.corrupt", "the database file is damaged; restore a backup"),
    ("not a database", "store.corrupt", "that file is not a Muniment database"),
    ("unable to open", "store.unreachable", "the database file cannot be opened"),
    ("disk i/o", "store.failed", "the disk failed; nothing was written"),
    ("closed", "store.closed", "the store is closed; open it again"),
)
