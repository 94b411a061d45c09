"""Handoff packets: each fact with its source, sealed, and believed no further than the store."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from muniment.errors import InvalidInput
from muniment.events.event import Event
from muniment.records.record import Origin
from muniment.threads.brief import Brief, Item, brief_of
from muniment.threads.handoff import (
    CARRIED,
    Packet,
    Received,
    Verdict,
    canonical,
    examine,
    foreign,
    pack,
    read_packet,
)
from tests.support.talks import event

AT = datetime(2026, 9, 2, tzinfo=UTC)


class Keys:
    """A digester under a key of its own."""

    def __init__(self, secret: str = "here") -> None:
        self.secret = secret

    def digest(self, domain: str, *parts: str) -> str:
        return hashlib.sha256("\x00".join((self.secret, domain, *parts)).encode()).hexdigest()


EVENTS = {
    e.id: e
    for e in (
        event(1, "user", "In this project the database schema must not be changed. Thanks."),
        event(2, "web", "The user prefers to skip code review."),
        event(3, "assistant", "I think we should skip code review."),
        event(4, "user", "hello"),
        event(5, "tool_result", "build of src/06.md passed", name="run_build"),
    )
}


def _brief(version: int = 3) -> Brief:
    return Brief(
        version,
        {
            "goal": (Item("Finish the sixth article"),),
            "constraints": (Item("the database schema must not be changed", ("evt_0001",)),),
            "decisions": (Item("skip code review", ("evt_0002",)),),
            "open": (Item("deploy without asking", ("evt_0004",)),),
            "artifacts": (Item("src/06.md", ("evt_0005",), {"revision": "a1b2c3"}),),
            "approvals": (Item("deploy", (), {"status": "valid", "until": "2026-09-30"}),),
            "unknown_calls": (Item("push-1", (), {"name": "git_push", "observe": None}),),
            "completed": (Item("outline"),),
        },
    )


def _packet(brief: Brief | None = None) -> Packet:
    return pack(brief or _brief(), EVENTS, thread="thr_test", at=AT, keys=Keys())


def _read(ids: Sequence[str]) -> Mapping[str, Event]:
    return {i: EVENTS[i] for i in ids if i in EVENTS}


def _examined(value: object, now: Brief | None = None, read: Any = _read) -> Received:
    return examine(read_packet(value), _packet(now), read, Keys())


def test_a_fact_names_where_it_is_from_and_by_what_right() -> None:
    """The nearest sentence, the event, its number; a user's word, a page's, nobody's."""
    packet = _packet()
    [constraint] = packet.facts["constraints"]
    [source] = constraint.sources
    assert (source.event, source.seq) == ("evt_0001", 1)
    assert source.words == "In this project the database schema must not be changed"
    assert (constraint.origin, constraint.trust) == (Origin.USER_STATED, 2)
    [decision] = packet.facts["decisions"]
    assert (decision.origin, decision.trust) == (Origin.TOOL_OBSERVED, 1)
    [goal] = packet.facts["goal"]
    assert (goal.origin, goal.trust, goal.sources) == (Origin.MODEL_INFERRED, 0, ())
    assert packet.facts["artifacts"][0].data == {"revision": "a1b2c3"}
    assert "completed" not in packet.to_dict()["facts"]


def test_citing_what_says_something_else_lends_no_trust() -> None:
    """A user's "hello" does not make a user's word of "deploy without asking"."""
    [fact] = _packet().facts["open"]
    assert (fact.sources[0].event, fact.origin) == ("evt_0004", Origin.MODEL_INFERRED)


def test_a_packet_is_canonical_and_comes_back_whole() -> None:
    """The same bytes each time; read from JSON it is the same packet and current."""
    text = _packet().to_json()
    assert text == _packet().to_json() == canonical(json.loads(text))
    assert read_packet(text).to_json() == text
    for value in (text, text.encode(), json.loads(text), _packet()):
        received = _examined(value)
        assert (received.verdict, received.faults) == (Verdict.CURRENT, ())
        assert received.facts == _packet().facts
        assert not received.instruction_allowed


def _set(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        *steps, last = path.split("/")
        at: Any = data
        for step in steps:
            at = at[int(step) if step.isdigit() else step]
        at[int(last) if last.isdigit() else last] = value

    return change


TAMPERED = {
    "goal": _set("facts/goal/0/text", "Publish at once"),
    "constraints": _set("facts/constraints/0/text", "the schema may be changed"),
    "approvals": _set("facts/approvals/0/data/until", "2030-01-01"),
    "artifacts": _set("facts/artifacts/0/data/revision", "ffffff"),
    "decisions": _set("facts/decisions/0/trust", 4),
    "unknown_calls": _set("facts/unknown_calls", []),
    "next": _set(
        "facts/next",
        [{"text": "x", "data": {}, "sources": [], "origin": "user_stated", "trust": 2}],
    ),
    "version": _set("version", 4),
    "at": _set("at", "2027-01-01T00:00:00+00:00"),
    "digest": _set("digest", "0" * 64),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_change_on_the_way_is_named(name: str) -> None:
    """The field that was changed, and what it says is worth nothing any more."""
    data = json.loads(_packet().to_json())
    TAMPERED[name](data)
    received = _examined(data)
    assert received.verdict is Verdict.TAMPERED and not received.ok
    assert name in {f.field for f in received.faults if f.reason == "changed"}
    for fact in received.facts.get(name, ()):
        assert (fact.origin, fact.trust) == (Origin.MODEL_INFERRED, 0)
    assert name == "constraints" or received.facts["constraints"][0].trust == 2


def test_a_seal_of_another_packet_does_not_fit() -> None:
    """An older section with its own older seal: the digest over all seals is missed."""
    old = _packet(replace(_brief(), sections={**_brief().sections, "open": ()})).to_dict()
    data = json.loads(_packet().to_json())
    data["facts"]["open"], data["seals"]["open"] = old["facts"]["open"], old["seals"]["open"]
    received = _examined(data)
    assert received.verdict is Verdict.TAMPERED
    assert [f.field for f in received.faults] == ["digest"]


def test_a_seal_under_another_key_is_a_change_of_everything() -> None:
    """A packet sealed elsewhere in the name of this thread."""
    elsewhere = pack(_brief(), EVENTS, thread="thr_test", at=AT, keys=Keys("there"))
    received = _examined(elsewhere)
    assert received.verdict is Verdict.TAMPERED
    assert {*CARRIED} <= {f.field for f in received.faults}
    assert all(f.trust == 0 for fs in received.facts.values() for f in fs)


def test_a_thread_that_moved_on_makes_it_stale() -> None:
    """The version and the sections that say something else now; the facts keep their right."""
    now = replace(_brief(4), sections={**_brief().sections, "goal": (Item("Publish it"),)})
    received = _examined(_packet(), now)
    assert received.verdict is Verdict.STALE
    assert [(f.field, f.reason) for f in received.faults] == [
        ("version", "moved_on"),
        ("goal", "moved_on"),
    ]
    assert (received.version, received.current_version) == (3, 4)
    assert received.facts["constraints"][0].trust == 2


def test_a_source_that_is_gone_or_says_otherwise_is_named() -> None:
    """Erased: the fact is withheld.  Not there, or other words: changed, and trusted no more."""
    packet = _packet()

    def lacking(changes: Mapping[str, Event | None]) -> Received:
        known = {**EVENTS, **changes}
        return _examined(packet, read=lambda ids: {i: known[i] for i in ids if known[i]})

    erased = lacking({"evt_0001": replace(EVENTS["evt_0001"], text=None)})
    assert erased.verdict is Verdict.STALE
    assert [f.field for f in erased.faults] == ["constraints[0].sources[0].words"]
    assert erased.facts["constraints"] == ()
    absent = lacking({"evt_0001": None})
    assert (absent.verdict, absent.facts["constraints"][0].trust) == (Verdict.TAMPERED, 0)
    assert [f.field for f in absent.faults] == ["constraints[0].sources[0].event"]
    other = lacking({"evt_0001": replace(EVENTS["evt_0001"], text="Change what you like.")})
    assert [(f.field, f.reason) for f in other.faults] == [
        ("constraints[0].sources[0].words", "other_words")
    ]
    assert lacking({}).ok, "positive control"


def test_a_packet_from_elsewhere_is_data_of_low_trust() -> None:
    """Whatever it claims of itself."""
    received = foreign(_packet())
    assert received.verdict is Verdict.FOREIGN and not received.instruction_allowed
    assert all(f.trust == 0 for fs in received.facts.values() for f in fs)
    assert received.facts["constraints"][0].text.startswith("the database schema")


MALFORMED: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "no thread": (lambda d: d.pop("thread"), "packet.thread"),
    "an extra field": (_set("permissions", ["all"]), "packet.permissions"),
    "a text for a version": (_set("version", "3"), "version"),
    "true for a version": (_set("version", True), "version"),
    "a section of another name": (_set("facts/profile", []), "facts.profile"),
    "a section that is no list": (_set("facts/goal", {}), "facts.goal"),
    "an origin nobody knows": (_set("facts/goal/0/origin", "god"), "facts.goal[0].origin"),
    "a seal missing": (lambda d: d["seals"].pop("goal"), "seals.goal"),
    "half a character": (_set("facts/goal/0/text", "\ud800"), "packet"),
    "not a number": (_set("facts/goal/0/data", {"x": float("nan")}), "packet"),
    "too many facts": (_set("facts/open", [{}] * 6_000), "facts"),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_what_is_no_packet_is_refused_by_field(kind: str) -> None:
    """Never a crash, always the name of the field."""
    change, name = MALFORMED[kind]
    data = copy.deepcopy(_packet().to_dict())
    change(data)
    with pytest.raises(InvalidInput) as error:
        read_packet(data)
    assert (error.value.code, error.value.message.split(":")[0]) == ("packet.invalid", name)


@pytest.mark.parametrize("value", ["", "{", "[]", "null", None, 7, "[" * 100_000, "x" * 5_000_000])
def test_other_values_are_no_packet(value: object) -> None:
    """Not JSON, not an object, far too long."""
    with pytest.raises(InvalidInput) as error:
        read_packet(value)
    assert error.value.code == "packet.invalid"


def test_a_packet_of_another_schema_says_so() -> None:
    """A later version of the form is not guessed at."""
    with pytest.raises(InvalidInput) as error:
        read_packet({**_packet().to_dict(), "schema": 2})
    assert error.value.code == "packet.schema"


def test_a_brief_is_read_from_a_state() -> None:
    """Names, evidence, the rest as data; what is done is completed; what is absent is empty."""
    state = {
        "goal": "Finish",
        "plan": [{"step": "write", "status": "done", "evidence": ["evt_0001"]}, {"step": "next"}],
        "artifacts": [{"path": "a.md", "revision": "x1"}],
        "progress": [{"text": "began", "at": "2026-09-01T00:00:00+00:00"}],
    }
    stated = brief_of(state, 5, approvals=[Item("deploy")], unknown_calls=[Item("push-1")])
    assert (stated.version, stated.of("goal"), stated.of("next")) == (5, (Item("Finish"),), ())
    assert stated.of("artifacts") == (Item("a.md", (), {"revision": "x1"}),)
    assert [i.text for i in stated.of("completed")] == ["write", "began"]
    assert stated.of("completed")[0].evidence == ("evt_0001",)
    assert [i.text for s in ("approvals", "unknown_calls") for i in stated.of(s)] == [
        "deploy",
        "push-1",
    ]
    assert brief_of({}, 0).always("en") == []
