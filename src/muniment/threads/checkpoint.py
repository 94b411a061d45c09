"""Checkpoints: the steps of a thread's state, and how a state is had from them.

A checkpoint keeps what changed, or the whole state where the changes since the last whole one
have outgrown it.  So a history costs about twice what was said in it, not its length times the
state.  Each is sealed by a keyed digest of the whole state at its version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from muniment.errors import Unavailable
from muniment.gate.keys import Digester
from muniment.ids import ThreadId
from muniment.threads.state import FORMAT, State, applied, migrated

WHOLE_BYTES_MIN = 4096  # a smaller state is not worth repeating so often


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the newest state as it is kept: ``data`` is canonical JSON text."""

    name: str
    digest: str
    size: int
    data: str | None = None


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """One checkpoint as it is stored.

    ``data`` is a change, or the state where it is ``whole``; lists of checkpoints come without
    it.  ``through`` is the number of the last event the state knows, ``size`` the bytes of the
    whole state, ``parent`` the ``thread@version`` a fork goes on from.
    """

    version: int
    at: datetime
    through: int
    whole: bool
    digest: str
    size: int
    tail: int
    data: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    parent: str | None = None
    run: str | None = None
    turn: str | None = None
    step: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without what changed."""
        return {
            "version": self.version,
            "at": self.at.isoformat(),
            "through": self.through,
            "size": self.size,
            "parent": self.parent,
            **{"run": self.run, "turn": self.turn, "step": self.step},
        }


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A thread's state at one version.

    ``through`` is the number of the last event the state knows; ``state`` is JSON data by
    section, large values in it named as ``{"$blob": digest, …}``; ``size`` its bytes.
    """

    thread: ThreadId
    version: int
    at: datetime
    state: Mapping[str, Any]
    through: int
    size: int
    parent: str | None = None
    run: str | None = None
    turn: str | None = None
    step: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "thread": self.thread,
            "version": self.version,
            "at": self.at.isoformat(),
            "through": self.through,
            "size": self.size,
            "parent": self.parent,
            **{"run": self.run, "turn": self.turn, "step": self.step},
            "state": dict(self.state),
        }


def section_digest(keys: Digester, thread: str, name: str, data: str) -> str:
    """Seals one section's canonical JSON."""
    return keys.digest("state", thread, name, data)


def state_digest(
    keys: Digester, thread: str, version: int, through: int, sections: Mapping[str, str]
) -> str:
    """Seals a state by the digests of its sections; only those that changed are read again."""
    flat = (part for name in sorted(sections) for part in (name, sections[name]))
    return keys.digest("checkpoint", thread, str(version), str(through), *flat)


def sealed(
    keys: Digester,
    thread: str,
    step: CheckpointInfo,
    state: Mapping[str, Any],
    encode: Callable[[Any], str],
) -> bool:
    """Whether a state is the one that was sealed."""
    sections = {n: section_digest(keys, thread, n, encode(v)) for n, v in state.items()}
    return state_digest(keys, thread, step.version, step.through, sections) == step.digest


def replayed(steps: Iterable[CheckpointInfo]) -> State:
    """The state after these steps, of which the first is whole."""
    state: State = {}
    for step in steps:
        data = migrated(dict(step.data), step.format)
        state = data if step.whole else applied(state, data)
    return state


def corrupted(thread: str, version: int, last_good: int | None) -> Unavailable:
    """The error for a state that is not what was sealed."""
    way = (
        f"the last good version is {last_good}: read it with at={last_good}, or fork from it"
        if last_good
        else "no earlier version is good either; restore a backup"
    )
    return Unavailable(
        "checkpoint.corrupted",
        f"version {version} of thread {thread} was changed or damaged; {way}",
    )


def is_whole(tail: int, size: int) -> bool:
    """Whether the next checkpoint keeps the whole state: the changes have outgrown it."""
    return tail > max(size, WHOLE_BYTES_MIN)


def last_good(
    steps: Sequence[CheckpointInfo], check: Callable[[CheckpointInfo, Mapping[str, Any]], bool]
) -> int | None:
    """The newest of these versions whose state is the one that was sealed."""
    good: int | None = None
    state: State = {}
    usable = False
    for step in steps:
        try:
            data = migrated(dict(step.data), step.format)
            if step.whole:
                state, usable = data, True
            elif usable:
                state = applied(state, data)
        except (Unavailable, TypeError, KeyError, AttributeError, ValueError):
            usable = False
        if usable and check(step, state):
            good = step.version
        elif not step.whole:
            usable = False
    return good
