"""What came of a labelled turn beside what should have: pure.

Expected entries and decisions are paired one to one: by `about` in the content first; what is
left by order, but never an entry with an `about` and something kept or held that is about another
thing.  A turn's units are its entries, each with the action it met, and every decision left over
that is more than `ignore`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from muniment.evals.labels import ANY, Expected, Turn
from muniment.scope import Scope
from muniment.text import normalise

KEPT, HELD, IGNORED = "activate", "hold", "ignore"
#: What a kept record is asked, in the order in which it is shown.
FIELDS = ("kind", "scope", "origin", "subject", "until")
Fits = Callable[[Expected, "Seen"], bool]


@dataclass(frozen=True, slots=True)
class Seen:
    """A decision with the record that came of it.

    ``scope``, ``kind`` and ``end`` are the record's where there is one, else the candidate's;
    ``record`` is the record that the decision made or met, ``made`` that it is a new one;
    ``asks`` that it is held for what it would do to an earlier record.
    """

    action: str
    content: str
    kind: str
    origin: str
    scope: Scope
    subject: str
    end: datetime | None = None
    record: str | None = None
    made: bool = False
    asks: bool = False


@dataclass(frozen=True, slots=True)
class InForce:
    """A record that may be recalled, or will be."""

    record: str
    content: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a turn: the decisions; the records in force before it was said and after;
    where its secret was found."""

    seen: tuple[Seen, ...]
    before: tuple[InForce, ...] = ()
    after: tuple[InForce, ...] = ()
    leaks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A turn's score.

    ``units``: (expected action, actual action).  ``fields``: of what was to be kept and was,
    (how many are right, how many the label states).  ``replaced``: of what was to be replaced,
    (found, stated, never there).  ``made``: records in force that the turn made; ``twice``: those
    of them that say again what another says.  ``misattributed``: somebody else's words taken for
    the speaker's, None outside of the group.  ``leaked`` is None where there is no secret.
    """

    id: str
    group: str
    language: str
    units: tuple[tuple[str, str], ...]
    fields: Mapping[str, tuple[int, int]]
    replaced: tuple[int, int, int]
    made: int
    twice: int
    misattributed: bool | None
    leaked: bool | None
    faults: tuple[str, ...] = field(default=(), compare=False)


def judge(turn: Turn, outcome: Outcome) -> Judged:
    """Score a turn; every fault is told in words."""
    entries, seen = turn.entries, outcome.seen
    pairs = paired(entries, seen)
    left = [s for n, s in enumerate(seen) if n not in pairs.values() and s.action != IGNORED]
    met = [(e, seen[pairs[n]] if n in pairs else None) for n, e in enumerate(entries)]
    units = [(e.action, s.action if s else IGNORED) for e, s in met]
    replaced, missed = _replaced(met, outcome)
    made = {s.record for s in seen if s.made} & {r.record for r in outcome.after}
    twice = _twice(entries, left, made, outcome)
    wrong = _misattributed(turn, met, left) if turn.group == "third_person" else []
    faults = [fault for e, s in met for fault in _faults(turn, e, s)]
    faults += [f"expected nothing more, seen {_told(s)}" for s in left]
    faults += missed
    faults += [f"said twice: {r.content!r}" for r in outcome.after if r.record in twice]
    faults += [f"taken for the speaker's own: {_told(s)}" for s in wrong]
    faults += [f"the secret is in {where}" for where in outcome.leaks]
    return Judged(
        id=turn.id,
        group=turn.group,
        language=turn.language,
        units=(*units, *((IGNORED, s.action) for s in left)),
        fields=_fields(turn, met),
        replaced=replaced,
        made=len(made),
        twice=len(twice),
        misattributed=bool(wrong) if turn.group == "third_person" else None,
        leaked=None if turn.secret is None else bool(outcome.leaks),
        faults=tuple(_hidden(turn, fault) for fault in faults),
    )


# ---------------------------------------------------------------- pairing


def paired(entries: Sequence[Expected], seen: Sequence[Seen]) -> dict[int, int]:
    """Which entry met which decision.  As many as can be are paired by `about`, those of the
    same action first; then by order what may be."""
    owner: dict[int, int] = {}  # decision -> entry

    def place(entry: int, fits: Fits, tried: set[int]) -> bool:
        for n, decision in enumerate(seen):
            if n in tried or not fits(entries[entry], decision):
                continue
            tried.add(n)
            if n not in owner or place(owner[n], fits, tried):
                owner[n] = entry
                return True
        return False

    def waiting() -> list[int]:
        return [entry for entry in range(len(entries)) if entry not in owner.values()]

    for fits in (_same_about_and_action, _same_about):
        for entry in waiting():
            place(entry, fits, set())
    for fits in (_same_action, _may_be):
        for entry in waiting():
            place(entry, fits, set(owner))
    return {entry: n for n, entry in owner.items()}


def _same_about(expected: Expected, seen: Seen) -> bool:
    return expected.about is not None and _holds(seen.content, expected.about)


def _same_about_and_action(expected: Expected, seen: Seen) -> bool:
    return expected.action == seen.action and _same_about(expected, seen)


def _same_action(expected: Expected, seen: Seen) -> bool:
    return expected.action == seen.action and _may_be(expected, seen)


def _may_be(expected: Expected, seen: Seen) -> bool:
    """What was neither kept nor held need not tell its words, as a refusal never does."""
    return expected.about is None or seen.action not in (KEPT, HELD) or _same_about(expected, seen)


def _holds(content: str, piece: str) -> bool:
    return normalise(piece) in normalise(content)


# ---------------------------------------------------------------- fields


def _stated(expected: Expected) -> list[str]:
    return [name for name in FIELDS if name in expected.stated]


def _right(turn: Turn, expected: Expected, seen: Seen, name: str) -> bool:
    wanted = expected.stated[name]
    if name == "until":
        return _ends(wanted, seen.end, turn)
    return bool(getattr(seen, name) == wanted)


def _ends(wanted: date | str | None, end: datetime | None, turn: Turn) -> bool:
    """An end is the first instant at which it no longer holds; the day before it is the last."""
    if wanted is None or end is None:
        return wanted is None and end is None
    last = (end - timedelta(microseconds=1)).astimezone(turn.said.tzinfo).date()
    return wanted == ANY or last == wanted


def _fields(turn: Turn, met: Sequence[tuple[Expected, Seen | None]]) -> dict[str, tuple[int, int]]:
    asked = [
        (name, _right(turn, e, s, name))
        for e, s in met
        if s is not None and e.action == s.action == KEPT
        for name in _stated(e)
    ]
    names = [name for name in FIELDS if any(name == n for n, _ in asked)]
    return {
        name: (sum(r for n, r in asked if n == name), sum(n == name for n, _ in asked))
        for name in names
    }


# ---------------------------------------------------------------- what else is asked


def _replaced(
    met: Sequence[tuple[Expected, Seen | None]], outcome: Outcome
) -> tuple[tuple[int, int, int], list[str]]:
    """Counts as in `Judged`, and in words what should have been replaced and was not.

    Replaced is what was in force and no longer is, or what the decision asks about.
    """
    after = {r.record for r in outcome.after}
    wanted = [(e.replaces, s) for e, s in met if e.replaces is not None]
    found, absent, missed = 0, 0, []
    for piece, seen in wanted:
        there = [r for r in outcome.before if _holds(r.content, piece)]
        gone = any(r.record not in after for r in there)
        if there and (gone or (seen is not None and seen.asks)):
            found += 1
        else:
            missed.append(f"{'still in force' if there else 'never kept'}: {piece!r}")
        absent += not there
    return (found, len(wanted), absent), missed


def _twice(
    entries: Sequence[Expected], left: Sequence[Seen], made: set[str | None], outcome: Outcome
) -> set[str]:
    """The new records that say again what is said: the same words in the same scope as another,
    or more records about a thing than were expected."""
    told: set[tuple[str, Scope]] = set()
    found = set()
    for record in outcome.after:
        words = (normalise(record.content), record.scope)
        if words in told and record.record in made:
            found.add(record.record)
        told.add(words)
    kept = [e for e in entries if e.action == KEPT]
    return found | {
        s.record
        for s in left
        if s.record is not None and s.record in made and any(_same_about(e, s) for e in kept)
    }


def _misattributed(
    turn: Turn, met: Sequence[tuple[Expected, Seen | None]], left: Sequence[Seen]
) -> list[Seen]:
    """What is kept or held under the speaker's name though it is somebody else's."""
    speaker = f"user:{turn.place.user}"
    every: Iterator[tuple[Expected | None, Seen | None]] = iter([*met, *((None, s) for s in left)])
    found = []
    for expected, seen in every:
        if seen is None or seen.action not in (KEPT, HELD) or seen.subject != speaker:
            continue
        stated = expected.stated.get("subject") if expected else None
        own = stated == speaker or (stated is None and expected and expected.action == KEPT)
        if not own:
            found.append(seen)
    return found


def _faults(turn: Turn, expected: Expected, seen: Seen | None) -> list[str]:
    action = seen.action if seen else IGNORED
    if expected.action != action:
        about = f" {expected.about!r}" if expected.about else ""
        return [f"expected {expected.action}{about}, seen {_told(seen)}"]
    if seen is None or action == IGNORED:
        return []
    return [
        f"{name}: expected {_shown(expected, name)}, seen {_told(seen, name)}"
        for name in _stated(expected)
        if not _right(turn, expected, seen, name)
    ]


def _hidden(turn: Turn, fault: str) -> str:
    """A fault as it may be shown: never with the secret."""
    secret = turn.secret
    if secret is None:
        return fault
    quoted = repr(secret)[1:-1]  # as it stands in words that are shown in quotes
    return fault.replace(secret, "[secret]").replace(quoted, "[secret]")


def _shown(expected: Expected, name: str) -> Any:
    value = expected.stated[name]
    return value.to_dict() if isinstance(value, Scope) else value


def _told(seen: Seen | None, name: str = "") -> Any:
    if seen is None:
        return "nothing"
    if name == "until":
        return seen.end.isoformat() if seen.end else None
    if name:
        value = getattr(seen, name)
        return value.to_dict() if isinstance(value, Scope) else value
    return f"{seen.action} {seen.content!r}"
