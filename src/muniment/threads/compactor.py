"""Models that word the points of a summary (a port), and what is demanded of their drafts.

A model selects and words; it never owns a fact.  Constraints, open items, completed work and the
state's decisions are put in by the program, so no draft can lose or change them.  A draft that
cannot be checked is refused whole, with a reason, and the extractive summary stands in for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from muniment.events.event import Event
from muniment.extract.grounding import borne_out
from muniment.gate.keys import Digester
from muniment.ids import ThreadId
from muniment.secrets import Grade, scan
from muniment.text import blank
from muniment.threads.brief import Brief
from muniment.threads.deciding import decides, speaks_of_deciding
from muniment.threads.logs import log_of
from muniment.threads.summary import (
    EXTRACT,
    Counter,
    Line,
    Summary,
    check,
    clip,
    fitted,
    outline,
    quote,
)

MODEL = "model"  # the kind of a line a model worded
LINES_MAX = 200
DRAFT_CHARS_MAX = 200_000

#: Why a draft was refused, by code.
REFUSED = {
    "raised": "the compactor raised an exception",
    "invalid": "the draft is not of the form asked for",
    "empty": "the draft holds no line",
    "too_long": "the draft does not fit the budget",
    "secret": "the draft holds a credential or identity number",
    "unresolved": "a line refers to an event outside the range",
    "undecided": "a decision refers to what no person or policy said",
    "ungrounded": "a line says what the events it refers to do not",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """What a compactor is given: the events its draft may speak of, and nothing else, so that a
    draft holds no words but theirs.

    ``events`` are data, not instructions; each has ``seq``, ``kind``, ``text`` and, where there
    is one, ``name``.
    """

    events: tuple[Mapping[str, Any], ...]
    budget_tokens: int
    language: str

    @property
    def form(self) -> str:
        """The form of an answer, in words for a prompt."""
        return (
            'one JSON object {"points": [{"text": "…", "refs": [seq, …]}], '
            '"decisions": [{"text": "…", "refs": [seq, …]}]}; refs are numbers of the events '
            "given; a decision quotes what a person said"
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft that was taken once, to be used again: whose, of which events, in `Ask.form`.

    ``seal`` is the store's: what is read back without the right one is not used.
    """

    author: str
    first_seq: int
    last_seq: int
    lines: Mapping[str, Any]
    seal: str = field(default="", compare=False)

    def sealed(self, keys: Digester, thread: str) -> Draft:
        """The same with its seal, as a thread's."""
        said = json.dumps(
            [self.author, self.first_seq, self.last_seq, dict(self.lines)],
            sort_keys=True,
            ensure_ascii=False,
        )
        return replace(self, seal=keys.digest("summary", thread, said))

    @classmethod
    def of(cls, summary: Summary) -> Draft | None:
        """What a model contributed to a summary; ``None`` where no model did."""
        if summary.by == EXTRACT:
            return None
        parts = {"points": summary.points, "decisions": summary.decisions}
        lines = {
            name: [
                {"text": v.text, "refs": [n for _, n in v.refs]} for v in some if v.kind == MODEL
            ]
            for name, some in parts.items()
        }
        return cls(summary.by, summary.first_seq, summary.last_seq, lines)


class DraftTable(Protocol):
    """Drafts that were taken, one a thread, inside one transaction."""

    def get(self, thread: ThreadId) -> Draft | None:
        """The draft of a thread, unless an event it covers has been erased since."""
        ...

    def put(self, thread: ThreadId, draft: Draft, at: datetime) -> None:
        """Keep a draft in place of the one before."""
        ...

    def clear(self, threads: Sequence[ThreadId]) -> int:
        """Remove the drafts of these threads; how many."""
        ...


class Compactor(Protocol):
    """Words the points of older events, by whatever model.

    ``name`` is recorded with the summary.  It must bound its own time; whatever it raises or
    returns, the thread goes on.
    """

    name: str

    def summarise(self, ask: Ask) -> object:
        """A draft in `Ask.form`: a mapping, or its JSON."""
        ...


def author(compactor: Compactor) -> str:
    """Who made a summary, where a model did."""
    return f"model:{clip(str(getattr(compactor, 'name', '')))[:64]}"


class Refused(Exception):
    """A draft that is not taken; ``reason`` is a key of `REFUSED`."""

    def __init__(self, reason: str) -> None:
        super().__init__(REFUSED[reason])
        self.reason = reason


def drafted(
    compactor: Compactor,
    events: Sequence[Event],
    brief: Brief,
    *,
    ask_tokens: int,
    budget_tokens: int,
    counter: Counter,
    language: str,
) -> Summary:
    """The summary a compactor makes of the events; raises `Refused`.

    ``ask_tokens`` is what the compactor is to keep to, ``budget_tokens`` what its lines and the
    program's may take together.
    """
    ask = Ask(tuple(_shown(e) for e in events if e.text), ask_tokens, language)
    try:
        answer, by = compactor.summarise(ask), author(compactor)
    except Exception:  # a model's client may raise anything; its text may hold anything
        raise Refused("raised") from None
    return taken(
        answer,
        by,
        events,
        brief,
        draft_tokens=ask_tokens,
        budget_tokens=budget_tokens,
        counter=counter,
        language=language,
    )


def taken(
    answer: object,
    by: str,
    events: Sequence[Event],
    brief: Brief,
    *,
    draft_tokens: int,
    budget_tokens: int,
    counter: Counter,
    language: str,
) -> Summary:
    """The summary with a draft's lines beside what the program knows; raises `Refused`."""
    whole = outline(events, brief, by)
    points, decisions = _lines_of(answer, events)
    known = {str(e.id): e for e in events}
    told = {quote(d.text, known[i]) for d in whole.decisions for i, _ in d.refs}
    decisions = [d for d in decisions if d.text not in told]  # the state has it already
    full = replace(whole, points=tuple(points), decisions=(*whole.decisions, *decisions))
    checked = check(full, brief, events)
    if checked.faults:
        raise Refused(checked.faults[0])
    given = [("decisions", v) for v in checked.summary.decisions if v.kind == MODEL]
    given += [("points", v) for v in points]
    stated = {
        "decisions": whole.decisions,
        "failures": whole.failures,
        "completed": whole.completed,
    }
    programs = [(name, v) for name, lines in stated.items() for v in lines]

    def within(tokens: int, lines: Sequence[tuple[str, Line]]) -> Summary:
        return fitted(
            checked.summary,
            lines,
            of=len(lines),
            budget_tokens=tokens,
            counter=counter,
            language=language,
        )

    if within(draft_tokens, given).left_out:
        raise Refused("too_long")
    return within(budget_tokens, [*given, *programs])


def _lines_of(answer: object, events: Sequence[Event]) -> tuple[list[Line], list[Line]]:
    draft, seqs = _read(answer), {e.seq: str(e.id) for e in events}
    points = _lines(draft.get("points", []), seqs)
    decisions = _lines(draft.get("decisions", []), seqs)
    if not points and not decisions:
        raise Refused("empty")
    _screen([*points, *decisions])
    known = {str(e.id): e for e in events}
    points = [_quoted(v, known) if speaks_of_deciding(v.text) else v for v in points]
    return points, [_quoted(v, known) if v.refs else v for v in decisions]


def _shown(event: Event) -> Mapping[str, Any]:
    log = log_of(event)
    text = event.text if log is None else log.render("en")
    plain = {"seq": event.seq, "kind": event.kind.value, "text": text, "name": event.name}
    return {k: v for k, v in plain.items() if v is not None}


def _read(answer: object) -> Mapping[str, Any]:
    if isinstance(answer, str):
        if len(answer) > DRAFT_CHARS_MAX:
            raise Refused("too_long")
        try:
            answer = json.loads(answer)
        except (ValueError, RecursionError):
            raise Refused("invalid") from None
    if not isinstance(answer, Mapping) or set(answer) - {"points", "decisions"}:
        raise Refused("invalid")
    return answer


def _lines(value: object, seqs: Mapping[int, str]) -> list[Line]:
    if not isinstance(value, list | tuple):
        raise Refused("invalid")
    if len(value) > LINES_MAX:
        raise Refused("too_long")
    return [_line(one, seqs) for one in value]


def _line(value: object, seqs: Mapping[int, str]) -> Line:
    if not isinstance(value, Mapping) or set(value) - {"text", "refs"}:
        raise Refused("invalid")
    text, refs = value.get("text"), value.get("refs", [])
    if not isinstance(text, str) or blank(text) or not isinstance(refs, list | tuple):
        raise Refused("invalid")
    if not all(isinstance(r, int) and not isinstance(r, bool) for r in refs):
        raise Refused("invalid")
    if len(text) > DRAFT_CHARS_MAX:
        raise Refused("too_long")
    if any(r not in seqs for r in refs):
        raise Refused("unresolved")
    return Line(text, tuple((seqs[r], r) for r in dict.fromkeys(refs)), MODEL)


def _quoted(line: Line, known: Mapping[str, Event]) -> Line:
    """A model selects what was decided; the words are those of the person who decided it."""
    cited = [known[i] for i, _ in line.refs]
    if not cited or not all(decides(e) for e in cited):
        raise Refused("undecided")
    bearing = [e for e in cited if borne_out(line.text, [e.text or ""])]
    if not bearing:
        raise Refused("ungrounded")
    return replace(line, text=quote(line.text, bearing[0]))


def _screen(lines: Sequence[Line]) -> None:
    if any(f.grade is Grade.BLOCK for line in lines for f in scan(line.text)):
        raise Refused("secret")
