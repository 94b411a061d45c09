"""One snapshot of the index: what a search asks of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Float, Integer, Text, bindparam, column, func, select, text

from muniment.recall.index import Held, Layer, Posting, Scored, Vectors, Weighting
from muniment.store.postings import HELD, TENANT, docs, parts, postings
from muniment.store.run import INDEX_SCHEMA, Prepared
from muniment.store.sql import ListOf, among, chunks
from muniment.store.vectors import VectorCache

_P, _D, _S = postings.c, docs.c, parts.c
_LOOKED = (_P.tenant_id == TENANT, among(_P.place, "places"), among(_P.term, "terms"))
_NAMES = Prepared(select(_D.doc, _D.id).where(_D.tenant_id == TENANT, among(_D.doc, "numbers")))
_FIND_OF = Prepared(
    select(_P.term, _P.doc, _P.count, _P.length).where(*_LOOKED, among(_P.doc, "numbers"))
)
_COUNT = Prepared(select(_P.term, func.count().label("docs")).where(*_LOOKED).group_by(_P.term))
_SIZE = Prepared(
    select(_S.place, _S.docs, _S.length, _S.generation).where(
        _S.tenant_id == TENANT,
        _S.layer == bindparam("in_layer"),
        among(_S.part, "partitions"),
        _S.docs > 0,
    )
)

# A term's weight is given negative where the term alone is too little to be an answer.
_SCORED = """
SELECT d.id AS id, s.score AS score, s.found AS found FROM (
  SELECT p.doc AS doc, count(*) AS found,
    sum(abs({weight}) * p.count / (p.count + :base + :slope * p.length)) AS score
  FROM {weights} AS w CROSS JOIN {postings}
  GROUP BY p.doc HAVING max({weight}) > 0 ORDER BY score DESC, p.doc LIMIT :most
) AS s JOIN {docs} AS d ON d.tenant_id = :tenant AND d.doc = s.doc
"""
# Term by term through the key, whatever a planner thinks of the number of terms.
_SQLITE = """postings AS p
  WHERE p.tenant_id = :tenant AND p.place IN (SELECT value FROM json_each(:places))
    AND p.term = w.key AND p.doc NOT IN (SELECT value FROM json_each(:skipped))
"""
_POSTGRES = f"""LATERAL (
    SELECT doc, count, length FROM {INDEX_SCHEMA}.postings
    WHERE tenant_id = :tenant AND place = ANY(CAST(:places AS bigint[]))
      AND term = w.key AND doc <> ALL(CAST(:skipped AS bigint[])) OFFSET 0
  ) AS p
"""


def _scored(**dialect: str) -> Prepared:
    statement = text(_SCORED.format(**dialect))
    typed: list[Any] = [bindparam(name, type_=ListOf()) for name in ("places", "skipped")]
    typed += [bindparam(name, type_=Float()) for name in ("base", "slope")]
    typed += [bindparam("most", type_=Integer()), bindparam("weights", type_=Text())]
    columns = (column("id", Text), column("score", Float), column("found", Integer))
    return Prepared(statement.bindparams(*typed).columns(*columns))


_BEST = {
    "sqlite": _scored(
        weights="json_each(:weights)", weight="w.value", postings=_SQLITE, docs="docs"
    ),
    "postgresql": _scored(
        weights="json_each_text(CAST(:weights AS json))",
        weight="CAST(w.value AS float8)",
        postings=_POSTGRES,
        docs=f"{INDEX_SCHEMA}.docs",
    ),
}


class SqlLook:
    """`muniment.recall.index.Look` over one connection."""

    def __init__(
        self,
        conn: Connection,
        tenant: str,
        layer: Layer,
        partitions: Sequence[str],
        cache: VectorCache,
    ) -> None:
        self._conn, self._tenant, self._cache = conn, tenant, cache
        self._here = {"tenant": tenant, "in_layer": layer.value}
        self._sizes = _SIZE.all(conn, self._here | {"partitions": partitions})
        self._places = [r.place for r in self._sizes]

    def size(self) -> tuple[int, int]:
        return sum(r.docs for r in self._sizes), sum(r.length for r in self._sizes)

    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        return dict(_COUNT.all(self._conn, self._asked(terms))) if self._places else {}

    def held(self, ids: Iterable[str]) -> list[Held]:
        found = [
            r for part in chunks(ids) for r in HELD.all(self._conn, self._here | {"ids": part})
        ]
        return [Held(r.doc, r.id, r.length) for r in found if r.place in self._places]

    def find(self, terms: Sequence[str], held: Sequence[Held]) -> list[Posting]:
        names = {h.number: h.id for h in held}
        asked = self._asked(terms) | {"numbers": list(names)}
        found = _FIND_OF.all(self._conn, asked) if names else []
        return [Posting(r.term, names[r.doc], r.count, r.length) for r in found]

    def best(self, weighting: Weighting, skipped: Sequence[Held], most: int) -> list[Scored]:
        if not self._places or not weighting.weights:
            return []
        asked = self._here | {
            "places": self._places,
            "weights": json.dumps(dict(weighting.weights)),
            "base": weighting.base,
            "slope": weighting.slope,
            "skipped": [h.number for h in skipped],
            "most": most,
        }
        rows = _BEST[self._conn.dialect.name].all(self._conn, asked)
        return [Scored(*row) for row in rows]

    def vectors(self, embedder: str) -> Vectors | None:
        places = {r.place: r.generation for r in self._sizes}
        return self._cache.get(self._conn, self._tenant, embedder, places)

    def names(self, numbers: Sequence[int]) -> Mapping[int, str]:
        params = {"tenant": self._tenant, "numbers": list(numbers)}
        return {r.doc: r.id for r in _NAMES.all(self._conn, params)} if numbers else {}

    def _asked(self, terms: Sequence[str]) -> dict[str, Any]:
        return self._here | {"places": self._places, "terms": terms}
