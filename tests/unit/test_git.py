"""The Git adapter on real repositories, friendly and hostile."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from muniment import InvalidInput, Unavailable
from muniment.providers.git import GitWorkspace
from muniment.threads.artifacts import FileSeen, compare

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")


def git(folder: Path, *arguments: str) -> str:
    """Git as its owner runs it, with settings of nobody's."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.defpath}
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, env=quiet, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two commits: the first with a.txt and sub/b.txt, the second with c.txt."""
    folder = tmp_path / "repo"
    (folder / "sub").mkdir(parents=True)
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(folder))
    (folder / "a.txt").write_text("one\n")
    (folder / "sub" / "b.txt").write_text("two\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    (folder / "c.txt").write_text("three\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "second")
    return folder


def test_what_a_clean_tree_shows(repo: Path) -> None:
    """Branch, head, and for each path its last commit and the hash Git itself gives it."""
    seen = GitWorkspace(repo).look(["a.txt", "c.txt", "none.txt"])
    first, head = git(repo, "rev-parse", "HEAD~1"), git(repo, "rev-parse", "HEAD")
    assert (seen.branch, seen.head, seen.dirty) == ("main", head, ())
    assert seen.files == {
        "a.txt": FileSeen(True, first, git(repo, "hash-object", "a.txt"), False),
        "c.txt": FileSeen(True, head, git(repo, "hash-object", "c.txt"), False),
        "none.txt": FileSeen(False, None, None, True),
    }


def test_what_is_not_committed_is_named(repo: Path) -> None:
    """Changed, added to the index, untracked, in an untracked folder, removed."""
    (repo / "a.txt").write_text("other\n")
    (repo / "staged.txt").write_text("x")
    git(repo, "add", "staged.txt")
    (repo / "new" / "deep").mkdir(parents=True)
    (repo / "new" / "deep" / "x y.txt").write_text("x")
    (repo / "c.txt").unlink()
    seen = GitWorkspace(repo).look(["a.txt", "c.txt", "new/deep/x y.txt", "sub/b.txt"])
    assert seen.dirty == ("a.txt", "c.txt", "new/", "staged.txt")
    assert [seen.files[p].dirty for p in seen.files] == [True, True, True, False]
    assert not seen.files["c.txt"].exists
    assert seen.files["a.txt"].commit == git(repo, "rev-parse", "HEAD~1")


def test_from_a_folder_below_the_top(repo: Path) -> None:
    """Paths are relative to the folder given."""
    (repo / "sub" / "b.txt").write_text("changed\n")
    seen = GitWorkspace(repo / "sub").look(["b.txt", "a.txt", "../a.txt"])
    assert seen.files["b.txt"].exists and seen.files["b.txt"].dirty
    assert not seen.files["a.txt"].exists
    assert not seen.files["../a.txt"].exists


def test_states_that_have_no_branch_or_no_commit(repo: Path, tmp_path: Path) -> None:
    """A detached head has no branch; a new repository has no head."""
    git(repo, "checkout", "--quiet", "--detach")
    assert GitWorkspace(repo).look([]).branch is None
    git(tmp_path, "init", "--quiet", "--initial-branch=main", "new")
    (tmp_path / "new" / "a").write_text("a")
    seen = GitWorkspace(tmp_path / "new").look(["a"])
    assert (seen.branch, seen.head, seen.dirty) == ("main", None, ("a",))
    assert seen.files["a"].exists and seen.files["a"].commit is None


def test_a_look_writes_nothing(repo: Path) -> None:
    """Not even the index is refreshed."""
    os.utime(repo / "a.txt", (1, 1))
    before = {p: p.stat().st_mtime_ns for p in repo.rglob("*")}
    assert GitWorkspace(repo).look(["a.txt"]).dirty == ()
    assert {p: p.stat().st_mtime_ns for p in repo.rglob("*")} == before


def _trap(repo: Path, mark: Path) -> str:
    script = repo / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    script.chmod(0o755)
    return str(script)


#: What a repository may configure to be run, and what makes a plain `git status` run it.
TRAPS: dict[str, Any] = {
    "filter": {"filter.x.clean": "{trap}", "filter.x.required": "true"},
    "filter with a name that is no name": {"filter.a=b.clean": "{trap}"},
    "process": {"filter.x.process": "{trap}"},
    "fsmonitor": {"core.fsmonitor": "{trap}"},
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_hostile_repository_runs_nothing(repo: Path, tmp_path: Path, name: str) -> None:
    """The control: `git status` as everyone runs it springs the trap."""
    mark = tmp_path / "sprung"
    trap = _trap(repo, mark)
    for key, value in TRAPS[name].items():
        git(repo, "config", key, value.format(trap=trap))
    driver = "a=b" if "no name" in name else "x"
    if driver == "x":  # attributes cannot name the other: it must only do no harm
        (repo / ".git" / "info").mkdir(exist_ok=True)
        (repo / ".git" / "info" / "attributes").write_text(f"*.txt filter={driver}\n")
    (repo / "a.txt").write_text("two\n")  # same size: its content has to be read
    seen = GitWorkspace(repo).look(["a.txt"])
    assert not mark.exists()
    assert "a.txt" in seen.dirty
    if driver == "x":
        subprocess.run(["git", "status"], cwd=repo, capture_output=True, timeout=20)
        assert mark.exists(), "positive control"


def test_links_and_devices_lead_nowhere(repo: Path, tmp_path: Path) -> None:
    """A link is its own text; a folder that is a link, a pipe and an absolute path are nothing."""
    (tmp_path / "secret.txt").write_text("secret")
    (repo / "link").symlink_to(tmp_path / "secret.txt")
    (repo / "out").symlink_to(tmp_path)
    os.mkfifo(repo / "pipe")
    paths = ["link", "out/secret.txt", "pipe", str(tmp_path / "secret.txt"), "", "a\0b"]
    seen = GitWorkspace(repo, timeout_s=5).look(paths)
    found = [seen.files[p].exists for p in paths]
    assert found == [True, False, False, False, False, False]
    text = os.fsencode(tmp_path / "secret.txt")
    there = subprocess.run(
        ["git", "hash-object", "--stdin"], input=text, capture_output=True, check=True, cwd=repo
    )
    assert seen.files["link"].blob == there.stdout.decode().strip()


def test_errors_are_typed(repo: Path, tmp_path: Path) -> None:
    """No executable, no repository, a broken one, too slow."""
    with pytest.raises(Unavailable) as missing:
        GitWorkspace(repo, git="no-such-git").look([])
    assert missing.value.code == "git.missing"
    with pytest.raises(InvalidInput) as none:
        GitWorkspace(tmp_path).look([])
    assert none.value.code == "git.no_repository"
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 60 & wait\n")
    slow.chmod(0o755)
    begun = time.monotonic()
    with pytest.raises(Unavailable) as late:
        GitWorkspace(repo, git=str(slow), timeout_s=0.3).look([])
    assert late.value.code == "git.timeout"
    assert time.monotonic() - begun < 10
    (repo / ".git" / "config").write_text("[broken\n")
    with pytest.raises(Unavailable) as broken:
        GitWorkspace(repo).look([])
    assert broken.value.code == "git.failed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_anothers_repository_is_looked_at_only_when_trusted(repo: Path) -> None:
    """As Git itself has it; a setting of the caller's own does not reach in here."""
    for path in (repo, *repo.rglob("*")):
        os.chown(path, 12345, 12345)
    with pytest.raises(Unavailable) as raised:
        GitWorkspace(repo).look([])
    assert raised.value.code == "git.not_trusted"
    assert GitWorkspace(repo, trusted=True).look(["a.txt"]).files["a.txt"].exists


def test_endless_output_is_cut_off(repo: Path, tmp_path: Path) -> None:
    """What says more than can be taken in is ended."""
    chatty = tmp_path / "chatty"
    chatty.write_text("#!/bin/sh\nexec yes\n")
    chatty.chmod(0o755)
    with pytest.raises(Unavailable) as cut:
        GitWorkspace(repo, git=str(chatty)).look([])
    assert cut.value.code == "git.failed"


@pytest.mark.parametrize(
    ("revision", "seen", "word"),
    [
        ("a1b2c3", FileSeen(True, "a1b2c3d4", "ffff"), "same"),
        ("a1b2c3", FileSeen(True, "a1b2c3d4", "ffff", dirty=True), "changed"),
        ("fffe00", FileSeen(True, "a1b2c3d4", "fffe0012", dirty=True), "same"),
        ("a1b2", FileSeen(True, "a1b2c3d4", "ffff"), "changed"),
        ("v7", FileSeen(True, "v7"), "same"),
        (None, FileSeen(True, "a1b2c3d4"), "unrecorded"),
        ("a1b2c3", FileSeen(False), "gone"),
    ],
)
def test_a_revision_is_compared(revision: str | None, seen: FileSeen, word: str) -> None:
    """Commit or content, whole or six characters; a commit says nothing of later changes."""
    assert compare(revision, seen) == word


def test_commits_are_dated(repo: Path) -> None:
    """Each by when it was committed; none for none, and one that is none says so."""
    workspace = GitWorkspace(repo)
    head = workspace.look([]).head
    assert head is not None
    [(commit, at)] = workspace.committed_at([head]).items()
    assert (commit, at.tzinfo) == (head, UTC)
    assert workspace.committed_at([]) == {}
    with pytest.raises(Unavailable) as raised:
        workspace.committed_at(["0" * 40])
    assert raised.value.code == "git.failed"
