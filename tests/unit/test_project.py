"""Taking a project up again: always the same steps in the same order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from muniment.threads.ledger import CallStatus, ToolCall
from muniment.threads.project import ORDER, protocol
from muniment.threads.resume import Head, Resumption, resumption

NOW = datetime(2026, 9, 4, 12, tzinfo=UTC)
BEFORE = NOW - timedelta(days=3)
STATE = {
    "goal": "Finish the sixth article",
    "setup": [{"text": "npm ci"}],
    "artifacts": [{"path": "src/06.md", "revision": "a1b2c3"}],
    "acceptance": [
        {"name": "links work", "status": "met", "verified_by": "test", "check": "npm run links"},
        {"name": "reads well", "status": "met", "verified_by": "self", "check": "read it"},
        {"name": "pictures", "status": "open"},
    ],
    "observations": [
        {
            "name": "build",
            "value": "passed",
            "how": "npm run build",
            "observed_at": BEFORE.isoformat(),
        }
    ],
    "plan": [
        {"step": "write", "status": "done", "check": "wc -w src/06.md"},
        {"step": "publish", "status": "todo", "after": ["review"]},
        {"step": "review", "status": "todo", "after": ["write"]},
    ],
}


def _resumed(state: dict[str, object] | None = None) -> Resumption:
    call = ToolCall(
        thread="thr_1",
        key="push-1",
        name="git_push",
        args_digest="x",
        status=CallStatus.BEGUN,
        attempt=1,
        worker="w",
        lease_until=BEFORE,
        begun_at=BEFORE,
        observe="git ls-remote",
    )
    head = Head("thr_1", 7, BEFORE, STATE if state is None else state, 10, 12)
    return resumption(head, [call] if state is None else [], [], NOW)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_order_is_always_the_same(language: str) -> None:
    """Six steps; what is claimed done is checked, worst verified first; one task is taken."""
    steps = protocol(_resumed(), language)
    assert [s.name for s in steps] == [name for name, *_ in ORDER]
    assert all((s.todo[0] > "\u4e00") == (language == "zh") for s in steps)
    items = {s.name: s.items for s in steps}
    assert any("11 to 12" in line for line in items["read_state"])
    assert items["check_workspace"] == ("npm ci", "src/06.md: unseen", "push-1: git ls-remote")
    assert items["run_smallest_checks"] == (
        "reads well: read it",
        "write: wc -w src/06.md",
        "links work: npm run links",
        "build: npm run build",
    )
    assert items["take_one_task"] == ("review",)
    assert items["update_with_evidence"] == items["write_handoff"] == ()


def test_of_an_empty_thread_there_is_nothing_but_the_order() -> None:
    """The steps are told all the same."""
    steps = protocol(_resumed({}))
    assert [s.name for s in steps] == [name for name, *_ in ORDER]
    assert [s.items for s in steps[1:]] == [()] * 5
