"""One contract, three stores: SQLite in memory, an SQLite file, PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.kit import Desk, Place, admin_dsn
from tests.support.postgres import Server

_NUMBERS = itertools.count(1)
_POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)


@pytest.fixture(scope="module")
def module_database(
    postgres_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path, str]]:
    """One fresh PostgreSQL database a module; its tests work in tenants of their own."""
    url = postgres_server.fresh_database()
    key_file = tmp_path_factory.mktemp("keys") / "chain.key"
    yield url, key_file, admin_dsn(postgres_server.admin_url, url)
    postgres_server.drop_database(url)


def _place(request: pytest.FixtureRequest, folder: Path) -> Place:
    tenant = f"tenant-{next(_NUMBERS)}"
    if request.param == "postgres":
        url, key_file, dsn = request.getfixturevalue("module_database")
        return Place("postgres", url, key_file, folder, tenant, dsn)
    if request.param == "memory":
        return Place("memory", "sqlite://", None, folder, tenant)
    return Place("file", f"sqlite:///{folder}/memory.db", None, folder, tenant)


@pytest.fixture(params=["memory", "file", _POSTGRES])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Each of the three stores."""
    return _place(request, tmp_path)


@pytest.fixture(params=["file", _POSTGRES])
def durable_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """The two stores that can be opened again."""
    return _place(request, tmp_path)


@pytest.fixture
def file_place(tmp_path: Path) -> Place:
    """An SQLite file."""
    return Place("file", f"sqlite:///{tmp_path}/memory.db", None, tmp_path, "tenant-0")


@pytest.fixture
def desk(place: Place) -> Iterator[Desk]:
    """An open memory on each of the stores."""
    opened = Desk(place)
    yield opened
    opened.memory.close()


@pytest.fixture
def durable_desk(durable_place: Place) -> Iterator[Desk]:
    """An open memory on each of the stores that outlive it."""
    opened = Desk(durable_place)
    yield opened
    opened.memory.close()


@pytest.fixture
def memory(desk: Desk) -> Any:
    """The open memory alone."""
    return desk.memory


@pytest.fixture
def open_memory(place: Place) -> Iterator[Callable[..., Any]]:
    """Open the store as often as wanted, with options of one's own."""
    opened = []

    def open_it(**options: Any) -> Any:
        opened.append(place.open(**options))
        return opened[-1]

    yield open_it
    for one in opened:
        one.close()
