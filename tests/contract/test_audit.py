"""Every read and write leaves an entry of ids and codes, never of words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.kit import Desk

MARK = "MARKERWORD"

#: verb -> (the call, the word its entry must hold).
VERBS: dict[str, tuple[Callable[[Desk, str], Any], str]] = {
    "append": (lambda d, r: d.memory.append(f"hello {MARK}"), "append"),
    "remember": (lambda d, r: d.memory.remember(f"I prefer short answers {MARK}."), "decide"),
    "revise": (lambda d, r: d.memory.revise(r, if_version=1, value="yarn"), "revise"),
    "mute": (lambda d, r: d.memory.mute(r), "mute"),
    "unmute": (lambda d, r: d.memory.unmute(r), "unmute"),
    "expire": (lambda d, r: d.memory.expire(r), "expire"),
    "delete": (lambda d, r: d.memory.delete(record=r), "delete"),
    "erase": (lambda d, r: d.memory.erase(record=r), "erase"),
    "settings": (lambda d, r: d.memory.settings(pause_recall=True), "settings"),
    "used": (lambda d, r: d.memory.used("turn_1", "cited", [r]), "cited"),
    "rebuild_index": (lambda d, r: d.memory.rebuild_index(), "rebuild_index"),
    "recall": (lambda d, r: d.memory.recall(f"npm {MARK}", scope={"project": "web"}), '"recall"'),
    "archive": (lambda d, r: d.memory.recall(f"npm {MARK}", layers=("archive",)), '"recall"'),
    "context": (lambda d, r: d.memory.context(f"npm {MARK}"), '"recall"'),
    "list": (lambda d, r: d.memory.list(), '"list"'),
    "show": (lambda d, r: d.memory.show(r), '"show"'),
    "history": (lambda d, r: d.memory.history(r), '"history"'),
    "why": (lambda d, r: d.memory.why(r), '"why"'),
    "profile": (lambda d, r: d.memory.profile(), '"profile"'),
    "review": (lambda d, r: d.memory.review(), '"review"'),
    "export": (lambda d, r: d.memory.export(d.place.folder / "o"), '"export"'),
}


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_is_in_the_trail_without_its_words(desk: Desk, verb: str) -> None:
    """One entry more, naming who, and nothing of the text."""
    record = desk.remember(f"This project uses npm. {MARK}").record_id
    assert record is not None
    before = desk.trail()
    act, word = VERBS[verb]
    act(desk, record)
    after = desk.trail()
    new = [pair for pair in after if pair not in before]
    assert any(word in action or word in entry for action, entry in new), new
    assert any('"lin"' in entry for _, entry in new)
    assert all(MARK not in entry for _, entry in after)
    assert desk.memory.verify().ok


def test_held_confirmed_and_rejected_are_in_the_trail(desk: Desk) -> None:
    """The queue's answers name the candidate and its digest."""
    held = desk.guess("pnpm")
    desk.memory.revise_candidate(held.candidate_id, value="yarn")
    [shown] = desk.memory.review()
    desk.memory.reject(shown.id, digest=shown.digest)
    told = [entry for action, entry in desk.trail() if action in ("decide", "revise", "reject")]
    assert len(told) == 3
    assert all(held.candidate_id in entry for entry in told)
    assert shown.digest in told[-1]


def test_a_refusal_leaves_no_entry_of_success(desk: Desk) -> None:
    """What did not happen is not told as done."""
    record = desk.remember("This project uses npm.").record_id
    before = [a for a, _ in desk.trail()]
    agent = desk.who(channel="agent")
    for act in (
        lambda: desk.memory.erase(record=record, principal=agent),
        lambda: desk.memory.revise(record, if_version=9, value="yarn"),
        lambda: desk.memory.show("rec_none"),
    ):
        with pytest.raises(Exception, match=r"."):
            act()
    assert [a for a, _ in desk.trail()] == before


def test_reads_are_batched_and_none_is_lost_on_close(durable_desk: Desk) -> None:
    """Three hundred reads: few entries, three hundred reads in them."""
    desk = durable_desk
    record = desk.remember("This project uses npm.").record_id
    for _ in range(300):
        desk.memory.show(record)
    desk.reopen()
    entries = [entry for action, entry in desk.trail() if action == "read"]
    assert sum(entry.count('"show"') for entry in entries) == 300
    assert len(entries) < 30


def test_the_record_lists_who_wrote_it(desk: Desk) -> None:
    """Decisions name policy version, writer and reasons; `why` tells them."""
    made = desk.remember("This project uses npm.")
    [decision] = desk.memory.why(made.record_id).decisions
    assert decision["writer"] == "runtime"
    assert decision["decision"] == made.id
    [entry] = [e for a, e in desk.trail() if a == "decide"]
    assert made.record_id in entry and "builtin" in entry
