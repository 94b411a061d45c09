"""Reads are audited in lanes: one per process, one chained entry per second or 256 reads.

An entry for every single read in its own transaction costs several times the throughput with
many readers; a lane loses at most the batch that is open when the process is killed.  A lane
that cannot be written means no memory: the reader is told `audit_unavailable`.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from muniment.clock import Clock
from muniment.trail.entry import Entry

BATCH_READS = 256
BATCH_SECONDS = 1.0
Write = Callable[[str, str, Sequence[Entry]], None]  # (tenant, lane, entries)


class ReadLane:
    """Collects reads and writes them as chained entries; safe to use from many threads."""

    def __init__(self, name: str, write: Write, clock: Clock, *, seconds: float = BATCH_SECONDS):
        self.name = name
        self._write, self._clock, self._seconds = write, clock, seconds
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._open: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._count = 0
        self._failed: str | None = None
        self._timer: threading.Timer | None = None
        self._closed = False

    @property
    def failed(self) -> str | None:
        """Why the last batch could not be written, if it could not."""
        return self._failed

    def add(self, tenant: str, read: dict[str, Any]) -> bool:
        """Note a read; ``False`` if the lane cannot be written, so that it must not be served."""
        if self._failed is not None:
            self.flush()
        with self._lock:
            if self._failed is not None or self._closed:
                return False
            self._open[tenant].append(read)
            self._count += 1
            full = self._count >= BATCH_READS
            if self._timer is None and not full:
                self._start_timer()
        if full:
            self.flush()
        return self._failed is None

    def flush(self) -> None:
        """Write what is open; what cannot be written stays open."""
        with self._flushing:
            with self._lock:
                batch, self._open = self._open, defaultdict(list)
                self._count = 0
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None
            self._failed = None
            for tenant, reads in batch.items():
                try:
                    self._write(tenant, self.name, [self._entry(reads)])
                except Exception as error:
                    self._keep(tenant, reads, error)

    def close(self) -> None:
        """Write what is open and take no more."""
        self.flush()
        with self._lock:
            self._closed = True

    def _entry(self, reads: list[dict[str, Any]]) -> Entry:
        return Entry("read", self._clock.now(), {}, {"reads": reads})

    def _keep(self, tenant: str, reads: list[dict[str, Any]], error: Exception) -> None:
        with self._lock:
            self._open[tenant] = reads + self._open[tenant]
            self._count += len(reads)
            self._failed = str(error)

    def _start_timer(self) -> None:
        self._timer = threading.Timer(self._seconds, self.flush)
        self._timer.daemon = True
        self._timer.start()
