"""`muniment thread`: looking at a task's state, going on with it, handing it over, tidying it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import muniment
from muniment import Principal

Cli = Callable[..., Any]


@pytest.fixture
def task() -> None:
    """A task in the middle: three versions, a call without outcome, an approval."""
    who = Principal(user="ana", channel="user")
    with muniment.open("sqlite:///muniment.db", principal=who) as memory:
        said = memory.append("Publish the sixth article.", thread="post", scope={"project": "blog"})
        memory.threads.checkpoint(
            "post",
            {
                "goal": "publish the sixth article",
                "constraints": [{"text": "no external links", "evidence": [said.id]}],
                "plan": [{"step": "write", "status": "running"}],
                "artifacts": [{"path": "06.md", "revision": "0000000"}],
            },
            run="r1",
        )
        memory.threads.checkpoint("post", {"plan": [{"step": "write", "status": "done"}]})
        memory.threads.observe("post", "build", "passed", how="make build")
        memory.threads.begin("post", "push-6", "git_push", worker="w", observe="git ls-remote")
        memory.threads.approve("post", "publish", {"path": "06.md", "revision": "0000000"})


def test_nothing_here_yet(cli: Cli) -> None:
    """Empty states say so."""
    assert cli("thread", "list").out == "No thread here yet.\n"
    assert cli("thread", "show", "post").out.startswith("No state is committed here yet.\n")
    assert cli("thread", "history", "post").out == "No checkpoint here yet.\n"
    assert cli("--json", "thread", "list").data == {"threads": []}


@pytest.mark.usefixtures("task")
def test_a_task_is_looked_at_from_every_side(cli: Cli) -> None:
    """list, show, state, history, diff: for people and as JSON."""
    listed = cli("thread", "list").out
    assert "post" in listed and "publish the sixth article" in listed
    assert cli("thread", "list", "--project", "other").out == "No thread fits that.\n"
    shown = cli("thread", "show", "post").out
    for part in ("version 3", "write (status done)", "push-6", "git ls-remote", "publish: valid"):
        assert part in shown
    assert "status running" in cli("thread", "state", "post", "--at", "1").out
    history = cli("--json", "thread", "history", "post").data["checkpoints"]
    assert [c["version"] for c in history] == [3, 2, 1] and history[2]["run"] == "r1"
    diff = cli("thread", "diff", "post", "1", "2").out
    assert "plan write" in diff and "+ " in diff and "- " in diff
    assert cli("thread", "diff", "post", "2", "2").out == "They say the same.\n"
    assert cli("--json", "thread", "show", "post").data["state"]["version"] == 3


@pytest.mark.usefixtures("task")
def test_a_task_is_taken_up_again(cli: Cli) -> None:
    """With the worker's name the call is unknown at once; a repository is really looked at."""
    git = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
    env = {**os.environ, **git, "GIT_COMMITTER_EMAIL": "a@b"}
    Path("repo").mkdir()
    Path("repo/06.md").write_text("text")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *words], cwd="repo", env=env, check=True)
    found = cli("thread", "resume", "post", "--worker", "w", "--look", "repo").out
    for part in ("push-6", "git ls-remote", "build: passed", "06.md: changed", "publish"):
        assert part in found, found
    data = cli("--json", "thread", "resume", "post", "--worker", "w").data
    assert [c["key"] for c in data["unknown"]] == ["push-6"]
    assert [o["name"] for o in data["stale"]] == ["build"]


@pytest.mark.usefixtures("task")
def test_a_task_is_handed_over(cli: Cli) -> None:
    """A packet is written once, checked, and a changed one is told with its field."""
    assert cli("thread", "handoff", "post", "--out", "packet.json").code == 0
    assert Path("packet.json").stat().st_mode & 0o077 == 0
    assert cli("thread", "handoff", "post", "--out", "packet.json").code == 2
    assert cli("thread", "receive", "packet.json").out.startswith("current: version 3\n")
    packet = json.loads(Path("packet.json").read_text())
    packet["facts"]["goal"][0]["text"] = "publish everything"
    Path("forged.json").write_text(json.dumps(packet))
    forged = cli("--json", "thread", "receive", "forged.json").data
    assert forged["verdict"] == "tampered" and "goal" in forged["faults"][0]["field"]


@pytest.mark.usefixtures("task")
def test_a_view_keeps_what_no_view_may_lack(cli: Cli) -> None:
    """compact: within the budget, with goal and constraints; too small a budget says how much."""
    view = cli("thread", "compact", "post", "--budget", "500").out
    assert "publish the sixth article" in view and "no external links" in view
    small = cli("thread", "compact", "post", "--budget", "3")
    assert (small.code, "compact.budget" in small.err) == (2, True)


@pytest.mark.usefixtures("task")
def test_a_task_is_forked_pruned_and_deleted(cli: Cli) -> None:
    """And then takes nothing more."""
    assert "goes on from" in cli("thread", "fork", "post", "draft", "--at", "1").out
    assert cli("thread", "prune", "post").out == "2 checkpoints removed.\n"
    assert cli("--json", "thread", "prune", "post").data == {"removed": 0}
    gone = cli("thread", "delete", "post", "--yes")
    assert gone.out.startswith("Removed: 1 checkpoints, 1 calls, 1 approvals")
    late = cli("thread", "state", "post")
    assert (late.code, "thread.deleted" in late.err) == (3, True)
    assert "draft" in cli("thread", "list").out


def test_what_is_wrong_is_said(cli: Cli) -> None:
    """Unknown ids and versions are typed errors with their exit codes."""
    assert cli("thread", "state", "thr_nobody").code == 3
    assert cli("thread", "receive", "nowhere.json").code == 6
    assert cli("thread", "prune", "x", "--keep", "0").code == 2
