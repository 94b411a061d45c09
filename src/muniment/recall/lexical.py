"""BM25 over the permitted partitions, with what the index has not seen yet read from the truth.

Source of the formula: Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and
Beyond* (2009), with k1 = 1.2 and b = 0.75, and the non-negative idf ln(1 + (N − n + ½)/(n + ½)).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from muniment.recall.index import Doc, Index, Layer, Posting

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Match:
    """How well a document answers the terms.

    ``score`` is BM25 over its possible maximum (0–1); ``coverage`` the share of query terms
    found; ``strong`` whether one of them is more than a lone Chinese character.
    """

    id: str
    score: float
    coverage: float
    strong: bool


def search(
    index: Index,
    tenant: str,
    layer: Layer,
    partitions: Sequence[str],
    terms: Sequence[str],
    fresh: Mapping[str, Doc | None],
) -> list[Match]:
    """All documents with a term in common, best first; ties by id.

    ``fresh`` overrides the index for ids whose indexing is still due: a document, or ``None``
    for one that must not be found any more.
    """
    wanted = list(dict.fromkeys(terms))
    if not wanted or not partitions:
        return []
    postings = [p for p in index.find(tenant, layer, partitions, wanted) if p.id not in fresh]
    allowed = set(partitions)
    live = [d for d in fresh.values() if d and d.layer is layer and d.partition in allowed]
    for doc in live:
        postings += [Posting(t, doc.id, doc.terms[t], doc.length) for t in wanted if t in doc.terms]
    count, length = index.size(tenant, layer, partitions)
    return score(postings, wanted, count + len(live), length + sum(d.length for d in live))


def score(
    postings: Sequence[Posting], terms: Sequence[str], count: int, total_length: int
) -> list[Match]:
    """Rank postings; pure."""
    frequency = Counter(p.term for p in postings)
    count = max(count, 1)
    average = max(total_length / count, 1.0)
    idf = {t: math.log(1 + (max(count - n, 0) + 0.5) / (n + 0.5)) for t, n in frequency.items()}
    unseen = math.log(1 + (count + 0.5) / 0.5)
    best = sum(idf.get(t, unseen) for t in terms) * (K1 + 1)
    sums: dict[str, float] = defaultdict(float)
    found: dict[str, list[str]] = defaultdict(list)
    for p in postings:
        norm = K1 * (1 - B + B * p.length / average)
        sums[p.id] += idf[p.term] * p.count * (K1 + 1) / (p.count + norm)
        found[p.id].append(p.term)
    matches = [
        Match(i, s / best, len(found[i]) / len(terms), any(map(_strong, found[i])))
        for i, s in sums.items()
    ]
    return sorted(matches, key=lambda m: (-m.score, m.id))


def _strong(term: str) -> bool:
    return len(term) > 1 or term.isascii()
