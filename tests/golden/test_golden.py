"""The golden cases of the write gate, through the façade; the score of each file is printed.

`python -m tests.golden.runner` prints every difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import muniment
from muniment.clock import ManualClock
from tests.golden import runner

FILES = sorted(runner.HERE.glob("*.yaml"))
EVERY_NTH_ON_POSTGRES = 6

#: file -> cases that do not pass.  Nothing else may fail, and what passes has to leave the list.
OPEN: dict[str, frozenset[str]] = {}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_case_but_the_listed_is_decided_as_written(path: Path) -> None:
    """On SQLite; each case in a tenant of its own."""
    results, score = runner.score(path)
    print(score)
    told = {r.name: [*r.failed, *map(str, r.seen)] for r in results if r.failed}
    listed = OPEN.get(path.name, frozenset())
    assert {name: told[name] for name in told if name not in listed} == {}
    assert listed - set(told) == set(), "these pass now: take them off the list"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_sample_is_decided_alike_on_postgresql(path: Path, pg_url: str, tmp_path: Path) -> None:
    """The same decisions for the same words, whatever the store."""
    here, there = ManualClock(runner.START), ManualClock(runner.START)
    every = EVERY_NTH_ON_POSTGRES
    with (
        muniment.open("sqlite://", clock=here) as embedded,
        muniment.open(pg_url, key_file=tmp_path / "key", clock=there) as server,
    ):
        expected = [(r.name, r.seen) for r in runner.run(path, embedded, here, every=every)]
        seen = [(r.name, r.seen) for r in runner.run(path, server, there, every=every)]
    assert seen == expected


def test_a_wrong_expectation_is_found() -> None:
    """The broken twin of a case fails: the cases are compared, not only played."""
    case = {
        "name": "a fact",
        "in": {"user": "lin", "project": "web-app"},
        "say": {"by": "user", "text": "This project uses npm."},
        "expect": [{"action": "activate", "value": "npm"}],
    }
    clock = ManualClock(runner.START)
    with muniment.open("sqlite://", clock=clock) as memory:
        assert runner.play(case, memory, clock, "right").failed == []
        for n, expect in enumerate(([], [{"action": "activate", "value": "yarn"}], [{}, {}])):
            assert runner.play({**case, "expect": expect}, memory, clock, f"twin-{n}").failed


def test_names_are_used_once() -> None:
    """A name on the list means one case."""
    for path in FILES:
        names = [case["name"] for case in runner.cases_of(path)]
        assert len(names) == len(set(names))
