"""`muniment eval write` from a shell: labelled turns in, tables, a result and a plot out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muniment.evals import play
from tests.support.labelled import TURNS

Run = Callable[..., Any]

WRONG = """\
- id: wrong
  group: small_talk
  lang: en
  in: {user: lin, project: web-app}
  say: {by: user, text: "This project uses pnpm."}
  expect: []
"""


def test_labelled_turns_are_measured(cli: Run) -> None:
    """Every table is shown; the result and the plot are there, a store is not, nor a draft."""
    ran = cli("eval", "write", str(TURNS))
    assert ran.code == 0 and "12 turns" in ran.out
    for shown in ("turns right\t12\t12\t1.000", "lang zh\t3", "group change\t1", "ignore\t0\t0"):
        assert shown in ran.out
    result = json.loads(Path("eval-write.json").read_text("utf-8"))
    assert result["format"] == "muniment-eval-write-1" and len(result["turns"]) == 12
    plot = Path("eval-write.svg").read_text("utf-8")
    assert plot.startswith("<svg") and "activate precision (n=5)" in plot
    left = sorted(p.name for p in Path().iterdir() if p.is_file())
    assert left == ["eval-write.json", "eval-write.svg"]


def test_mistakes_are_listed_when_asked_for(cli: Run) -> None:
    """With the id of the turn; a mistake is a finding, no failure of the command."""
    Path("w.yaml").write_text(WRONG)
    quiet, told = cli("eval", "write", "w.yaml"), cli("eval", "write", "w.yaml", "--mistakes")
    assert quiet.code == told.code == 0 and "wrong\t" not in quiet.out
    assert "wrong\texpected ignore, seen activate" in told.out
    data = cli("eval", "write", "w.yaml", "--mistakes", "--json", "--out", "r.json").data
    assert list(data["mistakes"]) == ["wrong"] and data["file"] == "r.json"
    assert "turns" not in data and Path("r.svg").exists()
    assert data["summary"]["all"]["shares"]["kept in passing"]["count"] == 1


def test_several_files_are_one_run(cli: Run) -> None:
    """And --limit takes the first turns of all of them."""
    Path("w.yaml").write_text(WRONG)
    both = cli("--json", "eval", "write", "w.yaml", str(TURNS)).data
    first = cli("--json", "eval", "write", "w.yaml", str(TURNS), "--limit", "2").data
    assert both["summary"]["all"]["n"] == 13 and first["summary"]["all"]["n"] == 2
    assert both["labels"] == first["labels"] and first["limit"] == 2


def test_a_named_store_keeps_what_was_said(cli: Run) -> None:
    """In a tenant for each turn; what was there is as it was, and the whole verifies."""
    url = ("--url", "sqlite:///kept.db")
    assert cli(*url, "remember", "I like tea.").code == 0
    before = cli(*url, "--json", "list").data
    assert cli(*url, "eval", "write", str(TURNS)).code == 0
    assert cli(*url, "--json", "list").data == before
    assert cli(*url, "--json", "verify").data["ok"] is True


@pytest.mark.parametrize(
    ("text", "words", "code", "error"),
    [
        (WRONG.replace("lang: en", "lang: xx"), (), 2, "labels.unknown"),
        (WRONG + WRONG, (), 2, "labels.duplicate"),
        (WRONG.replace("expect", "said: 2026-13-01\n  expect"), (), 2, "labels.invalid"),
        ("", (), 2, "labels.empty"),
        (None, (), 6, "eval.unreadable"),
        (WRONG, ("--out", "no/r.json"), 6, "eval.unwritable"),
        (WRONG, ("--out", "."), 6, "eval.unwritable"),
    ],
)
def test_what_cannot_be_played_says_why(
    cli: Run, text: str | None, words: tuple[str, ...], code: int, error: str
) -> None:
    """With a code, nothing on standard output, and nothing written."""
    if text is not None:
        Path("w.yaml").write_text(text)
    ran = cli("eval", "write", "w.yaml", *words)
    assert (ran.code, ran.out) == (code, "") and f"({error})" in ran.err
    assert not [p for p in Path().rglob("*") if p.suffix in (".json", ".svg", ".part", ".db")]


def test_a_model_plays_no_labelled_turns(cli: Run) -> None:
    """The labels are no business of the one that is measured."""
    assert cli("eval", "write", str(TURNS), MUNIMENT_CHANNEL="agent").code == 4


def test_an_interrupted_run_leaves_the_last_result(
    cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle: 130, and the files are whole, those of the run before."""
    assert cli("eval", "write", str(TURNS)).code == 0
    before = {p.name: p.read_bytes() for p in Path().iterdir() if p.is_file()}
    played = play.play

    def interrupted(turn: Any, *rest: Any) -> Any:
        if turn.id == "change":
            raise KeyboardInterrupt
        return played(turn, *rest)

    monkeypatch.setattr(play, "play", interrupted)
    ran = cli("eval", "write", str(TURNS))
    assert (ran.code, ran.out) == (130, "") and "Interrupted" in ran.err
    assert {p.name: p.read_bytes() for p in Path().iterdir() if p.is_file()} == before


def test_a_turn_that_cannot_be_said_is_named(cli: Run) -> None:
    """What the store refuses to append stops the run with its own error."""
    Path("w.yaml").write_text(WRONG.replace("  expect", "  channel: agent\n  expect"))
    ran = cli("eval", "write", "w.yaml")
    assert ran.code == 4 and "turn wrong:" in ran.err and not Path("eval-write.json").exists()


@pytest.mark.slow
def test_hundreds_of_turns_take_seconds(cli: Run) -> None:
    """400 turns with something said before each: well under a minute."""
    turn = WRONG.replace("  say:", '  before: [{by: user, text: "We use npm here."}]\n  say:')
    Path("w.yaml").write_text("".join(turn.replace("wrong", f"t-{n}") for n in range(400)))
    began = time.monotonic()
    assert cli("eval", "write", "w.yaml").code == 0
    assert time.monotonic() - began < 40
