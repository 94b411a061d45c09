"""What an approval is worth, and who may give one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from muniment import Event, NotAllowed, Principal, Scope
from muniment.events.event import EventKind
from muniment.ids import EventId, ThreadId
from muniment.scope import Channel
from muniment.threads.approvals import (
    Approval,
    Now,
    Standing,
    artifacts_in,
    check_may_approve,
    digest_of,
    standing,
)
from muniment.threads.artifacts import FileSeen
from muniment.trail.chain import Key

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WHAT = {"action": "push", "artifacts": [{"path": "post.md", "revision": "a1b2c3"}]}
KEYS = Key("k", b"0" * 32)


def approval(**changes: Any) -> Approval:
    """An approval of `WHAT`, good for a day."""
    given = Approval(
        "thr_1",
        "push",
        digest_of(KEYS, "thr_1", WHAT),
        WHAT,
        "ana",
        "user",
        "evt_1",
        NOW,
        NOW + DAY,
    )
    return replace(given, **changes)


def test_it_holds_until_its_term() -> None:
    """The instant of its end is already too late."""
    assert standing(approval(), Now(NOW + DAY - timedelta(microseconds=1))).valid
    over = standing(approval(), Now(NOW + DAY))
    assert (over.standing, over.valid) == (Standing.EXPIRED, False)
    assert "2026-09-02" in over.reason
    assert standing(approval(until=None), Now(NOW + 900 * DAY)).valid


def test_what_was_revoked_stays_so() -> None:
    """Whatever else may be said of it."""
    revoked = standing(approval(revoked_at=NOW), Now(NOW + 2 * DAY))
    assert revoked.standing is Standing.REVOKED


def test_it_is_bound_to_the_very_thing() -> None:
    """Another thing under its name, the same thing in another order of keys, another thread."""
    same = digest_of(KEYS, "thr_1", dict(reversed(WHAT.items())))
    other = digest_of(KEYS, "thr_1", {**WHAT, "action": "push --force"})
    elsewhere = digest_of(KEYS, "thr_2", WHAT)
    assert standing(approval(), Now(NOW, {"push": same})).valid
    assert standing(approval(), Now(NOW, {"other": other})).valid
    for digest in (other, elsewhere):
        changed = standing(approval(), Now(NOW, {"push": digest}))
        assert changed.standing is Standing.CHANGED


@pytest.mark.parametrize(
    ("seen", "revisions", "expected"),
    [
        ({"post.md": FileSeen(True, "a1b2c3d4")}, None, Standing.VALID),
        ({"post.md": FileSeen(True, "a1b2c3d4", dirty=True)}, None, Standing.CHANGED),
        ({"post.md": FileSeen(True, "ffff00")}, {"post.md": "a1b2c3"}, Standing.CHANGED),
        ({"post.md": FileSeen(False)}, None, Standing.CHANGED),
        ({"post.md": FileSeen(True, "a1b2c3d4")}, {"post.md": "ffff00"}, Standing.VALID),
        (None, {"post.md": "ffff00"}, Standing.CHANGED),
        (None, {"post.md": "a1b2c3"}, Standing.VALID),
        (None, {"other.md": "ffff00"}, Standing.VALID),
    ],
)
def test_a_revision_that_has_moved_on_ends_it(
    seen: Any, revisions: Any, expected: Standing
) -> None:
    """What lies there counts; what the state records, where nobody looked."""
    found = standing(approval(), Now(NOW, seen=seen, revisions=revisions))
    assert found.standing is expected, found.reason
    told = expected is Standing.CHANGED or "post.md" not in (seen or {})
    assert ("post.md" in found.reason) == told, "also that nobody has looked"


def test_artifacts_are_found_at_any_depth() -> None:
    """Every path with a revision, and nothing else."""
    nested = {"x": [{"y": {"path": "a", "revision": "1"}}, {"path": "b"}], "path": "c"}
    assert list(artifacts_in(nested)) == [("a", "1")]
    assert list(artifacts_in("path")) == []


def answer(text: str = "yes, push it", **changes: Any) -> Event:
    """What Ana said in the thread."""
    said = Event(
        EventId("evt_9"),
        "acme",
        ThreadId("thr_1"),
        3,
        EventKind.USER,
        NOW,
        NOW,
        text,
        Scope(),
        Channel.RUNTIME,
        user="ana",
    )
    return replace(said, **changes)


def who(channel: str, user: str = "ana") -> Principal:
    """Somebody on that channel."""
    return Principal(tenant="acme", user=user, channel=channel)  # type: ignore[arg-type]


def test_people_approve_and_the_runtime_relays() -> None:
    """The controls of everything below."""
    check_may_approve(who("user"), "thr_1", None)
    check_may_approve(who("admin"), "thr_1", None)
    check_may_approve(who("runtime"), "thr_1", answer())
    check_may_approve(who("runtime"), "thr_1", answer(), revoked_at=NOW - DAY)
    check_may_approve(who("runtime"), "thr_1", answer("可以，推吧"))


@pytest.mark.parametrize(
    ("channel", "given", "code"),
    [
        ("agent", None, "approve.channel"),
        ("agent", answer(), "approve.channel"),
        ("import", answer(), "approve.channel"),
        ("job", answer(), "approve.channel"),
        ("runtime", None, "approve.needs_answer"),
        ("runtime", answer(kind=EventKind.ASSISTANT, user=None), "approve.needs_answer"),
        ("runtime", answer(kind=EventKind.TOOL_RESULT, user=None), "approve.needs_answer"),
        ("runtime", answer(kind=EventKind.APPROVAL), "approve.needs_answer"),
        ("runtime", answer(user="bob"), "approve.needs_answer"),
        ("runtime", answer(attested=False), "approve.needs_answer"),
        ("runtime", answer(channel=Channel.IMPORT), "approve.needs_answer"),
        ("runtime", answer(channel=Channel.AGENT), "approve.needs_answer"),
        ("runtime", answer(thread=ThreadId("thr_2")), "approve.answer_elsewhere"),
        ("user", answer(thread=ThreadId("thr_2")), "approve.answer_elsewhere"),
        ("runtime", answer("no, wait"), "approve.answer_is_no"),
        ("runtime", answer("先不要推"), "approve.answer_is_no"),
    ],
)
def test_nobody_else_does(channel: str, given: Event | None, code: str) -> None:
    """An agent never, and nobody by an answer that is none."""
    with pytest.raises(NotAllowed) as error:
        check_may_approve(who(channel), "thr_1", given)
    assert error.value.code == code


def test_an_old_yes_does_not_undo_a_revocation() -> None:
    """The answer has to come after it."""
    with pytest.raises(NotAllowed) as error:
        check_may_approve(who("runtime"), "thr_1", answer(), revoked_at=NOW)
    assert error.value.code == "approve.answer_too_old"
