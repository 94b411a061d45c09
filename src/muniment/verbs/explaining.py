"""Show, history, why, profile: what is known, since when, and from where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from muniment.clock import as_utc
from muniment.erase.verbs import may_change, visible
from muniment.errors import InvalidInput
from muniment.events.event import Event
from muniment.gate.reasons import explain
from muniment.gate.unit import Unit
from muniment.recall import recall as recalling
from muniment.records import history as histories
from muniment.records.record import Record, Status
from muniment.records.table import Filter
from muniment.scope import Principal, permits
from muniment.text import check_id
from muniment.verbs.appending import own_event
from muniment.verbs.parts import Parts
from muniment.verbs.reading import audited


def show(parts: Parts, principal: Principal, what: str) -> Record | Event:
    """A record, or an event of one's own thread, by id."""
    name = check_id(what, name="id")
    if name.startswith("evt_"):
        found: Record | Event = parts.read(principal, lambda u: own_event(u, principal, name))
    else:
        record = parts.read(principal, lambda u: visible(u, principal, name))
        found = replace(record, status=record.status_at(parts.now()))
    audited(parts, principal, "show", [name])
    return found


def history(
    parts: Parts, principal: Principal, record: str, *, as_of: object, believed_at: object
) -> histories.History:
    """What held at ``as_of``, as believed at ``believed_at``; both default to now, ``as_of``
    to ``believed_at``."""
    now = parts.now()
    belief = now if believed_at is None else as_utc(believed_at, name="believed_at")
    when = belief if as_of is None else as_utc(as_of, name="as_of")

    def work(unit: Unit) -> histories.History:
        asked = visible(unit, principal, record)
        hidden = (Status.DELETED, Status.ERASED)
        family = [asked]
        if asked.predicate is not None:
            found = unit.records.find(
                Filter(
                    scope_keys=[asked.scope.key],
                    subject=asked.subject,
                    predicate=asked.predicate,
                    condition_key=asked.condition.key,
                )
            )
            family = [r for r in found if r.status not in hidden]
        ids = [r.id for r in family]
        versions = [v for i in ids for v in unit.records.versions(i)]
        return histories.answer(
            asked,
            family,
            unit.records.transitions(ids),
            versions,
            as_of=when,
            believed_at=belief,
        )

    answer = parts.read(principal, work)
    audited(parts, principal, "history", [record])
    return answer


@dataclass(frozen=True, slots=True)
class Why:
    """From a record back to the very words, and what its reader can do about it."""

    record: Record
    quotes: tuple[Mapping[str, Any], ...]
    decisions: tuple[Mapping[str, Any], ...]
    superseded: str | None
    actions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "record": self.record.id,
            "content": self.record.content,
            "origin": self.record.origin.value,
            "quotes": [dict(q) for q in self.quotes],
            "decisions": [dict(d) for d in self.decisions],
            "supersedes": self.superseded,
            "actions": list(self.actions),
        }


def why(parts: Parts, principal: Principal, record: str, *, tongue: str) -> Why:
    """Why a record is believed: its evidence, the decisions on it with their reasons in words.

    A reader of a record sees the quoted span, its time and origin; the whole event only with
    access to its thread.
    """

    def work(unit: Unit) -> Why:
        found = visible(unit, principal, record)
        quotes = [_quote(unit, principal, found, e) for e in unit.events.get(found.evidence)]
        decisions = [_told(d, tongue) for d in unit.candidates.decisions_about(found.id)]
        allowed = ("correct", "mute", "delete") if may_change(principal, found) else ()
        return Why(found, tuple(quotes), tuple(decisions), found.supersedes, allowed)

    answer = parts.read(principal, work)
    audited(parts, principal, "why", [record])
    return answer


def _quote(unit: Unit, principal: Principal, record: Record, event: Event) -> Mapping[str, Any]:
    readable = recalling.readable(unit, event, principal)
    text = event.text
    if text is not None and not readable:
        start, end = (
            record.source.get("span", (0, 0))
            if (record.source.get("event") == event.id)
            else (0, 0)
        )
        text = text[start:end] or record.content
    return {
        "event": event.id if readable else None,
        "thread": event.thread if readable else None,
        "by": event.kind.value,
        "speaker": event.speaker,
        "said_at": event.said_at.isoformat(),
        "text": text,
        "erased": event.erased,
        "path": event.path,
        "url": event.url,
    }


def _told(decision: Mapping[str, Any], tongue: str) -> Mapping[str, Any]:
    return {
        "decision": decision["id"],
        "at": decision["decided_at"].isoformat(),
        "action": decision["action"],
        "reconcile": decision["reconcile"],
        "writer": decision["writer"],
        "write_reason": decision["write_reason"],
        "policy": decision["policy_version"],
        "reasons": [{"code": c, "text": explain(c, tongue)} for c in decision["reasons"]],
    }


def profile(parts: Parts, principal: Principal) -> dict[str, Any]:
    """What is currently known of the principal's user, by predicate: a projection of records."""
    subject = principal.subject
    if subject is None:
        raise InvalidInput("profile.no_user", "profile: the principal names no user")

    def work(unit: Unit) -> list[Record]:
        found = unit.records.find(
            Filter(subject=subject, statuses=[Status.ACTIVE, Status.SCHEDULED])
        )
        now = parts.now()
        return [r for r in found if permits(principal, r.scope) and r.current_at(now)]

    records = parts.read(principal, work)
    audited(parts, principal, "profile", [r.id for r in records])
    fields: dict[str, list[dict[str, Any]]] = {}
    for r in records:
        entry = {
            "record": r.id,
            "content": r.content,
            "value": r.value,
            "scope": r.scope.to_dict(),
            "condition": r.condition.to_dict(),
            "since": r.valid_from.isoformat(),
            "origin": r.origin.value,
        }
        fields.setdefault(r.predicate or r.kind.value, []).append(entry)
    return {"subject": subject, "fields": fields}
