"""What an erasure takes from the short-term state of threads.

A person or a scope takes their threads' state whole.  An event takes the items that stand on it
(``evidence``) or repeat its words, and the versions that held them (the history of such a thread
begins anew with what is left); the approvals that do, with their events; and what tools answered
in its words.  Words put otherwise by an agent, without naming the event, cannot be known and
stay: a stated limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from muniment.erase.forget import Target
from muniment.errors import NotFound, Unavailable
from muniment.events.event import Event
from muniment.ids import ThreadId
from muniment.threads.approvals import Approval
from muniment.threads.checkpoint import Checkpoint
from muniment.threads.history import begin_anew, end
from muniment.threads.ledger import ToolCall, call_digest, canonical
from muniment.threads.ports import ThreadUnit
from muniment.threads.state import State, citing, without

WORDS_MIN = 8  # shorter words stand in too many states to be a quotation


Read = Callable[[ThreadUnit, ThreadId], Checkpoint]
Left = Mapping[ThreadId, tuple[Checkpoint, State] | None]


@dataclass(frozen=True, slots=True)
class Reach:
    """Threads that lose their state, and what is left of those that stand on these events in part
    (``None``: the state is damaged, and what cannot be read cannot be cleaned)."""

    whole: tuple[ThreadId, ...]
    left: Left
    items: int = 0
    calls: tuple[ToolCall, ...] = ()
    approvals: tuple[Approval, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many threads of each, and how much in the threads that stay."""
        return {
            "threads": len(self.whole),
            "threads_in_part": len(self.left),
            "state_items": self.items,
            "calls_emptied": len(self.calls),
            "approvals": len(self.approvals),
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
    if not events:
        return Reach(tuple(whole), {})
    ids = frozenset(e.id for e in events)
    words = [canonical(e.text)[1:-1] for e in events if len(e.text or "") >= WORDS_MIN]
    words += unit.blobs.holding([*ids, *words])  # who names such a value, says the words
    theirs = _Owners(unit, events, whole)
    left, items = _left(unit, theirs, ids, words, read)
    cited = unit.approvals.telling(sorted(ids), [])
    quoting = unit.approvals.telling([], [*ids, *words])
    approvals = [*(a for a in cited if theirs.stays(a.thread)), *filter(theirs.has, quoting)]
    calls = filter(theirs.has, unit.calls.telling([*ids, *words]))
    unique = {a.event_id: a for a in approvals}
    return Reach(tuple(whole), left, items, tuple(calls), tuple(unique.values()))


def _left(
    unit: ThreadUnit, theirs: _Owners, ids: frozenset[str], words: Sequence[str], read: Read
) -> tuple[Left, int]:
    """What is left of each state that stands on the events, and how many items go."""
    marks = [*ids, *words]
    holding = {t for t in unit.checkpoints.holding(ids) if theirs.stays(t)}
    holding |= {t for t in unit.checkpoints.holding(words) if theirs.own(t)}
    left: dict[ThreadId, tuple[Checkpoint, State] | None] = {}
    items = 0
    for thread in sorted(holding):
        try:
            state = read(unit, thread)
        except (Unavailable, NotFound):
            left[thread] = None
            continue
        kept, gone = without(state.state, lambda _, item: _means(item, ids, marks))
        left[thread] = (state, kept)
        items += gone
    return left, items


class _Owners:
    """Equal words in somebody else's thread are theirs: what goes by its words, and not by naming
    the event, is looked for among the threads of those whose events go."""

    def __init__(self, unit: ThreadUnit, events: Sequence[Event], whole: Sequence[ThreadId]):
        self._unit, self._whole = unit, set(whole)
        self._owners = {self._owner(t) for t in {e.thread for e in events}}

    def stays(self, thread: str) -> bool:
        """Whether a thread does not go whole."""
        return thread not in self._whole

    def own(self, thread: str) -> bool:
        """Whether it stays and is one of theirs."""
        return self.stays(thread) and self._owner(ThreadId(thread)) in self._owners

    def has(self, one: ToolCall | Approval) -> bool:
        """Whether it belongs to such a thread."""
        return self.own(one.thread)

    def _owner(self, thread: ThreadId) -> str | None:
        found = self._unit.events.thread(thread)
        return None if found is None else found.owner


def take(unit: ThreadUnit, found: Reach) -> tuple[dict[str, int], dict[str, tuple[int, str]]]:
    """Remove it; how many rows of each kind, and the versions and seals of states that stay."""
    counts = end(unit, found.whole)
    unit.threads.blank(found.whole)
    seals: dict[str, tuple[int, str]] = {}
    for thread, left in found.left.items():
        if left is None:
            counts["checkpoints"] += unit.checkpoints.clear([thread])
            continue
        state, kept = left
        made = begin_anew(unit, thread, kept, state, version=state.version)
        seals[thread] = (made.version, made.digest)
    return counts, seals


def take_from_ledger(unit: ThreadUnit, found: Reach) -> dict[str, Any]:
    """Remove the approvals, and what the calls answered (a call stays, so that it is not made
    again); what the trail is to say of it, nothing where nothing is gone."""
    unit.approvals.remove(found.approvals)
    calls: dict[str, dict[str, str]] = {}
    for call in map(emptied, found.calls):
        unit.calls.put(call)
        unit.blobs.release([ThreadId(call.thread)], f"call:{call.key}")
        seals = calls.setdefault(call.thread, {})
        seals[call_digest(unit, call.thread, call.key)] = call.seal(unit)
    approvals: dict[str, list[str]] = {}
    for approval in found.approvals:
        approvals.setdefault(approval.thread, []).append(approval.event_id)
    if not (found.whole or calls or approvals):
        return {}
    return {"threads": list(found.whole), "calls": calls, "approvals": approvals}


def emptied(call: ToolCall) -> ToolCall:
    """The call with its outcome and without what it said."""
    result = None if call.result is None else {"erased": True}
    return replace(call, result=result, error=call.error and "erased", observe=None)


def _means(item: Any, events: frozenset[str], marks: Iterable[str]) -> bool:
    text = canonical(item)
    return citing(item, events) or any(mark in text for mark in marks)
