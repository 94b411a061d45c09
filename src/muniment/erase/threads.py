"""What an erasure takes from the short-term state of threads.

A person or a scope takes their threads' state whole.  An event takes the items that stand on it
(``evidence``) or repeat its words, and the versions that held them: the history of such a thread
begins anew with what is left.  Words put otherwise by an agent, without naming the event, cannot
be known and stay: a stated limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from muniment.threads.state import citing, without

WORDS_MIN = 8  # shorter words stand in too many states to be a quotation


@dataclass(frozen=True, slots=True)
class Reach:
    """Threads that lose their state, and threads that lose what stands on these events."""

    whole: tuple[ThreadId, ...]
    partly: tuple[ThreadId, ...]
    events: frozenset[str]
    words: tuple[str, ...]
    calls: tuple[ToolCall, ...] = ()
    approvals: tuple[Approval, ...] = ()

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
    if not events:
        return Reach(tuple(whole), (), ids, words)
    words += tuple(unit.blobs.holding([*ids, *words]))  # who names such a value, says the words
    alike = _Owners(unit, events, whole)
    partly = {*unit.checkpoints.holding(ids)} | {
        t for t in unit.checkpoints.holding(words) if alike.has(t)
    }
    cited = unit.approvals.telling(sorted(ids), sorted(ids))
    quoting = (a for a in unit.approvals.telling([], words) if alike.has(a.thread))
    approvals = {a.event_id: a for a in (*cited, *quoting) if a.thread not in set(whole)}
    calls = [c for c in unit.calls.telling([*ids, *words]) if alike.has(c.thread)]
    return Reach(
        whole=tuple(whole),
        partly=tuple(sorted(partly - set(whole))),
        events=ids,
        words=words,
        calls=tuple(calls),
        approvals=tuple(approvals.values()),
    )


class _Owners:
    """Equal words in somebody else's thread are theirs: what is erased by its words, and not by
    naming the event, is looked for among the threads of those whose events go."""

    def __init__(self, unit: ThreadUnit, events: Sequence[Event], whole: Sequence[ThreadId]):
        self._unit, self._whole = unit, set(whole)
        self._owners = {self._owner(e.thread) for e in events}

    def has(self, thread: str) -> bool:
        """Whether that thread is one of theirs, and not going whole."""
        return thread not in self._whole and self._owner(ThreadId(thread)) in self._owners

    def _owner(self, thread: ThreadId) -> str | None:
        found = self._unit.events.thread(thread)
        return None if found is None else found.owner


def take(
    unit: ThreadUnit, found: Reach, read: Any
) -> tuple[dict[str, int], dict[str, tuple[int, str]]]:
    """Remove it; how much of each kind, and the versions and seals of states that stay.

    ``read`` gives a thread's newest state.

    A state that is damaged is removed whole: what cannot be read cannot be cleaned.
    """
    counts = end(unit, found.whole)
    unit.threads.blank(found.whole)
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


def take_from_ledger(unit: ThreadUnit, found: Reach) -> tuple[dict[str, int], dict[str, Any]]:
    """Remove approvals that stand on the events or repeat their words, and what calls answered
    with them (the call stays, so that it is not made again); how many, and what the trail says."""
    gone = found.approvals
    unit.approvals.remove(gone)
    emptied = [emptied_of_words(call) for call in found.calls]
    for call in emptied:
        unit.calls.put(call)
        unit.blobs.release([ThreadId(call.thread)], f"call:{call.key}")
    told: dict[str, Any] = {"threads": list(found.whole), "calls": {}, "approvals": {}}
    for call in emptied:
        seals = told["calls"].setdefault(call.thread, {})
        seals[call_digest(unit, call.thread, call.key)] = call.seal(unit)
    for approval in gone:
        told["approvals"].setdefault(approval.thread, []).append(approval.event_id)
    return {"calls_emptied": len(emptied), "approvals": len(gone)}, told


def emptied_of_words(call: ToolCall) -> ToolCall:
    """The call with its outcome and without what it said."""
    result = None if call.result is None else {"erased": True}
    return replace(call, result=result, error=call.error and "erased", observe=None)


def _means(item: Any, found: Reach) -> bool:
    if citing(item, found.events):
        return True
    text = canonical(item)
    return _any_in(found.events, text) or _any_in(found.words, text)


def _any_in(parts: Iterable[str], text: str) -> bool:
    return any(part in text for part in parts)
