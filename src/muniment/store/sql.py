"""Small pieces all tables share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Dialect,
    Integer,
    String,
    Table,
    Text,
    TypeDecorator,
    bindparam,
    literal_column,
    type_coerce,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.functions import FunctionElement

from muniment.store.run import Prepared

_BOOLEAN = Boolean()
T = TypeVar("T")
CHUNK = 500  # ids per IN list


def chunks(items: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """Lists of at most ``size``."""
    it = iter(items)
    while part := list(islice(it, size)):
        yield part


def escaped(text: str) -> str:
    """A text for LIKE … ESCAPE '!' that means itself."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


class ListOf(TypeDecorator[Sequence[Any]]):
    """Several values in one parameter: an array, or JSON where there are none."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Sequence[Any] | None, dialect: Dialect) -> Any:
        listed = [v.value if isinstance(v, Enum) else v for v in value or ()]
        return listed if dialect.name == "postgresql" else json.dumps(listed)


class _Among(FunctionElement[bool]):
    inherit_cache = True


@compiles(_Among, "sqlite")
def _sqlite_among(element: Any, compiler: Any, **kw: Any) -> str:
    column, values = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"


@compiles(_Among, "postgresql")
def _postgresql_among(element: Any, compiler: Any, **kw: Any) -> str:
    column, values = (compiler.process(clause, **kw) for clause in element.clauses)
    kind = "bigint" if isinstance(next(iter(element.clauses)).type, Integer) else "text"
    return f"{column} = ANY({values}::{kind}[])"


def among(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """``column`` is one of the values given as the parameter ``name``.

    One text of SQL whatever their number, so that it is compiled, prepared and planned once.
    """
    return type_coerce(_Among(column, bindparam(name, type_=ListOf())), _BOOLEAN)


def fixed(value: str) -> ColumnElement[str]:
    """A constant of ours inside the text of a statement.

    SQLite plans a statement anew at each execution if a parameter is compared with what a partial
    index is restricted to (its value might decide whether the index serves): 100 µs a time.
    """
    assert value.isidentifier()
    return literal_column(f"'{value}'", String)


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
