"""What turns lend each other, and what a named time adds: by hand, with what must add nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from muniment.dates import resolve
from muniment.events.event import Event, EventKind
from muniment.ids import EventId, ThreadId
from muniment.recall.nearby import LENT, SITTING, TIMELY, borrowed, worth
from muniment.scope import Channel, Scope

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def turn(seq: int, *, thread: str = "t", after: timedelta = timedelta(0)) -> Event:
    """The turn of that number, called after thread and number."""
    return Event(
        id=EventId(f"{thread}{seq}"),
        tenant="x",
        thread=ThreadId(thread),
        seq=seq,
        kind=EventKind.USER,
        said_at=START + after,
        recorded_at=START,
        text="words",
        scope=Scope(),
        channel=Channel.RUNTIME,
    )


def test_each_gets_a_share_of_what_stands_on_either_side() -> None:
    """Three in a row: the middle one from both, the outer ones from it."""
    scores = {"t1": 0.5, "t2": 0.1, "t3": 0.7}
    got = borrowed([turn(3), turn(1), turn(2)], scores)
    assert got == pytest.approx({"t1": LENT * 0.1, "t2": LENT * 1.2, "t3": LENT * 0.1})


@pytest.mark.parametrize(
    "other",
    [turn(3), turn(2, thread="u"), turn(2, after=SITTING + timedelta(seconds=1))],
    ids=["two further on", "another thread", "another sitting"],
)
def test_what_is_not_beside_lends_nothing(other: Event) -> None:
    """A turn between them that does not match, another conversation, another day."""
    assert borrowed([turn(1), other], {"t1": 1.0, other.id: 1.0}) == {"t1": 0, other.id: 0}


def test_what_is_beside_within_the_sitting_lends() -> None:
    """The positive control, at the very limit."""
    other = turn(2, after=SITTING)
    assert borrowed([turn(1), other], {"t1": 1.0, "t2": 0.5}) == {"t1": LENT / 2, "t2": LENT}


NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("asked", "timely"),
    [
        ("What did we do in January 2026?", True),
        ("2026年1月我们做了什么？", True),
        ("What did we do on 5 January 2026?", True),
        ("What did we do on 6 January 2026?", False),
        ("What did we do since January 2026?", False),
        ("What did we do?", False),
    ],
)
def test_what_was_said_at_the_time_asked_for_counts_for_more(asked: str, timely: bool) -> None:
    """Half as much again, of context too; another day, an open stretch and no time add nothing."""
    found = worth([turn(1), turn(2)], {"t1": 0.4, "t2": 0.2}, resolve(asked, NOW, UTC))
    own, lent = 0.4, LENT * 0.2
    expected = {"relevance": own, "context": lent, "time": TIMELY * (own + lent)}
    if not timely:
        del expected["time"]
    assert found["t1"] == pytest.approx(expected)
