"""Fixtures every tier of tests shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres import Server, postgres

# Whatever is installed: a test that wants an embedder names it.
os.environ["MUNIMENT_EMBEDDER"] = "none"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs PostgreSQL, so that `-m "not postgres"` leaves it out."""
    for item in items:
        if "postgres_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.postgres)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One PostgreSQL server for each test process, started when first asked for."""
    with postgres() as server:
        yield server


@pytest.fixture
def pg_url(postgres_server: Server) -> Iterator[str]:
    """The URL of an empty database of the test's own."""
    url = postgres_server.fresh_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of third-party data sets; without it the test is skipped."""
    if "MUNIMENT_DATA" not in os.environ:
        pytest.skip("needs third-party data: make test DATA=dir")
    return Path(os.environ["MUNIMENT_DATA"])
