"""`muniment eval` from a shell: a made-up LoCoMo file in, tables, a result and a plot out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TURNS = ("I adopted a ferret.", "My sister plays the trumpet.", "We paddled a kayak.")
ASKED = ("Who plays the trumpet?", "Who adopted a ferret?", "Who likes opera?")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three turns and three questions, the last of which nothing answers."""
    session = [
        {"speaker": "Ann", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(TURNS, 1)
    ]
    gold = (["D1:2"], ["D1:1"], [])
    row = {
        "sample_id": "c1",
        "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": session},
        "qa": [
            {"question": q, "evidence": g, "category": 4} for q, g in zip(ASKED, gold, strict=True)
        ],
    }
    path = tmp_path / "made-up.json"
    path.write_text(json.dumps([row]), "utf-8")
    return path


def test_a_data_set_is_evaluated(cli: Run, data: Path) -> None:
    """The table says which layer it is about; the result and the plot are there; no store is."""
    ran = cli("eval", "retrieval", "--dataset", "locomo", "--data", str(data))
    assert ran.code == 0 and "archive layer" in ran.out and "1.000 [1.000, 1.000]" in ran.out
    result = json.loads(Path("eval-locomo.json").read_text("utf-8"))
    assert [q["ranks"] for q in result["questions"]] == [[1], [1]]
    assert result["counts"] == {"questions without gold": 1}
    assert Path("eval-locomo.svg").read_text("utf-8").startswith("<svg")
    assert not list(Path().glob("*.db"))


def test_a_named_store_keeps_the_turns(cli: Run, data: Path) -> None:
    """And the same data again finds them there; --json is one document without the questions."""
    words = ("eval", "retrieval", "--dataset", "locomo", "--data", str(data), "--limit", "1")
    url = ("--url", "sqlite:///kept.db", "--json")
    first, again = cli(*words, *url), cli(*words, *url)
    assert first.code == again.code == 0 and Path("kept.db").exists()
    assert first.data["summary"] == again.data["summary"] and "questions" not in first.data
    assert first.data["summary"]["all"]["n"] == 1


def test_two_results_are_compared(cli: Run, data: Path) -> None:
    """A result with itself is no better; one that found less is worse."""
    ran = cli("eval", "retrieval", "--dataset", "locomo", "--data", str(data), "--out", "a.json")
    assert ran.code == 0
    worse = json.loads(Path("a.json").read_text("utf-8"))
    worse["questions"][0] |= {"ranks": [], "tokens": []}
    Path("b.json").write_text(json.dumps(worse), "utf-8")
    same, less = (cli("--json", "eval", "compare", "a.json", f).data for f in ("a.json", "b.json"))
    assert same["scores"]["rec@5"]["difference"] == 0
    assert less["scores"]["rec@5"] | {"low": None, "high": None} == {
        **{"a": 1.0, "b": 0.5, "difference": -0.5, "low": None, "high": None},
        **{"p": 1.0, "better": 0, "worse": 1},
    }
    assert "-0.500" in cli("eval", "compare", "a.json", "b.json").out


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("--dataset", "squad", "--data", "made-up.json"), 2, "eval.dataset"),
        (("--dataset", "beam", "--data", "made-up.json"), 2, "eval.data"),
        (("--dataset", "locomo", "--data", "absent.json"), 6, "eval.unreadable"),
        (
            ("--dataset", "locomo", "--data", "made-up.json", "--out", "no/r.json"),
            6,
            "eval.unwritable",
        ),
    ],
)
def test_what_cannot_be_evaluated_says_why(
    cli: Run, data: Path, words: tuple[str, ...], code: int, error: str
) -> None:
    """With a code, and nothing on standard output."""
    ran = cli("eval", "retrieval", *words)
    assert (ran.code, ran.out) == (code, "") and f"({error})" in ran.err
