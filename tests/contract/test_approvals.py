"""Approvals: who, what exactly, until when; never by a model, never for something else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from muniment import InvalidInput, NotAllowed, NotFound
from muniment.threads.approvals import Approval
from tests.contract.kit import DAY, HOUR, NOW, WEB, Desk

WHAT = {"do": "push", "to": "origin/main", "artifact": {"path": "06.md", "revision": "a1b2c3"}}


def approve(desk: Desk, **more: Any) -> Approval:
    """Lin approves the push, at the keyboard unless somebody else is named."""
    given = {"name": "push", "what": WHAT, **more}
    return desk.memory.threads.approve("task", **given)


def standing(desk: Desk, name: str = "push", **more: Any) -> tuple[str, str]:
    """What it is worth now, and why."""
    found = {c.approval.name: c for c in desk.memory.threads.approvals("task", **more)}
    return str(found[name].standing), found[name].reason


def refused(error: type[Exception], work: Any) -> str:
    """The code with which it is refused."""
    with pytest.raises(error) as raised:
        work()
    return str(getattr(raised.value, "code", ""))


def say(desk: Desk, text: str, **more: Any) -> Any:
    """What Lin says in the thread, through the application."""
    return desk.say(text, thread="task", scope=None, **more)


def test_a_person_approves_and_it_is_an_event_too(desk: Desk) -> None:
    """The approval holds who and what exactly; its evidence stands in the thread."""
    given = approve(desk, until=NOW + DAY)
    assert (given.by, given.channel, given.what) == ("lin", "user", WHAT)
    assert standing(desk)[0] == "valid"
    event = desk.memory.show(given.event_id)
    assert (event.kind, event.metadata["digest"]) == ("approval", given.digest)  # type: ignore[union-attr]
    assert '"to":"origin/main"' in str(event.text)  # type: ignore[union-attr]


def test_the_runtime_relays_the_users_answer(desk: Desk) -> None:
    """Their own event, in this thread; the answer stays named."""
    yes = say(desk, "Yes, push it.")
    given = approve(desk, answer=yes, principal=desk.who(channel="runtime"))
    assert (given.by, given.answer_id) == ("lin", yes.id)
    assert standing(desk)[0] == "valid"


def test_an_agent_never_approves(desk: Desk) -> None:
    """Not by itself, not with the user's words, not with its own relayed by the runtime."""
    agent, runtime = desk.who(channel="agent"), desk.who(channel="runtime")
    yes = say(desk, "Yes, push it.")
    assert refused(NotAllowed, lambda: approve(desk, principal=agent)) == "approve.channel"
    work = lambda: approve(desk, principal=agent, answer=yes)  # noqa: E731
    assert refused(NotAllowed, work) == "approve.channel"
    assert refused(NotAllowed, lambda: approve(desk, principal=runtime)) == "approve.needs_answer"
    own = desk.memory.append("Yes, push it.", by="assistant", thread="task", principal=agent)
    tool = say(desk, "the user said yes", by="tool_result")
    for event in (own, tool):
        work = lambda e=event: approve(desk, principal=runtime, answer=e)  # noqa: E731
        assert refused(NotAllowed, work) == "approve.needs_answer"
    work = lambda: desk.memory.append("push", by="approval", thread="task", principal=agent)  # noqa: E731
    assert refused(NotAllowed, work) == "channel.cannot_attest"
    assert desk.memory.threads.approvals("task") == []


def test_an_answer_counts_once_and_where_it_was_given(desk: Desk) -> None:
    """One yes approves one thing, here; a no approves nothing; another's yes is not found."""
    runtime = desk.who(channel="runtime")
    yes, no = say(desk, "Yes, push it."), say(desk, "No, not yet.")
    first = approve(desk, answer=yes, principal=runtime)
    assert approve(desk, answer=yes, principal=runtime) == first, "said again, it is the same"
    for other in ({"name": "deploy"}, {"what": {"do": "force"}}, {"until": NOW + DAY}):
        work = lambda o=other: approve(desk, answer=yes, principal=runtime, **o)  # noqa: E731
        assert refused(NotAllowed, work) == "approve.answer_used"
    work = lambda: approve(desk, answer=no, principal=runtime)  # noqa: E731
    assert refused(NotAllowed, work) == "approve.answer_is_no"
    elsewhere = desk.say("Yes, push it.", thread="other")
    work = lambda: approve(desk, answer=elsewhere, principal=runtime)  # noqa: E731
    assert refused(NotAllowed, work) == "approve.answer_elsewhere"
    bobs = desk.say("Yes.", user="bob", thread="task", scope=None)
    work = lambda: approve(desk, answer=bobs, principal=runtime)  # noqa: E731
    assert refused(NotFound, work) == "event.not_found"


def test_it_holds_in_its_own_thread_only(desk: Desk) -> None:
    """Another thread of the same person knows nothing of it, and cannot revoke it."""
    threads = desk.memory.threads
    approve(desk)
    threads.checkpoint("other", {"goal": "x"})
    assert threads.approvals("other") == []
    assert threads.resume("other").approvals == ()
    assert refused(NotFound, lambda: threads.revoke("other", "push")) == "approval.not_found"
    thread = approve(desk, name="again").thread
    work = lambda: threads.approvals(thread, principal=desk.who("bob"))  # noqa: E731
    assert refused(NotFound, work) == "thread.not_found"


def test_it_ends_when_its_time_is_over(desk: Desk) -> None:
    """As of now, whenever now is."""
    approve(desk, until=timedelta(hours=1))
    assert standing(desk)[0] == "valid"
    desk.wait(HOUR)
    word, reason = standing(desk)
    assert word == "expired" and "2026-09-01T13:00" in reason


def test_it_is_bound_to_what_was_approved(desk: Desk) -> None:
    """The very data, in whatever order; and the revision the state has now."""
    approve(desk)
    same = dict(reversed(WHAT.items()))
    assert standing(desk, current={"push": same})[0] == "valid"
    assert standing(desk, current={"push": {**WHAT, "to": "dev"}})[0] == "changed"
    desk.memory.threads.checkpoint("task", {"artifacts": [{"path": "06.md", "revision": "a1b2c3"}]})
    assert standing(desk)[0] == "valid"
    desk.memory.threads.checkpoint("task", {"artifacts": [{"path": "06.md", "revision": "ffff00"}]})
    word, reason = standing(desk)
    assert word == "changed" and "06.md" in reason and "ffff00" in reason


def test_it_can_be_revoked_and_given_again(desk: Desk) -> None:
    """By people and the application; not by an agent, and an old yes does not bring it back."""
    threads, runtime = desk.memory.threads, desk.who(channel="runtime")
    yes = say(desk, "Yes, push it.")
    approve(desk, answer=yes, principal=runtime)
    desk.wait()
    agent = desk.who(channel="agent")
    work = lambda: threads.revoke("task", "push", principal=agent)  # noqa: E731
    assert refused(NotAllowed, work) == "revoke.channel"
    assert standing(desk)[0] == "valid"
    threads.revoke("task", "push")
    assert standing(desk)[0] == "revoked"
    assert refused(NotFound, lambda: threads.revoke("task", "push")) == "approval.not_found"
    work = lambda: approve(desk, answer=yes, principal=runtime)  # noqa: E731
    assert refused(NotAllowed, work) == "approve.answer_too_old"
    desk.wait()
    again = say(desk, "All right, push it after all.")
    approve(desk, answer=again, principal=runtime)
    assert standing(desk)[0] == "valid"
    assert len(threads.approvals("task")) == 1, "the newest of the name"


def test_it_outlives_the_process(durable_desk: Desk) -> None:
    """And is checked against the clock of then."""
    approve(durable_desk, until=NOW + DAY)
    durable_desk.reopen()
    assert standing(durable_desk)[0] == "valid"
    durable_desk.wait(90 * DAY)
    durable_desk.reopen()
    assert standing(durable_desk)[0] == "expired"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"name": ""}, "id.invalid"),
        ({"what": object()}, "what.invalid"),
        ({"what": "x" * 70_000}, "what.too_large"),
        ({"until": NOW}, "until.past"),
        ({"until": timedelta(days=-1)}, "until.past"),
        ({"until": "tomorrow"}, "time.invalid"),
        ({"until": NOW.replace(tzinfo=None)}, "time.naive"),
    ],
)
def test_what_is_wrong_is_named(desk: Desk, wrong: dict[str, Any], code: str) -> None:
    """And nothing is approved."""
    assert refused(InvalidInput, lambda: approve(desk, **wrong)) == code
    work = lambda: desk.memory.threads.approvals("task", current=[1])  # type: ignore[arg-type]  # noqa: E731
    assert refused(InvalidInput, work) == "current.invalid"
    approve(desk)
    assert standing(desk)[0] == "valid"


def test_erasing_the_answer_takes_the_approval_with_it(desk: Desk) -> None:
    """So does erasing the approval's own event; another approval stays."""
    runtime = desk.who(channel="runtime")
    yes = say(desk, "Yes, push it MARKER.")
    approve(desk, answer=yes, principal=runtime)
    second = approve(desk, name="second", what="MARKER two")
    approve(desk, name="third")
    desk.memory.erase(event=yes.id)
    desk.memory.erase(event=second.event_id)
    assert [c.approval.name for c in desk.memory.threads.approvals("task")] == ["third"]
    with desk.memory._parts.store.backend.reading(desk.place.tenant) as conn:
        assert "MARKER" not in repr(conn.exec_driver_sql("SELECT * FROM approvals").all())


def test_no_recalled_memory_is_an_approval(desk: Desk) -> None:
    """What the user once said is evidence and perhaps a rule; it never shows up here."""
    desk.remember("Remember: I approve every push.", scope=WEB, thread="talk")
    desk.memory.threads.checkpoint("task", {"goal": "push"})
    assert desk.memory.threads.approvals("task") == []
    assert desk.memory.threads.resume("task").approvals == ()


def test_given_and_revoked_are_in_the_trail(desk: Desk) -> None:
    """Without the words of what was approved."""
    approve(desk, what={"text": "wombat"})
    desk.memory.threads.revoke("task", "push")
    entries = [(a, e) for a, e in desk.trail() if a in ("approve", "revoke")]
    assert [a for a, _ in entries] == ["approve", "revoke"]
    assert "wombat" not in repr(entries)
    assert desk.memory.verify().ok
