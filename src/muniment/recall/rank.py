"""Ranking by named parts, and who overrides whom: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from muniment.ids import RecordId
from muniment.recall.envelope import Envelope, envelope_of
from muniment.recall.lexical import Match
from muniment.recall.request import Request, holds
from muniment.recall.weights import ENOUGH, RECORDS
from muniment.records.facts import Catalogue
from muniment.records.record import Kind, Namespace, Record, Sensitivity
from muniment.scope import Principal, Scope
from muniment.text import normalise

STALE_AFTER_DAYS = 365.0
USES_FOR_FULL_CREDIT = 10


def admissible(record: Record, request: Request, principal: Principal, now: datetime) -> bool:
    """Whether a record may be shown at all: standing, time, condition, sensitivity, kind."""
    private = record.sensitivity is Sensitivity.SENSITIVE
    return (
        record.current_at(now)
        and record.namespace.split("/")[0] != Namespace.POLICY
        and _about_asked(record.subject, request)
        and record.content is not None
        and (not request.kinds or record.kind in request.kinds)
        and (not private or record.scope.user == principal.user is not None)
        and holds(record.condition, request)
    )


def _about_asked(subject: str, request: Request) -> bool:
    """What is about another person answers only a request that names that person."""
    if not subject.startswith("person:"):
        return True
    name = normalise(subject.removeprefix("person:"))
    return any(name in normalise(text) for text in (request.text, *request.entities))


def loads(record: Record, request: Request, catalogue: Catalogue) -> bool:
    """Rules always; preferences where their facet is the task's."""
    if record.kind is Kind.RULE:
        return True
    return record.kind is Kind.PREFERENCE and _facet(record, catalogue) in request.facets


def relevant(record: Record, match: Match | None, request: Request, catalogue: Catalogue) -> bool:
    """Whether its words answer the request well enough to compete."""
    if match is None:
        return False
    if record.kind is not Kind.PREFERENCE or not request.facets:
        return True
    facet = _facet(record, catalogue)
    return facet is None or facet in request.facets or match.coverage >= ENOUGH["coverage"]


def _facet(record: Record, catalogue: Catalogue) -> str | None:
    predicate = catalogue.get(record.predicate)
    return predicate.facet if predicate else None


def parts_of(
    record: Record,
    match: Match | None,
    request: Request,
    now: datetime,
    *,
    loaded: bool,
    cited: int,
) -> dict[str, float]:
    """The named parts of a record's score."""
    age_days = max((now - record.said_at).total_seconds() / 86_400, 0.0)
    staged = request.stage is not None and request.stage in record.condition.stages
    raw = {
        "relevance": match.score if match else 0.0,
        "meaning": match.meaning if match else 0.0,
        "scope": float(len(list(record.scope.parts()))),
        "trust": float(record.origin.trust),
        "stage": float(staged),
        "use": min(cited / USES_FOR_FULL_CREDIT, 1.0),
        "rule": float(loaded and record.kind is Kind.RULE),
        "preference": float(loaded and record.kind is Kind.PREFERENCE),
        "exception": float(record.exception_of is not None or bool(record.condition.entities)),
        "staleness": min(age_days / STALE_AFTER_DAYS, 1.0),
        "unsure": float(not record.sure),
    }
    parts = {name: round(RECORDS[name] * value, 6) for name, value in raw.items()}
    return {name: part for name, part in parts.items() if part}


def rank(
    records: Sequence[Record],
    matches: Mapping[str, Match],
    request: Request,
    catalogue: Catalogue,
    now: datetime,
    cited: Mapping[RecordId, int],
) -> list[Envelope]:
    """Every record that is loaded or relevant, best first, overrides marked."""
    out = []
    for record in records:
        match = matches.get(record.id)
        loaded = loads(record, request, catalogue)
        if not loaded and not relevant(record, match, request, catalogue):
            continue
        parts = parts_of(record, match, request, now, loaded=loaded, cited=cited.get(record.id, 0))
        out.append(envelope_of(record, parts, now, loaded=loaded))
    out.sort(key=lambda e: (-e.score, e.id))
    return _mark_conflicts(_mark_overridden(out), catalogue)


def _mark_overridden(envelopes: list[Envelope]) -> list[Envelope]:
    """A holding exception leads; its general rule follows, marked."""
    exceptions = {e.exception_of: e.id for e in envelopes if e.exception_of is not None}
    marked = [
        replace(e, overridden_by=exceptions[e.id]) if e.id in exceptions else e for e in envelopes
    ]
    lead = [e for e in marked if e.id in set(exceptions.values())]
    rest = [e for e in marked if e.id not in set(exceptions.values())]
    return sorted(lead, key=lambda e: (-e.score, e.id)) + rest


def _mark_conflicts(envelopes: list[Envelope], catalogue: Catalogue) -> list[Envelope]:
    """Two values of one single-valued fact: the narrower leads and the wider is marked as
    overridden; where neither scope is narrower both stay and say so."""
    out = {e.id: e for e in envelopes}
    for a, b in _rival_pairs(envelopes, catalogue):
        narrow, wide = _narrower(a, b)
        if narrow is None or wide is None:
            for one, other in ((a, b), (b, a)):
                others = (*out[one.id].conflicts_with, other.id)
                out[one.id] = replace(out[one.id], conflicts_with=others)
        elif out[wide.id].overridden_by is None:
            out[wide.id] = replace(out[wide.id], overridden_by=narrow.id)
    return sorted(out.values(), key=lambda e: e.overridden_by is not None)


def _rival_pairs(
    envelopes: Sequence[Envelope], catalogue: Catalogue
) -> Iterator[tuple[Envelope, Envelope]]:
    by_predicate: dict[str, list[Envelope]] = {}
    for e in envelopes:
        if e.predicate is not None:
            by_predicate.setdefault(e.predicate, []).append(e)
    for group in by_predicate.values():
        for a, b in combinations(group, 2):
            if _rivals(a, b, catalogue):
                yield a, b


def _rivals(a: Envelope, b: Envelope, catalogue: Catalogue) -> bool:
    predicate = catalogue.get(a.predicate)
    if predicate is None or not predicate.single or a.predicate != b.predicate:
        return False
    if a.condition.get("when") != b.condition.get("when"):
        return False  # whether "when I am tired" holds cannot be told here
    return _same_matter(a.subject, b.subject) and predicate.canonical(
        a.value
    ) != predicate.canonical(b.value)


def _same_matter(a: str, b: str) -> bool:
    """Of one subject, or one person's wish beside a project's fact; never two people."""
    kinds = {a.split(":")[0], b.split(":")[0]}
    return a == b or (len(kinds) == 2 and "person" not in kinds)


def _narrower(a: Envelope, b: Envelope) -> tuple[Envelope | None, Envelope | None]:
    """(narrower, wider) by scope, then by a condition that holds; nothing if neither."""
    first, second = Scope.of(a.scope), Scope.of(b.scope)
    if first.narrower_than(second) or (first == second and a.condition and not b.condition):
        return a, b
    if second.narrower_than(first) or (first == second and b.condition and not a.condition):
        return b, a
    return None, None
