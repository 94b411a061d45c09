"""From the outbox into the index: idempotent, bounded, never skipping a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from muniment.gate.unit import Unit
from muniment.ids import EventId, RecordId
from muniment.recall.index import Doc, Index, Layer, record_doc, turn_doc
from muniment.records.facts import Catalogue
from muniment.records.record import Status
from muniment.records.table import Filter

T = TypeVar("T")
BATCH = 100
_SEARCHABLE = (Status.ACTIVE, Status.SCHEDULED)


class Truth(Protocol):
    """The store, as far as jobs use it."""

    def read(self, tenant: str, work: Callable[[Unit], T]) -> T:
        """Run on one snapshot."""
        ...

    def write(self, tenant: str, work: Callable[[Unit], T], *, serial: bool = True) -> T:
        """Run in one transaction."""
        ...


def docs_of(
    unit: Unit, waiting: Iterable[tuple[str, str, str]], catalogue: Catalogue
) -> dict[str, Doc | None]:
    """What the index should hold for these outbox rows: a document, or ``None`` for nothing."""
    wanted: dict[str, list[str]] = {"record": [], "event": []}
    for _, kind, target in waiting:
        wanted[kind].append(target)
    out: dict[str, Doc | None] = {i: None for ids in wanted.values() for i in ids}
    for record in unit.records.get(RecordId(i) for i in dict.fromkeys(wanted["record"])):
        if record.status in _SEARCHABLE and record.content is not None:
            out[record.id] = record_doc(record, catalogue)
    owners: dict[str, str | None] = {}
    for event in unit.events.get(EventId(i) for i in dict.fromkeys(wanted["event"])):
        if event.text:
            if event.thread not in owners:
                thread = unit.events.thread(event.thread)
                owners[event.thread] = thread.owner if thread else None
            out[event.id] = turn_doc(event, owners[event.thread])
    return out


def apply(
    index: Index, tenant: str, rows: Sequence[tuple[str, str, str]], docs: dict[str, Doc | None]
) -> None:
    """Bring the index up to date for these rows; doing it twice changes nothing."""
    index.put(tenant, [d for d in docs.values() if d is not None])
    for kind, layer in (("record", Layer.RECORD), ("event", Layer.TURN)):
        gone = [t for _, k, t in rows if k == kind and docs[t] is None]
        if gone:
            index.drop(tenant, layer, gone)


def drain(store: Truth, index: Index, tenant: str, catalogue: Catalogue) -> int:
    """Index everything that waits; how many rows were done."""
    total = 0
    while done := drain_batch(store, index, tenant, catalogue):
        total += done
    return total


def drain_batch(store: Truth, index: Index, tenant: str, catalogue: Catalogue) -> int:
    """Index one small batch of what waits; how many rows were done.

    Under the tenant's lock: otherwise a slow process could put back the words of a document that
    another has meanwhile erased.  If it dies before the commit, the rows are simply done again.
    """

    def work(unit: Unit) -> int:
        rows = unit.ledger.waiting(BATCH)
        if rows:
            apply(index, tenant, rows, docs_of(unit, rows, catalogue))
            unit.ledger.done([row[0] for row in rows])
        return len(rows)

    return store.write(tenant, work)


def enqueue_all(unit: Unit, now: datetime) -> int:
    """Put everything searchable into the outbox; how much that is."""
    records = [r.id for r in unit.records.find(Filter(statuses=_SEARCHABLE))]
    events = unit.events.find()
    unit.ledger.reindex("record", records, now)
    unit.ledger.reindex("event", events, now)
    return len(records) + len(events)


def fill(unit: Unit, index: Index, tenant: str, catalogue: Catalogue) -> None:
    """Fill an index straight from the truth, for stores that cannot be written."""
    found = unit.records.find(Filter(statuses=_SEARCHABLE))
    rows: list[tuple[str, str, str]] = [("", "record", r.id) for r in found]
    rows += [("", "event", e) for e in unit.events.find()]
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        apply(index, tenant, part, docs_of(unit, part, catalogue))
