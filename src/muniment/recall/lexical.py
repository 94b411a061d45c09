"""BM25 over the permitted partitions, with what the index has not seen yet read from the truth.

Source of the formula: Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and
Beyond* (2009), with k1 = 1.2 and b = 0.75, and the non-negative idf ln(1 + (N − n + ½)/(n + ½)).
Frequent terms are only looked up for documents they can still bring among the best (MaxScore:
Turtle and Flood, 1995), so that the best are exactly those of reading every posting.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from muniment.gate.unit import Unit
from muniment.recall.index import Doc, Index, Layer, Posting

K1 = 1.2
B = 0.75
POSTINGS_READ_WHOLE = 2_000  # beyond these, frequent terms wait for the candidates


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


@dataclass(frozen=True, slots=True)
class Query:
    """One search: where, and what is newer than the index.

    ``fresh`` overrides the index for ids whose indexing is still due: a document, or ``None``
    for one that must not be found any more.
    """

    index: Index
    unit: Unit
    layer: Layer
    partitions: Sequence[str]
    fresh: Mapping[str, Doc | None]

    def live(self) -> list[Doc]:
        """The fresh documents this query may see."""
        allowed = set(self.partitions)
        docs = (d for d in self.fresh.values() if d is not None)
        return [d for d in docs if d.layer is self.layer and d.partition in allowed]

    def postings(self, terms: Sequence[str], ids: Iterable[str] | None = None) -> list[Posting]:
        """Postings of these terms, of the index and of what is newer."""
        wanted = None if ids is None else [i for i in ids if i not in self.fresh]
        found = self.index.find(self.unit, self.layer, self.partitions, terms, wanted)
        out = [p for p in found if p.id not in self.fresh]
        keep = None if ids is None else set(ids)
        for doc in self.live():
            if keep is None or doc.id in keep:
                out += [
                    Posting(t, doc.id, doc.terms[t], doc.length) for t in terms if t in doc.terms
                ]
        return out


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


def search(query: Query, terms: Sequence[str], best: int) -> list[Match]:
    """The ``best`` documents with a term in common, best first; ties by id."""
    wanted = list(dict.fromkeys(terms))
    if not wanted or not query.partitions:
        return []
    statistics = _statistics(query, wanted)
    light, heavy = _split(wanted, statistics)
    postings = query.postings(light)
    scores = _sums(postings, statistics)
    if heavy:
        candidates = _still_possible(scores, heavy, statistics, best)
        postings += query.postings(heavy, candidates)
    return _rank(postings, wanted, statistics)[:best]


def _statistics(query: Query, terms: Sequence[str]) -> Statistics:
    """What the index says, less what is outdated there, plus what is newer."""
    count, length = query.index.size(query.unit, query.layer, query.partitions)
    frequency = Counter(query.index.frequencies(query.unit, query.layer, query.partitions, terms))
    if query.fresh:
        outdated = query.index.held(query.unit, query.layer, query.partitions, query.fresh)
        live = query.live()
        count += len(live) - len(outdated)
        length += sum(d.length for d in live) - sum(outdated.values())
        old = query.index.find(query.unit, query.layer, query.partitions, terms, list(query.fresh))
        frequency.subtract(p.term for p in old)
        frequency.update(t for d in live for t in terms if t in d.terms)
    return Statistics(max(count, 1), length, frequency)


def _split(terms: Sequence[str], statistics: Statistics) -> tuple[list[str], list[str]]:
    """Rare terms, read whole, and frequent ones; the rarest is always read whole."""
    ordered = sorted(terms, key=lambda t: (statistics.frequency[t], t))
    light: list[str] = []
    total = 0
    for term in ordered:
        total += statistics.frequency[term]
        if light and total > POSTINGS_READ_WHOLE:
            break
        light.append(term)
    return light, ordered[len(light) :]


def _still_possible(
    scores: Mapping[str, float], heavy: Sequence[str], statistics: Statistics, best: int
) -> list[str] | None:
    """Documents that can still be among the best; ``None`` if any document can."""
    most = sum(statistics.idf(t) for t in heavy) * (K1 + 1)
    if len(scores) < best:
        return None
    threshold = sorted(scores.values(), reverse=True)[best - 1]
    if threshold <= most:
        return None
    return [i for i, s in scores.items() if s + most >= threshold]


def _sums(postings: Sequence[Posting], statistics: Statistics) -> dict[str, float]:
    weights = {t: statistics.idf(t) * (K1 + 1) for t in {p.term for p in postings}}
    average = statistics.average_length
    sums: dict[str, float] = defaultdict(float)
    for term, doc, count, length in postings:
        norm = K1 * (1 - B + B * length / average)
        sums[doc] += weights[term] * count / (count + norm)
    return sums


def _rank(postings: Sequence[Posting], terms: Sequence[str], statistics: Statistics) -> list[Match]:
    most = sum(statistics.idf(t) for t in terms) * (K1 + 1)
    found: dict[str, list[str]] = defaultdict(list)
    for posting in postings:
        found[posting.id].append(posting.term)
    matches = [
        Match(i, s / most, len(found[i]) / len(terms), any(map(_strong, found[i])))
        for i, s in _sums(postings, statistics).items()
    ]
    return sorted(matches, key=lambda m: (-round(m.score, 12), m.id))


def _strong(term: str) -> bool:
    return len(term) > 1 or term.isascii()
