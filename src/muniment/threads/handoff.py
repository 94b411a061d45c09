"""A handoff packet: the minimal sufficient facts for whoever goes on, each with its source.

A packet is sealed under the store's key, section by section, so that what was changed on the
way can be named.  It is data: receiving one makes no record, and what a fact is worth follows
from the events in the store, never from what the packet says of itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from muniment.errors import InvalidInput
from muniment.events.event import Event
from muniment.extract.grounding import borne_out
from muniment.gate.keys import Digester
from muniment.gate.trust import ORIGIN, weakest
from muniment.records.record import Origin
from muniment.text import normalise
from muniment.threads.brief import Brief
from muniment.threads.summary import quote

SCHEMA = 1
PACKET_CHARS_MAX = 4 * 1024 * 1024
FACTS_MAX = 5_000
SOURCES_PER_FACT = 8

#: What a packet carries; everything else can be read from the thread.
CARRIED = (
    *("goal", "acceptance", "constraints", "open", "next", "artifacts", "decisions"),
    *("unknown_calls", "approvals", "failures", "setup"),
)
_HEADER = ("schema", "thread", "version", "at")


@dataclass(frozen=True, slots=True)
class Source:
    """An event (id and number in its thread) and words that stand in it."""

    event: str
    seq: int
    words: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing the state says, by what right: ``origin`` and ``trust`` (4 to 0) of the weakest
    source that bears it out; without one it is what a model inferred."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    origin: Origin = Origin.MODEL_INFERRED
    trust: int = Origin.MODEL_INFERRED.trust

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        cited = [{"event": s.event, "seq": s.seq, "words": s.words} for s in self.sources]
        plain = {"text": self.text, "data": dict(self.data), "sources": cited}
        return {**plain, "origin": self.origin.value, "trust": self.trust}


@dataclass(frozen=True, slots=True)
class Packet:
    """Facts by section, the thread and the version of its state they are of, and the seals."""

    thread: str
    version: int
    at: str
    facts: Mapping[str, tuple[Fact, ...]]
    seals: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    schema: int = SCHEMA

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        facts = {s: [f.to_dict() for f in self.facts.get(s, ())] for s in CARRIED}
        header = {name: getattr(self, name) for name in _HEADER}
        return {**header, "facts": facts, "seals": dict(self.seals), "digest": self.digest}

    def to_json(self) -> str:
        """Canonical: the same packet gives the same bytes."""
        return canonical(self.to_dict())


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces, text as it is."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


# ------------------------------------------------------------ making one


def pack(
    brief: Brief,
    events: Mapping[str, Event],
    *,
    thread: str,
    at: datetime,
    keys: Digester,
) -> Packet:
    """The packet of a thread's brief; ``events`` are those its items cite and one may read."""
    facts = {
        s: tuple(_fact(i.text, i.data, i.evidence, events) for i in brief.of(s)) for s in CARRIED
    }
    bare = Packet(thread, brief.version, at.isoformat(), facts)
    return replace(bare, **_sealed(bare, keys))


def _fact(
    text: str, data: Mapping[str, Any], evidence: Sequence[str], events: Mapping[str, Event]
) -> Fact:
    cited = [events[i] for i in evidence if i in events and events[i].text]
    origin = origin_of(text, cited)
    sources = tuple(Source(e.id, e.seq, quote(text, e)) for e in cited[:SOURCES_PER_FACT])
    return Fact(text, data, sources, origin, origin.trust)


def origin_of(text: str, cited: Sequence[Event]) -> Origin:
    """By what right the events a fact cites let it stand: that of the weakest of those that bear
    it out.  Naming an event that says something else is worth nothing."""
    bearing = [e for e in cited if borne_out(text, [e.text or ""])]
    return ORIGIN[weakest(bearing, None)] if bearing else Origin.MODEL_INFERRED


def _sealed(packet: Packet, keys: Digester) -> dict[str, Any]:
    plain = packet.to_dict()
    seals = {
        name: keys.digest("packet", packet.thread, name, canonical(part))
        for name, part in (*((n, plain[n]) for n in _HEADER), *plain["facts"].items())
    }
    return {"seals": seals, "digest": keys.digest("packet", packet.thread, "", canonical(seals))}


# ------------------------------------------------------------ reading one


def read_packet(value: object) -> Packet:
    """A packet from its JSON or plain data; `InvalidInput` ``packet.invalid`` or
    ``packet.schema`` names the field at fault."""
    if isinstance(value, Packet):
        value = value.to_dict()
    if isinstance(value, str | bytes):
        value = _parsed(value)
    data = _mapping(value, "packet", {*_HEADER, "facts", "seals", "digest"})
    if data["schema"] != SCHEMA:
        raise InvalidInput("packet.schema", f"schema: this version reads packets of {SCHEMA}")
    facts = _mapping(data["facts"], "facts", set(CARRIED))
    if sum(len(v) for v in facts.values() if isinstance(v, list)) > FACTS_MAX:
        raise _invalid("facts", f"at most {FACTS_MAX}")
    packet = Packet(
        thread=_typed(data["thread"], str, "thread"),
        version=_typed(data["version"], int, "version"),
        at=_typed(data["at"], str, "at"),
        facts={s: tuple(_facts(facts[s], f"facts.{s}")) for s in CARRIED},
        seals={
            name: _typed(seal, str, f"seals.{name}")
            for name, seal in _mapping(data["seals"], "seals", {*_HEADER, *CARRIED}).items()
        },
        digest=_typed(data["digest"], str, "digest"),
    )
    try:
        packet.to_json().encode()
    except (ValueError, TypeError, RecursionError):  # not a number, half a character, too deep
        raise _invalid("packet", "not plain JSON data") from None
    return packet


def _parsed(value: str | bytes) -> object:
    if len(value) > PACKET_CHARS_MAX:
        raise _invalid("packet", f"at most {PACKET_CHARS_MAX} characters")
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise _invalid("packet", "not JSON") from None


def _facts(value: object, name: str) -> Iterator[Fact]:
    for number, one in enumerate(_typed(value, list, name)):
        at = f"{name}[{number}]"
        row = _mapping(one, at, {"text", "data", "sources", "origin", "trust"})
        try:
            origin = Origin(row["origin"])
        except ValueError:
            raise _invalid(f"{at}.origin", f"one of {', '.join(Origin)}") from None
        yield Fact(
            _typed(row["text"], str, f"{at}.text"),
            _typed(row["data"], dict, f"{at}.data"),
            tuple(_sources(row["sources"], f"{at}.sources")),
            origin,
            _typed(row["trust"], int, f"{at}.trust"),
        )


def _sources(value: object, name: str) -> Iterator[Source]:
    for number, one in enumerate(_typed(value, list, name)):
        row = _mapping(one, f"{name}[{number}]", {"event", "seq", "words"})
        kinds = {"event": str, "seq": int, "words": str}
        yield Source(**{k: _typed(row[k], t, f"{name}[{number}].{k}") for k, t in kinds.items()})


def _mapping(value: object, name: str, fields: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = _typed(value, dict, name)
    wrong = sorted(fields ^ set(found), key=str)
    if wrong:
        raise _invalid(f"{name}.{wrong[0]}", "unknown" if wrong[0] in found else "missing")
    return found


def _typed(value: object, kind: type, name: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _invalid(name, f"not a {kind.__name__}")
    return value


def _invalid(name: str, why: str) -> InvalidInput:
    return InvalidInput("packet.invalid", f"{name}: {why}")


# ------------------------------------------------------------ believing one


class Verdict(StrEnum):
    """What a packet turned out to be."""

    CURRENT = "current"  # sealed here, unchanged, and the thread still says so
    STALE = "stale"  # sealed here, unchanged, but the thread has moved on
    TAMPERED = "tampered"  # changed since it was sealed
    FOREIGN = "foreign"  # of no thread that this principal may read here


@dataclass(frozen=True, slots=True)
class Fault:
    """A field of the packet and what is wrong with it: ``changed``, ``moved_on``, ``erased``,
    ``no_such_event``, ``other_words``, ``no_such_thread``."""

    field: str
    reason: str


@dataclass(frozen=True, slots=True)
class Received:
    """What may be made of a packet: the verdict, each fault by its field, and the facts.

    A fact's ``origin`` and ``trust`` are those of the events in the store; where the packet
    does not verify they are the lowest there are.  Facts whose words have been erased are
    absent.  Nothing in it is an instruction or a permission.
    """

    verdict: Verdict
    thread: str
    version: int
    facts: Mapping[str, tuple[Fact, ...]]
    faults: tuple[Fault, ...] = ()
    current_version: int | None = None
    instruction_allowed: bool = False

    @property
    def ok(self) -> bool:
        """Sealed here, unchanged, still so."""
        return self.verdict is Verdict.CURRENT


def foreign(packet: Packet) -> Received:
    """A packet of a thread that is not here, or not this principal's: low trust throughout."""
    facts = {s: tuple(_distrusted(f) for f in fs) for s, fs in packet.facts.items()}
    faults = (Fault("thread", "no_such_thread"),)
    return Received(Verdict.FOREIGN, packet.thread, packet.version, facts, faults)


def examine(
    packet: Packet,
    present: Packet,
    events: Callable[[Sequence[str]], Mapping[str, Event]],
    keys: Digester,
) -> Received:
    """Hold a packet against the seals, the events it cites (those one may read) and the packet
    the thread would give now."""
    own = _sealed(packet, keys)
    changed = [n for n, seal in own["seals"].items() if packet.seals[n] != seal]
    if not changed and packet.digest != own["digest"]:
        changed = ["digest"]
    cited = events([s.event for fs in packet.facts.values() for f in fs for s in f.sources])
    faults = [Fault(name, "changed") for name in changed]
    facts: dict[str, tuple[Fact, ...]] = {}
    for section, stated in packet.facts.items():
        kept = []
        for number, fact in enumerate(stated):
            found = list(_source_faults(fact, f"{section}[{number}]", cited))
            faults += found
            if any(f.reason == "erased" for f in found):
                continue
            sound = section not in changed and not found
            kept.append(_believed(fact, cited) if sound else _distrusted(fact))
        facts[section] = tuple(kept)
    moved = [] if changed else list(_moved(packet, present))
    tampered = any(f.reason in ("changed", "other_words", "no_such_event") for f in faults)
    faults += [Fault(name, "moved_on") for name in moved]
    verdict = Verdict.TAMPERED if tampered else Verdict.STALE if faults else Verdict.CURRENT
    return Received(verdict, packet.thread, packet.version, facts, tuple(faults), present.version)


def _source_faults(fact: Fact, at: str, cited: Mapping[str, Event]) -> Iterator[Fault]:
    for number, source in enumerate(fact.sources):
        name, event = f"{at}.sources[{number}]", cited.get(source.event)
        if event is None:
            yield Fault(f"{name}.event", "no_such_event")
        elif event.erased:
            yield Fault(f"{name}.words", "erased")
        elif event.seq != source.seq:
            yield Fault(f"{name}.seq", "no_such_event")
        elif normalise(source.words.removesuffix("…")) not in normalise(event.text or ""):
            yield Fault(f"{name}.words", "other_words")


def _moved(packet: Packet, present: Packet) -> Iterator[str]:
    """Sections the thread no longer says so, and the version if it has moved on."""
    if packet.version != present.version:
        yield "version"
    yield from (s for s in CARRIED if packet.seals[s] != present.seals[s])


def _believed(fact: Fact, cited: Mapping[str, Event]) -> Fact:
    origin = origin_of(fact.text, [cited[s.event] for s in fact.sources])
    origin = min(origin, fact.origin, key=lambda o: o.trust)
    return replace(fact, origin=origin, trust=origin.trust)


def _distrusted(fact: Fact) -> Fact:
    return replace(fact, origin=Origin.MODEL_INFERRED, trust=Origin.MODEL_INFERRED.trust)
