"""The keyed digests by which candidates are recognised again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from muniment.clock import micros
from muniment.events.event import Event
from muniment.gate.candidate import Candidate
from muniment.gate.codec import candidate_to_dict
from muniment.gate.polarity import polarity
from muniment.records.facts import Predicate
from muniment.records.record import Record, Value
from muniment.records.table import Keys
from muniment.text import normalise


class Digester(Protocol):
    """Something with the store's key."""

    def digest(self, domain: str, *parts: str) -> str:
        """A keyed digest."""
        ...


def plain(value: Value) -> str:
    """A value as comparable text."""
    return normalise(value) if isinstance(value, str) else json.dumps(value, sort_keys=True)


def content_key(keys: Digester, c: Candidate | Record, predicate: Predicate | None) -> str:
    """Equal for what says the same in the same words or, with a predicate, the same value."""
    if predicate is not None and c.value is not None:
        return keys.digest("content", predicate.name, plain(predicate.canonical(c.value)))
    return keys.digest("content", "", normalise(c.content or ""))


def words_key(keys: Digester, c: Candidate | Record) -> str:
    """Equal for words and their contrary: what differs is only the negation."""
    bare, _ = polarity(c.content or "")
    return keys.digest("words", *bare)


def keys_of(keys: Digester, c: Candidate | Record, predicate: Predicate | None) -> Keys:
    """Both digests a record is stored under."""
    return Keys(content_key(keys, c, predicate), words_key(keys, c))


def tombstone_digests(
    keys: Digester, c: Candidate | Record, predicate: Predicate | None
) -> list[str]:
    """The digests under which it is blocked after a delete, reject or erase."""
    place = (c.subject, c.scope.key, c.condition.key)
    digests = [keys.digest("tombstone", *place, "words", normalise(c.content or ""))]
    if predicate is not None and c.value is not None:
        value = plain(predicate.canonical(c.value))
        digests.append(keys.digest("tombstone", *place, predicate.name, value))
    return digests


def title_of(digest: Callable[..., str], row: Mapping[str, Any]) -> str:
    """Seals what a version says and by what right, from its columns."""
    words = [row["content"], row["value"]]
    return digest(
        "title",
        row["record_id"],
        str(row["version"]),
        json.dumps(words, ensure_ascii=False, sort_keys=True),
        row["kind"],
        row["subject"],
        row["scope_key"],
        row["condition_key"],
        row["predicate"] or "",
        row["origin"],
    )


def move_of(digest: Callable[..., str], row: Mapping[str, Any]) -> str:
    """Seals one change of a record's standing, from its columns."""
    times = [row[name] for name in ("valid_from", "valid_to", "expires_at", "recorded_at")]
    return digest(
        "move",
        row["record_id"],
        str(row["seq"]),
        row["status"],
        str(bool(row["muted"])),
        *("" if at is None else str(micros(at)) for at in times),
        row["cause"],
    )


def title_digest(keys: Digester, record: Record) -> str:
    """The title of a record as of its version; the trail keeps it, `verify` compares it."""
    row = {
        "record_id": record.id,
        "version": record.version,
        "content": record.content,
        "value": record.value,
        "kind": record.kind.value,
        "subject": record.subject,
        "scope_key": record.scope.key,
        "condition_key": record.condition.key,
        "predicate": record.predicate,
        "origin": record.origin.value,
    }
    return title_of(keys.digest, row)


def candidate_digest(keys: Digester, c: Candidate) -> str:
    """What a confirmation names: it changes with every word that would be kept."""
    words = json.dumps(candidate_to_dict(c), sort_keys=True, ensure_ascii=False)
    return keys.digest("candidate", words)


def held_key(keys: Digester, c: Candidate, predicate: Predicate | None, owner: str | None) -> str:
    """One waiting candidate per owner, subject, scope, intent and question: which value a single
    predicate has, whether a set has that value, whether those words hold."""
    if predicate is None:
        what = normalise(c.content)
    elif predicate.single or c.value is None:
        what = predicate.name
    else:
        what = f"{predicate.name}={plain(predicate.canonical(c.value))}"
    return keys.digest(
        "held", owner or "", c.subject, what, c.scope.key, c.condition.key, c.intent.value
    )


def source_key(keys: Digester, evidence: Sequence[Event]) -> str:
    """One web page, mail, file or tool; else the thread.  A digest: rows outlive an erasure."""
    if not evidence:
        return ""
    e = evidence[0]
    return keys.digest("source", e.kind.value, e.url or e.path or e.name or e.thread)
