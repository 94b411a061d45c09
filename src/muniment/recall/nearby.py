"""What a turn of the archive is worth: its words, its meaning, and what stands around it; pure.

A turn often answers a question without a word of it ("Yes, in Lisbon."), and the turn before has
them all.  So each match lends a share of its score to its neighbours among the matches, and a
sitting or thread in which a turn answers well lends to all its matches.  Where a question names a
time ("in May 2023", 去年五月), what was said then counts for more; and what the assistant said for
less, for it is no evidence of anything but itself, unless the question is about just that.

All is done with what was read for this recall, never in the index: words of one turn in the
postings or vectors of another would outlive an erasure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from muniment.dates import Interval
from muniment.events.event import Event, EventKind
from muniment.recall.weights import TURNS, TurnWeights

SITTING = timedelta(hours=1)  # what was said further apart is no context of each other

_SPOKE = "say|tell|suggest|recommend|advise|mention|explain|propose|give|provide|list|write|answer"
_SPOKEN = (
    "said|told|suggested|recommended|advised|mentioned|explained|proposed|gave|given|provided|"
    "listed|wrote|written|answered"
)
_OF_ASSISTANT = re.compile(
    rf"\bdid you (?:\w+ )?(?:{_SPOKE})\b"
    rf"|\byou(?: had| have|'d|'ve)?(?: \w+)? (?:{_SPOKEN})\b"
    r"|\byour (?:\w+ )?(?:advice|suggestion|recommendation|answer|explanation|reply)s?\b"
    r"|(?<![跟对和向给诉])你(?:之前|上次|当时|刚才|曾经|已经)?(?:给我|跟我|对我|向我)?"
    r"(?:说过|提过|提到|建议过|推荐过|告诉过|讲过|列过|列出|给出|回答过|解释过)"
    r"|你(?:之前|上次|当时|刚才)(?:给我|跟我|对我|向我)?(?:说|提|建议|推荐|告诉|讲|列|写|回答|解释)"
    r"|你的(?:建议|推荐|回答|解释)",
    re.IGNORECASE,
)


def asks_assistant(question: str) -> bool:
    """Whether a question is about what the assistant said."""
    return _OF_ASSISTANT.search(question) is not None


def worth(
    events: Sequence[Event],
    words: Mapping[str, float],
    meaning: Mapping[str, float],
    *,
    asked: Interval | None = None,
    assistant: bool = False,
    weights: TurnWeights = TURNS,
) -> dict[str, dict[str, float]]:
    """For each event the named parts of its score.

    ``relevance`` of its words and ``meaning`` are its own; ``assistant`` is what is taken from
    both where it is the assistant's and that is not asked about; ``context`` is what its
    neighbours lend, ``sitting`` and ``thread`` what those of the same do; ``time`` is added where
    it was said in the stretch asked for.
    """
    own = {str(e.id): _own(e, words, meaning, assistant, weights) for e in events}
    score = {i: sum(parts.values(), 0.0) for i, parts in own.items()}
    context = borrowed(events, score, weights)
    sitting = _best(_sittings(events), score, 1)
    thread = _best(_threads(events), score, weights.thread_best)
    out: dict[str, dict[str, float]] = {}
    for event in events:
        parts = own[event.id] | {
            "context": context[event.id],
            "sitting": weights.sitting * sitting[event.id],
            "thread": weights.thread * thread[event.id],
        }
        if asked and _within(event.said_at, asked):
            parts["time"] = weights.time * sum(parts.values())
        out[str(event.id)] = {name: value for name, value in parts.items() if value}
    return out


def _own(
    event: Event,
    words: Mapping[str, float],
    meaning: Mapping[str, float],
    assistant: bool,
    weights: TurnWeights,
) -> dict[str, float]:
    parts = {
        "relevance": words.get(event.id, 0.0),
        "meaning": weights.meaning * meaning.get(event.id, 0.0),
    }
    if event.kind is EventKind.ASSISTANT and not assistant:
        parts["assistant"] = (weights.assistant - 1) * sum(parts.values())
    return parts


def borrowed(
    events: Sequence[Event], scores: Mapping[str, float], weights: TurnWeights = TURNS
) -> dict[str, float]:
    """For each event shares of the scores of those one and two places before and after it in its
    thread, where they are among the events too and were said in the same sitting."""
    at = {(e.thread, e.seq): e for e in events}

    def beside(event: Event, steps: int) -> float:
        pair = (at.get((event.thread, event.seq + step)) for step in (-steps, steps))
        near = [e for e in pair if e and abs(e.said_at - event.said_at) <= SITTING]
        return sum(scores[e.id] for e in near)

    one, two = weights.beside
    return {
        e.id: one * beside(e, 1)
        + two * min(weights.short_chars / max(len(e.text or ""), 1), 1.0) * beside(e, 2)
        for e in events
    }


def _sittings(events: Sequence[Event]) -> list[list[Event]]:
    """Turns of a thread between which no longer pause lies."""
    out: list[list[Event]] = []
    for turns in _threads(events):
        out.append(turns[:1])
        for before, event in pairwise(turns):
            if abs(event.said_at - before.said_at) > SITTING:
                out.append([])
            out[-1].append(event)
    return out


def _threads(events: Sequence[Event]) -> list[list[Event]]:
    found = defaultdict[str, list[Event]](list)
    for event in sorted(events, key=lambda e: e.seq):
        found[event.thread].append(event)
    return list(found.values())


def _best(
    groups: Sequence[Sequence[Event]], scores: Mapping[str, float], most: int
) -> dict[str, float]:
    """For each event the sum of the ``most`` best scores in its group."""
    out: dict[str, float] = {}
    for group in groups:
        total = sum(sorted((scores[e.id] for e in group), reverse=True)[:most])
        out |= dict.fromkeys((str(e.id) for e in group), total)
    return out


def _within(at: datetime, asked: Interval) -> bool:
    """A stretch without a beginning or an end ("since May") is no time something was said at."""
    if asked.start is None or asked.end is None:
        return False
    return asked.start <= at < asked.end
