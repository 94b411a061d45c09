"""Runs scenario files: which store, which clock, what is printed, and the exit code."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any, TextIO

from muniment.clock import Clock, ManualClock, SystemClock
from muniment.memory import Memory
from muniment.memory import open as open_memory
from muniment.scenario import tell
from muniment.scenario.lines import NotAScenario
from muniment.scenario.load import Scenario, load
from muniment.scenario.play import Played, play

HELD, FAILED, NO_SCENARIO = 0, 1, 2
THROUGH = ("python", "cli", "http", "mcp")


def run_files(
    paths: Iterable[str | Path],
    *,
    url: str | None = None,
    through: str = "python",
    as_json: bool = False,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Play every file, each on a fresh store of its own unless ``url`` names one.

    Returns 0 when every expectation held, 1 when one did not, 2 for a file that is no scenario
    or asks for what this version does not have; all the others are played nevertheless.  Raises
    what `muniment.open` raises for a store that cannot be opened.
    """
    out, err = out or sys.stdout, err or sys.stderr
    worst = HELD
    for path in map(Path, paths):
        try:
            scenario = load(path)
            _check_means(scenario, url, through)
            code = _run(scenario, url, as_json, out)
        except NotAScenario as problem:
            code = NO_SCENARIO
            print(tell.problem(path, problem), file=err)
            if as_json:
                print(json.dumps(tell.problem_data(path, problem), ensure_ascii=False), file=out)
        worst = max(worst, code)
    return worst


def _check_means(scenario: Scenario, url: str | None, through: str) -> None:
    """Whether this version can play it there and that way."""
    if through not in THROUGH:
        raise NotAScenario(f"--through: one of {', '.join(THROUGH)}")
    if through != "python":
        raise NotAScenario(f"this version cannot run through {through}")
    if url is not None and url.startswith(("http:", "https:")):
        raise NotAScenario("this version cannot run on a server; name a store")
    crash = scenario.line_of("crash")
    if crash is not None and url is not None and _in_memory(url):
        raise NotAScenario("`crash` needs a store that outlives the process", crash)


def _in_memory(url: str) -> bool:
    return url in ("sqlite://", "sqlite:///:memory:", "sqlite:///")


def _run(scenario: Scenario, url: str | None, as_json: bool, out: TextIO) -> int:
    steps: list[Played] = []
    if not as_json:
        print(tell.heading(scenario), file=out)
    with _opened(scenario, url) as opened:
        for played in play(scenario, opened.memory, opened.clock, reopen=opened.anew):
            steps.append(played)
            if not as_json:
                print(tell.step(played), file=out)
    if as_json:
        print(json.dumps(result_of(scenario, steps), ensure_ascii=False, default=str), file=out)
    else:
        print(tell.summary(steps), file=out)
    return HELD if all(s.ok for s in steps) else FAILED


def result_of(scenario: Scenario, steps: Iterable[Played]) -> dict[str, Any]:
    """A played scenario as plain data."""
    played = list(steps)
    return {
        "name": scenario.name,
        "ok": all(s.ok for s in played),
        "steps": [s.to_dict() for s in played],
    }


@dataclass(slots=True)
class Opened:
    """An open store with the scenario's clock, and how to open it once more."""

    url: str
    clock: Clock
    scenario: Scenario
    key_file: Path | None = None
    _left: list[Memory] = field(default_factory=list)

    @property
    def memory(self) -> Memory:
        """The memory opened last."""
        return self._left[-1]

    def anew(self) -> Memory:
        """The same store opened again; what was open stays as it was, as after a crash."""
        zone = self.scenario.now.tzinfo if self.scenario.now else None
        memory = open_memory(
            self.url,
            principal=self.scenario.principal,
            key_file=self.key_file,
            clock=self.clock,
            tz=zone or UTC,
        )
        self._left.append(memory)
        return self.memory

    def close(self) -> None:
        """Close the last one properly; the others write nothing more and only let go."""
        self._left.pop().close()
        while self._left:
            core = self._left.pop()._parts
            core.index.close()
            core.store.close()


@contextlib.contextmanager
def _opened(scenario: Scenario, url: str | None) -> Iterator[Opened]:
    with contextlib.ExitStack() as stack:
        opened = Opened(url or "", clock_of(scenario), scenario)
        if url is None:
            home = stack.enter_context(tempfile.TemporaryDirectory(prefix="muniment-scenario-"))
            opened.url = f"sqlite:///{home}/memory.db"
            opened.key_file = Path(home) / "key"  # not the one of the user's own memory
        stack.callback(opened.close)
        opened.anew()
        yield opened


def clock_of(scenario: Scenario) -> Clock:
    """The scenario's own clock, or the machine's where the story does not care."""
    if not scenario.moves_time:
        return SystemClock()
    return ManualClock(scenario.now or SystemClock().now())
