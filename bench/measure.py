"""Timing, percentiles, and a probe of the machine, so that a figure can be read as a ratio."""

from __future__ import annotations

import gc
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import median

PROBE_ROUNDS = 100


@dataclass(slots=True)
class Timings:
    """Wall and processor seconds of single calls.

    ``cpu`` is that of the whole process: on a shared machine it is the steadier of the two, but
    it knows nothing of a database server's work.
    """

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Time the block as one call."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)

    @property
    def rate(self) -> float:
        """Calls a second of one caller."""
        return len(self.wall) / sum(self.wall)

    @property
    def cpu_p50_ms(self) -> float:
        """Median processor milliseconds a call."""
        return median(self.cpu) * 1e3

    def wall_ms(self, share: float) -> float:
        """A percentile of the wall milliseconds, by the nearest rank."""
        return percentile(self.wall, share) * 1e3


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that ``share`` of the values do not exceed (nearest rank)."""
    if not values or not 0 < share <= 1:
        raise ValueError("a percentile needs values, and a share above 0 and up to 1")
    rank = math.ceil(round(share * len(values), 9))
    return sorted(values)[rank - 1]


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection of what was built before, while something is timed."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@dataclass(frozen=True, slots=True)
class Probe:
    """What the machine does without us, in milliseconds (medians).

    ``fsync``: 4 KB written and synced in the directory of the store; ``peer``: one row of the
    same text inserted durably by the bare driver (sqlite3 in WAL with ``synchronous=FULL``, or
    psycopg); ``cpu``: 1,000 rounds of SHA-256 over 1 KB.
    """

    fsync_ms: float
    peer_ms: float
    cpu_ms: float

    def joined(self, other: Probe) -> Probe:
        """The mean of two probes, one before and one after."""
        return Probe(
            (self.fsync_ms + other.fsync_ms) / 2,
            (self.peer_ms + other.peer_ms) / 2,
            (self.cpu_ms + other.cpu_ms) / 2,
        )


def probe(directory: Path, insert: Callable[[str], object] | None = None) -> Probe:
    """Measure the machine; ``insert`` is another peer than SQLite."""
    if insert is not None:
        return Probe(_fsync_ms(directory), _timed_ms(lambda i: insert(_text(i))), _cpu_ms())
    path = directory / "peer.db"
    peer = sqlite3.connect(path, isolation_level=None)
    try:
        peer.execute("PRAGMA journal_mode=WAL")
        peer.execute("PRAGMA synchronous=FULL")
        peer.execute("CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, text TEXT)")
        statement = "INSERT INTO row (text) VALUES (?)"
        peer_ms = _timed_ms(lambda i: peer.execute(statement, (_text(i),)))
    finally:
        peer.close()
        for left in directory.glob("peer.db*"):
            left.unlink()
    return Probe(_fsync_ms(directory), peer_ms, _cpu_ms())


def _text(number: int) -> str:
    return f"Remember that the colour of the chart widget is light grey, code K{number:05d}."


def _fsync_ms(directory: Path) -> float:
    path = directory / "probe"
    file = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    block = b"x" * 4096

    def write(number: int) -> None:
        os.pwrite(file, block, number * len(block))
        os.fsync(file)

    try:
        return _timed_ms(write)
    finally:
        os.close(file)
        path.unlink()


def _cpu_ms() -> float:
    block = b"x" * 1024
    rounds = range(1000)
    return _timed_ms(lambda _: [sha256(block).digest() for _ in rounds], rounds=11)


def _timed_ms(work: Callable[[int], object], rounds: int = PROBE_ROUNDS) -> float:
    taken = []
    for number in range(rounds):
        start = time.perf_counter()
        work(number)
        taken.append(time.perf_counter() - start)
    return median(taken) * 1e3
