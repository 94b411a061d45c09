"""A smaller view of a thread for the next call of a model, beside its checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from muniment.errors import InvalidInput
from muniment.events.event import Event, EventKind
from muniment.events.log import Thread
from muniment.text import language
from muniment.threads.brief import Brief
from muniment.threads.compact import View
from muniment.threads.compact import compact as compact_view
from muniment.threads.compactor import Compactor, Draft
from muniment.threads.ports import ThreadUnit
from muniment.verbs.briefing import brief_in, opened
from muniment.verbs.checkpointing import Where
from muniment.verbs.parts import Parts
from muniment.verbs.reading import BUDGET_TOKENS_MAX, audited, count

EVENTS_MAX = 10_000  # of a longer thread the last ones are read; the view says how many are not


@dataclass(frozen=True, slots=True)
class _Read:
    thread: Thread
    events: Sequence[Event]
    brief: Brief
    standing: Draft | None
    unread: int


def compact(
    parts: Parts,
    where: Where,
    *,
    budget_tokens: object,
    tongue: str | None,
    compactor: Compactor | None,
) -> View:
    """The view of a thread within a budget.

    Read in one snapshot and made outside any transaction: a model that takes its time holds
    nothing up.  What a model drafted is kept for the next view, unless an event it speaks of was
    erased meanwhile.
    """
    budget = count(budget_tokens, "budget_tokens", 1, BUDGET_TOKENS_MAX)
    if tongue not in (None, "en", "zh"):
        raise InvalidInput("language.invalid", "language: en or zh")
    if compactor is not None and not callable(getattr(compactor, "summarise", None)):
        raise InvalidInput("compactor.invalid", "compactor: an object with `name` and `summarise`")
    read = parts.read(where.principal, lambda unit: _read(parts, unit, where))
    audited(parts, where.principal, "compact", [read.thread.id])
    view = compact_view(
        read.events,
        read.brief,
        budget,
        language=tongue or _language(read),
        compactor=compactor,
        standing=read.standing,
        unread=read.unread,
    )
    draft = next((d for d in map(Draft.of, view.summaries) if d is not None), None)
    if draft is not None and draft != read.standing and not parts.store.read_only:
        _keep(parts, where, read, draft)
    return view


def _read(parts: Parts, unit: ThreadUnit, where: Where) -> _Read:
    thread = opened(parts, unit, where)
    unread = max(0, thread.length - EVENTS_MAX)
    events = unit.events.between(thread.id, unread + 1, thread.length)
    standing = unit.summaries.get(thread.id)
    if standing is not None and standing.sealed(unit, thread.id).seal != standing.seal:
        standing = None  # changed behind the store's back
    return _Read(thread, events, brief_in(parts, unit, thread), standing, unread)


def _language(read: _Read) -> str:
    goal = [item.text for item in read.brief.of("goal")]
    said = [e.text for e in reversed(read.events) if e.kind is EventKind.USER and e.text]
    return "zh" if language(next(iter(goal + said), "")) == "zh" else "en"


def _keep(parts: Parts, where: Where, read: _Read, draft: Draft) -> None:
    erased = {e.id for e in read.events if e.erased}

    def work(unit: ThreadUnit) -> None:
        now = unit.events.between(read.thread.id, draft.first_seq, draft.last_seq)
        if {e.id for e in now if e.erased} - erased:
            return  # nobody may keep the words of what is gone
        unit.summaries.put(read.thread.id, draft.sealed(unit, read.thread.id), parts.now())
        parts.audit(
            unit,
            where.principal,
            "summarise",
            thread=read.thread.id,
            first=draft.first_seq,
            last=draft.last_seq,
            by=draft.author,
        )

    parts.write(where.principal, work, adds=0)
