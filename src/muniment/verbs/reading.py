"""Recall, context, list, show, history, why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from muniment.context.compose import Context, compose
from muniment.dates import resolve
from muniment.errors import InvalidInput, Unavailable
from muniment.extract.reading import read_task
from muniment.gate.unit import Unit
from muniment.ids import RecordId
from muniment.recall import recall as recalling
from muniment.recall.envelope import Recalled
from muniment.recall.request import Request
from muniment.records.record import Kind, Namespace, Origin, Record, Status
from muniment.records.table import Filter
from muniment.scope import Channel, Principal, Scope, applicable_keys, permits, place_of_use
from muniment.text import check_id, check_text, language
from muniment.verbs.parts import Parts, switches_of

TEXT_BYTES_MAX = 100 * 1024
LIMIT_MAX = 1000
BUDGET_TOKENS_MAX = 200_000


def request_of(
    parts: Parts,
    principal: Principal,
    text: str,
    *,
    scope: object = None,
    stage: object = None,
    entities: object = (),
    paths: object = (),
    kinds: object = (),
    layers: object = ("records",),
    limit: object = 8,
    neighbours: object = 1,
) -> Request:
    """A checked request, its words read for facets, prohibitions and values."""
    words = "" if text == "" else check_text(text, name="text", max_bytes=TEXT_BYTES_MAX)
    place = place_of_use(principal, Scope.of(scope))
    named = None if stage is None else check_id(stage, name="stage")
    reading = read_task(words, parts.policy.catalogue, named)
    wanted = _words(layers, "layers")
    if set(wanted) - {"records", "archive"} or not wanted:
        raise InvalidInput("layers.invalid", "layers: records, archive or both")
    return Request(
        text=words,
        place=place,
        stage=named,
        entities=_words(entities, "entities"),
        paths=_words(paths, "paths"),
        tasks=frozenset(reading.tasks),
        kinds=_kinds(kinds),
        facets=frozenset(reading.facets),
        limit=count(limit, "limit", 1, LIMIT_MAX),
        archive="archive" in wanted,
        records="records" in wanted,
        neighbours=count(neighbours, "neighbours", 0, 20),
        said=resolve(words, parts.now(), parts.tz) if "archive" in wanted else None,
        forbids=tuple(reading.forbids),
        uses=dict(reading.uses),
    )


def _words(value: object, name: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > 100:
        raise InvalidInput(f"{name}.invalid", f"{name}: a list of at most 100 words")
    return tuple(check_text(v, name=name, max_bytes=1024) for v in value)


def _kinds(value: object) -> frozenset[Kind]:
    try:
        return frozenset(Kind(k) for k in _words(value, "kinds"))
    except ValueError:
        raise InvalidInput("kind.invalid", f"kinds: use {', '.join(Kind)}") from None


def count(value: object, name: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInput(f"{name}.invalid", f"{name}: a whole number from {low} to {high}")
    return value


def recall(parts: Parts, principal: Principal, request: Request) -> Recalled:
    """The read.  Switched off, an unreachable store or an unwritable audit lane give no memory
    and say so in ``degraded``; a wrong call still raises."""
    if parts.memory_off:
        return Recalled((), ("memory_off",))

    def work(unit: Unit) -> Recalled:
        if switches_of(unit, principal).pause_recall:
            return Recalled((), ("recall_paused",))
        return recalling.recall(
            unit,
            parts.index,
            principal,
            request,
            catalogue=parts.policy.catalogue,
            fresh=parts.fresh,
            now=parts.now(),
            asked=asked,
        )

    try:
        missing = parts.ready(principal.tenant)
        # Before the snapshot: no model is called inside a transaction.
        asked, unmeant = parts.asked(principal.tenant, request.text)
        missing = (*missing, *unmeant)
        found = parts.read(principal, work)
        if "index_lag" in found.degraded:
            parts.catch_up(principal.tenant)
            found = parts.read(principal, work)
        found = replace(found, degraded=tuple(dict.fromkeys((*missing, *found.degraded))))
    except Unavailable as error:
        if parts.store.closed:
            raise
        return Recalled((), (error.code,))
    if not parts.audit_read(principal, "recall", [e.id for e in found.envelopes]):
        return Recalled((), ("audit_unavailable",))
    return found


def context(
    parts: Parts,
    principal: Principal,
    request: Request,
    *,
    budget_tokens: object,
    window: object,
    tongue: str | None,
) -> Context:
    """Recall, then compose: the fenced block within the budget, and its report."""
    if tongue is not None and tongue not in ("en", "zh"):
        raise InvalidInput("language.invalid", "language: en or zh")
    budget = count(budget_tokens, "budget_tokens", 0, BUDGET_TOKENS_MAX)
    seen = _window(window)
    found = recall(parts, principal, request)
    policy, degraded = _policy(parts, principal, request)
    return compose(
        found.envelopes,
        request,
        language=tongue or ("zh" if language(request.text) == "zh" else "en"),
        budget_tokens=budget,
        window=seen,
        catalogue=parts.policy.catalogue,
        degraded=(*found.degraded, *degraded),
        policy=policy,
    )


def _window(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput("window.invalid", "window: the texts already in the window, as a list")
    return tuple(check_text(v, name="window", max_bytes=1024 * 1024) for v in value if v)


def _policy(
    parts: Parts, principal: Principal, request: Request
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Rules of the organisation, apart from memory: they go to the system prompt."""

    def work(unit: Unit) -> tuple[str, ...]:
        keys = applicable_keys(principal, request.place)
        found = unit.records.find(Filter(scope_keys=keys, statuses=[Status.ACTIVE]))
        now = parts.now()
        return tuple(r.content for r in found if _is_policy(r) and r.current_at(now) and r.content)

    try:
        return parts.read(principal, work), ()
    except Unavailable as error:
        return (), (error.code,)


def _is_policy(record: Record) -> bool:
    """Set by an administrator, and in the namespace only administrators write."""
    first = record.namespace.split("/")[0]
    return first == Namespace.POLICY and record.origin is Origin.ADMIN_POLICY


def list_records(
    parts: Parts, principal: Principal, *, where: Mapping[str, Any], limit: object, after: object
) -> list[Record]:
    """Records the principal may know of, by exact conditions, oldest first, each with the status
    it has now."""
    most = count(limit, "limit", 1, LIMIT_MAX)
    if not isinstance(where, Mapping) or any(v is None for v in where.values()):
        raise InvalidInput("where.invalid", "where: a mapping of exact values, none of them null")
    condition = _filter(where, None if after is None else check_id(after, name="after"))
    found = parts.read(principal, lambda u: _page(parts, u, principal, condition, where, most))
    audited(parts, principal, "list", [r.id for r in found])
    return found


def _page(
    parts: Parts,
    unit: Unit,
    principal: Principal,
    condition: Filter,
    where: Mapping[str, Any],
    most: int,
) -> list[Record]:
    admin = principal.channel is Channel.ADMIN
    scopes = [s for s in unit.scopes() if admin or permits(principal, s)]
    for name, value in _scope_parts(where).items():
        scopes = [s for s in scopes if getattr(s, name) == value]
    wanted = condition.statuses or [s for s in Status if s not in _GONE]
    stored = {s for w in wanted for s in (w, *_BECOMES.get(w, ()))}
    condition = replace(
        condition, scope_keys=[s.key for s in scopes], statuses=sorted(stored), limit=most
    )
    now = parts.now()
    out: list[Record] = []
    while len(out) < most:
        rows = unit.records.find(condition)
        shown = [replace(r, status=r.status_at(now)) for r in rows]
        out += [r for r in shown if r.status in wanted]
        if len(rows) < most:
            break
        condition = replace(condition, after=rows[-1].id)
    evidence = {r.id: r.evidence for r in unit.records.get(r.id for r in out[:most])}
    return [replace(r, evidence=evidence[r.id]) for r in out[:most]]


_GONE = (Status.DELETED, Status.ERASED)
#: Stored statuses from which the clock alone leads to one.
_BECOMES = {
    Status.ACTIVE: (Status.SCHEDULED,),
    Status.EXPIRED: (Status.ACTIVE, Status.SCHEDULED),
    Status.SUPERSEDED: (Status.ACTIVE,),
}
_WHERE = ("status", "kind", "predicate", "subject", "tag", "muted")


def _scope_parts(where: Mapping[str, Any]) -> dict[str, str]:
    return Scope.of({k: v for k, v in where.items() if k not in _WHERE}, name="where").to_dict()


def _filter(where: Mapping[str, Any], after: str | None) -> Filter:
    try:
        status, kind = where.get("status"), where.get("kind")
        return Filter(
            statuses=None if status is None else [Status(status)],
            kinds=None if kind is None else [Kind(kind)],
            predicate=_exact(where, "predicate"),
            subject=_exact(where, "subject"),
            tag=_exact(where, "tag"),
            muted=_flag(where.get("muted")),
            after=None if after is None else RecordId(after),
        )
    except (ValueError, TypeError):
        raise InvalidInput("where.invalid", "where: status and kind are closed words") from None


def _exact(where: Mapping[str, Any], name: str) -> str | None:
    value = where.get(name)
    return None if value is None else check_text(value, name=name, max_bytes=1024)


def _flag(value: object) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise InvalidInput("where.invalid", "where.muted: true or false")
    return value


def audited(parts: Parts, principal: Principal, verb: str, ids: Sequence[str]) -> None:
    if not parts.audit_read(principal, verb, ids):
        raise Unavailable("audit.unavailable", "the read could not be audited; nothing is shown")
