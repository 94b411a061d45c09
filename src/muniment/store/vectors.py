"""Vectors in the index: kept beside the documents, read whole for an exact search."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from sqlalchemy import BindParameter, Connection, bindparam, select, update

from muniment.recall.index import Embedded, Layer, Unembedded, Vectors
from muniment.store.postings import TENANT, docs, renew, vectors
from muniment.store.run import Prepared
from muniment.store.sql import among, prepared_upsert

CACHE_BYTES = 256 * 1024 * 1024

_D, _V = docs.c, vectors.c
_NAME: BindParameter[str] = bindparam("name")
_OF = Prepared(
    select(_D.doc, _D.layer, _D.id, _D.stamp)
    .where(_D.tenant_id == TENANT, _D.embedder == _NAME)
    .order_by(_D.doc.desc())
    .limit(bindparam("most"))
)
_NEXT = Prepared(
    select(_D.embedder)
    .where(_D.tenant_id == TENANT, _D.embedder > _NAME)
    .order_by(_D.embedder)
    .limit(1)
)
_CLAIM = Prepared(
    update(docs)
    .where(
        _D.tenant_id == TENANT,
        _D.doc == bindparam("of_doc"),
        _D.stamp == bindparam("of_stamp"),
    )
    .values(embedder=_NAME)
)
_PLACES = Prepared(select(_D.doc, _D.place).where(_D.tenant_id == TENANT, among(_D.doc, "numbers")))
_READ = Prepared(
    select(_V.doc, _V.vector)
    .where(_V.tenant_id == TENANT, _V.place == bindparam("of_place"), _V.embedder == _NAME)
    .order_by(_V.doc)
)


def unembedded(conn: Connection, tenant: str, embedder: str, most: int) -> list[Unembedded]:
    """Documents without a vector of this embedder: those without any first, newest first."""
    found: list[Unembedded] = []
    for name in ("", *sorted(embedders(conn, tenant) - {embedder})):
        wanted = {"tenant": tenant, "name": name, "most": most - len(found)}
        rows = _OF.all(conn, wanted) if len(found) < most else []
        found += [Unembedded(r.doc, Layer(r.layer), r.id, bytes(r.stamp)) for r in rows]
    return found


def embedders(conn: Connection, tenant: str) -> frozenset[str]:
    """Whose vectors the documents have: as many steps through the index as there are names."""
    found: list[str] = []
    while row := _NEXT.first(conn, {"tenant": tenant, "name": found[-1] if found else ""}):
        found.append(row.embedder)
    return frozenset(found)


def keep(conn: Connection, tenant: str, embedder: str, new: Sequence[Embedded]) -> int:
    """Put vectors beside documents that are still what they were.

    The claim locks the document's row, so one that is being removed takes its vector with it.
    """
    mine = {"tenant": tenant, "name": embedder}
    claimed = [e for e in new if _CLAIM.run(conn, mine | {"of_doc": e.number, "of_stamp": e.stamp})]
    numbers = [e.number for e in claimed]
    rows = _PLACES.all(conn, {"tenant": tenant, "numbers": numbers}) if numbers else []
    places = {r.doc: r.place for r in rows}
    put = prepared_upsert(conn.dialect.name, vectors, "embedder", "vector")
    for e in claimed:
        row = {"tenant_id": tenant, "place": places[e.number], "doc": e.number}
        put.run(conn, row | {"embedder": embedder, "vector": e.vector})
    if places:
        renew(conn, tenant, sorted(set(places.values())))
    return len(claimed)


class VectorCache:
    """Vectors of partitions as matrices, each of one generation of one embedder's; bounded."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held: OrderedDict[tuple[str, int], tuple[tuple[str, int], Vectors]] = OrderedDict()
        self._lock = threading.Lock()
        self._forgotten = 0

    def get(
        self, conn: Connection, tenant: str, embedder: str, places: Mapping[int, int]
    ) -> Vectors | None:
        """What partitions (their generations by number) hold; ``None`` for nothing."""
        found = [self._of(conn, tenant, place, (embedder, g)) for place, g in places.items()]
        full = [v for v in found if len(v.numbers)]
        if len(full) < 2:
            return full[0] if full else None
        from muniment.recall import dense

        return dense.joined(full)

    def forget(self, tenant: str) -> None:
        """Drop what is held of a tenant: something of it may have been erased."""
        with self._lock:
            self._forgotten += 1  # a reader that began before keeps nothing of what it read
            for key in [k for k in self._held if k[0] == tenant]:
                del self._held[key]

    def _of(self, conn: Connection, tenant: str, place: int, state: tuple[str, int]) -> Vectors:
        with self._lock:
            held = self._held.get((tenant, place))
            if held is not None and held[0] == state:
                self._held.move_to_end((tenant, place))
                return held[1]
            forgotten = self._forgotten
        read = _read(conn, tenant, place, state[0])
        with self._lock:
            if self._forgotten != forgotten:
                return read
            self._held[tenant, place] = (state, read)
            self._held.move_to_end((tenant, place))
            while len(self._held) > 1 and self._bytes() > self._most_bytes:
                self._held.popitem(last=False)
        return read

    def _bytes(self) -> int:
        return sum(v.rows.nbytes for _, v in self._held.values())


def _read(conn: Connection, tenant: str, place: int, embedder: str) -> Vectors:
    from muniment.recall import dense

    rows = _READ.all(conn, {"tenant": tenant, "of_place": place, "name": embedder})
    full = [r for r in rows if len(r.vector)]
    return dense.packed([r.doc for r in full], b"".join(bytes(r.vector) for r in full))
