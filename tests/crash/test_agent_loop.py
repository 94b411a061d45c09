"""An agent killed with SIGKILL over and over does everything once and loses no step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres import Server

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("SOAK_KILLS", "50"))  # `make soak` asks for a thousand
SEED = int(os.environ.get("SOAK_SEED", "1"))


def _trial(url: str, key_file: str, folder: Path, kills: int, *more: str) -> dict[str, Any]:
    """What the harness reports."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    arguments = [url, key_file, str(folder), str(SEED), str(kills), *more]
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.agent", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120 + 3 * kills,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(report)
    return report


def _holds(report: dict[str, Any], kills: int) -> None:
    assert report["faults"] == []
    assert report["kills"] == kills
    assert 0 < report["at_statements"] < kills, "killed at statements, and at any moment"
    assert report["unknown"] > 0, "positive control: some died between the effect and its record"
    assert report["acknowledged"] >= 21, "and steps were acknowledged"


@pytest.mark.slow
def test_every_effect_once_and_no_step_lost_on_sqlite(tmp_path: Path) -> None:
    """Each effect is there once or reported as unknown and then settled by looking; the end is
    that of a run never killed."""
    _holds(_trial(f"sqlite:///{tmp_path}/m.db", "", tmp_path, KILLS), KILLS)


@pytest.mark.slow
@pytest.mark.postgres
def test_every_effect_once_and_no_step_lost_on_postgres(
    postgres_server: Server, pg_url: str, tmp_path: Path
) -> None:
    """The same with the server's transactions."""
    _holds(_trial(pg_url, str(tmp_path / "chain.key"), tmp_path, KILLS), KILLS)


def test_an_agent_without_a_ledger_is_caught(tmp_path: Path) -> None:
    """A broken twin: something was done twice."""
    report = _trial(f"sqlite:///{tmp_path}/m.db", "", tmp_path, 12, "forgetful")
    assert any("times" in fault for fault in report["faults"])
    assert not any("lost" in fault for fault in report["faults"])


def test_an_agent_that_acknowledges_too_early_is_caught(tmp_path: Path) -> None:
    """A broken twin: something acknowledged was lost."""
    report = _trial(f"sqlite:///{tmp_path}/m.db", "", tmp_path, 12, "hasty")
    assert any("acknowledged" in fault for fault in report["faults"])
    assert not any("times" in fault for fault in report["faults"])
