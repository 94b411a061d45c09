"""Remember and propose: words in, decisions out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from muniment.errors import InvalidInput
from muniment.events.event import Event
from muniment.events.log import Thread
from muniment.events.message import Message
from muniment.extract import proposal as proposals
from muniment.extract import remember as remembering
from muniment.extract.rules import extract
from muniment.gate.candidate import Candidate
from muniment.gate.decision import Decision
from muniment.gate.unit import Unit
from muniment.ids import EventId, ThreadId
from muniment.scope import Principal, Scope, place_of_use
from muniment.text import check_id
from muniment.verbs.appending import (
    check_own,
    find_thread,
    make,
    open_thread,
    own_event,
    store_events,
    thread_id_of,
)
from muniment.verbs.parts import Parts
from muniment.verbs.replay import decision_data, decision_of


def once(
    parts: Parts,
    unit: Unit,
    principal: Principal,
    key: str | None,
    verb: str,
    request: Any,
    work: Callable[[], list[Decision]],
) -> list[Decision]:
    """Run ``work`` once per idempotency key; a replay returns the first decisions."""
    if key is None:
        return work()
    key, digest = replay_key(unit, principal, key, verb, request)
    first = unit.ledger.replayed(key, verb, digest)
    if first is not None:
        return [decision_of(unit, d) for d in first]
    decisions = work()
    answer = [decision_data(d) for d in decisions]
    unit.ledger.remember_answer(key, verb, digest, answer, parts.now())
    return decisions


def replay_key(
    unit: Unit, principal: Principal, key: str, verb: str, request: Any
) -> tuple[str, str]:
    """The stored key (each caller has keys of their own) and the digest of what was asked."""
    who = (principal.user or "", principal.agent or "", principal.channel.value)
    stored = unit.digest("idempotency", *who, check_id(key, name="key"))
    asked = json.dumps(request, sort_keys=True, default=str)
    return stored, unit.digest("request", verb, asked)


def remember(
    parts: Parts,
    principal: Principal,
    *,
    event: str | None,
    message: Message | None,
    thread: str | None,
    scope: Scope | None,
    key: str | None,
) -> list[Decision]:
    """Read an event (appending it first if it is given as words) and settle what it says.

    The reading of words happens outside the transaction that writes.
    """
    if (event is None) == (message is None):
        raise InvalidInput("remember.one_of", "pass either a text or an event")
    if event is not None:
        said = parts.read(principal, lambda unit: own_event(unit, principal, event))
        return _settle_said(parts, principal, said, key, [event])
    assert message is not None
    said = make(parts, principal, _thread_ahead(parts, principal, thread, scope), message)
    asked = [message.by, message.text, message.id, thread, scope and scope.key]
    named = [said.id] if message.id is not None else []
    opening = Opening(thread, scope, named)
    return _settle_said(parts, principal, said, key, asked, opening)


@dataclass(frozen=True, slots=True)
class Opening:
    """Where an event that is not stored yet goes, and the ids that may be there already."""

    thread: str | None
    scope: Scope | None
    named: Sequence[EventId]


def _thread_ahead(
    parts: Parts, principal: Principal, label: str | None, scope: Scope | None
) -> Thread:
    """The thread words will go to, for reading them before the transaction that checks it again.

    A thread's owner and scope never change, so one that was seen needs no look.
    """
    place = place_of_use(principal, scope or Scope())
    if label is not None and label.startswith("thr_"):
        thread_id = ThreadId(label)
    else:
        thread_id = thread_id_of(parts.digester(principal.tenant), principal, label, place)
    if label is None:
        return Thread(thread_id, principal.tenant, place, principal.user, parts.now())
    seen = parts.seen_thread(principal.tenant, thread_id)
    if seen is not None:
        return check_own(seen, principal, scope)
    return parts.read(principal, lambda unit: find_thread(parts, unit, principal, label, scope))


def _settle_said(
    parts: Parts,
    principal: Principal,
    said: Event,
    key: str | None,
    asked: Sequence[Any],
    opening: Opening | None = None,
) -> list[Decision]:
    """Read an event's words, then (append it and) settle them in one transaction."""
    candidates = read_event(parts, principal, said)

    def work(unit: Unit) -> list[Decision]:
        def run() -> list[Decision]:
            evidence = said
            if opening is not None:
                thread = _same_place(parts, unit, principal, opening, said)
                [evidence] = store_events(parts, unit, principal, thread, [said], opening.named)
            settling = parts.settling(unit, principal)
            return remembering.settle_all(settling, candidates, [evidence])

        return once(parts, unit, principal, key, "remember", asked, run)

    return parts.write(principal, work, adds=2 if opening is None else 3)


def _same_place(
    parts: Parts, unit: Unit, principal: Principal, opening: Opening, said: Event
) -> Thread:
    """The thread, opened where the words were read for."""
    thread = open_thread(parts, unit, principal, opening.thread, opening.scope)
    parts.saw_thread(thread)
    return check_own(thread, principal, said.scope)


def read_event(parts: Parts, principal: Principal, event: Event) -> list[Candidate]:
    """What the event's words say, as candidates of this writer."""
    found = extract(event, parts.policy.catalogue, tz=parts.tz)
    writer = principal.channel.value
    return [c if c.writer == writer else replace(c, writer=writer) for c in found]


def propose(
    parts: Parts,
    principal: Principal,
    proposal: Mapping[str, Any],
    *,
    scope: Scope | None,
    key: str | None,
) -> list[Decision]:
    """Settle what somebody else read out of evidence.  Naming no evidence is refused."""
    if not isinstance(proposal, Mapping):
        raise InvalidInput("proposal.invalid", "propose: pass a mapping with content and evidence")

    def work(unit: Unit) -> list[Decision]:
        named = proposal.get("evidence") or ()
        evidence = [own_event(unit, principal, e) for e in named] if _listed(named) else []
        place = evidence[0].scope if evidence else place_of_use(principal, scope or Scope())
        candidate = proposals.parse(proposal, principal, place, parts.policy.catalogue)
        settling = parts.settling(unit, principal)
        run = lambda: remembering.propose(settling, candidate, evidence)  # noqa: E731
        return once(parts, unit, principal, key, "propose", dict(proposal), run)

    return parts.write(principal, work, adds=1)


def _listed(named: object) -> bool:
    return isinstance(named, Sequence) and not isinstance(named, str)
