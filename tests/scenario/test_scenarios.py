"""Every shipped story holds on an SQLite file and on PostgreSQL."""

from __future__ import annotations

import io
from contextlib import ExitStack
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

import muniment
from muniment.clock import ManualClock
from muniment.scenario import run
from muniment.scenario.load import load
from muniment.scenario.play import play

STORIES = Path(run.__file__).parent / "stories"
PLAYED = sorted(STORIES.glob("*.yaml"))


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
    with ExitStack() as opened:

        def anew() -> muniment.Memory:
            zone = scenario.now.tzinfo if scenario.now else None
            options: Any = {"key_file": tmp_path / "key", "clock": clock, "tz": zone or UTC}
            return opened.enter_context(muniment.open(pg_url, **options))

        played = play(scenario, anew(), clock, reopen=anew)
        failed = [p.to_dict() for p in played if not p.ok]
    assert failed == []


def test_a_story_runs_on_a_store_named_by_url(
    pg_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL by its URL: the clock is the runner's there as well."""
    monkeypatch.setenv("MUNIMENT_KEY_FILE", str(tmp_path / "key"))
    out = io.StringIO()
    assert run.run_files([STORIES / "npm_to_pnpm.yaml"], url=pg_url, out=out) == 0, out.getvalue()
