"""Ids made by the application, never by a database: time-ordered, prefixed, injectable."""

from __future__ import annotations

import os
import threading
import time
from typing import NewType, Protocol

EventId = NewType("EventId", str)
ThreadId = NewType("ThreadId", str)
CandidateId = NewType("CandidateId", str)
DecisionId = NewType("DecisionId", str)
RecordId = NewType("RecordId", str)

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base32, lower case


class Ids(Protocol):
    """Where new ids come from; tests inject a predictable one."""

    def new(self, prefix: str) -> str:
        """A new id ``prefix_…``, later ids sorting after earlier ones of this process."""
        ...


def _base32(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        digits.append(_ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(digits))


class SortableIds:
    """48 bits of milliseconds and 80 random bits, as ULID has it; strictly rising per process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def new(self, prefix: str) -> str:
        number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
        with self._lock:
            if number <= self._last:
                number = self._last + 1
            self._last = number
        return f"{prefix}_{_base32(number, 26)}"


class CountingIds:
    """``evt_0001``, ``evt_0002``…: for tests and printed examples only."""

    def __init__(self) -> None:
        self._next = 0

    def new(self, prefix: str) -> str:
        self._next += 1
        return f"{prefix}_{self._next:04d}"
