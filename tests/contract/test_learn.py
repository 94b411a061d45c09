"""What the files of a repository state, on each store: learnt, verified again, ended."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from muniment.errors import InvalidInput, NotAllowed, Unavailable
from muniment.verbs import learning
from muniment.verbs.learning import Learnt
from tests.contract.kit import DAY, HOUR, NOW, WEB, Desk, dump

PACKAGE = {
    "packageManager": "pnpm@9.1.0",
    "scripts": {"test": "vitest run", "dev": "vite"},
    "devDependencies": {"vitest": "1", "react": "18"},
}


class Repo:
    """A small repository whose files are as old as one says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", ".")

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)
        return done.stdout.decode().strip()

    def write(self, name: str, text: object, age: timedelta = HOUR) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        at = (NOW - age).timestamp()
        os.utime(path, (at, at))
        return path

    def commit(self, age: timedelta = HOUR) -> str:
        at = f"{int((NOW - age).timestamp())} +0000"
        self.git("add", "-A")
        who = ["-c", "user.name=lin", "-c", "user.email=lin@example.com"]
        env = {**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        words = ["git", *who, "commit", "-qm", "files"]
        subprocess.run(words, cwd=self.root, check=True, env=env)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """With a package.json, committed."""
    made = Repo(tmp_path / "shop")
    made.write("package.json", PACKAGE)
    made.commit()
    return made


def learnt(desk: Desk, repo: Repo, **more: Any) -> Learnt:
    more.setdefault("principal", desk.who(channel="runtime"))
    return desk.memory.learn(repo.root, scope=WEB, **more)


def told(found: Learnt) -> dict[str, tuple[str, Any]]:
    return {c.predicate: (c.what, c.value) for c in found.news}


def current(desk: Desk, **where: Any) -> dict[str | None, Any]:
    return {r.predicate: r.value for r in desk.records(status="active", **where)}


def test_what_files_state_is_known_with_its_source(desk: Desk, repo: Repo) -> None:
    """Sure, for the project, with path, hash and commit; and recalled."""
    commit = repo.git("rev-parse", "HEAD")
    assert told(learnt(desk, repo)) == {
        "package_manager": ("learn", "pnpm"),
        "test_command": ("learn", "pnpm test"),
        "run_command": ("learn", "pnpm run dev"),
        "framework": ("learn", "React"),
        "test_framework": ("learn", "Vitest"),
    }
    [record] = desk.records(predicate="package_manager")
    assert (record.sure, record.origin, record.scope.to_dict()) == (True, "tool_observed", WEB)
    assert record.write_reason == "file"
    shown = desk.memory.show(record.id)
    event = desk.memory.show(shown.evidence[0])
    assert (event.path, event.metadata["commit"]) == ("package.json", commit)
    assert len(event.metadata["sha256"]) == 64
    assert event.said_at == NOW - HOUR
    assert "pnpm" in desk.values()
    assert desk.memory.verify().ok


def test_a_dry_run_says_what_would_be_known_and_writes_nothing(desk: Desk, repo: Repo) -> None:
    """The very decisions; afterwards not a row more.  Then they are made."""
    before = dump(desk.memory, desk.place.tenant)
    rehearsed = learnt(desk, repo, dry_run=True)
    assert dump(desk.memory, desk.place.tenant) == before
    done = learnt(desk, repo)
    assert (told(done), done.dry_run, rehearsed.dry_run) == (told(rehearsed), False, True)
    assert dump(desk.memory, desk.place.tenant) != before


def test_a_rehearsal_that_writes_is_caught(
    desk: Desk, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken twin: a dry run whose transaction is not rolled back leaves rows."""
    run = learning._Lesson.run
    monkeypatch.setattr(
        learning._Lesson, "run", lambda lesson, unit, _dry: run(lesson, unit, False)
    )
    before = dump(desk.memory, desk.place.tenant)
    assert learnt(desk, repo, dry_run=True).news
    assert dump(desk.memory, desk.place.tenant) != before


def test_learning_again_adds_nothing(desk: Desk, repo: Repo) -> None:
    """What is known of the same files is left alone."""
    learnt(desk, repo)
    before = dump(desk.memory, desk.place.tenant)
    again = learnt(desk, repo)
    assert (again.news, {c.what for c in again.changes}) == ((), {"keep"})
    assert dump(desk.memory, desk.place.tenant) == before


def test_a_changed_file_supersedes(desk: Desk, repo: Repo) -> None:
    """The new value follows the old one in one history; what is the same is confirmed."""
    learnt(desk, repo)
    [old] = desk.records(predicate="package_manager")
    repo.write("package.json", {**PACKAGE, "packageManager": "yarn@4"}, age=timedelta())
    found = learnt(desk, repo)
    assert told(found)["package_manager"] == ("change", "yarn")
    assert told(found)["framework"] == ("confirm", "React")
    change = next(c for c in found.changes if c.predicate == "package_manager")
    assert (change.before, change.commit) == ("pnpm", None)
    [new] = desk.records(predicate="package_manager", status="active")
    assert new.supersedes == old.id
    assert desk.memory.show(old.id).status == "superseded"


def test_a_file_as_it_was_before_is_believed_again(desk: Desk, repo: Repo) -> None:
    """Put back after a change that was learnt, though it is no newer than before."""
    learnt(desk, repo)
    repo.write("package.json", {**PACKAGE, "packageManager": "yarn@4"}, age=timedelta())
    learnt(desk, repo)
    desk.wait()
    repo.git("checkout", "-q", ".")
    assert told(learnt(desk, repo))["package_manager"] == ("change", "pnpm")
    assert current(desk)["package_manager"] == "pnpm"
    assert learnt(desk, repo).news == ()


def test_what_is_no_longer_stated_expires_and_can_come_back(desk: Desk, repo: Repo) -> None:
    """A vanished file, a dropped field, one value of a set."""
    repo.write("Makefile", "lint:\n\truff check\n")
    learnt(desk, repo)
    assert current(desk)["lint_command"] == "make lint"
    (repo.root / "Makefile").unlink()
    repo.write("package.json", {**PACKAGE, "devDependencies": {"vitest": "1"}})
    found = told(learnt(desk, repo))
    assert found["lint_command"] == ("expire", "make lint")
    assert found["framework"] == ("expire", "React")
    assert not {"lint_command", "framework"} & set(current(desk))
    desk.wait()
    repo.write("Makefile", "lint:\n\truff check\n")
    assert told(learnt(desk, repo))["lint_command"] == ("learn", "make lint")
    assert current(desk)["lint_command"] == "make lint"


def test_what_a_person_said_too_does_not_expire_with_the_file(desk: Desk, repo: Repo) -> None:
    """Only what nothing but files said ends with them."""
    learnt(desk, repo)
    made = desk.remember("This project uses pnpm.", thread="other")
    assert made.reconcile == "merge"
    repo.write("package.json", {"name": "shop"})
    assert "package_manager" not in told(learnt(desk, repo))
    assert current(desk) == {"package_manager": "pnpm"}


def test_the_later_said_of_file_and_person_holds(desk: Desk, repo: Repo) -> None:
    """A word after the commit stands; the file enters as history, once; a later commit replaces."""
    desk.remember("This project uses npm.")
    assert told(learnt(desk, repo))["package_manager"] == ("history", "pnpm")
    assert learnt(desk, repo).news == ()
    assert current(desk)["package_manager"] == "npm"
    desk.wait(DAY)
    repo.write("package.json", {**PACKAGE, "packageManager": "yarn@4"}, age=-HOUR)
    assert told(learnt(desk, repo))["package_manager"] == ("change", "yarn")


def test_a_deleted_fact_is_not_learnt_again_from_the_same_file(desk: Desk, repo: Repo) -> None:
    """Nor from another version of it that says the same; another value is."""
    learnt(desk, repo)
    [record] = desk.records(predicate="package_manager")
    desk.memory.delete(record=record.id)
    assert learnt(desk, repo).news == ()
    repo.write("package.json", {**PACKAGE, "name": "shop"}, age=timedelta())
    assert told(learnt(desk, repo))["package_manager"] == ("refuse", "pnpm")
    repo.write("package.json", {**PACKAGE, "packageManager": "yarn@4"}, age=timedelta())
    assert told(learnt(desk, repo))["package_manager"] == ("learn", "yarn")


def test_a_guide_is_observed_and_a_file_of_record_is_asked_first(desk: Desk, repo: Repo) -> None:
    """A README's command expires in a day and says nothing beside the package's own."""
    guide = "# Shop\n\n## Tests\n\n```sh\nnpm test\n```\n\n## Lint\n\n```sh\n$ npx eslint .\n```\n"
    repo.write("README.md", guide)
    found = learnt(desk, repo)
    assert [(c.what, c.value) for c in found.changes if c.path == "README.md"] == [
        ("differ", "npm test"),
        ("learn", "npx eslint ."),
    ]
    [lint] = desk.records(predicate="lint_command")
    assert (lint.sure, lint.expires_at) == (False, NOW + DAY)
    desk.wait(DAY - HOUR)
    learnt(desk, repo)
    assert desk.records(predicate="lint_command")[0].expires_at == NOW + 2 * DAY - HOUR


def test_ci_branch_and_locks_are_read(desk: Desk, repo: Repo) -> None:
    """By being there, or by what Git says; a lock file stands behind what package.json declares."""
    repo.write(".github/workflows/test.yml", "on: push")
    repo.write(".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk\n")
    repo.write(".editorconfig", "[*]\nindent_style = space\nindent_size = 2\n")
    repo.write("package-lock.json", "{}")
    assert {k: v for k, (_, v) in told(learnt(desk, repo)).items()}.items() >= {
        ("ci_system", "GitHub Actions"),
        ("default_branch", "trunk"),
        ("file_indentation", "2 spaces"),
        ("package_manager", "pnpm"),
    }


def test_nothing_outside_the_repository_is_read(desk: Desk, repo: Repo, tmp_path: Path) -> None:
    """A link that leads out is passed over; a folder without Git, and Git's own, are refused."""
    outside = tmp_path / "outside.toml"
    outside.write_text('[project]\nrequires-python = ">=3.11"\n')
    (repo.root / "pyproject.toml").symlink_to(outside)
    found = learnt(desk, repo)
    assert found.skipped == ("pyproject.toml",)
    assert "runtime_version" not in current(desk)
    (repo.root / "pyproject.toml").unlink()
    repo.write("pyproject.toml", outside.read_text())
    assert told(learnt(desk, repo))["runtime_version"] == ("learn", ">=3.11")
    for path, code in ((tmp_path, "no_repository"), (repo.root / ".git", "no_repository")):
        with pytest.raises(InvalidInput) as caught:
            desk.memory.learn(path, scope=WEB)
        assert caught.value.code == f"learn.{code}"
    with pytest.raises(Unavailable) as gone:
        desk.memory.learn(tmp_path / "none", scope=WEB)
    assert gone.value.code == "learn.unreadable"


def test_who_may_and_where(desk: Desk, repo: Repo) -> None:
    """A model vouches for no file; a project has to be named; a person at the keyboard may."""
    with pytest.raises(NotAllowed) as caught:
        learnt(desk, repo, principal=desk.who(channel="agent"))
    assert caught.value.code == "learn.channel"
    with pytest.raises(InvalidInput) as nowhere:
        desk.memory.learn(repo.root)
    assert nowhere.value.code == "learn.no_project"
    assert learnt(desk, repo, principal=desk.who()).news


def test_without_a_role_it_is_known_to_oneself(desk: Desk, repo: Repo) -> None:
    """Others see it where the role to write for the project is there."""
    alone = desk.who("ana", "runtime", projects=["web"])
    found = desk.memory.learn(repo.root, scope=WEB, principal=alone)
    assert {r.scope.user for r in desk.records(user="ana", status="active")} == {"ana"}
    assert "hold" in {c.what for c in found.changes}
    writer = desk.who("bo", "runtime", projects=["web"], roles=["write:project"])
    desk.memory.learn(repo.root, scope=WEB, principal=writer)
    assert current(desk, user="lin")["package_manager"] == "pnpm"


def test_one_file_is_learnt_alone(desk: Desk, repo: Repo) -> None:
    """What other files said is not looked at, and does not expire."""
    repo.write("Makefile", "lint:\n")
    learnt(desk, repo)
    (repo.root / "Makefile").unlink()
    who = desk.who(channel="runtime")
    found = desk.memory.learn(repo.root / "package.json", scope=WEB, principal=who)
    assert found.news == ()
    assert current(desk)["lint_command"] == "make lint"


def test_a_secret_in_a_file_is_taken_out(desk: Desk, repo: Repo) -> None:
    """Of the evidence too; what it states beside is learnt."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    repo.write("package.json", {**PACKAGE, "config": {"token": key}}, age=timedelta())
    assert told(learnt(desk, repo))["package_manager"] == ("learn", "pnpm")
    assert key not in str(dump(desk.memory, desk.place.tenant))
