"""What is asked: the task, not the last message."""

from __future__ import annotations

from dataclasses import dataclass, field

from muniment.dates import Interval
from muniment.records.condition import Condition
from muniment.records.record import Kind
from muniment.scope import Scope
from muniment.text import normalise


@dataclass(frozen=True, slots=True)
class Request:
    """A task with its place.  ``facets``, ``tasks``, ``forbids``, ``uses`` and, for the archive,
    ``said`` (the time it names) come from reading its words."""

    text: str
    place: Scope
    stage: str | None = None
    entities: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tasks: frozenset[str] = frozenset()
    kinds: frozenset[Kind] = frozenset()
    facets: frozenset[str] = frozenset()
    limit: int = 8
    records: bool = True
    archive: bool = False
    neighbours: int = 0
    said: Interval | None = None
    forbids: tuple[str, ...] = ()
    uses: dict[str, object] = field(default_factory=dict)


def holds(condition: Condition, request: Request) -> bool:
    """Whether a record's condition holds for the task.

    Entities and paths hold when the request names them, or its words do; a task type when it is
    the place's or the words'; a stage when it is the request's or the request names none.
    """
    return (
        _named(condition.entities, request.entities, request.text)
        and _named(condition.paths, request.paths, request.text)
        and _task(condition.tasks, request)
        and (not condition.stages or request.stage is None or request.stage in condition.stages)
    )


def _named(terms: tuple[str, ...], given: tuple[str, ...], text: str) -> bool:
    if not terms:
        return True
    words = [normalise(g) for g in given]
    haystack = normalise(text)
    return any(
        t in haystack or any(t == w or (w and (t in w or w in t)) for w in words)
        for t in map(normalise, terms)
    )


def _task(tasks: tuple[str, ...], request: Request) -> bool:
    return not tasks or request.place.task in tasks or bool(request.tasks & set(tasks))
