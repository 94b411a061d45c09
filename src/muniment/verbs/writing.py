"""Append, remember, propose, answer what waits, revise."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from muniment.erase import forget
from muniment.erase.verbs import may_change, visible
from muniment.errors import InvalidInput, NotAllowed, NotFound, Unavailable
from muniment.events.event import Event
from muniment.events.log import Thread
from muniment.events.message import Message, make_event
from muniment.extract import proposal as proposals
from muniment.extract import remember as remembering
from muniment.extract.rules import extract
from muniment.gate.candidate import Candidate, CandidateStatus, Held
from muniment.gate.decision import Action, Decision, Reconcile
from muniment.gate.keys import Digester, candidate_digest, keys_of, title_digest
from muniment.gate.unit import Unit
from muniment.ids import CandidateId, DecisionId, EventId, ThreadId
from muniment.records.record import Origin, Record, Status
from muniment.records.table import Edge
from muniment.scope import Channel, Principal, Scope, permits, place_of_use
from muniment.text import check_id, language
from muniment.verbs.parts import Parts
from muniment.verbs.replay import decision_data, decision_of


def thread_id_of(keys: Digester, principal: Principal, label: str | None, place: Scope) -> ThreadId:
    """Labels are the caller's own: two users' ``"main"`` are two threads.  What is said without
    a thread goes on in one thread per place."""
    owner = principal.user or ""
    if label is None:
        digest = keys.digest("thread", owner, "", place.key)
    else:
        digest = keys.digest("thread", owner, check_id(label, name="thread"))
    return ThreadId(f"thr_{digest[:26]}")


def find_thread(
    parts: Parts, unit: Unit, principal: Principal, label: str | None, scope: Scope | None
) -> Thread:
    """A thread of the principal's by id or label: as it is, or as it would be opened.

    Raises `NotFound` for someone else's thread id and `InvalidInput` ``thread.other_scope``
    where it was opened in another scope.
    """
    if label is not None and label.startswith("thr_"):
        return own_thread(unit, principal, label, scope)
    place = place_of_use(principal, scope or Scope())
    thread_id = thread_id_of(unit, principal, label, place)
    if unit.events.thread(thread_id) is not None:
        return own_thread(unit, principal, thread_id, scope)
    return Thread(thread_id, principal.tenant, place, principal.user, parts.now())


def open_thread(
    parts: Parts, unit: Unit, principal: Principal, label: str | None, scope: Scope | None
) -> Thread:
    """`find_thread`, made if it is new."""
    thread = find_thread(parts, unit, principal, label, scope)
    if unit.events.thread(thread.id) is not None:
        return thread
    return unit.events.open_thread(thread)


def own_thread(
    unit: Unit, principal: Principal, thread_id: str, scope: Scope | None = None
) -> Thread:
    """A thread the principal may read and append to."""
    thread = unit.events.thread(ThreadId(check_id(thread_id, name="thread")))
    if thread is None or thread.owner != principal.user or not permits(principal, thread.scope):
        raise NotFound("thread.not_found", "no such thread")
    if scope is not None and place_of_use(principal, scope) != thread.scope:
        raise InvalidInput(
            "thread.other_scope", "the thread was opened in another scope; use another thread"
        )
    return thread


def append(
    parts: Parts,
    principal: Principal,
    messages: Sequence[Message],
    *,
    thread: str | None,
    scope: Scope | None,
    attest: bool = True,
    index: bool = True,
) -> list[Event]:
    """Append messages as evidence, all of them or none; those already there are returned as is.

    Without ``index`` they wait for the caller to bring the index up to date.
    """

    def work(unit: Unit) -> list[Event]:
        return append_in(parts, unit, principal, messages, thread, scope, attest)

    return parts.write(principal, work, adds=len(messages) if index else 0)


def append_in(
    parts: Parts,
    unit: Unit,
    principal: Principal,
    messages: Sequence[Message],
    thread: str | None,
    scope: Scope | None,
    attest: bool = True,
) -> list[Event]:
    """`append` inside a transaction that is already open."""
    opened = open_thread(parts, unit, principal, thread, scope)
    events = [make(parts, principal, opened, m, attest) for m in messages]
    return store_events(parts, unit, principal, opened, events)


def make(
    parts: Parts, principal: Principal, thread: Thread, message: Message, attest: bool = True
) -> Event:
    """The event a message will be in that thread."""
    return make_event(
        message,
        thread=thread,
        principal=principal,
        digest=parts.digester(principal.tenant).digest,
        new_id=lambda: parts.ids.new("evt"),
        now=parts.now(),
        attest=attest,
    )


def store_events(
    parts: Parts, unit: Unit, principal: Principal, thread: Thread, events: Sequence[Event]
) -> list[Event]:
    """Append events to a thread that is open; those already there are returned as they are."""
    known = {e.id: e for e in unit.events.get(e.id for e in events)} if events else {}
    new: dict[EventId, Event] = {}
    for event in events:
        before = known.get(event.id) or new.get(event.id)
        if before is None:
            new[event.id] = event
        elif not before.erased and before.text != event.text:
            raise InvalidInput("event.id_taken", "that id names another text in this thread")
    stored = {e.id: e for e in unit.events.append(thread, list(new.values()))} if new else {}
    if new:
        unit.ledger.reindex("event", new, parts.now())
        parts.audit(
            unit, principal, "append", thread=thread.id, events=list(new)[:100], count=len(new)
        )
    return [known.get(e.id) or stored[e.id] for e in events]


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
        return _settle_said(parts, principal, said, None, key, [event])
    assert message is not None
    said = make(parts, principal, _thread_ahead(parts, principal, thread, scope), message)
    asked = [message.by, message.text, message.id, thread, scope and scope.key]
    return _settle_said(parts, principal, said, thread, key, asked, scope=scope, new=True)


def _thread_ahead(
    parts: Parts, principal: Principal, label: str | None, scope: Scope | None
) -> Thread:
    """The thread words will go to; read only where its scope cannot be known without."""
    if label is not None:
        return parts.read(principal, lambda unit: find_thread(parts, unit, principal, label, scope))
    place = place_of_use(principal, scope or Scope())
    thread_id = thread_id_of(parts.digester(principal.tenant), principal, None, place)
    return Thread(thread_id, principal.tenant, place, principal.user, parts.now())


def _settle_said(
    parts: Parts,
    principal: Principal,
    said: Event,
    label: str | None,
    key: str | None,
    asked: Sequence[Any],
    *,
    scope: Scope | None = None,
    new: bool = False,
) -> list[Decision]:
    """Read an event's words, then (append it and) settle them in one transaction."""
    candidates = read_event(parts, principal, said)

    def work(unit: Unit) -> list[Decision]:
        def run() -> list[Decision]:
            evidence = said
            if new:
                opened = open_thread(parts, unit, principal, label, scope)
                [evidence] = store_events(parts, unit, principal, opened, [said])
            settling = parts.settling(unit, principal)
            return remembering.settle_all(settling, candidates, [evidence])

        return once(parts, unit, principal, key, "remember", asked, run)

    return parts.write(principal, work, adds=3 if new else 2)


def read_event(parts: Parts, principal: Principal, event: Event) -> list[Candidate]:
    """What the event's words say, as candidates of this writer."""
    found = extract(event, parts.policy.catalogue, tz=parts.tz)
    return [replace(c, writer=principal.channel.value) for c in found]


def own_event(unit: Unit, principal: Principal, event_id: str) -> Event:
    """An event of a thread the principal may read; erased ones are gone."""
    found = unit.events.get([EventId(check_id(event_id, name="event"))])
    if found and not found[0].erased:
        thread = unit.events.thread(found[0].thread)
        if thread and thread.owner == principal.user and permits(principal, thread.scope):
            return found[0]
    raise NotFound("event.not_found", "no such event")


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


def review(parts: Parts, principal: Principal, *, limit: object) -> list[Held]:
    """What waits for this principal, oldest first; for an admin, for anyone."""

    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 1000:
        raise InvalidInput("limit.invalid", "limit: a whole number from 1 to 1000")

    def work(unit: Unit) -> list[Held]:
        everything = principal.channel is Channel.ADMIN
        keys = None if everything else [s.key for s in unit.scopes() if permits(principal, s)]
        waiting = unit.candidates.waiting(
            owner=principal.user, scope_keys=keys, now=parts.now(), limit=limit
        )
        return [h for h in waiting if everything or remembering.may_see(principal, h)]

    found = parts.read(principal, work)
    if not parts.audit_read(principal, "review", [h.id for h in found]):
        raise Unavailable("audit.unavailable", "the read could not be audited; nothing is shown")
    return found


def evidence_of(unit: Unit, held: Held) -> list[Event]:
    """The events a held candidate stands on."""
    return unit.events.get(held.candidate.evidence)


def confirm(
    parts: Parts,
    principal: Principal,
    candidate: str,
    *,
    digest: str | None,
    answer: str | None,
    key: str | None,
) -> Decision:
    """Confirm a waiting candidate exactly as it was shown; the confirmation becomes evidence."""

    def work(unit: Unit) -> list[Decision]:
        def run() -> list[Decision]:
            settling = parts.settling(unit, principal)
            held = remembering.held_for(settling, _candidate_id(candidate), digest)
            if held.lapses_at <= parts.now():
                raise NotFound("candidate.not_found", "no such candidate waits; it has lapsed")
            given = own_event(unit, principal, answer) if answer is not None else None
            remembering.check_may_answer(principal, held, given)
            if held.reconcile == "delete" and held.target is not None:
                return [_confirm_deletion(parts, unit, principal, held)]
            said = _confirmation(parts, unit, principal, held)
            later = parts.settling(unit, principal)  # what it settles was said before its now
            return [remembering.confirm(later, held, said, evidence_of(unit, held))]

        return once(parts, unit, principal, key, "confirm", [candidate, digest, answer], run)

    return parts.write(principal, work, adds=2)[0]


def _confirmation(parts: Parts, unit: Unit, principal: Principal, held: Held) -> Event:
    """The confirmation as an event of its own in the principal's thread of answers."""
    thread = _answers(parts, unit, principal)
    event = make_event(
        Message(
            by="confirmation",
            text=held.candidate.content,
            metadata={"candidate": held.id, "digest": held.digest, "answer": "yes"},
        ),
        thread=thread,
        principal=principal,
        digest=unit.digest,
        new_id=lambda: parts.ids.new("evt"),
        now=parts.now(),
    )
    return _append_one(parts, unit, principal, thread, event)


def _append_one(
    parts: Parts, unit: Unit, principal: Principal, thread: Thread, event: Event
) -> Event:
    [stored] = unit.events.append(thread, [event])
    unit.ledger.reindex("event", [stored.id], parts.now())
    parts.audit(unit, principal, "append", thread=thread.id, events=[stored.id], count=1)
    return stored


def _answers(parts: Parts, unit: Unit, principal: Principal) -> Thread:
    return open_thread(parts, unit, principal, "muniment:answers", None)


def _confirm_deletion(parts: Parts, unit: Unit, principal: Principal, held: Held) -> Decision:
    """A confirmed "forget that": the muted record is deleted."""
    assert held.target is not None
    plan = forget.plan_delete(unit, forget.Target(record=held.target))
    forget.delete(unit, plan, parts.policy.catalogue, "delete", parts.now())
    unit.candidates.close(held.id, CandidateStatus.DECIDED)
    decision = Decision(
        id=DecisionId(parts.ids.new("dec")),
        action=Action.ACTIVATE,
        reconcile=Reconcile.DELETE,
        reasons=("origin.confirmed",),
        origin=Origin.USER_CONFIRMED,
        candidate=held.candidate,
        decided_at=parts.now(),
        candidate_id=held.id,
        record_id=held.target,
        status=Status.DELETED,
    )
    unit.candidates.decide(decision, parts.policy.version)
    parts.audit(unit, principal, "delete", records=[held.target], candidate=held.id)
    return decision


def reject(parts: Parts, principal: Principal, candidate: str, *, digest: str | None) -> Held:
    """Reject a waiting candidate and keep it from coming back."""

    def work(unit: Unit) -> Held:
        settling = parts.settling(unit, principal)
        held = remembering.held_for(settling, _candidate_id(candidate), digest)
        if principal.channel in (Channel.AGENT, Channel.IMPORT, Channel.JOB):
            raise NotAllowed("reject.channel", f"the {principal.channel} channel cannot reject")
        return remembering.reject(settling, held)

    return parts.write(principal, work)


def _candidate_id(value: object) -> CandidateId:
    return CandidateId(check_id(value, name="candidate"))


def revise_candidate(
    parts: Parts, principal: Principal, candidate: str, changes: Mapping[str, Any]
) -> Held:
    """Edit a held candidate before it is confirmed; its digest changes with it."""

    def work(unit: Unit) -> Held:
        found = unit.candidates.get(_candidate_id(candidate))
        settling = parts.settling(unit, principal)
        held = remembering.held_for(
            settling, _candidate_id(candidate), found.digest if found else ""
        )
        remembering.check_may_edit(principal)
        changed = proposals.edited(held.candidate, changes, parts.policy.catalogue)
        held = replace(held, candidate=changed, digest=candidate_digest(unit, changed))
        unit.candidates.replace(held)
        parts.audit(unit, principal, "revise", candidate=held.id, digest=held.digest)
        return held

    return parts.write(principal, work)


def revise(
    parts: Parts,
    principal: Principal,
    record: str,
    *,
    if_version: int,
    content: str | None,
    value: Any,
    tags: Sequence[str] | None,
    key: str | None,
) -> Record:
    """A new version of a record; the revision is an event of its own.

    A value alone renders the content anew from the predicate's template, in the record's
    language.  Raises `Conflict` ``record.stale_version``, and `InvalidInput`
    ``record.inconsistent`` where content and value disagree.
    """
    whole = isinstance(if_version, int) and not isinstance(if_version, bool)
    if not whole or abs(if_version) >= 2**31:
        raise InvalidInput("version.invalid", "if_version: the version number you read")
    labels = None if tags is None else proposals.tags_of(tags)
    if principal.channel in (Channel.AGENT, Channel.IMPORT, Channel.JOB):
        raise NotAllowed("revise.channel", "this channel only proposes; use `propose`")

    def work(unit: Unit) -> Record:
        current = visible(unit, principal, record)
        stored = digest = ""
        if key is not None:
            asked = [record, if_version, content, value, tags]
            stored, digest = replay_key(unit, principal, key, "revise", asked)
            if (version := unit.ledger.replayed(stored, "revise", digest)) is not None:
                return _at_version(unit, current, version)
        if not may_change(principal, current):
            raise NotAllowed("record.not_yours", "changing a shared record needs a role")
        words, meaning = _new_words(parts, current, content, value, labels)
        if proposals.secret_flags(_probe(current, words, meaning, labels or ())):
            raise InvalidInput("secret.refused", "credentials and identity numbers are not kept")
        said = _revision(parts, unit, principal, current, words)
        new = replace(
            current,
            content=words,
            value=meaning,
            tags=current.tags if labels is None else labels,
            language=language(words),
            version=if_version + 1,
            origin=Origin.USER_STATED,
            updated_at=parts.now(),
            writer=principal.channel.value,
            write_reason="revision",
        )
        predicate = parts.policy.catalogue.get(current.predicate)
        unit.records.revise(new, keys_of(unit, new, predicate))
        unit.lineage.link([Edge("event", said.id, "record", current.id, "evidence")])
        unit.ledger.reindex("record", [current.id], parts.now())
        title = title_digest(unit, new)
        parts.audit(unit, principal, "revise", record=current.id, version=new.version, title=title)
        if key is not None:
            unit.ledger.remember_answer(stored, "revise", digest, new.version, parts.now())
        return new

    return parts.write(principal, work, adds=2)


def _at_version(unit: Unit, record: Record, version: int) -> Record:
    """A record as an earlier revision left it."""
    for v in unit.records.versions(record.id):
        if v.version == version:
            return replace(
                record,
                version=v.version,
                content=v.content,
                value=v.value,
                tags=v.tags,
                language=v.language,
                origin=v.origin,
                updated_at=v.recorded_at,
            )
    return record


def _new_words(
    parts: Parts, record: Record, content: str | None, value: Any, tags: tuple[str, ...] | None
) -> tuple[str, Any]:
    predicate = parts.policy.catalogue.get(record.predicate)
    if content is None and value is None:
        if tags is None:
            raise InvalidInput("revise.nothing", "pass a new content, value or tags")
        return record.content or "", record.value
    meaning = record.value if value is None else proposals.value_of(value)
    if content is None:
        words = (
            predicate.render(meaning, record.language) if predicate is not None else str(meaning)
        )
    else:
        words = proposals.content_of(content)
        if value is None and predicate is not None:
            meaning = record.value
    if predicate is not None and not proposals.consistent(words, meaning, predicate):
        raise InvalidInput(
            "record.inconsistent", "content and value disagree; pass both, or the value alone"
        )
    return words, meaning


def _probe(record: Record, words: str, meaning: Any, tags: tuple[str, ...]) -> Candidate:
    return Candidate(
        content=words,
        kind=record.kind,
        subject=record.subject,
        scope=record.scope,
        evidence=(),
        said_at=record.said_at,
        value=meaning,
        tags=tags,
    )


def _revision(parts: Parts, unit: Unit, principal: Principal, record: Record, words: str) -> Event:
    thread = _answers(parts, unit, principal)
    message = Message(by="revision", text=words, metadata={"record": record.id})
    event = make_event(
        message,
        thread=thread,
        principal=principal,
        digest=unit.digest,
        new_id=lambda: parts.ids.new("evt"),
        now=parts.now(),
    )
    return _append_one(parts, unit, principal, thread, event)
