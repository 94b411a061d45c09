"""Which events belong together: a tool call, its result, and what was nested between them.

The rule, for events in the order of their thread:

1. An event's call id is ``metadata["call_id"]`` (or ``tool_call_id``, ``tool_use_id``: the words
   of the common model interfaces), a text or a number.  One ``tool_call`` event is one call.
2. Whatever carries the id of a call made before (its result, a second result, a side effect)
   belongs to that call; an id used again by a later call means the later one from then on.
3. A ``tool_result`` without an id answers the latest call without an id, of the same ``name``,
   that has no result yet.
4. A result whose call was never appended stands alone; so does a call without a result.

Groups whose spans overlap (parallel calls) or contain each other (nested calls) make one *block*;
a block begins and ends at the outermost.  A cut between two blocks separates no pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from muniment.events.event import Event, EventKind

CALL_IDS = ("call_id", "tool_call_id", "tool_use_id")


@dataclass(frozen=True, slots=True)
class Block:
    """A run of events no cut may enter: ``events[first:last + 1]``.

    ``outermost`` are the places of the calls and results that no other pair of the block
    contains; equal to the whole run unless something is nested.
    """

    first: int
    last: int
    outermost: tuple[int, ...]

    @property
    def nested(self) -> bool:
        """Whether something lies inside its outermost pairs."""
        return len(self.outermost) < self.last - self.first + 1


def call_id(event: Event) -> str | None:
    """The id of the call an event is or belongs to; ``None`` where it names none."""
    for name in CALL_IDS:
        value = event.metadata.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def groups(events: Sequence[Event]) -> list[tuple[int, ...]]:
    """Places of events that belong together (a call and its results), in order of the calls."""
    found: list[list[int]] = []
    by_id: dict[str, list[int]] = {}
    unanswered: dict[str | None, list[list[int]]] = {}
    for place, event in enumerate(events):
        named = call_id(event)
        if event.kind is EventKind.TOOL_CALL:
            group = [place]
            found.append(group)
            if named is None:
                unanswered.setdefault(event.name, []).append(group)
            else:
                by_id[named] = group
        elif named is not None and named in by_id:
            by_id[named].append(place)
        elif event.kind is EventKind.TOOL_RESULT and named is None and unanswered.get(event.name):
            unanswered[event.name].pop().append(place)
    return [tuple(group) for group in found]


def blocks(events: Sequence[Event]) -> list[Block]:
    """The events as runs that can be cut between and never within, in order."""
    return list(_blocks(len(events), [g for g in groups(events) if len(g) > 1]))


def _blocks(count: int, pairs: Sequence[tuple[int, ...]]) -> Iterator[Block]:
    spans = sorted(pairs)  # by the place of the call; a group's places rise
    at = 0
    for index, span in enumerate(spans):
        if span[0] < at:
            continue  # inside the block before
        yield from (Block(place, place, (place,)) for place in range(at, span[0]))
        last, members = span[-1], [span]
        for other in spans[index + 1 :]:
            if other[0] > last:
                break
            members.append(other)
            last = max(last, other[-1])
        yield Block(span[0], last, _outermost(members))
        at = last + 1
    yield from (Block(place, place, (place,)) for place in range(at, count))


def _outermost(members: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Places of the groups that no other group of the block contains."""
    kept: list[int] = []
    reach = -1
    for group in members:  # ordered by their first place: only an earlier one can contain it
        if group[-1] > reach:
            kept += group
            reach = group[-1]
    return tuple(sorted(kept))
