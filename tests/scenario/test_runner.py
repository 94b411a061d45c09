"""The runner is not fooled: what must fail fails, and what is no scenario is not played."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muniment.errors import Unavailable
from muniment.scenario.run import run_files

Run = Callable[..., tuple[int, str, str]]

HEAD = """\
name: a story
now: 2026-09-01T10:00:00+08:00
as: {tenant: acme, user: lin, channel: user}
in: {user: lin, project: web-app}
steps:
"""
FIRST_STEP = HEAD.count("\n") + 1
SAID = """\
- say: {by: user, text: "This project uses npm.", id: m1}
- remember: m1
"""
KNOWN = SAID + "  expect: [{action: activate, id: r1}]\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run steps below the usual head; the exit code, what was printed, and the complaints."""

    def run_it(steps: str, *, head: str = HEAD, **options: Any) -> tuple[int, str, str]:
        path = tmp_path / "story.yaml"
        path.write_text(head + steps, encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        code = run_files([path], out=out, err=err, **options)
        return code, out.getvalue(), err.getvalue()

    return run_it


# ---------------------------------------------------------------- twins: one holds, one does not

TWINS = {
    "a field of a decision": (
        SAID + "  expect: [{action: activate, value: npm}]\n",
        SAID + "  expect: [{action: activate, value: yarn}]\n",
    ),
    "an absent part of the scope": (
        SAID + "  expect: [{scope: {project: web-app, user: null}}]\n",
        SAID + "  expect: [{scope: {project: null}}]\n",
    ),
    "nothing left over": (
        SAID + "  expect: [{action: activate}]\n",
        SAID + "  expect: []\n",
    ),
    "one entry too many expected": (
        SAID + "  expect: [{action: activate}]\n",
        SAID + "  expect: [{action: activate}, {action: activate}]\n",
    ),
    "a reason among those seen": (
        SAID + "  expect: [{reasons: [origin.stated]}]\n",
        SAID + "  expect: [{reasons: [origin.stated, impact.loosens]}]\n",
    ),
    "an end": (
        SAID + "  expect: [{expires_at: null}]\n",
        SAID + "  expect: [{expires_at: present}]\n",
    ),
    "includes": (
        KNOWN + "- recall: {text: package manager}\n  expect: {includes: [npm]}\n",
        KNOWN + "- recall: {text: package manager}\n  expect: {includes: [pnpm]}\n",
    ),
    "excludes": (
        KNOWN + "- recall: {text: package manager}\n  expect: {excludes: [yarn]}\n",
        KNOWN + "- recall: {text: package manager}\n  expect: {excludes: [npm]}\n",
    ),
    "max": (
        KNOWN + "- recall: {text: package manager}\n  expect: {max: 1}\n",
        KNOWN + "- recall: {text: package manager}\n  expect: {max: 0}\n",
    ),
    "silent": (
        "- recall: {text: package manager}\n  expect: {silent: true}\n",
        KNOWN + "- recall: {text: package manager}\n  expect: {silent: true}\n",
    ),
    "order": (
        KNOWN + "- recall: {text: package manager}\n  expect: {order: [npm]}\n",
        KNOWN + "- recall: {text: package manager}\n  expect: {order: [npm, project]}\n",
    ),
    "contains": (
        KNOWN + "- context: {text: package manager}\n  expect: {contains: [npm]}\n",
        KNOWN + "- context: {text: package manager}\n  expect: {contains: [bun]}\n",
    ),
    "lacks": (
        KNOWN + "- context: {text: package manager}\n  expect: {lacks: [bun]}\n",
        KNOWN + "- context: {text: package manager}\n  expect: {lacks: [npm]}\n",
    ),
    "max_tokens": (
        KNOWN + "- context: {text: package manager}\n  expect: {max_tokens: 800}\n",
        KNOWN + "- context: {text: package manager}\n  expect: {max_tokens: 3}\n",
    ),
    "conflicts": (
        KNOWN + "- context: {text: package manager}\n  expect: {conflicts: 0}\n",
        KNOWN + "- context: {text: package manager}\n  expect: {conflicts: 1}\n",
    ),
    "degraded": (
        KNOWN + "- context: {text: package manager}\n  expect: {degraded: false}\n",
        KNOWN + "- context: {text: package manager}\n  expect: {degraded: true}\n",
    ),
    "history": (
        KNOWN + "- history: {record: r1}\n  expect: {value: npm, versions: 1}\n",
        KNOWN + "- history: {record: r1}\n  expect: {value: npm, versions: 2}\n",
    ),
    "a new version": (
        KNOWN + "- revise: {record: r1, if_version: 1, value: pnpm}\n  expect: {version: 2}\n",
        KNOWN + "- revise: {record: r1, if_version: 1, value: pnpm}\n  expect: {version: 1}\n",
    ),
    "an error that comes": (
        KNOWN + "- revise: {record: r1, if_version: 7, value: pnpm}\n  error: conflict\n",
        KNOWN + "- revise: {record: r1, if_version: 1, value: pnpm}\n  error: conflict\n",
    ),
    "the right error": (
        "- mute: {record: nobody}\n  error: not_found\n",
        "- mute: {record: nobody}\n  error: conflict\n",
    ),
    "an exact code": (
        "- mute: {record: nobody}\n  error: record.not_found\n",
        "- mute: {record: nobody}\n  error: record.stale_version\n",
    ),
    "no error": (
        KNOWN + "- mute: {record: r1}\n",
        "- mute: {record: nobody}\n",
    ),
    "a count": (
        KNOWN + "- expect_records: {status: active, count: 1, where: {project: web-app}}\n",
        KNOWN + "- expect_records: {status: active, count: 2, where: {project: web-app}}\n",
    ),
    "a part that must be absent": (
        KNOWN + "- expect_records: {count: 1, where: {project: web-app, user: null}}\n",
        KNOWN + "- expect_records: {count: 1, where: {project: null}}\n",
    ),
    "a label that is superseded": (
        KNOWN
        + "- clock: +1d\n"
        + SAID.replace("npm", "bun")
        + "  expect: [{reconcile: supersede, supersedes: r1}]\n",
        KNOWN
        + "- clock: +1d\n"
        + SAID.replace("npm", "bun")
        + "  expect: [{reconcile: supersede, supersedes: m1}]\n",
    ),
    "what an event says of itself": (
        '- say: {by: user, text: "hello"}\n  expect: {redacted: false, kind: user}\n',
        '- say: {by: user, text: "hello"}\n  expect: {redacted: true}\n',
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_the_right_one_holds_and_its_broken_twin_fails(run: Run, name: str) -> None:
    """Every kind of expectation, met and missed."""
    right, broken = TWINS[name]
    code, out, err = run(right, url="sqlite://")
    assert (code, err) == (0, ""), out
    code, out, err = run(broken, url="sqlite://")
    assert (code, err) == (1, "")
    assert "FAIL" in out
    assert "expected" in out and "seen" in out


def test_more_may_come_where_that_is_said(run: Run) -> None:
    """`extra: true` allows entries that were not expected, and misses none that were."""
    assert run(SAID + "  expect: []\n  extra: true\n")[0] == 0
    assert run(SAID + "  expect: [{action: hold}]\n  extra: true\n")[0] == 1


def test_the_rest_is_played_after_a_failure(run: Run) -> None:
    """Each failing step is told with its number; the exit code is 1."""
    steps = "- recall: {text: a}\n  expect: {includes: [x]}\n" * 2
    code, out, _ = run(KNOWN + steps)
    assert code == 1
    assert "failed: step 3, 4 of 4" in out


def test_a_refused_call_that_changes_something_is_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`error:` means that nothing changed: a product that writes and then refuses fails."""
    from muniment.memory import Memory

    real = Memory.mute

    def writes_and_refuses(self: Memory, record: str, **rest: Any) -> None:
        real(self, record, **rest)
        raise Unavailable("store.busy", "too late")

    steps = KNOWN + "- mute: {record: r1}\n  error: unavailable\n"
    monkeypatch.setattr(Memory, "mute", writes_and_refuses)
    code, out, _ = run(steps)
    assert code == 1
    assert "nothing was to change" in out


def test_a_fault_of_the_product_is_a_failure_and_not_the_end(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception that is no typed error fails its step, also where an error is expected."""
    from muniment.memory import Memory

    def breaks(self: Memory, *rest: Any, **more: Any) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Memory, "recall", breaks)
    code, out, _ = run("- recall: {text: a}\n- recall: {text: a}\n  error: conflict\n")
    assert code == 1
    assert out.count("ZeroDivisionError: oh") == 2


# ---------------------------------------------------------------- what is no scenario

NO_SCENARIO = {
    "an unknown verb": ("- frobnicate: {}\n", 0, "`frobnicate`"),
    "a call without its key": ("- tool: {name: push}\n", 0, "`key`"),
    "two verbs": ("- clock: +1d\n  thread: A\n", 0, "exactly one verb"),
    "no verb": ("- at: 2026-09-01T10:00:00Z\n", 0, "exactly one verb"),
    "an unknown modifier": ("- clock: +1d\n  expects: []\n", 1, "`expects`"),
    "an unknown field of a verb": ("- recall: {text: a, stagee: b}\n", 0, "`stagee`"),
    "an unknown expectation": (
        "- recall: {text: a}\n  expect:\n    includes: [a]\n    include: [b]\n",
        3,
        "`include`",
    ),
    "an unknown field of a decision": (
        SAID + "  expect:\n  - {action: hold}\n  - {act: hold}\n",
        4,
        "`act`",
    ),
    "an unknown error": ("- mute: {record: a}\n  error: teapot\n", 1, "`error`"),
    "an error and something to see": (
        "- recall: {text: a}\n  error: conflict\n  expect: {max: 1}\n",
        2,
        "either",
    ),
    "nothing to expect of": ("- clock: +1d\n  expect: {a: b}\n", 1, "`clock`"),
    "a word for a mapping": ("- recall: package manager\n", 0, "`recall`"),
    "a mapping for a word": ("- thread: {label: A}\n", 0, "`thread`"),
    "a span that is none": ("- clock: 3 days\n", 0, "clock"),
    "an instant without a zone": ("- clock: 2026-09-01T10:00:00\n", 0, "zone"),
    "a number that is none": ("- expect_records: {count: many}\n", 0, "`count`"),
    "at beside another verb": ("- thread: A\n  at: 2026-09-01T10:00:00Z\n", 1, "`at`"),
    "extra that is no truth value": (SAID + "  extra: maybe\n", 2, "`extra`"),
    "a label that is no word": ("- say: {by: user, text: a, id: 7}\n", 0, "`id`"),
    "a confirmation of nothing": ("- confirm: {digest: a}\n", 0, "`candidate`"),
    "a key twice": ("- clock: +1d\n  clock: +2d\n", 1, "twice"),
    "a step that is a word": ("- clock\n", -1, "step 1"),
    "broken YAML": ("- recall: {text: a\n- clock: +1d\n", 1, "not YAML"),
}


@pytest.mark.parametrize("name", NO_SCENARIO)
def test_what_is_no_scenario_exits_2_with_its_line(run: Run, name: str) -> None:
    """Nothing of it is played, not even what stands before the mistake."""
    steps, offset, word = NO_SCENARIO[name]
    code, out, err = run(steps)
    assert (code, out) == (2, "")
    assert word in err
    assert f"story.yaml:{FIRST_STEP + offset}:" in err


@pytest.mark.parametrize(
    ("head", "word"),
    [
        ("", "mapping"),
        ("name: a\nsteps: []\n", "steps"),
        ("steps:\n- clock: +1d\n", "name"),
        (HEAD.replace("name:", "title: b\nname:"), "`title`"),
        (HEAD.replace("+08:00", ""), "zone"),
        (HEAD.replace("channel: user", "channel: fax"), "channel"),
        (HEAD.replace("project:", "projekt:"), "projekt"),
        ("needs: llm\n" + HEAD, "llm"),
        ("a: &a [*a]\n", "not YAML"),
        ("--- {}\n--- {}\n", "not YAML"),
    ],
)
def test_a_head_that_is_wrong_exits_2(run: Run, head: str, word: str) -> None:
    """The head is checked like the steps."""
    steps = "- clock: +1d\n" if "now:" in head else ""
    code, out, err = run(steps, head=head)
    assert (code, out) == (2, "")
    assert word in err


@pytest.mark.parametrize("through", ["cli", "http", "mcp", "telepathy"])
def test_another_way_in_is_refused(run: Run, through: str) -> None:
    """What this version cannot run through, it says."""
    code, out, err = run(SAID, through=through)
    assert (code, out) == (2, "")
    assert through in err or "--through" in err


def test_a_server_is_refused(run: Run) -> None:
    """So is a store that is none."""
    assert run(SAID, url="https://memory.example.test")[0] == 2


def test_no_file_no_text_no_scenario(tmp_path: Path) -> None:
    """Missing, a directory, or no text at all: 2, and no traceback."""
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "deep.yaml").write_text("[" * 2000)
    for name in ("missing.yaml", ".", "bytes.yaml", "deep.yaml"):
        err = io.StringIO()
        assert run_files([tmp_path / name], out=io.StringIO(), err=err) == 2
        assert err.getvalue()


def test_all_files_are_played_and_the_worst_code_wins(tmp_path: Path) -> None:
    """One that is no scenario does not keep the others from being played."""
    (tmp_path / "good.yaml").write_text(HEAD + SAID)
    (tmp_path / "bad.yaml").write_text(HEAD + "- mute: {record: nobody}\n")
    (tmp_path / "none.yaml").write_text(HEAD + "- frobnicate: {}\n")
    names = ["none.yaml", "bad.yaml", "good.yaml"]
    out = io.StringIO()
    assert run_files([tmp_path / n for n in names], out=out, err=io.StringIO()) == 2
    assert "failed: step 1 of 1" in out.getvalue()
    assert "held: all 2 steps" in out.getvalue()
    assert run_files([tmp_path / n for n in names[1:]], out=io.StringIO()) == 1


# ---------------------------------------------------------------- what the runner does


def test_json_is_one_object_a_file(tmp_path: Path) -> None:
    """Name, outcome, and of each step what was seen and what failed; a refused file too."""
    (tmp_path / "bad.yaml").write_text(KNOWN_AND_MISSED, encoding="utf-8")
    (tmp_path / "none.yaml").write_text(HEAD + "- frobnicate: {}\n")
    out = io.StringIO()
    paths = [tmp_path / "bad.yaml", tmp_path / "none.yaml"]
    assert run_files(paths, as_json=True, out=out, err=io.StringIO()) == 2
    bad, none = map(json.loads, out.getvalue().splitlines())
    assert (bad["name"], bad["ok"]) == ("a story", False)
    assert [(s["n"], s["verb"], s["ok"]) for s in bad["steps"]] == [
        (1, "say", True),
        (2, "remember", True),
        (3, "recall", False),
    ]
    assert set(bad["steps"][2]) == {"n", "verb", "ok", "seen", "failed"}
    assert bad["steps"][1]["seen"][0]["value"] == "npm"
    assert len(bad["steps"][2]["failed"]) == 1
    assert none["ok"] is False
    assert none["error"]["line"] == FIRST_STEP


KNOWN_AND_MISSED = HEAD + KNOWN + "- recall: {text: a}\n  expect: {includes: [x]}\n"


def test_a_thread_label_in_another_scope_is_another_thread(run: Run) -> None:
    """Reopened where it was it is the same thread: the event of the same label goes on there."""
    steps = """\
- thread: A
- say: {by: user, text: one}
  expect: {seq: 1}
- in: {user: lin, project: other}
- thread: A
- say: {by: user, text: one}
  expect: {seq: 1}
- as: {tenant: acme, user: mei, channel: user}
- in: {user: mei, project: other}
- say: {by: user, text: one}
  expect: {seq: 1}
- as: {tenant: acme, user: lin, channel: user}
- in: {user: lin, project: web-app}
- thread: A
- say: {by: user, text: two}
  expect: {seq: 2}
"""
    code, out, _ = run(steps)
    assert code == 0, out


def test_words_are_words_and_instants_text(run: Run) -> None:
    """`yes` names an event; an instant in a field reaches the product as it was written."""
    steps = """\
- say: {by: user, text: "I like tea.", id: yes, at: 2026-08-01T10:00:00+08:00}
  expect: {said_at: "2026-08-01T02:00:00+00:00"}
- remember: yes
"""
    code, out, _ = run(steps)
    assert code == 0, out


def test_unknown_fields_are_the_products_to_refuse(run: Run) -> None:
    """In `say`, `propose`, `revise` and `remember`, and nothing changes."""
    steps = """\
- say: {by: user, text: a, origin: user_stated}
  error: invalid_input
- say: {text: a}
  error: invalid_input
- propose: {content: a, evidence: [m1], status: active}
  error: invalid_input
- revise: {record: r1, if_version: 1, value: pnpm, origin: user_stated}
  error: invalid_input
- remember: {event: m1, force: true}
  error: invalid_input
"""
    code, out, _ = run(KNOWN + steps)
    assert code == 0, out


def test_a_crash_keeps_what_was_committed(run: Run) -> None:
    """The store is opened anew without having been closed."""
    steps = "- crash: {}\n- recall: {text: package manager}\n  expect: {includes: [npm]}\n"
    code, out, _ = run(KNOWN + steps)
    assert code == 0, out
    assert run(KNOWN + steps, url="sqlite://")[0] == 2


def test_without_a_time_of_its_own_the_machines_clock_counts(run: Run) -> None:
    """`now` and `clock` are what stops it."""
    head = HEAD.replace("now: 2026-09-01T10:00:00+08:00\n", "")
    assert run(KNOWN + "- history: {record: r1}\n  expect: {value: npm}\n", head=head)[0] == 0
    assert run("- clock: +1d\n", head=head)[0] == 0
