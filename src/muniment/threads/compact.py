"""Compaction: a smaller view of a thread for the next call of a model.

It comes after the checkpoint and never instead of it: it reads events and a brief of the state,
changes neither, and may fail or be wrong without harm to either.  What becomes of what:

====================  ==========================================================================
state                 goal, constraints, open items, approvals, calls of unknown outcome and the
                      next step stand in every view, word for word
recent turns          verbatim
long output           where it lies, its exit code and its error lines (`muniment.threads.logs`)
decisions             referenced from the structured state
older turns           a summary with its exact range and ids (`muniment.threads.summary`)
tool calls            never without their results, at any cut (`muniment.threads.pairs`)
====================  ==========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from muniment.errors import InvalidInput
from muniment.events.event import Event, EventKind
from muniment.text import TOKEN_COUNTER, inert, token_count
from muniment.threads.brief import Brief
from muniment.threads.compactor import Compactor, Draft, Refused, drafted, taken
from muniment.threads.logs import log_of
from muniment.threads.pairs import Block, blocks, call_id
from muniment.threads.summary import Counter, Summary, extract, least

RECENT_TURNS = 3  # how many of the user's last turns are kept verbatim before anything is reduced
SUMMARY_SHARE = 3  # a summary may take the third part of what the state leaves of the budget
SUMMARY_TOKENS_MAX = 1_500
RECENT_SHARE = (2, 3)  # of the rest, what recent turns fill beside a summary made by a model
FOLD_TOKENS_MAX = 200

_BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a view.

    ``kind`` is ``state``, ``summary``, ``event`` (verbatim) or ``log`` (reduced output).
    ``events`` are the ids it stands for, ``by`` the kind of event, ``call`` its call id.
    """

    kind: str
    text: str
    events: tuple[str, ...] = ()
    seq: int | None = None
    by: str = ""
    name: str | None = None
    call: str | None = None
    summary: Summary | None = None

    def render(self) -> str:
        """For a model: a head, then the words; no line of them can pass for a head."""
        if self.kind in ("state", "summary"):
            return self.text
        named = f" {inert(self.name)}" if self.name else ""
        call = f" #{inert(self.call)}" if self.call else ""
        words = _BREAK.sub(lambda m: m.group() + "  ", self.text.rstrip())
        return f"[{self.seq} {self.by}{named}{call}] {words}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {f: getattr(self, f) for f in ("kind", "text", "seq", "by", "name", "call")}
        made = None if self.summary is None else self.summary.to_dict()
        return {**plain, "events": list(self.events), "summary": made}


@dataclass(frozen=True, slots=True)
class View:
    """What to give the next call: ``parts`` in order, within ``budget_tokens`` by ``counter``.

    ``version`` is the state's; ``through`` the number of the last event seen; ``unread`` how
    many events before the first one were not read at all.  ``fallback`` says why a compactor's
    draft was not taken (a key of `muniment.threads.compactor.REFUSED`).
    """

    parts: tuple[Part, ...]
    tokens: int
    budget_tokens: int
    version: int = 0
    through: int = 0
    counter: str = TOKEN_COUNTER
    fallback: str | None = None
    unread: int = 0

    @property
    def text(self) -> str:
        """The whole view as one text: what was counted."""
        return _text(self.parts)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The summaries in it, in order."""
        return tuple(p.summary for p in self.parts if p.summary is not None)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        names = ("tokens", "budget_tokens", "version", "through", "counter", "fallback", "unread")
        plain = {name: getattr(self, name) for name in names}
        return {"parts": [part.to_dict() for part in self.parts], **plain}


def compact(
    events: Sequence[Event],
    brief: Brief,
    budget_tokens: int,
    *,
    counter: Counter = token_count,
    counter_name: str = TOKEN_COUNTER,
    language: str = "en",
    compactor: Compactor | None = None,
    standing: Draft | None = None,
    unread: int = 0,
) -> View:
    """The view of a thread's events (in order, without gaps) within a budget.

    The same events, brief and budget give the same view, but for what a ``compactor`` answers.
    ``standing`` is what a model drafted of the first events before: it is used again as long as
    it checks and what came after it fits, so that a view changes at its end only.
    Raises `InvalidInput` ``compact.budget``, naming the tokens needed, where what no view may
    lack does not fit.
    """
    job = _Job(events, brief, budget_tokens, counter, language, unread)
    parts, fallback = job.parts(compactor, standing)
    return View(
        parts=tuple(parts),
        tokens=counter(_text(parts)),
        budget_tokens=budget_tokens,
        version=brief.version,
        through=events[-1].seq if events else 0,
        counter=counter_name,
        fallback=fallback,
        unread=unread,
    )


@dataclass(slots=True)
class _Job:
    events: Sequence[Event]
    brief: Brief
    budget: int
    counter: Counter
    language: str
    unread: int
    state: list[Part] = field(init=False)
    blocks: list[Block] = field(init=False)
    recent_from: int = field(init=False)
    measured: dict[int, list[tuple[list[Part], int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        zh, lines = self.language == "zh", self.brief.always(self.language)
        if self.unread:
            lines.append(f"事件 1–{self.unread} 未读" if zh else f"events 1–{self.unread} not read")
        head = f"[{'状态' if zh else 'state'} v{self.brief.version}]"
        self.state = [Part("state", "\n".join((head, *lines)))] if lines else []
        self.blocks = blocks(self.events)
        said = [i for i, e in enumerate(self.events) if e.kind is EventKind.USER]
        self.recent_from = said[-RECENT_TURNS] if len(said) >= RECENT_TURNS else 0

    def parts(
        self, compactor: Compactor | None, standing: Draft | None
    ) -> tuple[list[Part], str | None]:
        """The parts of the view, and why a compactor's draft was not taken."""
        room = self.budget - self.cost(self.state)
        first, kept = self.filled(room)
        if first == 0 and self.fits(kept):
            return [*self.state, *kept], None
        head = self.head_cost()
        if room < head:
            raise _too_small(self.budget, self.budget - room + head)
        reserve = max(head, min(room // SUMMARY_SHARE, SUMMARY_TOKENS_MAX))
        reused = None if standing is None else self.reusing(standing, room)
        if reused is not None:
            return [*self.state, *reused], None
        fallback = None
        if compactor is not None:
            try:
                return [*self.state, *self.worded(compactor, room, reserve)], None
            except Refused as refusal:
                fallback = refusal.reason
        return [*self.state, *self.plain(room, head, reserve)], fallback

    def reusing(self, standing: Draft, room: int) -> list[Part] | None:
        """With a draft taken before, if it is still taken and all that came after it fits."""
        end = standing.last_seq + 1 - standing.first_seq
        first = next((n for n, b in enumerate(self.blocks) if b.first == end), None)
        if first is None or self.events[0].seq != standing.first_seq:
            return None
        try:
            summary = taken(
                standing.lines,
                standing.author,
                self.events[:end],
                self.brief,
                draft_tokens=room,
                budget_tokens=room,
                counter=self.counter,
                language=self.language,
            )
        except Refused:
            return None
        older = _summary_part(summary, self.language)
        kept = self.all_since(first, room - self.cost([older]))
        return [older, *kept] if kept is not None and self.fits([older, *kept]) else None

    def worded(self, compactor: Compactor, room: int, reserve: int) -> list[Part]:
        """With a model's summary; the recent turns leave room, so that it serves several calls."""
        first, kept = self.filled((room - reserve) * RECENT_SHARE[0] // RECENT_SHARE[1])
        older = self.events[: self.start(first)]
        if not older:
            raise Refused("too_long")
        summary = drafted(
            compactor,
            older,
            self.brief,
            ask_tokens=reserve,
            budget_tokens=room - self.cost(kept),
            counter=self.counter,
            language=self.language,
        )
        parts = [_summary_part(summary, self.language), *kept]
        if not self.fits(parts):
            raise Refused("too_long")
        return parts

    def plain(self, room: int, head: int, reserve: int) -> list[Part]:
        """With an extractive summary of everything before the recent turns."""
        first, kept = self.filled(room - reserve)
        left = room - self.cost(kept)
        while True:
            older = self.events[: self.start(first)]
            summaries = [self.extracted(older, left)] if older else []
            parts = [*(_summary_part(s, self.language) for s in summaries), *kept]
            if self.fits(parts):
                return parts
            # A counter for which the whole costs more than its parts: less of everything.
            if not kept and left <= head:
                raise _too_small(self.budget, self.counter(_text([*self.state, *parts])))
            first, kept = self.filled(self.cost(kept) * 9 // 10 - 1)
            left = max(head, left * 9 // 10)

    def start(self, block: int) -> int:
        """Where a block begins; past the last one, the end."""
        return self.blocks[block].first if block < len(self.blocks) else len(self.events)

    def extracted(self, older: Sequence[Event], budget: int) -> Summary:
        return extract(
            older,
            self.brief,
            budget_tokens=budget,
            counter=self.counter,
            language=self.language,
        )

    def all_since(self, first: int, room: int) -> list[Part] | None:
        """Every block from one on, the last ones in fuller forms as far as there is room;
        ``None`` where not even the smallest forms fit."""
        forms = [self.measure(place) for place in range(first, len(self.blocks))]
        smallest = [min(cost for _, cost in some) for some in forms]
        spare = room - sum(smallest)
        if spare < 0:
            return None
        kept: list[list[Part]] = []
        for some, small in zip(reversed(forms), reversed(smallest), strict=True):
            form, cost = next((f, c) for f, c in some if c - small <= spare)
            spare -= cost - small
            kept.append(form)
        return [part for form in reversed(kept) for part in form]

    def measure(self, place: int) -> list[tuple[list[Part], int]]:
        """All forms of a block with their costs."""
        self.fullest(place, -1)  # no form costs that little: each is measured
        return self.measured[place]

    def filled(self, room: int) -> tuple[int, list[Part]]:
        """As many of the last blocks as fit, each in its fullest form that does: the place of
        the first, and their parts."""
        kept: list[list[Part]] = []
        first = len(self.blocks)
        while first and (found := self.fullest(first - 1, room)) is not None:
            first -= 1
            kept.append(found[0])
            room -= found[1]
        return first, [part for form in reversed(kept) for part in form]

    def fullest(self, place: int, room: int) -> tuple[list[Part], int] | None:
        """The fullest form of a block that fits, and its cost."""
        known = self.measured.setdefault(place, [])
        forms = self.forms(self.blocks[place])
        for number, form in enumerate(forms):
            if number == len(known):
                known.append((form, self.cost(form)))
            if known[number][1] <= room:
                return known[number]
        return None

    def forms(self, block: Block) -> Iterator[list[Part]]:
        """Ways to show a block, fullest first; its pairs are whole in each of them."""
        events = self.events[block.first : block.last + 1]
        if block.last >= self.recent_from:
            yield [_verbatim(e) for e in events]
        yield [_reduced(e, self.language) for e in events]
        if block.nested:
            yield list(self.folded(block))

    def folded(self, block: Block) -> Iterator[Part]:
        """The outermost calls with their results; what is nested inside as summaries."""
        at = block.first
        for place in (*block.outermost, block.last + 1):
            inside = self.events[at:place]
            if inside:
                yield _summary_part(self.extracted(inside, FOLD_TOKENS_MAX), self.language)
            if place <= block.last:
                yield _reduced(self.events[place], self.language)
            at = place + 1

    def cost(self, parts: Sequence[Part]) -> int:
        return sum(self.counter("\n" + part.render()) for part in parts)

    def head_cost(self) -> int:
        """What a summary of no line takes."""
        if not self.events:
            return 0
        return 1 + least(self.events, counter=self.counter, language=self.language)

    def fits(self, parts: Sequence[Part]) -> bool:
        return self.counter(_text([*self.state, *parts])) <= self.budget


def _too_small(budget: int, needed: int) -> InvalidInput:
    return InvalidInput(
        "compact.budget",
        f"budget_tokens: {budget} is too small; goal, constraints, open items, approvals and "
        f"unknown calls need {needed}",
    )


def _text(parts: Sequence[Part]) -> str:
    return "\n".join(part.render() for part in parts)


def _summary_part(summary: Summary, language: str) -> Part:
    text = summary.render(language)
    return Part("summary", text, summary.events, summary.first_seq, summary=summary)


def _verbatim(event: Event) -> Part:
    return _part("event", event, event.text or "")


def _reduced(event: Event, language: str) -> Part:
    log = log_of(event)
    shorter = None if log is None else log.render(language)
    if shorter is None or len(shorter) >= len(event.text or ""):
        return _verbatim(event)
    return _part("log", event, shorter)


def _part(kind: str, event: Event, text: str) -> Part:
    return Part(kind, text, (event.id,), event.seq, event.kind.value, event.name, call_id(event))
