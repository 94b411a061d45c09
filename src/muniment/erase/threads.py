"""What an erasure takes from the short-term state of threads.

A person or a scope takes their threads' state whole.  An event takes the items that stand on it
(``evidence``) or repeat its words, and the versions that held them: the history of such a thread
begins anew with what is left.  Words put otherwise by an agent, without naming the event, cannot
be known and stay: a stated limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from muniment.threads.state import citing, without

WORDS_MIN = 8  # shorter words stand in too many states to be a quotation


@dataclass(frozen=True, slots=True)
class Reach:
    """Threads that lose their state, and threads that lose what stands on these events."""

    whole: tuple[ThreadId, ...]
    partly: tuple[ThreadId, ...]
    events: frozenset[str]
    words: tuple[str, ...]

    def counts(self) -> dict[str, int]:
        """How many threads of each."""
        return {"threads": len(self.whole), "threads_in_part": len(self.partly)}


def reach(unit: ThreadUnit, target: Target, events: Sequence[Event]) -> Reach:
    """What of the threads a target means; ``events`` are those it erases, still readable."""
    whole: list[ThreadId] = []
    kind, _, name = (target.subject or "").partition(":")
    if target.scope_keys is not None:
        whole = unit.threads.of(scope_keys=target.scope_keys)
    elif kind == "user":
        whole = unit.threads.of(owner=name)
    words = tuple(canonical(e.text)[1:-1] for e in events if len(e.text or "") >= WORDS_MIN)
    ids = frozenset(e.id for e in events)
    holding = unit.checkpoints.holding([*ids, *words]) if events else []
    return Reach(tuple(whole), tuple(t for t in holding if t not in set(whole)), ids, words)


def take(
    unit: ThreadUnit, found: Reach, read: Any
) -> tuple[dict[str, int], dict[str, tuple[int, str]]]:
    """Remove it; how much of each kind, and the versions and seals of states that stay.

    ``read`` gives a thread's newest state.

    A state that is damaged is removed whole: what cannot be read cannot be cleaned.
    """
    counts = end(unit, found.whole)
    unit.threads.blank(found.whole)
    counts["approvals"] += unit.approvals.citing(sorted(found.events))
    counts["state_items"] = 0
    seals: dict[str, tuple[int, str]] = {}
    for thread in found.partly:
        try:
            state: Checkpoint = read(unit, thread)
        except (Unavailable, NotFound):
            counts["checkpoints"] += unit.checkpoints.clear([thread])
            continue
        left, gone = without(state.state, lambda _, item: _means(item, found))
        made = begin_anew(unit, thread, left, state, version=state.version)
        seals[thread] = (made.version, made.digest)
        counts["state_items"] += gone
    return counts, seals


def _means(item: Any, found: Reach) -> bool:
    if citing(item, found.events):
        return True
    text = canonical(item)
    return _any_in(found.events, text) or _any_in(found.words, text)


def _any_in(parts: Iterable[str], text: str) -> bool:
    return any(part in text for part in parts)
