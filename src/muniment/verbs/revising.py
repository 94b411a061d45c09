"""A new version of a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from muniment.erase.verbs import may_change, visible
from muniment.errors import InvalidInput, NotAllowed
from muniment.events.event import Event
from muniment.events.message import Message, make_event
from muniment.extract import proposal as proposals
from muniment.gate.candidate import Candidate
from muniment.gate.keys import keys_of, title_digest
from muniment.gate.unit import Unit
from muniment.records.record import Origin, Record
from muniment.records.table import Edge
from muniment.scope import Channel, Principal
from muniment.text import language
from muniment.verbs.appending import answers_thread, append_one
from muniment.verbs.parts import Parts
from muniment.verbs.remembering import replay_key


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
    thread = answers_thread(parts, unit, principal)
    message = Message(by="revision", text=words, metadata={"record": record.id})
    event = make_event(
        message,
        thread=thread,
        principal=principal,
        digest=unit.digest,
        new_id=lambda: parts.ids.new("evt"),
        now=parts.now(),
    )
    return append_one(parts, unit, principal, thread, event)
