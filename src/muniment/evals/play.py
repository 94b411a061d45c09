"""Plays labelled turns through the façade alone, each in a tenant of its own, at the time it was
said, in the zone it was said in."""

from __future__ import annotations

import contextlib
import json
import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from muniment.clock import ManualClock
from muniment.errors import MunimentError
from muniment.evals.judge import KEPT, InForce, Judged, Outcome, Seen, judge
from muniment.evals.labels import Said, Turn
from muniment.gate.decision import Action, Decision, Reconcile
from muniment.memory import Memory
from muniment.records.record import Record, Status
from muniment.scope import Channel, Principal

BETWEEN = timedelta(minutes=1)
PAGE = 1000
_TO_ANOTHER = (Reconcile.ASK, Reconcile.SUPERSEDE, Reconcile.DELETE)
Advance = Callable[[int, int], None]
#: Opens the store with a clock, in a zone.
Opener = Callable[[ManualClock, timezone], AbstractContextManager[Memory]]


def evaluate(
    turns: Sequence[Turn], opened: Opener, *, run: str, fresh: bool, advance: Advance
) -> list[Judged]:
    """Every turn played and judged, in the order of ``turns``.

    ``run`` tells the tenants of this run from those of others.  Where the store is ``fresh``, an
    embedded one that holds nothing else, its very bytes are searched for the secrets too.  The
    error of a turn that cannot be said names the turn.
    """
    outcomes: dict[str, Outcome] = {}
    for offset in dict.fromkeys(t.said.utcoffset() or timedelta() for t in turns):
        clock = ManualClock(turns[0].said)
        here = [t for t in turns if (t.said.utcoffset() or timedelta()) == offset]
        with opened(clock, timezone(offset)) as memory:
            for turn in here:
                outcomes[turn.id] = _played(turn, memory, clock, run)
                advance(len(outcomes), len(turns))
            for name in _in_bytes(memory, here) if fresh else ():
                found = outcomes[name]
                outcomes[name] = replace(found, leaks=(*found.leaks, "store"))
    return [judge(t, outcomes[t.id]) for t in turns]


def _in_bytes(memory: Memory, turns: Sequence[Turn]) -> list[str]:
    """The turns whose secret lies in a copy of the store: in any table, index, key or trail."""
    secrets = {t.id: t.secret.encode() for t in turns if t.secret is not None}
    if not secrets:
        return []
    with tempfile.TemporaryDirectory(prefix="muniment-eval-") as folder:
        admin = Principal(tenant="eval", channel=Channel.ADMIN)
        data = memory.backup(Path(folder) / "copy.db", principal=admin).read_bytes()
    return [name for name, secret in secrets.items() if secret in data]


def _played(turn: Turn, memory: Memory, clock: ManualClock, run: str) -> Outcome:
    try:
        return play(turn, memory, clock, f"eval-{run}-{turn.id}")
    except MunimentError as error:
        raise type(error)(error.code, f"turn {turn.id}: {error.message}") from None


def play(turn: Turn, memory: Memory, clock: ManualClock, tenant: str) -> Outcome:
    """What comes of a turn; what was said before comes a minute apart, the turn at its time."""
    place = _Place(turn, memory, tenant)
    with _heard() as log:
        return _said(place, clock, log)


def _said(place: _Place, clock: ManualClock, log: list[str]) -> Outcome:
    turn = place.turn
    for number, said in enumerate(turn.before):
        clock.set(turn.said - (len(turn.before) - number) * BETWEEN)
        place.say(said)
    clock.set(turn.said)
    before = place.records()
    decisions = place.say(turn.say)
    after = place.records()
    return Outcome(
        seen=tuple(_seen(d, {r.id: r for r in after}) for d in decisions),
        before=_in_force(before),
        after=_in_force(after),
        leaks=place.leaks(log),
    )


class _Place:
    """Where a turn is said, by whom, and what there is to see of it."""

    def __init__(self, turn: Turn, memory: Memory, tenant: str) -> None:
        self.turn, self.memory = turn, memory
        self.who = Principal(
            tenant=tenant,
            user=turn.place.user,
            teams=() if turn.place.team is None else (turn.place.team,),
            channel=turn.channel,
        )
        self.owner = Principal(tenant=tenant, user=turn.place.user, channel=Channel.USER)
        self.admin = Principal(tenant=tenant, channel=Channel.ADMIN)
        self.events: list[str] = []
        self.decisions: list[Decision] = []

    def say(self, said: Said) -> list[Decision]:
        """Append it and put it through the gate."""
        [event] = self.memory.append_many(
            [said.message], thread="labelled", scope=self.turn.place, principal=self.who
        )
        decisions = self.memory.remember(event=event, principal=self.who)
        self.events.append(event.id)
        self.decisions += decisions
        if said.deleted:
            for made in decisions:
                if made.action == KEPT and made.record_id is not None:
                    self.memory.delete(record=made.record_id, principal=self.owner)
        return decisions

    def records(self) -> list[Record]:
        """Every record of the tenant but the deleted ones."""
        found: list[Record] = []
        while True:
            after = found[-1].id if found else None
            page = self.memory.list(limit=PAGE, after=after, principal=self.admin)
            found += page
            if len(page) < PAGE:
                return found

    def leaks(self, log: Sequence[str]) -> tuple[str, ...]:
        """Where the secret is, of all that can be seen of the tenant afterwards and of ``log``."""
        secret = self.turn.secret
        if secret is None:
            return ()
        places: dict[str, object] = {
            "event": [self.memory.show(e, principal=self.who) for e in self.events],
            "record": self.records(),
            "candidate": self.memory.review(limit=PAGE, principal=self.owner),
            "decision": self.decisions,
            "export": self._exported(),
            "log": log,
        }
        return tuple(p for p, kept in places.items() if any(secret in t for t in texts(kept)))

    def _exported(self) -> list[str]:
        with tempfile.TemporaryDirectory(prefix="muniment-eval-") as folder:
            path = Path(folder) / "export.jsonl"
            self.memory.export(path, principal=self.admin)
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            return list(texts(rows))


@contextlib.contextmanager
def _heard() -> Iterator[list[str]]:
    """Everything that is logged meanwhile, by whomever and however unimportant."""
    heard: list[str] = []
    handler = _Ear(heard)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield heard
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


class _Ear(logging.Handler):
    def __init__(self, heard: list[str]) -> None:
        super().__init__()
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        self._heard.append(self.format(record))


def texts(value: Any) -> Iterator[str]:
    """Every text in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for f in fields(value):
            yield from texts(getattr(value, f.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts(key)
            yield from texts(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from texts(inner)


def _seen(made: Decision, records: Mapping[str, Record]) -> Seen:
    """A decision to keep something of which there is no record has kept nothing."""
    candidate = made.candidate
    record = records.get(made.record_id or "") if made.action == KEPT else None
    shown = record or candidate
    lost = record is None and made.action == KEPT and made.reconcile is not Reconcile.DELETE
    ends = (shown.valid_to, shown.expires_at)
    return Seen(
        action=Action.IGNORE if lost else made.action,
        content="\n".join(dict.fromkeys(filter(None, (shown.content, candidate.content)))),
        kind=shown.kind.value,
        origin=made.origin.value,
        scope=shown.scope,
        subject=shown.subject,
        end=_first(ends),
        record=record.id if record else None,
        made=record is not None and made.reconcile is not Reconcile.MERGE,
        asks=made.action is Action.HOLD and made.reconcile in _TO_ANOTHER,
    )


def _first(ends: Sequence[datetime | None]) -> datetime | None:
    return min((e for e in ends if e is not None), default=None)


def _in_force(records: Sequence[Record]) -> tuple[InForce, ...]:
    standing = (Status.ACTIVE, Status.SCHEDULED)
    return tuple(
        InForce(r.id, r.content or "", r.scope)
        for r in records
        if r.status in standing and not r.muted
    )
