"""The harness of the figures: it runs at tiny sizes, and it fails where nothing was done."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import command, deciding, loading, reading, together, writing
from bench.figures import FIGURES, Check, Row, WorkNotDone
from bench.measure import Timings, percentile
from bench.places import Place, sqlite_place
from bench.table import as_json, markdown
from bench.texts import Writer
from muniment import Memory, Recalled
from muniment.trail.lane import ReadLane

TINY = {
    "remember": {"writes": 3},
    "growth": {"grown": 24, "early": 8, "writes": 2},
    "import": {"messages": 30},
    "recall": {"records": 80, "others": 1, "queries": 5},
    "audit": {"readers": 2, "reads": 2, "rounds": 2, "records": 24},
    "same-fact": {"threads": 3},
    "gate": {"decisions": 8},
    "screen": {"messages": 8, "rounds": 1},
    "checkpoint": {"long": 6, "middle": 4, "short": 3},
}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """SQLite files in the test's own directory."""
    with sqlite_place(tmp_path) as place:
        yield place


@pytest.mark.parametrize("name", TINY)
def test_a_figure_gives_rows_with_limits(place: Place, name: str) -> None:
    """Every figure that runs in this process does its work, however small."""
    rows = FIGURES[name].rows(place, TINY[name])
    assert rows
    assert [row for row in rows if not row.checks and "no peer" not in row.notes] == []


@pytest.mark.slow
def test_processes_write_to_one_store(place: Place) -> None:
    """The one figure that starts processes of its own."""
    [row] = FIGURES["processes"].rows(place, {"processes": 2, "writes": 3})
    assert [check.value for check in row.checks] == [0, 6]


def test_every_figure_has_a_tiny_run() -> None:
    """A new figure has to be tried here."""
    assert set(FIGURES) == {*TINY, "processes"}


def test_every_figure_is_in_the_docs() -> None:
    """With the command that prints it."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "figures.md"
    text = page.read_text("utf-8")
    assert [name for name in FIGURES if f"`python -m bench {name}`" not in text] == []


def test_a_write_that_does_nothing_gives_no_figure(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fastest of all memories forgets everything at once."""
    monkeypatch.setattr(Memory, "remember", lambda *_, **__: [])
    with pytest.raises(WorkNotDone, match="new records expected"):
        list(writing.remember(place, writes=3))


def test_the_same_write_over_again_gives_no_figure(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Merging is cheaper than inserting."""
    same = Writer().statement()
    monkeypatch.setattr(writing, "WARM_UP", 0)
    monkeypatch.setattr(Writer, "statement", lambda _: same)
    with pytest.raises(WorkNotDone, match="activate/merge"):
        list(writing.remember(place, writes=3))


def test_an_import_that_drops_messages_gives_no_figure(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came in is counted against the file."""
    whole = writing.conversation
    monkeypatch.setattr(writing, "conversation", lambda path, n: whole(path, n - 1))
    with pytest.raises(WorkNotDone, match="29 of 30"):
        list(writing.import_(place, messages=30))


def test_an_empty_recall_gives_no_figure(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding nothing is quick."""
    monkeypatch.setattr(Memory, "recall", lambda *_, **__: Recalled(()))
    with pytest.raises(WorkNotDone, match="nothing was recalled"):
        list(reading.recall(place, **TINY["recall"]))


def test_reads_without_an_audit_give_no_figure(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lane that says yes and notes nothing is caught by counting the trail."""
    monkeypatch.setattr(ReadLane, "add", lambda *_: True)
    with pytest.raises(WorkNotDone, match="0 of"):
        list(reading.audit(place, **TINY["audit"]))


def test_a_record_for_each_thread_misses_the_limit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two records of one fact are shown as such."""
    numbers = itertools.count()
    remember = Memory.remember

    def twin(self: Memory, _: str, **rest: Any) -> Any:
        return remember(self, f"Remember that box {next(numbers)} is red.", **rest)

    monkeypatch.setattr(Memory, "remember", twin)
    [row] = together.same_fact(place, threads=2)
    assert [check.reached for check in row.checks] == [False, False, False]


def test_a_gate_that_changes_its_mind_gives_no_figure(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each verdict is compared with the first."""
    verdicts = iter(range(100))
    monkeypatch.setattr(deciding, "_captured", lambda *_: lambda: next(verdicts))
    with pytest.raises(WorkNotDone, match="deterministic"):
        list(deciding.decide(place, decisions=8))


def test_statements_become_records_of_their_own(place: Place) -> None:
    """Both languages, and each of the frames."""
    memory = place.open()
    loading.load(memory, Writer(5).statements(96))
    assert loading.active_records(memory) == 96


def test_percentiles_are_of_the_nearest_rank() -> None:
    """Against values that can be counted by hand."""
    values = [float(n) for n in range(1, 101)]
    assert [percentile(values, share) for share in (0.5, 0.95, 0.99, 1)] == [50, 95, 99, 100]
    assert percentile([7.0], 0.5) == 7.0
    with pytest.raises(ValueError, match="needs values"):
        percentile([], 0.5)


def test_the_table_says_what_was_missed() -> None:
    """A missed limit is loud; one that does not bind stands in brackets."""
    timings = Timings([0.004], [0.002])
    checks = [
        Check("p50", 4.0, 2.0, "ms"),
        Check("rate", 250.0, 500.0, "/s", at_most=False, binding=False),
        Check("errors", 0, 0),
    ]
    row = Row.of("1 message", timings, checks)
    cells = [[cell.strip() for cell in line.split("|")] for line in markdown([row]).splitlines()]
    assert [line[8:11] for line in cells[2:]] == [
        ["p50 4 ms", "≤ 2 ms", "NO"],
        ["rate 250 /s", "≥ 500 /s", "(no)"],
        ["errors 0", "≤ 0", "yes"],
    ]
    shown = json.loads(as_json([row]))["rows"][0]
    assert [check["reached"] for check in shown["checks"]] == [False, False, True]


def test_unknown_figures_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With the names there are."""
    with pytest.raises(SystemExit, match="2"):
        command.main(["remembr"])
    assert "remember" in capsys.readouterr().err


def test_the_command_prints_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the machine beside it; 0 also where a limit is missed, unless asked to be strict."""
    monkeypatch.setitem(FIGURES["gate"].quick, "decisions", 8)  # type: ignore[index]
    arguments = ["gate", "--quick", "--json", "--dir", str(tmp_path)]
    assert command.main(arguments) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["figure"] == "gate" and row["probe"]["fsync_ms"] > 0
    assert not list(tmp_path.iterdir())


def test_the_command_fails_where_no_figure_could_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says which one, and why."""
    monkeypatch.setattr(Memory, "remember", lambda *_, **__: [])
    arguments = ["remember", "--quick", "--store", "sqlite", "--dir", str(tmp_path)]
    assert command.main(arguments) == 1
    assert "NOT MEASURED: remember on sqlite" in capsys.readouterr().err
