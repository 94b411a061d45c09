"""What turns did with records, and the verbs a turn is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muniment.context.compose import Context
from muniment.errors import InvalidInput
from muniment.events.event import Event
from muniment.gate.decision import Decision
from muniment.gate.unit import Unit
from muniment.ids import RecordId
from muniment.scope import Principal, Scope, permits
from muniment.text import check_id
from muniment.verbs.parts import Parts

USES = ("offered", "injected", "cited", "corrected")


def used(parts: Parts, principal: Principal, turn: str, use: str, records: Sequence[str]) -> None:
    """Record a use; ids that the principal may not know of are passed over."""
    if use not in USES:
        raise InvalidInput("use.invalid", f"use: one of {', '.join(USES)}")
    if isinstance(records, str) or not isinstance(records, Sequence):
        raise InvalidInput("records.invalid", "records: a list of record ids")
    name = check_id(turn, name="turn")
    wanted = [RecordId(check_id(r, name="record")) for r in records]
    if not wanted:
        return

    def work(unit: Unit) -> None:
        known = [r for r in unit.records.get(wanted) if permits(principal, r.scope)]
        unit.ledger.used(name, use, [(r.id, r.version) for r in known], parts.now())
        parts.audit(unit, principal, use, turn=name, records=[r.id for r in known])

    parts.write(principal, work, adds=0)


@dataclass(slots=True)
class Host:
    """`muniment.context.turn.TurnHost`: the verbs bound to principal, thread and scope."""

    verbs: Any  # the `Memory` it is bound to; naming it would close a circle of imports
    principal: Principal
    thread: str | None
    scope: Scope | None
    asked: Mapping[str, Any]
    place: Scope | None = None

    def append(self, by: str, text: str, **fields: Any) -> Event:
        event: Event = self.verbs.append(
            text, by=by, thread=self.thread, scope=self.scope, principal=self.principal, **fields
        )
        self.thread, self.place = event.thread, event.scope
        return event

    def context(self, text: str, window: Sequence[str]) -> Context:
        composed: Context = self.verbs.context(
            text,
            scope=self.place or self.scope,
            window=window,
            principal=self.principal,
            **self.asked,
        )
        return composed

    def remember(self, event: Event) -> list[Decision]:
        decisions: list[Decision] = self.verbs.remember(event=event, principal=self.principal)
        return decisions

    def propose(self, proposal: Mapping[str, Any]) -> list[Decision]:
        decisions: list[Decision] = self.verbs.propose(proposal, principal=self.principal)
        return decisions

    def used(self, turn: str, use: str, ids: Sequence[str]) -> None:
        self.verbs.used(turn, use, ids, principal=self.principal)
