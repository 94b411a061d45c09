"""The tables of the index, and how documents are put into them and taken out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy import Index as TableIndex

from muniment.recall.index import Doc, Layer
from muniment.store.run import INDEX_SCHEMA, Prepared
from muniment.store.sql import among
from muniment.text import TOKENISER

LAYOUT = f"3/{TOKENISER}"  # another one is made anew, since nothing here is worth migrating
SEPARATOR = "\n"  # no term holds white space
_NUMBER = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData(schema=INDEX_SCHEMA)
stamp = Table("stamp", metadata, Column("layout", Text, primary_key=True))
#: Partitions and documents by number, so that postings, the bulk of an index, are short.
parts = Table(
    "parts",
    metadata,
    Column("tenant_id", Text, nullable=False),
    Column("layer", Text, nullable=False),
    Column("part", Text, nullable=False),
    Column("place", _NUMBER, nullable=False),
    Column("docs", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    # Counts the changes of its vectors: what a process keeps of them is of one generation.
    Column("generation", _NUMBER, nullable=False),
    PrimaryKeyConstraint("tenant_id", "layer", "part"),
    sqlite_with_rowid=False,
)
docs = Table(
    "docs",
    metadata,
    Column("tenant_id", Text, nullable=False),
    Column("doc", _NUMBER, nullable=False),
    Column("layer", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("place", _NUMBER, nullable=False),
    Column("length", Integer, nullable=False),
    Column("terms", Text, nullable=False),
    Column("stamp", LargeBinary, nullable=False),
    Column("embedder", Text, nullable=False),  # whose vector it has; "" for none
    PrimaryKeyConstraint("tenant_id", "doc"),
    sqlite_with_rowid=False,
)
TableIndex("docs_id", docs.c.tenant_id, docs.c.layer, docs.c.id, unique=True)
TableIndex("docs_embedder", docs.c.tenant_id, docs.c.embedder, docs.c.doc)
#: Apart from the documents and laid out by partition: a search reads nothing else of them.
vectors = Table(
    "vectors",
    metadata,
    Column("tenant_id", Text, nullable=False),
    Column("place", _NUMBER, nullable=False),
    Column("doc", _NUMBER, nullable=False),
    Column("embedder", Text, nullable=False),
    Column("vector", LargeBinary, nullable=False),  # float16, little-endian
    PrimaryKeyConstraint("tenant_id", "place", "doc"),
    sqlite_with_rowid=False,
)
postings = Table(
    "postings",
    metadata,
    Column("tenant_id", Text, nullable=False),
    Column("place", _NUMBER, nullable=False),
    Column("term", Text, nullable=False),
    Column("doc", _NUMBER, nullable=False),
    Column("count", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    PrimaryKeyConstraint("tenant_id", "place", "term", "doc"),
    sqlite_with_rowid=False,
)
known = Table("known", metadata, Column("tenant_id", Text, primary_key=True))

_P, _D, _S = postings.c, docs.c, parts.c
TENANT: BindParameter[str] = bindparam("tenant")
HELD = Prepared(
    select(docs).where(
        _D.tenant_id == TENANT, _D.layer == bindparam("in_layer"), among(_D.id, "ids")
    )
)
_UNPOST = Prepared(
    delete(postings).where(
        _P.tenant_id == TENANT,
        _P.place == bindparam("of_place"),
        _P.term == bindparam("of_term"),
        _P.doc == bindparam("of_doc"),
    )
)
_UNVECTOR = Prepared(
    delete(vectors).where(
        vectors.c.tenant_id == TENANT,
        among(vectors.c.place, "places"),
        among(vectors.c.doc, "numbers"),
    )
)
_UNDOC = Prepared(delete(docs).where(_D.tenant_id == TENANT, among(_D.doc, "numbers")))
_LAST_DOC = Prepared(select(func.max(_D.doc).label("last")).where(_D.tenant_id == TENANT))
_PLACES = Prepared(select(_S.layer, _S.part, _S.place).where(_S.tenant_id == TENANT))
_RESIZE = Prepared(
    update(parts)
    .where(_S.tenant_id == TENANT, _S.place == bindparam("of_place"))
    .values(docs=_S.docs + bindparam("more_docs"), length=_S.length + bindparam("more_length"))
)
_RENEW = Prepared(
    update(parts)
    .where(_S.tenant_id == TENANT, among(_S.place, "places"))
    .values(generation=_S.generation + 1)
)
_INSERT_PART, _INSERT_DOC = Prepared(insert(parts)), Prepared(insert(docs))
_INSERT_POSTING = Prepared(insert(postings))
_DOC_COLUMNS = tuple(c.name for c in docs.c)
_POSTING_COLUMNS = tuple(c.name for c in postings.c)


def compared(
    conn: Connection, tenant: str, given: Sequence[Doc]
) -> tuple[list[Doc], dict[Layer, list[str]]]:
    """Those that are not already held as they are, and the ids of which another state is."""
    new: list[Doc] = []
    outdated: dict[Layer, list[str]] = {}
    for layer in dict.fromkeys(d.layer for d in given):
        here = [d for d in given if d.layer is layer]
        params = {"tenant": tenant, "in_layer": layer.value, "ids": [d.id for d in here]}
        held = {row.id: bytes(row.stamp) for row in HELD.all(conn, params)}
        differing = [d for d in here if held.get(d.id) != d.stamp]
        new += differing
        outdated[layer] = [d.id for d in differing if d.id in held]
    return new, outdated


def remove(
    conn: Connection, tenant: str, layer: Layer, ids: Sequence[str]
) -> dict[tuple[Layer, str], int]:
    """Take documents out; the numbers they had, which they keep if they come back at once."""
    if not ids:
        return {}
    params = {"tenant": tenant, "in_layer": layer.value, "ids": list(ids)}
    found = HELD.all(conn, params)
    if not found:
        return {}
    gone = [
        {"tenant": tenant, "of_place": row.place, "of_term": term, "of_doc": row.doc}
        for row in found
        for term in row.terms.split(SEPARATOR)
    ]
    _UNPOST.run(conn, *gone)
    numbers = [row.doc for row in found]
    _UNDOC.run(conn, {"tenant": tenant, "numbers": numbers})
    # Vectors last: whoever was giving one of these documents a vector has done so by now.
    places = sorted({row.place for row in found})
    if _UNVECTOR.run(conn, {"tenant": tenant, "places": places, "numbers": numbers}):
        renew(conn, tenant, places)
    _resize(conn, tenant, [(row.place, -1, -row.length) for row in found])
    return {(layer, row.id): row.doc for row in found}


def add(
    conn: Connection, tenant: str, new: Sequence[Doc], numbers: Mapping[tuple[Layer, str], int]
) -> None:
    if not new:
        return
    places = _places(conn, tenant, new)
    last = _LAST_DOC.all(conn, {"tenant": tenant})[0].last or 0
    fresh = count(max(last, *numbers.values(), 0) + 1)
    rows = [
        (d, numbers.get((d.layer, d.id)) or next(fresh), places[d.layer.value, d.partition])
        for d in new
    ]
    _INSERT_DOC.rows(
        conn,
        _DOC_COLUMNS,
        [
            (
                *(tenant, doc, d.layer.value, d.id, place, d.length),
                *(SEPARATOR.join(d.terms), d.stamp, ""),
            )
            for d, doc, place in rows
        ],
    )
    posted = [
        (tenant, place, term, doc, times, d.length)
        for d, doc, place in rows
        for term, times in d.terms.items()
    ]
    _INSERT_POSTING.rows(conn, _POSTING_COLUMNS, sorted(posted))
    _resize(conn, tenant, [(place, 1, d.length) for d, _, place in rows])


def _places(conn: Connection, tenant: str, new: Sequence[Doc]) -> dict[tuple[str, str], int]:
    """The numbers of partitions, new ones made."""
    known_ = {(r.layer, r.part): r.place for r in _PLACES.all(conn, {"tenant": tenant})}
    for wanted in {(d.layer.value, d.partition): None for d in new}:
        if wanted not in known_:
            known_[wanted] = max(known_.values(), default=0) + 1
            layer, part = wanted
            row = {"tenant_id": tenant, "layer": layer, "part": part, "place": known_[wanted]}
            _INSERT_PART.run(conn, row | {"docs": 0, "length": 0, "generation": 0})
    return known_


def renew(conn: Connection, tenant: str, places: Sequence[int]) -> None:
    """Say that vectors of these partitions have changed."""
    _RENEW.run(conn, {"tenant": tenant, "places": list(places)})


def _resize(conn: Connection, tenant: str, changes: Iterable[tuple[int, int, int]]) -> None:
    totals: dict[int, list[int]] = {}
    for place, docs_, length in changes:
        total = totals.setdefault(place, [0, 0])
        total[0] += docs_
        total[1] += length
    for place, (docs_, length) in totals.items():
        _RESIZE.run(
            conn,
            {"tenant": tenant, "of_place": place, "more_docs": docs_, "more_length": length},
        )
