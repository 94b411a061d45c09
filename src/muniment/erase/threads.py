"""What an erasure takes from the short-term state of threads.

A person or a scope takes their threads' state whole.  An event takes the items that stand on it
(``evidence``) or repeat its words, and the versions that held them: the history of such a thread
begins anew with what is left.  Words put otherwise by an agent, without naming the event, cannot
be known and stay: a stated limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muniment.erase.forget import Target
from muniment.errors import NotFound, Unavailable
from muniment.events.event import Event
from muniment.ids import ThreadId
from muniment.threads.checkpoint import Checkpoint
from muniment.threads.history import begin_anew, end
from muniment.threads.ledger import canonical
from muniment.threads.ports import ThreadUnit
from muniment.threads.state import State, citing, without

WORDS_MIN = 8  # shorter words stand in too many states to be a quotation


Read = Callable[[ThreadUnit, ThreadId], Checkpoint]


@dataclass(frozen=True, slots=True)
class Reach:
    """Threads that lose their state, and what is left of those that stand on these events in part
    (``None``: the state is damaged, and what cannot be read cannot be cleaned)."""

    whole: tuple[ThreadId, ...]
    left: Mapping[ThreadId, tuple[Checkpoint, State] | None]
    events: frozenset[str]
    items: int

    def counts(self) -> dict[str, int]:
        """How many threads of each, and how many items of state."""
        return {
            "threads": len(self.whole),
            "threads_in_part": len(self.left),
            "state_items": self.items,
        }


def reach(unit: ThreadUnit, target: Target, events: Sequence[Event], read: Read) -> Reach:
    """What of the threads a target means.

    ``events`` are those it erases, still readable; ``read`` gives a thread's newest state.
    """
    whole: list[ThreadId] = []
    kind, _, name = (target.subject or "").partition(":")
    if target.scope_keys is not None:
        whole = unit.threads.of(scope_keys=target.scope_keys)
    elif kind == "user":
        whole = unit.threads.of(owner=name)
    ids = frozenset(e.id for e in events)
    words = [canonical(e.text)[1:-1] for e in events if len(e.text or "") >= WORDS_MIN]
    marks = [*ids, *words]
    left: dict[ThreadId, tuple[Checkpoint, State] | None] = {}
    items = 0
    for thread in unit.checkpoints.holding(marks) if marks else ():
        if thread in whole:
            continue
        try:
            state = read(unit, thread)
        except (Unavailable, NotFound):
            left[thread] = None
            continue
        kept, gone = without(state.state, lambda _, item: _means(item, ids, marks))
        left[thread] = (state, kept)
        items += gone
    return Reach(tuple(whole), left, ids, items)


def take(unit: ThreadUnit, found: Reach) -> tuple[dict[str, int], dict[str, tuple[int, str]]]:
    """Remove it; how many rows of each kind, and the versions and seals of states that stay."""
    counts = end(unit, found.whole)
    unit.threads.blank(found.whole)
    counts["approvals"] += unit.approvals.citing(sorted(found.events))
    seals: dict[str, tuple[int, str]] = {}
    for thread, left in found.left.items():
        if left is None:
            counts["checkpoints"] += unit.checkpoints.clear([thread])
            continue
        state, kept = left
        made = begin_anew(unit, thread, kept, state, version=state.version)
        seals[thread] = (made.version, made.digest)
    return counts, seals


def _means(item: Any, events: frozenset[str], marks: Iterable[str]) -> bool:
    text = canonical(item)
    return citing(item, events) or any(mark in text for mark in marks)
