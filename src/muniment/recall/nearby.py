"""What a turn of the archive is worth beside its own words: near in the thread, near in time; pure.

A turn often answers a question without a word of it ("Yes, in Lisbon."), and the turn before has
them all.  So each match lends a share of its score to its neighbours among the matches.  And where
a question names a time ("in May 2023", 去年五月), what was said then counts for more.  Both are
done with what was read for this recall, never in the index: words of one turn in the postings of
another would outlive an erasure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from muniment.dates import Interval
from muniment.events.event import Event

LENT = 0.3
TIMELY = 0.5
SITTING = timedelta(hours=1)  # what was said further apart is no context of each other


def worth(
    events: Sequence[Event], relevance: Mapping[str, float], asked: Interval | None
) -> dict[str, dict[str, float]]:
    """For each event the named parts of its score: ``relevance``, its own; ``context``, what its
    neighbours lend; ``time``, `TIMELY` of both where it was said in the stretch asked for."""
    context = borrowed(events, relevance)
    out = {}
    for event in events:
        own, lent = relevance[event.id], context[event.id]
        timely = TIMELY * (own + lent) if asked and _within(event.said_at, asked) else 0.0
        parts = {"relevance": own, "context": lent, "time": timely}
        out[str(event.id)] = {name: value for name, value in parts.items() if value}
    return out


def borrowed(events: Sequence[Event], scores: Mapping[str, float]) -> dict[str, float]:
    """For each event `LENT` of the scores of those right before and right after it in its thread,
    where they are among the events too and were said in the same sitting."""
    at = {(e.thread, e.seq): e for e in events}

    def beside(event: Event) -> float:
        pair = (at.get((event.thread, event.seq + step)) for step in (-1, 1))
        near = [e for e in pair if e and abs(e.said_at - event.said_at) <= SITTING]
        return LENT * sum(scores[e.id] for e in near)

    return {e.id: beside(e) for e in events}


def _within(at: datetime, asked: Interval) -> bool:
    """A stretch without a beginning or an end ("since May") is no time something was said at."""
    if asked.start is None or asked.end is None:
        return False
    return asked.start <= at < asked.end
