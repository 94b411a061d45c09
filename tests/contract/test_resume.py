"""A thread is taken up from its last committed step, as of now."""

from __future__ import annotations

import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from muniment import InvalidInput, NotFound, Unavailable
from muniment.providers.git import GitWorkspace
from muniment.store.run import Prepared
from muniment.threads.artifacts import FileSeen, Seen
from muniment.threads.resume import Resumption
from tests.contract.kit import DAY, HOUR, NOW, Desk

STATE: dict[str, Any] = {
    "goal": "publish the sixth post",
    "constraints": ["no external link check this time"],
    "plan": [
        {"step": "write", "status": "done"},
        {"step": "build", "status": "running", "after": ["write"]},
        {"step": "push", "status": "todo", "after": ["build"]},
    ],
    "artifacts": [{"path": "06.md", "revision": "a1b2c3"}],
    "acceptance": [{"name": "spelling", "status": "met", "verified_by": "self"}],
    "setup": ["npm ci"],
}


def work(desk: Desk) -> None:
    """A day's work on the post: a state, an observation, three calls, two approvals."""
    threads = desk.memory.threads
    said = [{"by": "user", "text": "Write the sixth post, please."}]
    threads.checkpoint("task", STATE, messages=said, run="r1", step="build")
    threads.observe("task", "build", "passed", how="npm run build", good_for=3600)
    threads.done("task", threads.begin("task", "write-6", "write"), "written")
    threads.begin("task", "build-6", "run_build", observe="ls dist")
    threads.approve("task", "push", {"do": "push"}, until=timedelta(days=1))
    threads.approve("task", "format", {"path": "06.md", "revision": "a1b2c3"})


def resume(desk: Desk, **more: Any) -> Resumption:
    """The thread, taken up."""
    return desk.memory.threads.resume("task", **more)


def test_after_ninety_days_everything_is_told_as_of_now(desk: Desk) -> None:
    """The state as it was; observations stale, approvals checked, calls unknown."""
    work(desk)
    desk.wait(90 * DAY)
    found = resume(desk)
    assert (found.version, found.paused) == (2, 90 * DAY)
    assert found.state["goal"] == STATE["goal"]
    assert found.state["constraints"][0]["text"] == STATE["constraints"][0]
    assert [(o.name, o.how) for o in found.stale] == [("build", "npm run build")]
    assert [(c.key, c.observe) for c in found.unknown] == [("build-6", "ls dist")]
    assert found.running == ()
    assert {c.approval.name: str(c.standing) for c in found.approvals} == {
        "push": "expired",
        "format": "valid",
    }
    assert found.task is not None
    assert (found.task.text, found.task.after) == ("build", ("build-6",))
    assert len(found.expired) == 2
    text = str(found)
    assert "2026-09-01T12:00" in text and "npm run build" in text and "paused" not in text


def test_a_new_process_resumes_from_what_was_committed(durable_desk: Desk) -> None:
    """The same at once: the lease of the dead process still runs, so its call is left alone."""
    work(durable_desk)
    before = resume(durable_desk).to_dict()
    durable_desk.reopen()
    assert resume(durable_desk).to_dict() == before
    assert [c.key for c in resume(durable_desk).running] == ["build-6"]


def test_a_worker_by_name_knows_at_once(durable_desk: Desk) -> None:
    """What it had begun before it died is unknown, not running."""
    threads = durable_desk.memory.threads
    threads.checkpoint("task", STATE)
    threads.begin("task", "k", "push", worker="w1")
    threads.begin("task", "k2", "push", worker="w2")
    durable_desk.reopen()
    found = resume(durable_desk, worker="w1")
    assert [c.key for c in found.unknown] == ["k"]
    assert [c.key for c in found.running] == ["k2"]


def test_an_observation_is_fresh_until_the_thread_is_taken_up(durable_desk: Desk) -> None:
    """Observed again it is fact again; and a new process starts out knowing nothing."""
    desk, threads = durable_desk, durable_desk.memory.threads
    desk.wait(HOUR)
    threads.observe("task", "branch", "main", how="git branch")
    assert _stale(desk) == []
    desk.wait()
    assert [o.name for o in resume(desk).stale] == ["branch"]
    assert _stale(desk) == ["branch"]
    desk.wait()
    threads.observe("task", "branch", "dev", how="git branch")
    assert _stale(desk) == []
    desk.wait()
    desk.reopen()
    assert _stale(desk) == ["branch"], "without anybody calling resume"


def test_nothing_said_in_an_observation_makes_it_fresh(desk: Desk) -> None:
    """Its standing follows from the clock alone."""
    forged = {"name": "build", "value": "passed", "how": "x", "fresh": True, "standing": "fresh"}
    desk.memory.threads.checkpoint("task", {"observations": [forged]})
    assert _stale(desk) == ["build"]


def _stale(desk: Desk) -> list[str]:
    """What a view for a model does not tell as fact."""
    view = desk.memory.threads.compact("task", budget_tokens=4000).text
    lines = [line for line in view.splitlines() if line.startswith("observed: ")]
    assert lines, "positive control: observations are told"
    stale = [line for line in lines if "to be observed again by: " in line]
    assert all("as of 2026-" in line for line in stale)
    return [line.split(": ")[1] for line in stale]


def test_a_term_ends_an_observation_without_a_resume(desk: Desk) -> None:
    """`good_for` is how long it may be told as fact."""
    desk.wait()
    desk.memory.threads.observe("task", "price", 3, how="ask the shop", good_for=HOUR)
    assert _stale(desk) == []
    desk.wait()
    assert _stale(desk) == ["price"]


def test_resuming_is_for_threads_that_are(desk: Desk) -> None:
    """One without a checkpoint is taken up at version 0; another's is not found."""
    work(desk)
    desk.memory.append("hello", thread="talk")
    found = desk.memory.threads.resume("talk")
    assert (found.version, found.at, found.task) == (0, None, None)
    assert "events 1 to 1" in str(found)
    thread = resume(desk).thread
    with pytest.raises(NotFound):
        desk.memory.threads.resume(thread, principal=desk.who("bob"))
    with pytest.raises(InvalidInput) as wrong:
        resume(desk, look="path")
    assert wrong.value.code == "look.invalid"


def test_resuming_does_not_need_long_term_memory(desk: Desk) -> None:
    """Paused, it says so; all else is the same."""
    work(desk)
    before = resume(desk).to_dict()
    assert before["memory_degraded"] == []
    desk.memory.settings(pause_recall=True)
    after = resume(desk).to_dict()
    assert after.pop("memory_degraded") == ["recall_paused"]
    before.pop("memory_degraded")
    assert after == before


def test_without_the_key_a_label_finds_no_thread_and_says_so(durable_desk: Desk) -> None:
    """An empty state would look like a new task."""
    work(durable_desk)
    key = durable_desk.place.key_file or durable_desk.place.folder / "memory.db.key"
    key.rename(key.with_name("moved"))
    try:
        durable_desk.reopen()
        with pytest.raises(Unavailable) as lost:
            resume(durable_desk)
        assert lost.value.code == "store.read_only"
    finally:
        key.with_name("moved").rename(key)
    durable_desk.reopen()
    assert resume(durable_desk).version == 2


class Desktop:
    """A workspace that shows what it is told to, or cannot be looked at."""

    def __init__(self, files: dict[str, FileSeen] | None) -> None:
        self.files = files

    def look(self, paths: Any) -> Seen:
        """The files asked for."""
        if self.files is None:
            raise Unavailable("git.missing", "no git")
        return Seen("main", "ffff0011", (), {p: self.files[p] for p in paths})


def test_a_look_around_tells_what_has_changed(desk: Desk) -> None:
    """The artifact, and the approval that was bound to its revision."""
    work(desk)
    same = resume(desk, look=Desktop({"06.md": FileSeen(True, "a1b2c3d4")}))
    assert [a.word for a in same.artifacts] == ["same"]
    assert str(same.approval("format").standing) == "valid"  # type: ignore[union-attr]
    other = resume(desk, look=Desktop({"06.md": FileSeen(True, "ffff0011")}))
    assert [a.word for a in other.artifacts] == ["changed"]
    assert str(other.approval("format").standing) == "changed"  # type: ignore[union-attr]
    assert str(other.approval("push").standing) == "valid"  # type: ignore[union-attr]
    desk.memory.threads.checkpoint("task", {"artifacts": None})
    alone = resume(desk, look=Desktop({"06.md": FileSeen(True, "ffff0011")}))
    assert alone.artifacts == ()
    assert str(alone.approval("format").standing) == "changed"  # type: ignore[union-attr]
    desk.memory.threads.checkpoint("task", {"artifacts": STATE["artifacts"]})
    blind = resume(desk, look=Desktop(None))
    assert (blind.not_looked, [a.word for a in blind.artifacts]) == ("git.missing", ["unseen"])
    assert blind.task == same.task


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_a_git_working_tree_is_really_looked_at(desk: Desk, tmp_path: Path) -> None:
    """An artifact at its committed revision, then changed without a commit."""
    tree = tmp_path / "tree"
    tree.mkdir()

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *who, *arguments], cwd=tree, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "--quiet", "--initial-branch=main")
    (tree / "06.md").write_text("the sixth post\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "the sixth post")
    revision = git("rev-parse", "--short=8", "HEAD")
    threads = desk.memory.threads
    artifact = {"path": "06.md", "revision": revision}
    threads.checkpoint("task", {"artifacts": [artifact]})
    threads.approve("task", "push", {"do": "push", "what": artifact})
    found = resume(desk, look=GitWorkspace(tree))
    assert [a.word for a in found.artifacts] == ["same"]
    assert str(found.approval("push").standing) == "valid"  # type: ignore[union-attr]
    assert found.workspace is not None and found.workspace.branch == "main"
    (tree / "06.md").write_text("the sixth post, changed\n")
    found = resume(desk, look=GitWorkspace(tree))
    assert [a.word for a in found.artifacts] == ["changed"]
    assert str(found.approval("push").standing) == "changed"  # type: ignore[union-attr]
    assert found.workspace is not None and found.workspace.dirty == ("06.md",)


def test_what_is_resumed_costs_the_same_after_many_steps(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only open calls and the newest state are read, however much lies behind."""
    work(desk)
    rows = [0]
    real = Prepared.all

    def counted(self: Prepared, *args: Any) -> list[Any]:
        found = real(self, *args)
        rows[0] += len(found)
        return found

    monkeypatch.setattr(Prepared, "all", counted)

    def read() -> int:
        rows[0] = 0
        found = resume(desk)
        assert [c.key for c in (*found.unknown, *found.running)] == ["build-6"]
        return rows[0]

    before = read()
    assert before > 5, "positive control: rows are counted"
    for number in range(50):
        call = desk.memory.threads.begin("task", f"c{number}", "run")
        desk.memory.threads.done("task", call, number)
        desk.memory.threads.checkpoint("task", {"next": f"step {number}"})
    assert read() <= before + 1  # the section `next`


def test_erasing_the_thread_reaches_results_and_observations(desk: Desk) -> None:
    """By the person's scope: what tools answered goes with the rest."""
    threads = desk.memory.threads
    threads.observe("task", "build", "MARKER", how="x")
    threads.done("task", threads.begin("task", "k", "x"), {"text": "MARKER"})
    threads.done("task", threads.begin("task", "k2", "x"), "MARKER " * 20_000)
    assert "MARKER" in _rows(desk)
    desk.memory.erase(subject="user:lin")
    assert "MARKER" not in _rows(desk)


def _rows(desk: Desk) -> str:
    tables = ("tool_calls", "blobs", "checkpoints", "thread_state", "approvals")
    with desk.memory._parts.store.backend.reading(desk.place.tenant) as conn:
        where = f"tenant_id = '{desk.place.tenant}'"
        found = [conn.exec_driver_sql(f"SELECT * FROM {t} WHERE {where}").all() for t in tables]
        return repr(found)


def test_now_is_the_clock_that_was_given(desk: Desk) -> None:
    """No instant in it comes from anywhere else."""
    work(desk)
    desk.clock.set(NOW + 400 * DAY)
    found = resume(desk).to_dict()
    assert found["now"] == (NOW + 400 * DAY).isoformat()
    assert found["paused_s"] == (400 * DAY).total_seconds()
