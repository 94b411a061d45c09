"""Vectors for what the index holds: read, embed, keep; never inside a transaction on the truth."""

from __future__ import annotations

import threading
from collections.abc import Callable

from muniment.jobs.outbox import Truth, docs_of
from muniment.recall.embed import Guarded
from muniment.recall.index import Doc, Embedded, Index, Layer, Unembedded
from muniment.records.facts import Catalogue

CLOSING_S = 10.0
_KINDS = {Layer.RECORD: "record", Layer.TURN: "event"}


def embed_batch(
    store: Truth, index: Index, guarded: Guarded, tenant: str, catalogue: Catalogue
) -> int:
    """Give some documents without a vector one; how many have one now.

    The words are read from the truth, embedded with nothing locked, and kept only beside a
    document that is still what was read: one that was changed or erased meanwhile gets nothing.
    """
    waiting = index.unembedded(tenant, guarded.name, guarded.batch)
    if not waiting:
        return 0
    rows = [("", _KINDS[w.layer], w.id) for w in waiting]
    docs = store.read(tenant, lambda unit: docs_of(unit, rows, catalogue))
    same = [(w, doc) for w in waiting if (doc := docs[w.id]) and doc.stamp == w.stamp]
    return index.embed(tenant, guarded.name, _embedded(guarded, same)) if same else 0


def _embedded(guarded: Guarded, docs: list[tuple[Unembedded, Doc]]) -> list[Embedded]:
    full = [(w, doc) for w, doc in docs if doc.text.strip()]
    rows = guarded.documents([doc.text for _, doc in full]) if full else []
    out = [
        Embedded(w.number, w.stamp, row.astype("<f2").tobytes())
        for (w, doc), row in zip(full, rows, strict=True)
    ]
    # What has no words gets no vector, and is not asked about again.
    return out + [Embedded(w.number, w.stamp, b"") for w, d in docs if not d.text.strip()]


class Embedding:
    """A thread that embeds what waits, one tenant after the other, as long as there is any.

    Nobody waits for it: it is told of a tenant and goes on by itself.  A failure ends its work
    on that tenant until it is told again.
    """

    def __init__(self, work: Callable[[str], int]) -> None:
        self._work = work
        self._tenants: dict[str, None] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def wake(self, tenant: str) -> None:
        """Something of this tenant may wait."""
        with self._changed:
            if self._closed:
                return
            self._tenants[tenant] = None
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="muniment-embed", daemon=True
                )
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Finish the batch at hand and stop; what still waits is embedded another time."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(CLOSING_S)

    def _run(self) -> None:
        while (tenant := self._next()) is not None:
            try:
                done = self._work(tenant)
            except Exception:
                done = 0  # the guard says so to whoever recalls
            if done:
                self.wake(tenant)

    def _next(self) -> str | None:
        with self._changed:
            while not self._tenants and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            tenant = next(iter(self._tenants))
            del self._tenants[tenant]
            return tenant
