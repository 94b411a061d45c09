"""A policy on each store: recorded with every decision; approvals need somebody entitled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from muniment.errors import NotAllowed
from tests.contract.kit import WEB, Place

OpenIt = Callable[..., Any]


def test_each_decision_records_the_version_it_was_made_under(
    place: Place, open_memory: OpenIt
) -> None:
    """Two policies, two versions; `why` tells them."""
    memory = open_memory(policy="coding")
    who = place.who(channel="runtime")
    [first] = memory.remember("Use pnpm in this project.", scope=WEB, principal=who)
    told = memory.why(first.record_id, principal=who).decisions
    assert [d["policy"] for d in told] == [memory.doctor()["policy"]]
    assert told[0]["policy"].startswith("coding-")
    other = memory if not place.durable else open_memory(policy="health")
    if place.durable:
        [second] = other.remember("The default branch is trunk.", scope=WEB, principal=who)
        assert other.why(second.record_id).decisions[0]["policy"].startswith("health-")


def test_what_the_policy_has_approved_needs_somebody_entitled(
    place: Place, open_memory: OpenIt
) -> None:
    """A tightening rule waits under `support`; its owner cannot let it in, an approver can."""
    memory = open_memory(policy="support")
    runtime = place.who(channel="runtime")
    [made] = memory.remember("Always ask me before a refund.", scope=WEB, principal=runtime)
    assert (made.action, made.reasons[0]) == ("hold", "policy.approval")
    with pytest.raises(NotAllowed) as caught:
        memory.confirm(made.candidate_id, digest=made.digest, principal=place.who())
    assert caught.value.code == "confirm.needs_role"
    approver = place.who(roles=["approve"])
    done = memory.confirm(made.candidate_id, digest=made.digest, principal=approver)
    assert done.action == "activate"


def test_an_edit_does_not_go_round_an_approval(place: Place, open_memory: OpenIt) -> None:
    """Words that come to be about a guarded topic before they are confirmed are guarded too."""
    memory = open_memory(policy="support")
    runtime = place.who(channel="runtime")
    event = memory.append(
        "You should call me before you post.", by="assistant", scope=WEB, principal=runtime
    )
    proposal = {"content": "call me before you post", "kind": "rule", "evidence": [event.id]}
    [made] = memory.propose(proposal, principal=runtime)
    held = memory.revise_candidate(made.candidate_id, content="ask me before a voucher")
    with pytest.raises(NotAllowed) as caught:
        memory.confirm(held.id, digest=held.digest, principal=place.who())
    assert caught.value.code == "confirm.needs_role"
    plain = memory.revise_candidate(held.id, content="call me before you post")
    assert memory.confirm(plain.id, digest=plain.digest).action == "activate"


def test_what_is_refused_leaves_no_words_behind(place: Place, open_memory: OpenIt) -> None:
    """Neither held nor kept; under no policy the same words are kept."""
    memory = open_memory(policy="coding")
    who = place.who(channel="runtime")
    said = "Remember that I'm allergic to caffeine."
    [made] = memory.remember(said, principal=who)
    assert (made.action, made.reasons[0]) == ("refuse", "policy.data_class")
    assert (memory.review(), memory.list()) == ([], [])
    if place.durable:
        assert open_memory().remember(said, principal=who)[0].action == "activate"
