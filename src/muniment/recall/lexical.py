"""BM25 over the permitted partitions, with what the index has not seen yet read from the truth.

Source of the formula: Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and
Beyond* (2009), with k1 = 1.2 and b = 0.75, and the non-negative idf ln(1 + (N − n + ½)/(n + ½)).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from muniment.gate.unit import Unit
from muniment.recall.index import Doc, Held, Index, Layer, Look, Scored, Weighting

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Match:
    """How well a document answers the terms.

    ``score`` is BM25 over its possible maximum (0–1); ``coverage`` the share of query terms
    found, one of them at least more than a lone Chinese character; ``meaning`` how alike it is
    in meaning (0–1), 0 where that was not asked.
    """

    id: str
    score: float
    coverage: float
    meaning: float = 0.0


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of the permitted partitions alone."""

    documents: int
    length: int
    frequency: Mapping[str, int]

    def idf(self, term: str) -> float:
        """Never negative; the highest for a term nobody uses."""
        n = self.frequency.get(term, 0)
        return math.log(1 + (max(self.documents - n, 0) + 0.5) / (n + 0.5))

    @property
    def average_length(self) -> float:
        """At least one."""
        return max(self.length / max(self.documents, 1), 1.0)


def search(
    index: Index,
    unit: Unit,
    layer: Layer,
    partitions: Sequence[str],
    fresh: Mapping[str, Doc | None],
    terms: Sequence[str],
    best: int,
) -> list[Match]:
    """The ``best`` documents with a term in common, best first.

    ``fresh`` overrides the index for ids whose indexing is still due: a document, or ``None``
    for one that must not be found any more.
    """
    wanted = list(dict.fromkeys(terms))
    if not wanted or not partitions:
        return []
    with index.look(unit, layer, partitions) as look:
        outdated = look.held(fresh) if fresh else []
        live = _live(fresh, layer, partitions)
        statistics = _statistics(look, wanted, live, outdated)
        weighting = _weighting(wanted, statistics)
        found = look.best(weighting, outdated, best)
    found += [s for doc in live if (s := _score(doc, weighting)) is not None]
    most = sum(map(abs, weighting.weights.values()))
    matches = [Match(s.id, s.score / most, s.found / len(wanted)) for s in found]
    return sorted(matches, key=lambda m: (-round(m.score, 12), m.id))[:best]


def _live(fresh: Mapping[str, Doc | None], layer: Layer, partitions: Sequence[str]) -> list[Doc]:
    """The fresh documents this search may see."""
    allowed = set(partitions)
    docs = (d for d in fresh.values() if d is not None)
    return [d for d in docs if d.layer is layer and d.partition in allowed]


def _statistics(
    look: Look, terms: Sequence[str], live: Sequence[Doc], outdated: Sequence[Held]
) -> Statistics:
    """What the index says, less what is outdated there, plus what is newer."""
    count, length = look.size()
    frequency = Counter(look.frequencies(terms))
    count += len(live) - len(outdated)
    length += sum(d.length for d in live) - sum(h.length for h in outdated)
    frequency.subtract(p.term for p in look.find(terms, outdated))
    frequency.update(t for d in live for t in terms if t in d.terms)
    return Statistics(max(count, 1), length, frequency)


def _weighting(terms: Sequence[str], statistics: Statistics) -> Weighting:
    """BM25, with a lone Chinese character too little to be a match by itself."""
    weights = {t: statistics.idf(t) * (K1 + 1) for t in terms}
    signed = {t: w if _strong(t) else -w for t, w in weights.items()}
    return Weighting(signed, K1 * (1 - B), K1 * B / statistics.average_length)


def _score(doc: Doc, weighting: Weighting) -> Scored | None:
    found = [t for t in weighting.weights if t in doc.terms]
    if not any(weighting.weights[t] > 0 for t in found):
        return None
    score = sum(weighting.of(t, doc.terms[t], doc.length) for t in found)
    return Scored(doc.id, score, len(found))


def _strong(term: str) -> bool:
    return len(term) > 1 or term.isascii()
