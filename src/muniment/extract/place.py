"""Where a statement applies and whom it is about: never wider than its words and its thread."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache

from muniment.events.event import Event
from muniment.extract.lexicon import says
from muniment.extract.tasks import names_task
from muniment.records.condition import Condition
from muniment.records.facts import Predicate
from muniment.records.record import Kind, Namespace
from muniment.scope import Scope

_OWN = (Kind.PREFERENCE, Kind.LESSON)


@dataclass(frozen=True, slots=True)
class Place:
    """Scope, subject and namespace of one candidate, and the wider scope its words would like."""

    scope: Scope
    subject: str
    namespace: str
    wider: Scope | None = None


def place_of(
    event: Event,
    folded: str,
    kind: Kind,
    *,
    predicate: Predicate | None = None,
    person: str | None = None,
    condition: Condition | None = None,
    about_user: bool = False,
) -> Place:
    """The default place by the catalogue (or the kind), narrowed by what the words name."""
    own = person is not None or about_user or kind in _OWN
    named = _named_parts(event, folded, condition)
    parts = set(predicate.scope) if predicate else {"user"} if own else {"project"}
    if "user" in parts:
        parts |= named
        parts -= {"task"} - named
        if says("everywhere", folded):
            parts -= {"project", "workspace", "task"}
    scope = _supported(event.scope, event.user, str(event.thread), frozenset(parts))
    subject = person or _subject(event, predicate, own=own)
    namespace = predicate.namespace if predicate else _namespace(kind, own=own)
    return Place(scope, subject, namespace, _wider(event, folded, parts))


def _named_parts(event: Event, folded: str, condition: Condition | None) -> set[str]:
    scope, named = event.scope, set()
    by_id = scope.project is not None and len(scope.project) > 2 and scope.project in folded
    if scope.project and (by_id or says("project_named", folded)):
        named.add("project")
    # A task named in a condition narrows there already.
    if scope.task and not (condition and condition.tasks) and names_task(scope.task, folded):
        named.add("task")
    return named


@lru_cache(maxsize=1024)
def _supported(scope: Scope, user: str | None, thread: str, parts: Set[str]) -> Scope:
    """Those parts the thread has ids for; without any, the thread itself: never everything."""
    if scope.user is None and user is not None:
        scope = scope.with_parts(user=user)
    if "project" in parts and scope.project is None:
        narrower = "workspace" if scope.workspace else "thread"
        if parts == {"project"}:
            parts = {"user", narrower}
            scope = scope if scope.workspace else scope.with_parts(thread=thread)
    found = scope.only(parts)
    return found if found.key else scope.only({"user", "thread"}).with_parts(thread=thread)


def _wider(event: Event, folded: str, parts: set[str]) -> Scope | None:
    if event.scope.team and "project" in parts and "user" not in parts and says("team", folded):
        return Scope(team=event.scope.team)
    return None


def _subject(event: Event, predicate: Predicate | None, *, own: bool) -> str:
    kind = predicate.subject if predicate else "user" if own else "project"
    scope = event.scope
    if kind in ("user", "person"):
        return f"user:{scope.user or event.user or 'self'}"
    ident = scope.project or scope.workspace or (scope.user and f"of-{scope.user}") or event.thread
    return f"project:{ident}"


def _namespace(kind: Kind, *, own: bool) -> str:
    if kind is Kind.PREFERENCE:
        return Namespace.PREFERENCES
    return Namespace.PROFILE if own and kind is Kind.FACT else Namespace.PROJECT
