"""The read: authorise → applicable keys → candidates → rank → verify again → envelopes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from muniment.events.event import Event
from muniment.gate.unit import Unit
from muniment.ids import EventId, RecordId, ThreadId
from muniment.recall.envelope import Envelope, Recalled
from muniment.recall.index import Doc, Index, Layer, owner_partition
from muniment.recall.lexical import Match, search
from muniment.recall.nearby import asks_assistant, worth
from muniment.recall.rank import admissible, rank
from muniment.recall.request import Request
from muniment.recall.weights import ENOUGH, RECORDS
from muniment.records.facts import Catalogue
from muniment.records.record import Kind, Record, Status
from muniment.records.table import Filter
from muniment.scope import Principal, applicable_keys, permits
from muniment.text import query_tokens

if TYPE_CHECKING:  # numpy is only there where an embedder is
    from muniment.recall.dense import Asked

MATCHES_PER_RESULT = 8  # lexical matches considered for each result asked for
MATCHES_MIN = 64
READ_BACK_PER_RESULT = 3  # records read at a time for each result asked for
TURNS_PER_RESULT = 4  # turns read for each result asked for
TURNS_MIN = 200  # and at least: up to a quarter of it, a longer list begins with a shorter one
SHOWN_PER_RESULT = 2  # records that may be shown, for each result, before ranking picks

_CURRENT = (Status.ACTIVE, Status.SCHEDULED)
Fresh = Callable[[Unit], tuple[Mapping[str, Doc | None], tuple[str, ...]]]


@dataclass(slots=True)
class _Search:
    """One recall's searches of the index, by words and by meaning, and what they lacked."""

    index: Index
    unit: Unit
    terms: Sequence[str]
    asked: Asked | None
    waiting: Mapping[str, Doc | None]
    degraded: tuple[str, ...]

    def words(self, layer: Layer, partitions: Sequence[str], most: int) -> list[Match]:
        """By words; an index that is down is said so, never an empty result."""
        try:
            return search(self.index, self.unit, layer, partitions, self.waiting, self.terms, most)
        except Exception:
            self._lacked("index_unavailable")
            return []

    def meaning(
        self, layer: Layer, partitions: Sequence[str], most: int, also: Iterable[str]
    ) -> dict[str, float]:
        """By meaning, of what the index has seen; nothing where nobody asked."""
        if self.asked is None or not partitions:
            return {}
        from muniment.recall.dense import similar

        try:
            return similar(
                *(self.index, self.unit, layer, partitions, self.asked),
                also=also,
                skipped=self.waiting.keys(),
                most=most,
            )
        except Exception:
            self._lacked("index_unavailable")
            return {}

    def _lacked(self, what: str) -> None:
        self.degraded = tuple(dict.fromkeys((*self.degraded, what)))


def recall(
    unit: Unit,
    index: Index,
    principal: Principal,
    request: Request,
    *,
    catalogue: Catalogue,
    fresh: Fresh,
    now: datetime,
    asked: Asked | None = None,
) -> Recalled:
    """Everything that applies and answers, best first; nothing is read beyond the permitted.

    Every hit of the index is read again from the truth in this snapshot before it is returned.
    ``asked`` is the question's vector, made before this snapshot was taken.
    """
    keys = applicable_keys(principal, request.place)
    waiting, degraded = fresh(unit)
    looking = _Search(index, unit, query_tokens(request.text), asked, waiting, degraded)
    if not request.records:
        turns = _turns(looking, principal, request)
        return Recalled(tuple(turns), looking.degraded)
    matches = _matches(looking, keys, max(MATCHES_MIN, MATCHES_PER_RESULT * request.limit))
    applicable = frozenset(keys)

    def may_show(record: Record) -> bool:
        return verified(record, principal, applicable) and admissible(
            record, request, principal, now
        )

    loaded = _loaded(unit, keys, request, catalogue)
    have = {r.id for r in loaded}
    wanted = [RecordId(i) for i in matches if i not in have]
    read, enough = _read_back(unit, wanted, request.limit, may_show)
    shown = [r for r in loaded if may_show(r)] + enough
    shown += _generals(unit, shown, principal, applicable, request, now)
    cited = unit.ledger.use_counts(r.id for r in shown)
    ranked = rank(shown, matches, request, catalogue, now, cited)
    envelopes = _cut(ranked, request.limit)
    if request.archive:
        envelopes += _turns(looking, principal, request)
    return Recalled(tuple(envelopes), looking.degraded, considered=len(loaded) + read)


def _matches(looking: _Search, keys: Sequence[str], most: int) -> dict[str, Match]:
    """Records that answer by their words, or by their meaning well enough; the best first."""
    found = {m.id: m for m in looking.words(Layer.RECORD, keys, most)}
    meaning = looking.meaning(Layer.RECORD, keys, most, found)
    floor = max(ENOUGH["meaning"], max(meaning.values(), default=0.0) - ENOUGH["apart"])
    for record, near in meaning.items():
        if record in found or near >= floor:
            found[record] = replace(found.get(record, Match(record, 0.0, 0.0)), meaning=near)

    def weight(match: Match) -> float:
        return RECORDS["relevance"] * match.score + RECORDS["meaning"] * match.meaning

    if not meaning:
        return found
    ordered = sorted(found.values(), key=lambda m: (-round(weight(m), 12), m.id))
    return {m.id: m for m in ordered[:most]}


def _read_back(
    unit: Unit, ids: Sequence[RecordId], limit: int, may_show: Callable[[Record], bool]
) -> tuple[int, list[Record]]:
    """The best matches from the truth, a few at a time until enough of them may be shown; how
    many were read, and those."""
    step, read, shown = limit * READ_BACK_PER_RESULT, 0, list[Record]()
    while read < len(ids) and len(shown) < limit * SHOWN_PER_RESULT:
        part = ids[read : read + step]
        shown += [r for r in unit.records.find(Filter(ids=part)) if may_show(r)]
        read += len(part)
    return read, shown


def _loaded(
    unit: Unit, keys: Sequence[str], request: Request, catalogue: Catalogue
) -> list[Record]:
    """Every rule, and the preferences whose facet is the task's: loaded, never searched for."""
    rules = Filter(scope_keys=keys, statuses=_CURRENT, kinds=[Kind.RULE], muted=False)
    found = unit.records.find(rules)
    fitting = [p.name for p in catalogue if p.facet in request.facets]
    if fitting:
        wishes = replace(rules, kinds=[Kind.PREFERENCE], predicates=fitting)
        found += unit.records.find(wishes)
    return found


def verified(record: Record, principal: Principal, keys: frozenset[str]) -> bool:
    """Access once more, on the record itself."""
    return record.scope.key in keys and permits(principal, record.scope)


def _generals(
    unit: Unit,
    shown: Sequence[Record],
    principal: Principal,
    keys: frozenset[str],
    request: Request,
    now: datetime,
) -> list[Record]:
    """The general rule is shown beside an exception that holds, whatever else found it."""
    have = {r.id for r in shown}
    wanted = [r.exception_of for r in shown if r.exception_of and r.exception_of not in have]
    return [
        r
        for r in unit.records.get(dict.fromkeys(wanted))
        if verified(r, principal, keys) and admissible(r, request, principal, now)
    ]


def _cut(envelopes: list[Envelope], limit: int) -> list[Envelope]:
    """The first ``limit``, but a rule that applies is never dropped here."""
    kept = envelopes[:limit]
    return kept + [e for e in envelopes[limit:] if e.loaded and e.kind == Kind.RULE]


def _turns(looking: _Search, principal: Principal, request: Request) -> list[Envelope]:
    """The archive: turns of the principal's own threads, each with its address."""
    unit, mine = looking.unit, [owner_partition(principal.user)]
    most = max(TURNS_MIN, TURNS_PER_RESULT * request.limit)
    words = {m.id: m.score for m in looking.words(Layer.TURN, mine, most)}
    near = looking.meaning(Layer.TURN, mine, most, words)
    meaning = {i: m for i, m in near.items() if i in words or m >= ENOUGH["turn"]}
    found = dict.fromkeys((*words, *meaning))
    events = _readable(unit, list(unit.events.get(map(EventId, found))), principal)
    about = asks_assistant(request.text)
    parts = worth(events, words, meaning, asked=request.said, assistant=about)
    score = {i: round(sum(p.values()), 12) for i, p in parts.items()}
    # Ids differ from store to store; of turns alike the one said first is first in every store.
    ranked = sorted(events, key=lambda e: (-score[e.id], e.said_at, e.seq, e.id))
    out = []
    for event in ranked[: request.limit]:
        envelope = turn_envelope(event, parts[event.id])
        if request.neighbours:
            envelope = replace(envelope, neighbours=_neighbours(unit, event, request.neighbours))
        out.append(envelope)
    return out


def _readable(unit: Unit, events: Sequence[Event], principal: Principal) -> list[Event]:
    """Those the principal may read, erased ones left out; a thread is asked about once."""
    threads = {t: _may_read(unit, t, principal) for t in {e.thread for e in events}}
    return [e for e in events if threads[e.thread] and not e.erased]


def readable(unit: Unit, event: Event, principal: Principal) -> bool:
    """Whether the principal may read an event: it takes access to its thread."""
    return _may_read(unit, event.thread, principal)


def _may_read(unit: Unit, thread_id: ThreadId, principal: Principal) -> bool:
    thread = unit.events.thread(thread_id)
    if thread is None or thread.deleted_at or not permits(principal, thread.scope):
        return False
    return thread.owner == principal.user


def _neighbours(unit: Unit, event: Event, span: int) -> tuple[Mapping[str, object], ...]:
    return tuple(
        {"id": e.id, "by": e.kind.value, "speaker": e.speaker, "text": e.text, "seq": e.seq}
        for e in unit.events.around(event, span, span)
        if e.id != event.id and not e.erased
    )


def turn_envelope(event: Event, parts: Mapping[str, float]) -> Envelope:
    """A turn as its reader gets it; never loaded, never injected unless asked for."""
    return Envelope(
        id=event.id,
        kind="turn",
        layer="archive",
        content=event.text or "",
        origin=event.kind.value,
        said_at=event.said_at,
        source={"thread": event.thread, "seq": event.seq, "speaker": event.speaker},
        scope=event.scope.to_dict(),
        score=round(sum(parts.values()), 6),
        parts={k: round(v, 6) for k, v in parts.items()},
        sure=event.attested,
    )
