"""Puts a candidate together from words that were found to state something."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Any

from muniment import dates
from muniment.events.event import Event, EventKind
from muniment.extract.annotate import notes
from muniment.extract.lexicon import says
from muniment.extract.place import place_of
from muniment.extract.sentences import Piece, without_lead
from muniment.extract.tasks import condition_in
from muniment.extract.triggers import Match
from muniment.gate.candidate import Candidate, Flag, Intent
from muniment.records.condition import Condition
from muniment.records.facts import Catalogue
from muniment.records.record import Kind, Sensitivity

END_MARKS = " \t。.!！?？;；,，、:："
ACTING = (Kind.PREFERENCE, Kind.RULE)
# What makes a request a question by its form only.
_POLITE_END = re.compile(
    r"[,，]?\s*(?:好|可以|行)?(?:吗|嗎)$|,? (?:ok|okay|please)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading one event goes by; ``flags`` are raised on all its candidates."""

    event: Event
    catalogue: Catalogue
    tz: tzinfo = UTC
    flags: frozenset[Flag] = frozenset()

    @property
    def by_user(self) -> bool:
        """Said by the person whose memory it is."""
        return self.event.kind is EventKind.USER


def build(
    words: Piece,
    reading: Reading,
    kind: Kind,
    *,
    match: Match | None = None,
    condition: Condition | None = None,
    intent: Intent = Intent.NEW,
    about_user: bool = False,
    explicit: bool = False,
) -> Candidate:
    """The candidate of these words: what they say, where it applies, and how it reads."""
    event, said = reading.event, _said(words)
    person = said.person
    predicate = match.predicate if match else None
    place = place_of(
        event,
        words.folded,
        kind,
        predicate=predicate,
        person=person,
        condition=condition,
        about_user=about_user,
    )
    candidate = Candidate(
        content=said.text,
        kind=kind,
        subject=place.subject,
        scope=place.scope,
        evidence=(event.id,),
        said_at=event.said_at,
        predicate=predicate.name if predicate else None,
        value=match.value if match else None,
        condition=condition or Condition(),
        namespace=place.namespace,
        intent=intent,
        sensitivity=predicate.sensitivity if predicate else Sensitivity.INTERNAL,
        flags=reading.flags | ({Flag.EXPLICIT} if explicit else frozenset()),
        span=(said.start, said.end),
        wider=place.wider,
        write_reason="explicit" if explicit else "stated",
        **_dated(said, intent, reading),
    )
    return replace(candidate, **notes(candidate, reading.catalogue, said.folded, person))


def _said(words: Piece) -> Piece:
    """The words themselves: without lead, end marks, and what makes a request a question."""
    bare = without_lead(words)
    text = _POLITE_END.sub("", bare.text.rstrip(END_MARKS)).rstrip(END_MARKS)
    return bare.part(0, len(text))


def _dated(said: Piece, intent: Intent, reading: Reading) -> dict[str, Any]:
    """Validity from the words: a change "last week", "from next Monday", "until Friday"."""
    if not says("dated", said.folded):
        return {}
    found = dates.resolve(said.folded, reading.event.said_at, reading.tz)
    if found is None:
        return {}
    if found.relation == "until":
        return {"valid_to": found.end, "expires_at": found.end}
    starts = found.relation == "from" or intent is Intent.CHANGE
    return {"valid_from": found.start} if starts and found.start is not None else {}


def with_words(candidate: Candidate, words: Piece, reservation: Piece) -> Candidate:
    """The same candidate with the reservation that follows it: ", unless I ask for detail"."""
    said = _said(words)
    made = replace(candidate, content=said.text, span=(said.start, said.end))
    when = condition_in(without_lead(reservation)).when
    if candidate.kind not in ACTING or not when:
        return made
    condition = replace(candidate.condition, when=(*candidate.condition.when, *when))
    return replace(made, condition=condition)


def condition_of(
    words: Piece, kind: Kind, reading: Reading, match: Match | None, clause: Piece | None = None
) -> Condition:
    """The condition of a way of acting; facts have none.

    ``clause`` is the one of these words that the match was found in.
    """
    if kind not in ACTING or (match is not None and not match.predicate.conditions):
        return Condition()
    stated = None
    if match is not None and clause is not None:
        at = clause.start - words.start
        stated = (at + match.start, at + match.end)
    found = condition_in(words, subjects=kind is Kind.PREFERENCE, stated=stated)
    # The task of the thread narrows the scope instead, where the attribute may be that narrow.
    own = reading.event.scope.task
    if own in found.tasks and (match is None or "task" in match.predicate.scope):
        found = replace(found, tasks=tuple(t for t in found.tasks if t != own))
    if match is not None and match.stages and not found.stages:
        found = replace(found, stages=match.stages)
    return found


def of_project(folded: str, reading: Reading) -> bool:
    """Whether the words speak of the project, by its name or as "this repository", "we"."""
    project = reading.event.scope.project
    named = project is not None and len(project) > 2 and project.casefold() in folded.casefold()
    return named or says("project", folded)


def intent_of(match: Match | None, folded: str) -> Intent:
    """What the words do to what is known already."""
    if match is not None and match.dropped:
        return Intent.REVOCATION
    if match is not None and match.corrected:
        return Intent.CORRECTION
    for name in ("correction", "change", "supplement"):
        if says(name, folded):
            return Intent(name)
    return Intent.NEW
