"""`muniment eval write` on every store: right where the gate is, and broken twins of it show."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from muniment import Event
from muniment.cli import app
from muniment.evals.judge import Judged
from muniment.evals.labels import Turn, load
from muniment.evals.play import evaluate
from muniment.evals.tally import summary_of
from muniment.extract.rules import extract
from muniment.gate.candidate import Candidate, Claim
from muniment.gate.decision import Action, Reconcile, Verdict
from muniment.gate.reasons import Reason
from muniment.records.record import Kind, Origin
from tests.contract.kit import Place
from tests.support.labelled import TURNS

_RUNS = itertools.count(1)
Run = Callable[..., Any]


@pytest.fixture
def run(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """The command on this store, in a directory of its own; its exit code and its data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MUNIMENT_DATA_HOME", str(tmp_path / "data-home"))
    named = [] if place.name == "memory" else ["--url", place.url]
    key = ["--key-file", str(place.key_file)] if place.key_file else []

    def command(*words: str) -> tuple[int, Any]:
        done = CliRunner().invoke(app, [*named, *key, "--json", "eval", "write", *words])
        return done.exit_code, json.loads(done.stdout)

    return command


@pytest.fixture
def play(place: Place) -> Iterator[Callable[[Sequence[Turn]], list[Judged]]]:
    """Play and judge turns on this store."""

    def played(turns: Sequence[Turn]) -> list[Judged]:
        return evaluate(
            turns,
            lambda clock, zone: place.open(clock, tz=zone),
            run=f"{place.tenant}-{next(_RUNS)}",
            fresh=place.name == "memory",
            advance=lambda done, total: None,
        )

    yield played


def shares(judged: Sequence[Judged]) -> dict[str, Any]:
    """The shares over all turns, by name."""
    return {n: s["share"] for n, s in summary_of(judged)["all"]["shares"].items()}


def test_the_command_measures_a_gate_that_is_right(run: Run, tmp_path: Path) -> None:
    """Again in the same store it finds the same: each run is in tenants of its own."""
    (code, first), (again_code, again) = run(str(TURNS)), run(str(TURNS), "--mistakes")
    assert code == again_code == 0
    whole = first["summary"]["all"]
    assert whole["n"] == 12 and whole["shares"]["turns right"]["share"] == 1, again["mistakes"]
    assert whole["shares"]["leaks"] | {"low": 0, "high": 0} == {
        **{"count": 0, "of": 1, "share": 0.0, "low": 0, "high": 0}
    }
    assert first["confusion"]["activate"]["activate"] == 5
    assert (again["summary"], again["mistakes"]) == (first["summary"], {})
    saved = json.loads((tmp_path / "eval-write.json").read_text("utf-8"))
    assert len(saved["turns"]) == 12 and "pnpm" not in json.dumps(saved)


def test_a_secret_that_stays_is_found(run: Run, tmp_path: Path) -> None:
    """The control of the search: ordinary words called a secret are in every place, and it ends
    with 1; the mistakes do not repeat them."""
    text = TURNS.read_text("utf-8").replace("- id: wish\n", "- id: wish\n  secret: use pnpm\n", 1)
    leaky = tmp_path / "leaky.yaml"
    leaky.write_text(text, "utf-8")
    code, found = run(str(leaky), "--mistakes", "--limit", "1")
    assert code == 1 and found["summary"]["all"]["shares"]["leaks"]["count"] == 1
    told = " ".join(found["mistakes"]["wish"])
    assert "use pnpm" not in told
    for where in ("event", "record", "decision", "export"):
        assert f"the secret is in {where}" in told


def test_a_secret_that_is_logged_or_waits_is_found(
    play: Run, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the other places; without the leak there is none."""
    turns = {t.id: t for t in load([TURNS]).turns}
    held = replace(turns["mother"], secret="三月初八")
    assert "the secret is in candidate" in play([held])[0].faults
    assert play([turns["password"]])[0].leaked is False

    def telling(event: Event, *rest: Any, **more: Any) -> list[Candidate]:
        logging.getLogger("somewhere").debug("read: %s", "banana-oolong-77")
        return extract(event, *rest, **more)

    monkeypatch.setattr("muniment.verbs.remembering.extract", telling)
    assert "the secret is in log" in play([turns["password"]])[0].faults
    if place.name == "memory":  # and in its very bytes, indexes and keys too
        assert "the secret is in store" in play([held])[0].faults


def test_a_gate_that_keeps_nothing_scores_badly(play: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An extractor that reads nothing out of anything."""
    monkeypatch.setattr("muniment.verbs.remembering.extract", lambda *a, **k: [])
    found = shares(play(load([TURNS]).turns))
    assert (found["activate recall"], found["hold recall"], found["refuse recall"]) == (0, 0, 0)
    assert found["ignore recall"] == 1 and found["ignore precision"] < 0.5
    assert found["activate precision"] is None


def test_a_gate_that_keeps_everything_scores_badly(
    play: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every message whole, as a fact of its own."""
    monkeypatch.setattr("muniment.verbs.remembering.extract", everything)
    monkeypatch.setattr("muniment.gate.settle.decide", keep)
    found = shares(play(load([TURNS]).turns))
    assert found["activate recall"] == 1 and found["activate precision"] < 0.5
    assert (found["ignore recall"], found["hold recall"]) == (0, 0)
    assert (found["kept in passing"], found["conflicts found"]) == (1, 0)
    assert found["until right"] < 1 and found["third person errors"] == 1


def everything(event: Event, *_: Any, **__: Any) -> list[Candidate]:
    """The whole message, as the speaker's."""
    return [
        Candidate(
            content=event.text or "",
            kind=Kind.FACT,
            subject=f"user:{event.user}",
            scope=event.scope,
            evidence=(event.id,),
            said_at=event.said_at,
            claim=Claim.USER,
        )
    ]


def keep(*_: Any, **__: Any) -> Verdict:
    """Whatever it is."""
    return Verdict(
        Action.ACTIVATE, Reconcile.INSERT, (Reason.ORIGIN_STATED,), Origin.USER_STATED, sure=True
    )


def test_shuffled_labels_score_badly(play: Run) -> None:
    """Each turn with what is expected of the next one: the labels are looked at."""
    turns = load([TURNS]).turns
    others = [*turns[1:], turns[0]]
    shuffled = [
        replace(t, expect=o.expect, group=o.group) for t, o in zip(turns, others, strict=True)
    ]
    found = shares(play(shuffled))
    assert found["turns right"] < 0.5 and found["activate recall"] < 0.5
    assert shares(play(turns))["turns right"] == 1
