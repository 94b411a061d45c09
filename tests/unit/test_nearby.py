"""What turns lend each other, and what a named time adds: by hand, with what must add nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from muniment.dates import resolve
from muniment.events.event import Event, EventKind
from muniment.ids import EventId, ThreadId
from muniment.recall.nearby import SITTING, asks_assistant, borrowed, worth
from muniment.recall.weights import TURNS
from muniment.scope import Channel, Scope

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
ONE, TWO = TURNS.beside
ALONE = replace(TURNS, beside=(0.0, 0.0), sitting=0.0, thread=0.0)


def turn(
    seq: int,
    *,
    thread: str = "t",
    after: timedelta = timedelta(0),
    kind: EventKind = EventKind.USER,
    text: str = "words",
) -> Event:
    """The turn of that number, called after thread and number."""
    return Event(
        id=EventId(f"{thread}{seq}"),
        tenant="x",
        thread=ThreadId(thread),
        seq=seq,
        kind=kind,
        said_at=START + after,
        recorded_at=START,
        text=text,
        scope=Scope(),
        channel=Channel.RUNTIME,
    )


def test_each_gets_a_share_of_what_stands_on_either_side() -> None:
    """Three in a row: the middle one from both, the outer ones from it and from each other."""
    scores = {"t1": 0.5, "t2": 0.1, "t3": 0.7}
    got = borrowed([turn(3), turn(1), turn(2)], scores)
    assert got == pytest.approx(
        {"t1": ONE * 0.1 + TWO * 0.7, "t2": ONE * 1.2, "t3": ONE * 0.1 + TWO * 0.5}
    )


@pytest.mark.parametrize(
    "other",
    [turn(4), turn(2, thread="u"), turn(2, after=SITTING + timedelta(seconds=1))],
    ids=["three further on", "another thread", "another sitting"],
)
def test_what_is_not_beside_lends_nothing(other: Event) -> None:
    """Turns between them that do not match, another conversation, another day."""
    assert borrowed([turn(1), other], {"t1": 1.0, other.id: 1.0}) == {"t1": 0, other.id: 0}


def test_what_is_beside_within_the_sitting_lends() -> None:
    """The positive control, at the very limit."""
    other = turn(2, after=SITTING)
    assert borrowed([turn(1), other], {"t1": 1.0, "t2": 0.5}) == {"t1": ONE / 2, "t2": ONE}


def test_a_long_turn_borrows_less_from_further_away() -> None:
    """It has its own context; what is right beside it counts as ever."""
    long = turn(3, text="w" * 4 * TURNS.short_chars)
    got = borrowed([turn(1), turn(2), long], {"t1": 1.0, "t2": 0.0, "t3": 1.0})
    assert got == pytest.approx({"t1": TWO, "t2": 2 * ONE, "t3": TWO / 4})


def test_a_sitting_and_a_thread_lend_to_all_that_match() -> None:
    """The best of the sitting, and the best few of the thread; another thread gets nothing."""
    later = SITTING + timedelta(minutes=1)
    turns = [turn(1), turn(9), turn(20, after=later), turn(1, thread="u")]
    words = {"t1": 0.5, "t9": 0.2, "t20": 0.1, "u1": 0.3}
    weights = replace(TURNS, thread_best=2)
    found = worth(turns, words, {}, weights=weights)
    assert found["t9"] == pytest.approx(
        {"relevance": 0.2, "sitting": TURNS.sitting * 0.5, "thread": TURNS.thread * 0.7}
    )
    assert found["t20"]["sitting"] == pytest.approx(TURNS.sitting * 0.1)
    assert found["u1"]["thread"] == pytest.approx(TURNS.thread * 0.3)


def test_meaning_is_a_part_of_its_own() -> None:
    """Beside the words, and without them."""
    found = worth([turn(1), turn(9)], {"t1": 0.4}, {"t1": 0.5, "t9": 0.8}, weights=ALONE)
    assert found == {
        "t1": pytest.approx({"relevance": 0.4, "meaning": TURNS.meaning * 0.5}),
        "t9": pytest.approx({"meaning": TURNS.meaning * 0.8}),
    }


def test_what_the_assistant_said_counts_for_less() -> None:
    """Unless that is what is asked about; what tools gave and people said counts as ever."""
    turns = [turn(1), turn(9, kind=EventKind.ASSISTANT), turn(20, kind=EventKind.TOOL_RESULT)]
    words = {"t1": 0.4, "t9": 0.4, "t20": 0.4}
    found = worth(turns, words, {}, weights=ALONE)
    assert [sum(found[i].values()) for i in words] == pytest.approx(
        [0.4, 0.4 * TURNS.assistant, 0.4]
    )
    asked = worth(turns, words, {}, assistant=True, weights=ALONE)
    assert [sum(asked[i].values()) for i in words] == pytest.approx([0.4, 0.4, 0.4])


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Which library did you recommend for dates?", True),
        ("What was the name of the book you had suggested?", True),
        ("Remind me of your advice on caching.", True),
        ("你之前推荐的餐厅叫什么？", True),
        ("你给我列出的步骤有哪些？", True),
        ("Can you recommend a library for dates?", False),
        ("What did Ana tell me about you?", False),
        ("Have I told you when I was born?", False),
        ("你能推荐一家餐厅吗？", False),
        ("我跟你说过我的生日吗？", False),
    ],
)
def test_a_question_about_what_the_assistant_said(question: str, about: bool) -> None:
    """Of the past, and of its own words."""
    assert asks_assistant(question) is about


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
    weights = replace(TURNS, sitting=0.0, thread=0.0)
    stretch = resolve(asked, NOW, UTC)
    found = worth([turn(1), turn(2)], {"t1": 0.4, "t2": 0.2}, {}, asked=stretch, weights=weights)
    own, lent = 0.4, ONE * 0.2
    expected = {"relevance": own, "context": lent, "time": TURNS.time * (own + lent)}
    if not timely:
        del expected["time"]
    assert found["t1"] == pytest.approx(expected)
