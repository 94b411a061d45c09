"""The demo: the story as it is told, twice, in both languages, and what can be tried after it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

PUSH = "直接提交并推送到 origin/main"
STORE = Path("demo-store/memory.db")


def test_the_story_is_told_on_a_store_that_stays(cli: Run) -> None:
    """Each decision with its reasons, the recalls, the block and its report, the exception."""
    told = cli("demo")
    assert told.code == 0 and STORE.exists()
    for part in (
        "activate / insert",
        "origin.stated",
        "thread_only",
        "lifetime.one_off",
        "<muniment-memory>",
        "tokens:",
        "reconcile.exception",
        "overridden here",
        "origin.inferred",
        "trust.reaches_up",
        "u77",
        "nothing comes back",
    ):
        assert part in told.out, part


def test_the_story_as_data(cli: Run) -> None:
    """What the text claims is so: who gets the rule, when, and who does not."""
    steps = [s for s in cli("--json", "demo").data["steps"] if "verb" in s]
    recalls = {
        (s["user"], s["project"], s["text"]): [e["content"] for e in s["seen"]["results"]]
        for s in steps
        if s["verb"] == "recall"
    }
    [habit] = recalls["u42", "personal-blog", "继续下一篇"]
    assert PUSH in habit
    assert recalls["u42", "company-site", "文章写完了，接下来"] == []
    assert recalls["u77", "personal-blog", "文章写完了，接下来"] == []
    exception, general = recalls["u42", "personal-blog", "这篇文章还改了部署配置"]
    assert "确认" in exception and PUSH in general
    assert recalls["u42", "personal-blog", "这篇文章写完了，只改了正文"] == [habit]
    [block] = [s["seen"] for s in steps if s["verb"] == "context"]
    assert PUSH in block["memory"] and block["report"]["tokens"] <= 300
    assert "外链检查" not in block["memory"]


def test_told_again_it_recognises_what_it_knows(cli: Run) -> None:
    """`make run` twice works: the same records, more evidence, and it says so."""
    here = ("--url", f"sqlite:///{STORE}", "--tenant", "demo", "--user", "u42")
    first = cli("demo")
    before = cli("--json", "list", *here).data["records"]
    second = cli("demo")
    assert (first.code, second.code) == (0, 0)
    assert "told again" in second.out and "told again" not in first.out
    assert "activate / merge: known already" in second.out
    after = cli("--json", "list", *here).data["records"]
    assert [r["id"] for r in after] == [r["id"] for r in before]


def test_fresh_starts_anew_and_only_on_a_store_of_the_demo(cli: Run) -> None:
    """Somebody's own store is never touched."""
    cli("demo")
    assert "told again" not in cli("demo", "--fresh").out
    cli("remember", "From now on use pnpm.", "--project", "app")
    before = Path("muniment.db").read_bytes()
    for words in (("--fresh",), ()):
        refused = cli("demo", "--store", "muniment.db", *words)
        assert (refused.code, "demo.not_a_demo" in refused.err) == (5, True)
    assert Path("muniment.db").read_bytes() == before
    assert cli("demo", "--store", "x.db", "--url", "sqlite:///y.db").code == 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_it_says_to_try_works(cli: Run, language: str) -> None:
    """Every command it ends with ends well and shows something."""
    told = cli("demo", "--language", language).out.splitlines()
    lines = [line.strip() for line in told if " --url sqlite:///" in line]
    commands = [shlex.split(line) for line in lines]
    verbs = [next(w for w in c if w in TRIED) for c in commands]
    assert verbs == ["recall", "why", "list", "review", "recall", "doctor"]
    for words in commands:
        tried = cli(*words[words.index("--url") :])
        assert tried.code == 0, words
        assert len(tried.out.splitlines()) > 2, words


TRIED = {"recall", "why", "list", "review", "doctor"}


def test_the_explanations_follow_the_language(cli: Run) -> None:
    """What people say stays as they said it."""
    chinese, english = cli("demo", "--language", "zh").out, cli("demo", "--fresh").out
    assert "用户亲口说的" in chinese and "the user said it" not in chinese
    assert "the user said it" in english and "用户亲口说的" not in english
    assert PUSH in chinese and PUSH in english


def test_as_a_process_in_a_pipe(process: Run) -> None:
    """The job of `make run`: no colours, exit code 0."""
    told = process("demo", "--store", "./demo-store/memory.db")
    assert (told.code, told.err) == (0, "")
    assert "\x1b" not in told.out and PUSH in told.out


@pytest.mark.postgres
def test_on_postgresql(cli: Run, pg_url: str) -> None:
    """The same story with one URL changed; no file is left."""
    assert cli("demo", "--url", pg_url).code == 0
    assert cli("demo", "--url", pg_url).code == 0
    assert not STORE.exists()
