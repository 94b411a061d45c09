"""Reads off a statement's words what the gate has to know of it, whoever made the candidate."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from muniment.extract.lexicon import concept, concepts, fold, says
from muniment.extract.people import person_in
from muniment.extract.words import Folded
from muniment.gate.candidate import Candidate, Claim, Direction, Flag
from muniment.records.facts import Catalogue, Predicate
from muniment.records.record import ACTING, Durability, Kind, Sensitivity
from muniment.text import language

_FLAGS = {
    Flag.QUESTION: "question",
    Flag.HYPOTHETICAL: "hypothetical",
    Flag.QUOTED: "quoted",
    Flag.HEDGED: "hedge",
    Flag.CONFIG: "agent_config",
    Flag.CONTROLS: "controls",
}
_NEGATED_BEFORE = re.compile(
    r"(?:不要|不能|不得|不准|不许|不允许|禁止|严禁|绝不|别|勿|never|do not|don't|must not|may not"
    r"|cannot|can't|not allowed to)[^,，.。;；]{0,40}$",
    re.IGNORECASE,
)


def annotate(candidate: Candidate, catalogue: Catalogue | None = None) -> Candidate:
    """The candidate with durability, flags, direction, topic, sensitivity, claim and language.

    What the candidate already says in the cautious sense stays: flags are only added, sensitivity
    only rises, a one-off or volatile one stays so.  With a ``catalogue``, what its predicate
    says (expiry, refresh, sensitivity, topic) is filled in.  Idempotent; decides nothing.
    """
    found = notes(candidate, catalogue, fold(candidate.content), person_in(candidate.content))
    return replace(candidate, **found)


def notes(
    c: Candidate, catalogue: Catalogue | None, folded: Folded, person: str | None
) -> dict[str, Any]:
    """The fields that `annotate` sets, for words that are folded and whose person is known."""
    predicate = catalogue.get(c.predicate) if catalogue else None
    subject = person if person and not c.subject.startswith("person:") else c.subject
    topic = c.topic or (predicate.topic if predicate else None) or topic_of(folded, c.kind)
    claim = _claim(c, subject)
    found: dict[str, Any] = {
        "subject": subject,
        "topic": topic,
        "direction": _direction(c.kind, folded, topic),
        "durability": _durability(c, predicate, folded),
        "claim": claim,
        "flags": c.flags | flags_of(folded),
        "language": language(c.content),
        "sensitivity": _sensitivity(c, predicate, subject, claim, folded),
    }
    if predicate is not None:
        found["refresh"] = c.refresh or predicate.refresh
        if c.expires_at is None and predicate.expires is not None:
            found["expires_at"] = c.said_at + predicate.expires
    return found


def flags_of(folded: str) -> frozenset[Flag]:
    """The flags that folded words raise by themselves."""
    return frozenset(flag for flag, name in _FLAGS.items() if says(name, folded))


def topic_of(folded: str, kind: Kind) -> str | None:
    """The high-impact topic of a way of acting; a fact about a topic permits nothing."""
    if kind not in ACTING:
        return None
    return next((name for name, words in concepts("topics").items() if words.search(folded)), None)


def direction_of(folded: str) -> Direction:
    """Whether words allow more or less than before; what is forbidden to skip is not skipped."""
    for hit in concept("loosens").finditer(folded):
        if not _NEGATED_BEFORE.search(folded[max(0, hit.start() - 60) : hit.start()]):
            return Direction.LOOSENS
    return Direction.TIGHTENS if says("tightens", folded) else Direction.NEUTRAL


def _direction(kind: Kind, folded: str, topic: str | None) -> Direction:
    if kind not in ACTING:
        return Direction.NEUTRAL
    found = direction_of(folded)
    if topic is not None:
        # Undecidable on a high-impact topic counts as loosening.
        return Direction.LOOSENS if found is Direction.NEUTRAL else found
    if found is Direction.LOOSENS and not says("controls", folded):
        return Direction.NEUTRAL
    return found


_RANK = list(Sensitivity)


def _durability(candidate: Candidate, predicate: Predicate | None, folded: str) -> Durability:
    if predicate and predicate.volatile and candidate.durability is not Durability.ONE_OFF:
        return Durability.VOLATILE
    if candidate.durability is not Durability.LONG_TERM:
        return candidate.durability
    if says("one_off", folded) and not says("lasting", folded):
        return Durability.ONE_OFF
    return Durability.LONG_TERM


def _claim(candidate: Candidate, subject: str) -> Claim:
    if candidate.claim in (Claim.NOTHING, Claim.RULE):
        return candidate.claim
    if candidate.kind in (Kind.RULE, Kind.SKILL):
        return Claim.RULE
    if candidate.kind is Kind.PREFERENCE or subject.startswith(("user:", "person:")):
        return Claim.USER
    return Claim.WORLD


def _sensitivity(
    c: Candidate, predicate: Predicate | None, subject: str, claim: Claim, folded: str
) -> Sensitivity:
    found = c.sensitivity
    if predicate is not None:
        found = max(found, predicate.sensitivity, key=_RANK.index)
    about_person = subject.startswith(("user:", "person:"))
    if about_person and c.kind is Kind.FACT:
        found = max(found, Sensitivity.PERSONAL, key=_RANK.index)
    if about_person and claim is not Claim.RULE and says("sensitive", folded):
        found = Sensitivity.SENSITIVE
    return found
