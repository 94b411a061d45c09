"""A summary as an engineering record: what a run of events holds, every line with its reference.

It is an index to evidence and never evidence.  Made by extraction, or by a model behind the
`Compactor` port whose draft is only taken when it can be checked without a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from muniment.events.event import Event, EventKind
from muniment.extract.grounding import names_occur, nearest
from muniment.text import inert
from muniment.threads.brief import Brief, label
from muniment.threads.deciding import decides, speaks_of_deciding
from muniment.threads.logs import LOGGED, log_of

Counter = Callable[[str], int]  # how many tokens a text costs

EXTRACT = "extract"  # who made a summary, where no model did
LINE_CHARS_MAX = 160
_READ_CHARS_MAX = 4_000  # of a long text its beginning is enough for a line
_LINE_TOKENS_MIN = 6  # a label, a number and a word or two
_MANY = 10**6  # a number as long as any count of lines


@dataclass(frozen=True, slots=True)
class Line:
    """Words, the events they stand on (ids, with their numbers in the thread), and for a point
    the kind of event it was taken from."""

    text: str
    refs: tuple[tuple[str, int], ...]
    kind: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"text": self.text, "refs": [list(r) for r in self.refs], "kind": self.kind}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Line:
        """The inverse of `to_dict`."""
        return cls(data["text"], tuple((i, n) for i, n in data["refs"]), data["kind"])


_PARTS = ("decisions", "failures", "completed", "points")


@dataclass(frozen=True, slots=True)
class Summary:
    """What the events ``first_seq`` to ``last_seq`` of a thread hold, all of them by id.

    ``constraints`` and ``open`` are the state's, word for word.  ``left_out`` counts what did
    not fit, ``dropped`` the decisions that were given without a reference.
    """

    first_seq: int
    last_seq: int
    events: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    decisions: tuple[Line, ...] = ()
    failures: tuple[Line, ...] = ()
    completed: tuple[Line, ...] = ()
    points: tuple[Line, ...] = ()
    left_out: int = 0
    dropped: int = 0
    by: str = EXTRACT

    def render(self, language: str) -> str:
        """The lines for a model.  Constraints and open items stand in the state's own part."""
        return "\n".join((_head(self, language), *_lines(self, language)))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {f: getattr(self, f) for f in ("first_seq", "last_seq", "left_out", "dropped")}
        lists = {f: list(getattr(self, f)) for f in ("events", "constraints", "open")}
        lines = {f: [line.to_dict() for line in getattr(self, f)] for f in _PARTS}
        return {**plain, **lists, **lines, "by": self.by}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Summary:
        """The inverse of `to_dict`."""
        lists = {f: tuple(data[f]) for f in ("events", "constraints", "open")}
        lines = {f: tuple(Line.of(v) for v in data[f]) for f in _PARTS}
        return cls(**{**data, **lists, **lines})


@dataclass(frozen=True, slots=True)
class Checked:
    """A summary without what had no reference, and what is wrong with it (nothing: good)."""

    summary: Summary
    faults: tuple[str, ...] = ()


def check(summary: Summary, brief: Brief, events: Sequence[Event]) -> Checked:
    """Whether a summary is what it says, without a model.

    Its range and ids are exactly those of ``events``; each reference resolves inside them; every
    constraint and open item of the state appears.  A decision without a reference is dropped and
    counted; one that cites something else than a user, a confirmation, an approval or a policy,
    or does not repeat the words of one of them, is a fault.
    """
    kept = tuple(d for d in summary.decisions if d.refs)
    dropped = summary.dropped + len(summary.decisions) - len(kept)
    return Checked(
        replace(summary, decisions=kept, dropped=dropped),
        tuple(dict.fromkeys(_faults(summary, kept, brief, {e.id: e for e in events}, events))),
    )


def _faults(
    summary: Summary,
    decisions: Sequence[Line],
    brief: Brief,
    known: Mapping[str, Event],
    events: Sequence[Event],
) -> Iterator[str]:
    span = (events[0].seq, events[-1].seq) if events else (0, 0)
    if (summary.first_seq, summary.last_seq) != span or list(summary.events) != list(known):
        yield "range"
    if {i.text for i in brief.of("constraints")} - set(summary.constraints):
        yield "constraints"
    if {i.text for i in brief.of("open")} - set(summary.open):
        yield "open"
    for part in _PARTS:
        for line in decisions if part == "decisions" else getattr(summary, part):
            if not line.refs or any(i not in known or known[i].seq != n for i, n in line.refs):
                yield "unresolved"
    recorded = {item.text: set(item.evidence) for item in brief.of("decisions")}
    for line in decisions:
        cited = {i for i, _ in line.refs}
        stated = cited <= recorded.get(line.text, set())
        if not all(i in known and decides(known[i]) for i in cited):
            yield "undecided"
        elif not stated and not _decided(line, known):
            yield "ungrounded"
    for line in summary.points:
        if not _borne_by(line, known):
            yield "ungrounded"


def _decided(line: Line, known: Mapping[str, Event]) -> bool:
    """Whether it repeats the words of one who decides, among the events it names."""
    cited = [known[i] for i, _ in line.refs if i in known and decides(known[i])]
    return any(line.text in (point_of(e), quote(line.text, e)) for e in cited)


def quote(text: str, event: Event) -> str:
    """The sentence of an event that is nearest to a text, in the event's own words."""
    return clip(nearest(text, event.text or ""))


def _borne_by(line: Line, known: Mapping[str, Event]) -> bool:
    """A point may be worded freely but for its names and numbers; what speaks of deciding has
    to be the words of whoever decided, or the event's own as the event's own."""
    cited = [known[i] for i, _ in line.refs if i in known]
    if any(line.text == point_of(e) and line.kind == e.kind for e in cited):
        return True
    if speaks_of_deciding(line.text):
        return _decided(line, known)
    return names_occur(line.text, [e.text or "" for e in cited])


# ------------------------------------------------------------ making one


def outline(events: Sequence[Event], brief: Brief, by: str = EXTRACT) -> Summary:
    """What the program knows without reading a word: range, constraints, open items, and what
    of the state's decisions, failures and completed work stands on these events."""
    known = {str(e.id): e.seq for e in events}
    deciding = {str(e.id): e.seq for e in events if e.text and decides(e)}
    decisions = list(_stated(brief, "decisions", deciding))
    referred = {i for line in decisions for i, _ in line.refs}
    decisions += [
        Line(point_of(e), ((e.id, e.seq),), e.kind)
        for e in events
        if e.kind is not EventKind.USER and e.id in deciding and e.id not in referred
    ]
    vouched = {i.text for i in brief.of("decisions") if i.evidence}
    return Summary(
        first_seq=events[0].seq,
        last_seq=events[-1].seq,
        events=tuple(known),
        constraints=tuple(i.text for i in brief.of("constraints")),
        open=tuple(i.text for i in brief.of("open")),
        decisions=tuple(decisions),
        failures=tuple(_stated(brief, "failures", known)),
        completed=tuple(_stated(brief, "completed", known)),
        dropped=sum(i.text not in vouched for i in brief.of("decisions")),
        by=by,
    )


def _stated(brief: Brief, section: str, known: Mapping[str, int]) -> Iterator[Line]:
    for item in brief.of(section):
        refs = tuple((i, known[i]) for i in item.evidence if i in known)
        if refs:
            yield Line(item.text, refs)


def extract(
    events: Sequence[Event],
    brief: Brief,
    *,
    budget_tokens: int,
    counter: Counter,
    language: str,
) -> Summary:
    """A summary in the events' own words: decisions and failures first, then what the user said
    (the latest first), where logs lie, what the assistant said; as much as fits.

    The head alone may exceed the budget: see `least`.
    """
    whole = outline(events, brief)
    stated = (("decisions", whole.decisions), ("failures", whole.failures))
    done = (("completed", whole.completed),)
    said = (("points", _quoted(e)) for e in reversed(events) if e.kind is EventKind.USER and e.text)
    logs = (("points", _quoted(e)) for e in reversed(events) if e.kind in LOGGED and log_of(e))
    model = (("points", _quoted(e)) for e in reversed(events) if _spoken(e))
    return fitted(
        whole,
        chain(_named(stated), said, _named(done), logs, model),
        of=sum(len(lines) for _, lines in (*stated, *done)) + sum(bool(e.text) for e in events),
        budget_tokens=budget_tokens,
        counter=counter,
        language=language,
    )


def _named(parts: Iterable[tuple[str, Sequence[Line]]]) -> Iterator[tuple[str, Line]]:
    return ((name, line) for name, lines in parts for line in lines)


def _quoted(event: Event) -> Line:
    return Line(point_of(event), ((event.id, event.seq),), event.kind)


def _spoken(event: Event) -> bool:
    return event.kind is EventKind.ASSISTANT and bool(event.text)


def fitted(
    whole: Summary,
    wanted: Iterable[tuple[str, Line]],
    *,
    of: int,
    budget_tokens: int,
    counter: Counter,
    language: str,
) -> Summary:
    """The summary with as many of the wanted lines as fit, in order of their importance, each
    shown in the order of the thread; what is left out is counted against ``of``."""
    kept: dict[str, list[Line]] = {name: [] for name in _PARTS}
    room = budget_tokens - counter(_head(replace(whole, left_out=_MANY), language))
    for name, line in wanted:
        if room < _LINE_TOKENS_MIN:
            break
        cost = counter("\n" + _shown(name, line, language))
        if cost <= room:
            room -= cost
            kept[name].append(line)
    ordered = {n: tuple(sorted(v, key=lambda x: x.refs[0][1])) for n, v in kept.items()}
    return replace(
        whole,
        decisions=ordered["decisions"],
        failures=ordered["failures"],
        completed=ordered["completed"],
        points=ordered["points"],
        left_out=of - sum(map(len, kept.values())),
    )


def least(events: Sequence[Event], *, counter: Counter, language: str, by: str = EXTRACT) -> int:
    """How many tokens a summary of these events, or of the first of them, takes at least."""
    ids = tuple(str(e.id) for e in events)
    bare = Summary(events[0].seq, events[-1].seq, ids, left_out=_MANY, by=by)
    return counter(_head(bare, language))


def point_of(event: Event) -> str:
    """An event in one line of its own words: a log's place and outcome, else its beginning."""
    log = log_of(event)
    if log is not None:
        head = log.render("en").splitlines()
        return clip("; ".join([head[0], *head[-1:]] if len(head) > 1 else head))
    return clip(event.text or "")


def clip(text: str) -> str:
    """At most `LINE_CHARS_MAX` characters on one line; what is cut off is marked."""
    flat = " ".join(text[:_READ_CHARS_MAX].split())
    return flat if len(flat) <= LINE_CHARS_MAX else flat[: LINE_CHARS_MAX - 1] + "…"


def _head(s: Summary, language: str) -> str:
    count = len(s.events)
    name = inert(s.by)
    by = "" if s.by == EXTRACT else (f"，由 {name}" if language == "zh" else f", by {name}")
    if language == "zh":
        shown = f"[摘要 {s.first_seq}–{s.last_seq}，{count} 个事件{by}；只是索引，不是证据"
        return shown + (f"；未列 {s.left_out}]" if s.left_out else "]")
    shown = f"[summary {s.first_seq}–{s.last_seq}, {count} events{by}; an index, not evidence"
    return shown + (f"; {s.left_out} not listed]" if s.left_out else "]")


def _lines(s: Summary, language: str) -> Iterator[str]:
    for name in _PARTS:
        for line in getattr(s, name):
            yield _shown(name, line, language)


def _shown(name: str, line: Line, language: str) -> str:
    seqs = ",".join(str(n) for _, n in line.refs)
    lead = line.kind if name == "points" else label(name, language)
    return f"{lead} [{seqs}]: {inert(line.text)}"
