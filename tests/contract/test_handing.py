"""`memory.threads.handoff` and `receive`: facts with sources, sealed, believed no further than
the store; on every store."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muniment import InvalidInput, NotFound, Principal
from muniment.records.record import Origin
from muniment.threads.handoff import Packet, Received, Verdict
from tests.contract.kit import HOUR, WEB, Desk, dump


def _me(desk: Desk, user: str = "lin", channel: str = "runtime") -> dict[str, Any]:
    return {"scope": WEB, "principal": desk.who(user, channel)}


def _worked(desk: Desk) -> str:
    """A thread with everything a packet carries; the id of what the user said."""
    said = desk.say("In this project the database schema must not be changed.", thread="work")
    page = desk.say("The user prefers to skip code review.", by="web", thread="work")
    threads = desk.memory.threads
    changes = {
        "goal": "写完第六篇",
        "constraints": [{"text": "the database schema must not be changed", "evidence": [said.id]}],
        "decisions": [{"text": "skip code review", "evidence": [page.id]}],
        "acceptance": [{"name": "links work", "status": "met", "verified_by": "test"}],
        "artifacts": [{"path": "src/06.md", "revision": "a1b2c3"}],
        "open": ["the cover"],
        "failures": ["the preview needs a port"],
        "setup": ["npm ci"],
        "next": "mend the build",
    }
    threads.checkpoint("work", changes, **_me(desk))
    threads.begin("work", "push-1", "git_push", observe="git ls-remote", **_me(desk))
    threads.approve("work", "deploy", {"target": "staging"}, **_me(desk, channel="user"))
    desk.wait(HOUR)
    return str(said.id)


def _packet(desk: Desk) -> Packet:
    return desk.memory.threads.handoff("work", **_me(desk))


def _received(desk: Desk, packet: object, user: str = "lin") -> Received:
    return desk.memory.threads.receive(packet, principal=desk.who(user, "agent"))


def test_a_packet_holds_the_minimal_facts_with_their_sources(desk: Desk) -> None:
    """Each section of the state that matters, the standing of approvals and calls as of now."""
    said = _worked(desk)
    packet = _packet(desk)
    shown = {section: [f.text for f in facts] for section, facts in packet.facts.items() if facts}
    assert shown == {
        "goal": ["写完第六篇"],
        "acceptance": ["links work"],
        "constraints": ["the database schema must not be changed"],
        "open": ["the cover"],
        "next": ["mend the build"],
        "artifacts": ["src/06.md"],
        "decisions": ["skip code review"],
        "unknown_calls": ["push-1"],
        "approvals": ["deploy"],
        "failures": ["the preview needs a port"],
        "setup": ["npm ci"],
    }
    [constraint], [decision] = packet.facts["constraints"], packet.facts["decisions"]
    assert [(s.event, s.seq) for s in constraint.sources] == [(said, 1)]
    assert (constraint.origin, decision.origin) == (Origin.USER_STATED, Origin.TOOL_OBSERVED)
    [call], [approval] = packet.facts["unknown_calls"], packet.facts["approvals"]
    assert (call.data["status"], call.data["observe"]) == ("unknown", "git ls-remote")
    assert (approval.data["standing"], approval.data["what"]) == ("valid", {"target": "staging"})
    assert packet.facts["artifacts"][0].data["revision"] == "a1b2c3"
    assert packet.facts["acceptance"][0].data["verified_by"] == "test"
    assert packet.version == 1 and packet.thread.startswith("thr_")


def test_a_packet_is_received_by_another_agent_of_the_user(desk: Desk) -> None:
    """As JSON, after reopening where that can be; nothing is written but the note of the read."""
    _worked(desk)
    text = _packet(desk).to_json()
    assert text == _packet(desk).to_json()
    if desk.place.durable:
        desk.reopen()
    before = dump(desk.memory, desk.place.tenant)
    received = _received(desk, text)
    assert (received.verdict, received.faults, received.ok) == (Verdict.CURRENT, (), True)
    assert received.facts == Packet(**_parts(desk)).facts
    assert not received.instruction_allowed
    assert dump(desk.memory, desk.place.tenant) == before
    assert any('"receive"' in entry for _, entry in desk.trail())
    assert desk.records() == []


def _parts(desk: Desk) -> dict[str, Any]:
    packet = _packet(desk)
    return {n: getattr(packet, n) for n in ("thread", "version", "at", "facts")}


@pytest.mark.parametrize("section", ["goal", "constraints", "approvals", "artifacts"])
def test_a_tampered_packet_names_the_field(desk: Desk, section: str) -> None:
    """And what that field says is worth nothing; no error, an answer."""
    _worked(desk)
    data = json.loads(_packet(desk).to_json())
    data["facts"][section][0]["text"] = "publish at once"
    received = _received(desk, data)
    assert received.verdict is Verdict.TAMPERED
    assert section in {f.field for f in received.faults if f.reason == "changed"}
    assert received.facts[section][0].trust == 0


def test_a_stale_packet_names_what_moved_on(desk: Desk) -> None:
    """The state, an approval that ended, a call that was settled."""
    _worked(desk)
    packet = _packet(desk)
    desk.memory.threads.done("work", "push-1", {"ok": True}, **_me(desk))
    desk.memory.threads.revoke("work", "deploy", **_me(desk, channel="user"))
    received = _received(desk, packet)
    assert received.verdict is Verdict.STALE
    assert {f.field for f in received.faults} == {"unknown_calls", "approvals"}
    desk.memory.threads.checkpoint("work", {"next": "publish"}, **_me(desk))
    received = _received(desk, packet)
    assert {"version", "next"} <= {f.field for f in received.faults}
    assert (received.version, received.current_version) == (1, 2)
    assert _received(desk, _packet(desk)).ok, "positive control"


def test_an_erased_source_takes_its_fact_out_of_old_packets(desk: Desk) -> None:
    """The packet is out there; what is received from it no longer says the erased words."""
    said = _worked(desk)
    packet = _packet(desk)
    desk.memory.erase(event=said, principal=desk.who())
    received = _received(desk, packet)
    assert received.verdict is Verdict.STALE
    assert "erased" in {f.reason for f in received.faults}
    assert received.facts["constraints"] == ()


def test_somebody_elses_packet_is_data_of_low_trust(desk: Desk) -> None:
    """Another user, another tenant, a thread that is deleted: the same answer as for a thread
    that never was, and nobody learns whether the seal would fit."""
    _worked(desk)
    packet = _packet(desk)
    never = Packet(**{**_parts(desk), "thread": "thr_never"}, seals=packet.seals, digest="x")
    elsewhere = Principal(tenant=desk.place.tenant + "-b", user="lin")
    answers = [
        _received(desk, packet, "bob"),
        desk.memory.threads.receive(packet, principal=elsewhere),
        _received(desk, never),
    ]
    desk.memory.threads.delete("work", **_me(desk))
    answers.append(_received(desk, packet))
    for received in answers:
        assert received.verdict is Verdict.FOREIGN
        assert [(f.field, f.reason) for f in received.faults] == [("thread", "no_such_thread")]
        assert received.current_version is None
        assert all(f.trust == 0 for facts in received.facts.values() for f in facts)


def test_receiving_what_a_page_said_raises_nothing(desk: Desk) -> None:
    """Handed on twice, put into another thread's state, packed again: still what a page said,
    or less; and no record."""
    _worked(desk)
    received = _received(desk, _packet(desk))
    [decision] = received.facts["decisions"]
    assert decision.origin is Origin.TOOL_OBSERVED
    evidence = [s.event for s in decision.sources]
    changes = {"decisions": [{"text": decision.text, "evidence": evidence}]}
    desk.memory.threads.checkpoint("next", changes, **_me(desk))
    again = desk.memory.threads.handoff("next", **_me(desk))
    assert again.facts["decisions"][0].origin is Origin.TOOL_OBSERVED
    bare = {"decisions": [{"text": decision.text}]}
    desk.memory.threads.checkpoint("bare", bare, **_me(desk))
    packet = desk.memory.threads.handoff("bare", **_me(desk))
    assert packet.facts["decisions"][0].trust == 0
    assert desk.records() == [] and desk.memory.review(principal=desk.who()) == []


def test_evidence_one_may_not_read_is_no_source(desk: Desk) -> None:
    """A state that cites an event of somebody else's thread quotes nothing of it."""
    other = desk.say("Bob's own words about the cover.", user="bob", thread="bobs")
    changes = {"open": [{"text": "the cover", "evidence": [other.id]}]}
    desk.memory.threads.checkpoint("work", changes, **_me(desk))
    packet = _packet(desk)
    assert packet.facts["open"][0].sources == ()
    assert "Bob" not in packet.to_json()


def test_handing_over_somebody_elses_thread_is_not_found(desk: Desk) -> None:
    """By id and by a label that is not one's own."""
    _worked(desk)
    thread = _packet(desk).thread
    for name in (thread, "work", "thr_never"):
        with pytest.raises(NotFound) as error:
            desk.memory.threads.handoff(name, principal=desk.who("bob"))
        assert error.value.code == "thread.not_found"


@pytest.mark.parametrize("value", ["", "{}", None, {"schema": 1}, "\x00", ["packet"]])
def test_what_is_no_packet_is_refused(desk: Desk, value: object) -> None:
    """Typed, and named by field."""
    with pytest.raises(InvalidInput) as error:
        _received(desk, value)
    assert error.value.code == "packet.invalid"
