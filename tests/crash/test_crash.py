"""Killed at every statement of a verb: all of it is there or none, and the chains are whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.crash.harness import VERBS
from tests.support.postgres import Server

ROOT = Path(__file__).parents[2]


def _crashes(*arguments: str) -> list[dict[str, Any]]:
    """What the harness found after each crash; the last row is the run that survived."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.harness", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def _faults(rows: list[dict[str, Any]]) -> list[str]:
    """Where neither all nor nothing of the verb was left."""
    before, after = rows[0]["state"], rows[-1]["state"]
    assert before != after and not rows[-1]["died"]
    out = []
    for row in rows:
        if row["state"] not in (before, after):
            differs = [k for k in before if row["state"][k] not in (before[k], after[k])]
            out.append(f"n={row['n']}: neither before nor after; {differs or 'a mixture'}")
        elif not row["verified"]:
            out.append(f"n={row['n']}: {row['bad']}")
    return out


def _all_or_none(rows: list[dict[str, Any]]) -> None:
    assert _faults(rows) == []
    died = [r for r in rows[1:] if r["died"]]
    assert len(died) >= 5, "it has to have died somewhere"
    states = [r["state"] for r in rows]
    turn = states.index(rows[-1]["state"])
    assert all(s == states[0] for s in states[:turn]), "once there, it stays"
    assert all(s == states[-1] for s in states[turn:])
    assert turn >= 4, "the commit comes after its statements"


@pytest.mark.parametrize("verb", VERBS)
def test_all_or_none_on_sqlite(tmp_path: Path, verb: str) -> None:
    """Decision, version, lineage, trail and outbox are one transaction."""
    rows = _crashes("sqlite", str(tmp_path), verb)
    _all_or_none(rows)
    if verb == "supersede":
        assert {tuple(r["active_values"]) for r in rows} == {("npm",), ("pnpm",)}


@pytest.mark.postgres
@pytest.mark.parametrize(
    "verb", ["remember", "supersede", "confirm", "erase", "checkpoint", "done"]
)
def test_all_or_none_on_postgres(
    postgres_server: Server, pg_url: str, tmp_path: Path, verb: str
) -> None:
    """The same with the server's transactions."""
    rows = _crashes("postgres", pg_url, verb, str(tmp_path / "chain.key"))
    _all_or_none(rows)
    if verb == "supersede":
        assert {tuple(r["active_values"]) for r in rows} == {("npm",), ("pnpm",)}


def test_a_driver_that_commits_every_statement_is_caught(tmp_path: Path) -> None:
    """The broken twin: the same harness finds halves of a turn."""
    assert len(_faults(_crashes("sqlite", str(tmp_path), "remember", "eager"))) >= 3
