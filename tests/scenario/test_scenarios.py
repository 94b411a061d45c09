"""Every shipped story holds on an SQLite file and on PostgreSQL."""

from __future__ import annotations

import io
from datetime import UTC
from pathlib import Path

import pytest

import muniment
from muniment.clock import ManualClock
from muniment.scenario import run
from muniment.scenario.lines import NotAScenario
from muniment.scenario.load import load
from muniment.scenario.play import play

STORIES = Path(run.__file__).parent / "stories"
NEEDS_THREADS = STORIES / "blog_agent.yaml"
PLAYED = sorted(path for path in STORIES.glob("*.yaml") if path != NEEDS_THREADS)


@pytest.mark.parametrize("path", PLAYED, ids=lambda p: p.stem)
def test_the_story_holds_on_an_sqlite_file(path: Path) -> None:
    """As a user runs it: on a fresh store of its own."""
    out, err = io.StringIO(), io.StringIO()
    code = run.run_files([path], out=out, err=err)
    assert (code, err.getvalue()) == (run.HELD, ""), out.getvalue()


@pytest.mark.parametrize("path", PLAYED, ids=lambda p: p.stem)
def test_the_story_holds_on_postgresql(path: Path, pg_url: str, tmp_path: Path) -> None:
    """On a memory opened elsewhere, with the story's clock."""
    scenario = load(path)
    clock = run.clock_of(scenario)
    assert scenario.now is not None
    assert isinstance(clock, ManualClock)
    opened = muniment.open(
        pg_url, key_file=tmp_path / "key", clock=clock, tz=scenario.now.tzinfo or UTC
    )
    with opened as memory:
        failed = [p.to_dict() for p in play(scenario, memory, clock) if not p.ok]
    assert failed == []


def test_a_story_runs_on_a_store_named_by_url(
    pg_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL by its URL: the clock is the runner's there as well."""
    monkeypatch.setenv("MUNIMENT_KEY_FILE", str(tmp_path / "key"))
    out = io.StringIO()
    assert run.run_files([STORIES / "npm_to_pnpm.yaml"], url=pg_url, out=out) == 0, out.getvalue()


def test_what_needs_threads_is_refused_with_its_line() -> None:
    """Verbs of a later version are said, not skipped, and nothing is played."""
    out, err = io.StringIO(), io.StringIO()
    assert run.run_files([NEEDS_THREADS], out=out, err=err) == run.NO_SCENARIO
    lines = NEEDS_THREADS.read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines, start=1) if line.startswith("- checkpoint"))
    assert f"blog_agent.yaml:{number}: " in err.getvalue()
    assert "`checkpoint`" in err.getvalue()
    assert out.getvalue() == ""
    with pytest.raises(NotAScenario):
        load(NEEDS_THREADS)
