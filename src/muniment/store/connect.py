"""From a URL to a store and its index."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from muniment.errors import InvalidInput, Unavailable
from muniment.ids import Ids
from muniment.store.backend import Backend
from muniment.store.index import SqlIndex, postgres_index, sqlite_index
from muniment.store.keys import KeyFile, MemoryKey
from muniment.store.sqlite import SqliteBackend
from muniment.store.store import KeyStore, Store


def connect(
    url: str,
    *,
    key_file: Path | None,
    data_home: Path,
    ids: Ids,
    now: datetime,
    creator: Any = None,
) -> tuple[Store, SqlIndex]:
    """The store behind a URL, its schema checked, and the index beside it."""
    backend = backend_of(url, creator=creator)
    keys: KeyStore = MemoryKey()
    if not isinstance(backend, SqliteBackend):
        keys = KeyFile(key_file or data_home / f"{_database_name(backend)}.key")
        return Store(backend, keys, ids, now), postgres_index(backend.engine)
    path = backend.path
    if key_file is not None or path is not None:
        keys = KeyFile(key_file or beside(path, ".key"))
    store = Store(backend, keys, ids, now)
    if path is None or backend.read_only:
        return store, sqlite_index(None)
    return store, sqlite_index(beside(path, ".index"))


def backend_of(url: str, *, creator: Any = None) -> Backend:
    """The bare database behind a URL, whatever its schema."""
    known = ("sqlite:", "postgresql:", "postgres:", "postgresql+psycopg:")
    if not isinstance(url, str) or not url.startswith(known):
        raise InvalidInput("store.url", "url: sqlite:///memory.db, sqlite:// or postgresql://…")
    if not url.startswith("sqlite:"):
        from muniment.store.postgres import PostgresBackend

        return PostgresBackend(url)
    path = file_of(url)
    if path is not None and path.is_dir():
        raise InvalidInput("store.url", f"{path} is a directory; name a file in it")
    if path is not None and not path.parent.is_dir():
        raise Unavailable("store.unreachable", f"the directory {path.parent} does not exist")
    return SqliteBackend(path, creator=creator)


def beside(path: Path | None, suffix: str) -> Path:
    """A file next to the database."""
    assert path is not None
    return path.with_name(path.name + suffix)


def file_of(url: str) -> Path | None:
    """The file of an embedded store; ``None`` for one in memory or on a server."""
    if not url.startswith("sqlite:") or url in ("sqlite://", "sqlite:///:memory:"):
        return None
    if not url.startswith("sqlite:///") or len(url) == len("sqlite:///"):
        raise InvalidInput(
            "store.url", "use sqlite:///relative.db, sqlite:////absolute/path.db or sqlite://"
        )
    if "?" in url or "\0" in url or any("\ud800" <= c <= "\udfff" for c in url):
        raise InvalidInput("store.url", "the path of the database cannot hold ?, NUL or half pairs")
    return Path(url.removeprefix("sqlite:///"))


def _database_name(backend: Any) -> str:
    return "".join(c if c.isalnum() else "-" for c in backend.url.database or "default")
