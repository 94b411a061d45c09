"""Where a figure is measured: a directory, and fresh stores of one kind in it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import muniment
from bench.measure import Probe, probe
from muniment import Memory, Principal

WHO = Principal(tenant="bench", user="ada")


@dataclass(slots=True)
class Place:
    """Fresh durable stores of one kind (``store``), and what the machine does without us."""

    store: str
    directory: Path
    fresh_url: Callable[[], str]
    insert: Callable[[str], object] | None = None
    _open: list[Memory] = field(default_factory=list)

    @property
    def embedded(self) -> bool:
        """Whether the limits set for SQLite are meant."""
        return self.store == "sqlite"

    @property
    def key_file(self) -> Path:
        """One chain key for all stores of the place."""
        return self.directory / "bench.key"

    def open(self, url: str | None = None, who: Principal = WHO) -> Memory:
        """A memory on a fresh store, or on that of an earlier URL; `close` closes it."""
        memory = muniment.open(url or self.fresh_url(), principal=who, key_file=self.key_file)
        self._open.append(memory)
        return memory

    def close(self) -> None:
        """Close every memory that was opened here."""
        while self._open:
            self._open.pop().close()

    def probe(self) -> Probe:
        """Measure the machine here and now."""
        return probe(self.directory, self.insert)


@contextmanager
def sqlite_place(directory: Path) -> Iterator[Place]:
    """SQLite files below a directory."""
    home = Path(tempfile.mkdtemp(prefix="stores-", dir=directory))
    numbers = iter(range(1_000_000))
    place = Place("sqlite", home, lambda: f"sqlite:///{home / f'store-{next(numbers)}.db'}")
    try:
        yield place
    finally:
        place.close()
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def postgres_place(directory: Path, server: Any) -> Iterator[Place]:
    """Databases of a server that keeps every commit on disk before it answers."""
    import psycopg
    from sqlalchemy.engine import make_url

    home = Path(tempfile.mkdtemp(prefix="stores-", dir=directory))
    dsn = make_url(server.fresh_database()).set(drivername="postgresql")
    with psycopg.connect(dsn.render_as_string(hide_password=False), autocommit=True) as peer:
        peer.execute("CREATE TABLE peer (id bigserial PRIMARY KEY, text text)")
        place = Place(
            "postgresql",
            home,
            server.fresh_database,
            lambda text: peer.execute("INSERT INTO peer (text) VALUES (%s)", (text,)),
        )
        try:
            yield place
        finally:
            place.close()
            shutil.rmtree(home, ignore_errors=True)


class Places:
    """Opens a fresh place per figure; a PostgreSQL server is started when first asked for."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stack = ExitStack()
        self._server: Any = None

    def __enter__(self) -> Places:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @contextmanager
    def at(self, store: str) -> Iterator[Place]:
        """A fresh place; raises `PostgresUnavailable` where no server can be started."""
        if store == "sqlite":
            with sqlite_place(self._directory) as place:
                yield place
            return
        if self._server is None:
            from tests.support.postgres import private_postgres

            self._server = self._stack.enter_context(private_postgres(durable=True))
        with postgres_place(self._directory, self._server) as place:
            yield place
