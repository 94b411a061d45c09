"""A proposal: a candidate somebody else made, its fields checked, nothing taken on trust."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from muniment.clock import as_utc
from muniment.errors import InvalidInput
from muniment.events.event import Event
from muniment.extract.annotate import annotate, flags_of
from muniment.extract.grounding import nearest, qualifiers_lost, value_occurs
from muniment.extract.lexicon import fold
from muniment.gate.candidate import Candidate, Claim, Flag
from muniment.ids import EventId
from muniment.records.condition import Condition
from muniment.records.facts import Catalogue, Predicate
from muniment.records.record import Kind, Namespace, Sensitivity, Value
from muniment.scope import Principal, Scope
from muniment.secrets import Grade, scan
from muniment.text import check_id, check_text, language

MARK = "[secret:"
CONTENT_BYTES_MAX = 64 * 1024
EVIDENCE_MAX = 100
TAGS_MAX = 64
VALUE_DEPTH_MAX = 16

_TONES = {Flag.HEDGED, Flag.QUOTED, Flag.QUESTION, Flag.HYPOTHETICAL}

#: What a proposer may say.  Origin, status, user and the like are not among it: they follow
#: from the channel and the evidence, and naming them is an error, not a wish.
FIELDS = frozenset(
    [
        "content",
        "kind",
        "predicate",
        "value",
        "evidence",
        "scope",
        "subject",
        "condition",
        "namespace",
        "valid_from",
        "valid_to",
        "expires_at",
        "sensitivity",
        "tags",
        "confidence",
        "refresh",
        "write_reason",
    ]
)


def parse(
    data: Mapping[str, Any], principal: Principal, place: Scope, catalogue: Catalogue
) -> Candidate:
    """A candidate from a proposal; `InvalidInput` says which field is wrong.

    ``said_at`` is filled in from the evidence by `grounded_in`.
    """
    if not isinstance(data, Mapping):
        raise InvalidInput("proposal.invalid", "propose: pass a mapping with content and evidence")
    unknown = sorted(str(k) for k in data if k not in FIELDS)
    if unknown:
        raise InvalidInput("proposal.unknown_field", f"propose: unknown {', '.join(unknown)}")
    predicate = _predicate(data.get("predicate"), catalogue)
    content = _content(data, predicate)
    kind = _enum(Kind, data.get("kind", predicate.kind if predicate else None), "kind")
    scope = _scope(data.get("scope"), kind, predicate, place)
    value = value_of(data.get("value"))
    claim = _claim(kind, predicate, data.get("subject"))
    return Candidate(
        content=content,
        kind=kind,
        subject=_subject(data.get("subject"), claim, principal, scope),
        scope=scope,
        evidence=_evidence(data.get("evidence")),
        said_at=as_utc("1970-01-01T00:00:00+00:00", name="said_at"),
        predicate=predicate.name if predicate else None,
        value=value,
        condition=Condition.of(data.get("condition")),
        namespace=_namespace(data.get("namespace"), kind, predicate),
        claim=claim,
        sensitivity=_enum(Sensitivity, data.get("sensitivity", "internal"), "sensitivity"),
        language=language(content),
        valid_from=_time(data, "valid_from"),
        valid_to=_time(data, "valid_to"),
        expires_at=_time(data, "expires_at"),
        refresh=_short(data.get("refresh"), "refresh"),
        tags=tags_of(data.get("tags", ())),
        confidence=_confidence(data.get("confidence", 1.0)),
        writer=principal.channel.value,
        write_reason=_short(data.get("write_reason"), "write_reason") or "proposed",
    )


def grounded_in(candidate: Candidate, evidence: Sequence[Event], catalogue: Catalogue) -> Candidate:
    """The candidate read like any other, and dated by the latest of its evidence."""
    if not evidence:
        return annotate(candidate, catalogue)
    said = max(e.said_at for e in evidence)
    candidate = annotate(replace(candidate, said_at=said), catalogue)
    flags = set(candidate.flags)
    texts = [e.text for e in evidence if e.text]
    if any(qualifiers_lost(candidate.content, t) for t in texts):
        flags.add(Flag.QUALIFIER_LOST)
    flags |= tone_lost(candidate.content, [e.text for e in evidence if e.text and e.live])
    flags |= secret_flags(candidate)
    return replace(candidate, flags=frozenset(flags))


def tone_lost(content: str, texts: Sequence[str]) -> set[Flag]:
    """A maybe, a quotation or a question in a person's words that the content no longer shows."""
    tones = [flags_of(fold(nearest(content, t))) & _TONES for t in texts]
    return set.intersection(*map(set, tones)) if tones else set()


def secret_flags(candidate: Candidate) -> set[Flag]:
    """Whether its words, its value or its names hold a credential, or the mark of one."""
    texts = [candidate.content, str(candidate.value or ""), *candidate.tags]
    texts += [candidate.subject, *candidate.scope.to_dict().values()]
    blocked = any(f.grade is Grade.BLOCK for t in texts for f in scan(t))
    return {Flag.SECRET} if blocked else secret_marks(candidate)


def secret_marks(candidate: Candidate) -> set[Flag]:
    """Whether its words hold the placeholder of a secret that was taken out of the evidence."""
    marked = MARK in candidate.content or MARK in str(candidate.value or "")
    return {Flag.SECRET} if marked else set()


def value_of(value: object, depth: int = VALUE_DEPTH_MAX) -> Value:
    """A structured value: JSON scalars, or lists and mappings of them, not too deep."""
    if depth == 0:
        raise InvalidInput("value.invalid", f"value: nested more than {VALUE_DEPTH_MAX} deep")
    if isinstance(value, str):
        return check_text(value, name="value", max_bytes=CONTENT_BYTES_MAX)
    if value is None or isinstance(value, bool | int | float):
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidInput("value.invalid", "value: a finite number")
        return value
    if isinstance(value, list) and len(value) <= TAGS_MAX:
        return [value_of(v, depth - 1) for v in value]
    if isinstance(value, dict) and len(value) <= TAGS_MAX:
        names = {k: check_text(k, name="value", max_bytes=512) for k in value}
        return {names[k]: value_of(v, depth - 1) for k, v in value.items()}
    raise InvalidInput("value.invalid", "value: a text, number, truth value, list or mapping")


def edited(candidate: Candidate, changes: Mapping[str, Any], catalogue: Catalogue) -> Candidate:
    """A held candidate with some fields changed before it is confirmed."""
    allowed = {"content", "value", "condition", "expires_at", "tags"}
    unknown = sorted(str(k) for k in changes if k not in allowed)
    if unknown:
        raise InvalidInput("revise.unknown_field", f"revise: unknown {', '.join(unknown)}")
    predicate = catalogue.get(candidate.predicate)
    data = {k: v for k, v in changes.items() if v is not None}
    if "value" in data:
        data["value"] = value_of(data["value"])
        if "content" not in data and predicate is not None:
            data["content"] = predicate.render(data["value"], candidate.language)
    if "content" in data:
        data["content"] = check_text(data["content"], name="content", max_bytes=CONTENT_BYTES_MAX)
    if "condition" in data:
        data["condition"] = Condition.of(data["condition"])
    if "expires_at" in data:
        data["expires_at"] = as_utc(data["expires_at"], name="expires_at")
    if "tags" in data:
        data["tags"] = tags_of(data["tags"])
    return annotate(replace(candidate, **data), catalogue)


def consistent(content: str, value: Value, predicate: Predicate) -> bool:
    """Whether content and value say the same: the value, or a spelling of it, is in the words."""
    return value is None or value_occurs(value, [content], predicate)


def _predicate(name: object, catalogue: Catalogue) -> Predicate | None:
    if name is None:
        return None
    predicate = catalogue.get(check_id(name, name="predicate"))
    if predicate is None:
        raise InvalidInput(
            "predicate.unknown", f"predicate: {name} is not in the catalogue; leave it out"
        )
    return predicate


def _content(data: Mapping[str, Any], predicate: Predicate | None) -> str:
    content = data.get("content")
    if content is None and predicate is not None and data.get("value") is not None:
        return predicate.render(value_of(data["value"]), "en")
    return content_of(content)


def content_of(content: object) -> str:
    """Words to remember: some, and not too many."""
    return check_text(content, name="content", max_bytes=CONTENT_BYTES_MAX)


def _enum(enum: Any, value: object, name: str) -> Any:
    try:
        return enum(value)
    except ValueError:
        words = ", ".join(enum)
        raise InvalidInput(f"{name}.invalid", f"{name}: use one of {words}") from None


def _scope(given: object, kind: Kind, predicate: Predicate | None, place: Scope) -> Scope:
    """The proposed scope if the thread supports it, else the default within the thread's."""
    if given is not None:
        scope = Scope.of(given)
        if not scope.covers(place):
            raise InvalidInput(
                "scope.wider_than_thread", "scope: use parts of the scope the words were said in"
            )
        return scope
    personal = ("user",) if kind is Kind.PREFERENCE else ("project",)
    parts = predicate.scope if predicate else personal
    scope = place.only(parts)
    return scope if scope.key else place.only(("user",))


def _claim(kind: Kind, predicate: Predicate | None, subject: object) -> Claim:
    if kind in (Kind.RULE, Kind.SKILL):
        return Claim.RULE
    about_user = isinstance(subject, str) and subject.split(":")[0] in ("user", "person")
    if kind is Kind.PREFERENCE or about_user or (predicate and predicate.subject == "user"):
        return Claim.USER
    return Claim.WORLD


def _subject(given: object, claim: Claim, principal: Principal, scope: Scope) -> str:
    if given is not None:
        subject = check_id(given, name="subject")
        if subject.startswith("user:") and subject != f"user:{principal.user}":
            raise InvalidInput("subject.not_yours", "subject: only your own user")
        return subject
    if claim is Claim.WORLD and scope.project is not None:
        return f"project:{scope.project}"
    return f"user:{principal.user}" if principal.user else "tenant"


def _namespace(given: object, kind: Kind, predicate: Predicate | None) -> str:
    by_kind = {
        Kind.PREFERENCE: Namespace.PREFERENCES,
        Kind.EPISODE: Namespace.EPISODE,
        Kind.SKILL: Namespace.SKILL,
        Kind.EXTERNAL: Namespace.EXTERNAL,
    }
    if given is None:
        return predicate.namespace if predicate else by_kind.get(kind, Namespace.PROJECT).value
    name = check_id(given, name="namespace")
    first = name.split("/")[0]
    if first not in set(Namespace) or first == Namespace.POLICY:
        raise InvalidInput("namespace.invalid", f"namespace: not {first}/…")
    return name


def _evidence(given: object) -> tuple[EventId, ...]:
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) > EVIDENCE_MAX:
        raise InvalidInput("evidence.invalid", f"evidence: a list of at most {EVIDENCE_MAX} ids")
    return tuple(EventId(check_id(e, name="evidence")) for e in dict.fromkeys(given))


def _time(data: Mapping[str, Any], name: str) -> Any:
    return None if data.get(name) is None else as_utc(data[name], name=name)


def _short(value: object, name: str) -> str | None:
    return None if value is None else check_text(value, name=name, max_bytes=1024)


def tags_of(value: object) -> tuple[str, ...]:
    """Tags: a bounded list of short texts."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > TAGS_MAX:
        raise InvalidInput("tags.invalid", f"tags: a list of at most {TAGS_MAX} words")
    return tuple(check_text(t, name="tags", max_bytes=256) for t in value)


def _confidence(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput("confidence.invalid", "confidence: a number from 0 to 1")
    return float(value)
