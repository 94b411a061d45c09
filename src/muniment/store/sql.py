"""Small pieces all tables share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TypeVar

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from muniment.store.run import Prepared

T = TypeVar("T")
CHUNK = 500  # ids per IN list


def chunks(items: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """Lists of at most ``size``."""
    it = iter(items)
    while part := list(islice(it, size)):
        yield part


@cache
def insert_ignore(dialect: str, table: Table) -> Insert:
    """INSERT … ON CONFLICT DO NOTHING, which both dialects spell alike."""
    if dialect == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


@cache
def upsert(dialect: str, table: Table, *changed: str) -> Insert:
    """INSERT … ON CONFLICT (primary key) DO UPDATE of the named columns."""
    make = postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
    return make.on_conflict_do_update(
        index_elements=list(table.primary_key.columns),
        set_={name: make.excluded[name] for name in changed},
    )


@cache
def prepared_insert(dialect: str, table: Table) -> Prepared:
    """`insert_ignore` for the hot path."""
    return Prepared(insert_ignore(dialect, table))


@cache
def prepared_upsert(dialect: str, table: Table, *changed: str) -> Prepared:
    """`upsert` for the hot path."""
    return Prepared(upsert(dialect, table, *changed))
