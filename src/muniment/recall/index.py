"""The index as recall needs it (a port), and what goes into it: words, and vectors beside them.

The index is derived: it holds nothing that cannot be rebuilt from records and events.  Its
postings are laid out by (tenant, layer, partition, term): a partition is a scope key for
records and an owner for turns, so that a query only ever touches what access already allowed,
and its statistics are those of the permitted partitions alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from muniment.events.event import Event
from muniment.gate.unit import Unit
from muniment.records.facts import Catalogue
from muniment.records.record import Record
from muniment.text import tokens


class Layer(StrEnum):
    """What is searched: records, or the archive of turns."""

    RECORD = "record"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Doc:
    """One searchable thing: its terms with their counts, how long its words are, and the text
    whose meaning is searched."""

    layer: Layer
    id: str
    partition: str
    terms: Mapping[str, int]
    length: int
    text: str = ""

    @property
    def stamp(self) -> bytes:
        """Of everything in it: a vector belongs to one stamp of one document, or to nothing."""
        held = [self.partition, self.length, sorted(self.terms.items()), self.text]
        return blake2b(json.dumps(held).encode(), digest_size=16).digest()


class Posting(NamedTuple):
    """One term in one document."""

    term: str
    id: str
    times: int
    length: int


class Held(NamedTuple):
    """A document the index holds, by its number there."""

    number: int
    id: str
    length: int


class Scored(NamedTuple):
    """A document with the sum of its terms' weights, and how many of the terms it has."""

    id: str
    score: float
    found: int


@dataclass(frozen=True, slots=True)
class Weighting:
    """How a document is scored: Σ weight · times / (times + base + slope · length).

    A term whose weight is negative counts the same, but does not make a document a match by
    itself.
    """

    weights: Mapping[str, float]
    base: float
    slope: float

    def of(self, term: str, times: int, length: int) -> float:
        """What one term adds."""
        return abs(self.weights[term]) * times / (times + self.base + self.slope * length)


class Unembedded(NamedTuple):
    """A document without a vector of some embedder."""

    number: int
    layer: Layer
    id: str
    stamp: bytes


class Embedded(NamedTuple):
    """A document's vector, as float16 bytes, for as long as its stamp is that of the document;
    no bytes where it has no meaning to speak of."""

    number: int
    stamp: bytes
    vector: bytes


class Vectors(NamedTuple):
    """Those of some partitions: a row for each of the documents' numbers, in ascending order.

    Rows are float32; where there are many, int8 with a scale each (see `muniment.recall.dense`).
    """

    numbers: Any
    rows: Any
    scales: Any = None


class Look(Protocol):
    """One snapshot of some partitions of one tenant."""

    def size(self) -> tuple[int, int]:
        """How many documents the partitions hold, and their total length."""
        ...

    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        """In how many documents each term occurs."""
        ...

    def held(self, ids: Iterable[str]) -> list[Held]:
        """Those of these documents that the partitions hold."""
        ...

    def find(self, terms: Sequence[str], held: Sequence[Held]) -> list[Posting]:
        """The postings of these terms in these documents."""
        ...

    def best(self, weighting: Weighting, skipped: Sequence[Held], most: int) -> list[Scored]:
        """The documents with the highest scores, best first, those skipped left out."""
        ...

    def vectors(self, embedder: str) -> Vectors | None:
        """What the partitions hold of an embedder's vectors; ``None`` for nothing."""
        ...

    def names(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """The ids of documents by their numbers."""
        ...


class Index(Protocol):
    """Postings and vectors of every tenant, apart from the truth."""

    def put(self, tenant: str, docs: Sequence[Doc]) -> None:
        """Add or replace documents; one that has not changed keeps its vector."""
        ...

    def drop(self, tenant: str, layer: Layer, ids: Iterable[str]) -> None:
        """Remove documents; unknown ids are no error."""
        ...

    def look(
        self, unit: Unit, layer: Layer, partitions: Sequence[str]
    ) -> AbstractContextManager[Look]:
        """A snapshot of these partitions, and of no others."""
        ...

    def known(self, tenant: str) -> bool:
        """Whether this tenant has been indexed here: a new or deleted index knows nobody."""
        ...

    def clear(self, tenant: str) -> None:
        """Forget what a tenant has, and know the tenant from now on."""
        ...

    def unembedded(self, tenant: str, embedder: str, most: int) -> list[Unembedded]:
        """Documents without a vector of this embedder, the newest first."""
        ...

    def embed(self, tenant: str, embedder: str, new: Sequence[Embedded]) -> int:
        """Keep vectors of documents that are still what they were; how many of them are."""
        ...

    def embedders(self, tenant: str) -> frozenset[str]:
        """Whose vectors a tenant's documents have."""
        ...

    def scrub(self, *, thorough: bool = False) -> list[str]:
        """Make deleted bytes unreadable; what could not be reached, in words."""
        ...

    def close(self) -> None:
        """Release every connection."""
        ...


def record_doc(record: Record, catalogue: Catalogue) -> Doc:
    """A record's words, and beside them its keys: the predicate's cues, tags, conditions."""
    words = Counter(tokens(record.content or ""))
    length = sum(words.values())
    keys = [*record.tags, *record.condition.entities, *record.condition.paths]
    predicate = catalogue.get(record.predicate)
    if predicate is not None:
        keys += [*predicate.cues, predicate.name.replace("_", " ")]
    if isinstance(record.value, str):
        keys.append(record.value)
    for term in {t for key in keys for t in tokens(key)}:
        words.setdefault(term, 1)
    text = record.content or ""
    return Doc(Layer.RECORD, record.id, record.scope.key, words, length, text)


def turn_doc(event: Event, owner: str | None) -> Doc:
    """A turn's words with its speaker, in its owner's partition."""
    words = Counter(tokens(event.text or ""))
    for term in set(tokens(event.speaker or "")):
        words.setdefault(term, 1)
    length = sum(words.values())
    said = f"{event.speaker}: {event.text}" if event.speaker else event.text or ""
    return Doc(Layer.TURN, event.id, owner_partition(owner), words, length, said)


def owner_partition(owner: str | None) -> str:
    """The partition of someone's turns."""
    return f"owner={quote(owner or '', safe='')}"
