"""An agent at work, killed over and over: what it did is done once, what it was told is kept.

    python -m tests.crash.agent URL KEY_FILE FOLDER SEED KILLS [forgetful|hasty]

The agent carries out a plan of twenty steps.  Each appends a line to a file (the side effect,
which no database can take back) and commits a checkpoint with two messages; after the commit it
says so on a pipe.  The parent kills it with SIGKILL after a random while, or lets it end itself
at a random statement, and starts it again, until so many kills have been survived.  After each
kill, and at each end of the plan, the file, the ledger and the state are compared.

Everything that touches a store happens in a forked child, so that no connection crosses a fork
and the imports are paid for once.  There are two broken twins: a ``forgetful`` agent keeps no
ledger, a ``hasty`` one acknowledges before it commits.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import muniment
from muniment import Conflict, Memory
from muniment.threads.resume import Resumption
from tests.crash.harness import Fuse, child, patch_psycopg, sqlite_creator, warm_up

STEPS = [f"step-{n:02}" for n in range(1, 21)]
WORKER = "agent"  # a name that survives: what it had begun is unknown as soon as it is back
STATEMENTS = 160  # about as many as a whole plan runs


@dataclass
class Stage:
    """Where the store and the files of the side effects lie."""

    url: str
    key_file: str
    folder: Path
    twin: str = ""

    def open(self, fuse: Fuse | None = None) -> Memory:
        """The store as a new process opens it; with a fuse, its statements burn it."""
        options: dict[str, Any] = {"key_file": self.key_file or None}
        if fuse is not None and self.url.startswith("sqlite"):
            options["creator"] = sqlite_creator(Path(self.url.removeprefix("sqlite:///")), fuse)
        elif fuse is not None:
            patch_psycopg(fuse)
        who = {"tenant": "crash", "user": "lin", "channel": "runtime"}
        return muniment.open(self.url, principal=who, **options)

    def effects(self, run: str) -> Path:
        """The file a run appends to."""
        return self.folder / f"{run}.txt"

    def lines(self, run: str) -> list[str]:
        """What has been done to the world."""
        path = self.effects(run)
        return path.read_text().splitlines() if path.exists() else []


# ---------------------------------------------------------------- the agent


class Agent:
    """Carries out the plan of one run, from wherever its thread stands."""

    def __init__(self, stage: Stage, memory: Memory, run: str, say: Callable[[str], None]) -> None:
        self.stage, self.threads, self.run, self.say = stage, memory.threads, run, say

    def work(self) -> None:
        """Go on until nothing is left; whoever was faster is read again."""
        while True:
            with contextlib.suppress(Conflict):
                resumed = self.threads.resume(self.run, worker=WORKER)
                self._settle(resumed)
                if self._go_on(resumed):
                    return

    def _settle(self, resumed: Resumption) -> None:
        """Calls whose outcome is unknown: look whether the effect is there."""
        for call in resumed.unknown:
            if call.key in self.stage.lines(self.run):
                self.threads.done(self.run, call.key, {"line": call.key}, worker=WORKER)

    def _go_on(self, resumed: Resumption) -> bool:
        version = resumed.version
        if version == 0:
            plan = [
                {"step": s, "status": "todo", "after": STEPS[n - 1 : n] if n else []}
                for n, s in enumerate(STEPS)
            ]
            said = [{"by": "user", "text": "do it"}]
            goal = {"goal": "twenty lines", "plan": plan}
            version = self._commit(goal, said, version, "begin")
            resumed = self.threads.resume(self.run, worker=WORKER)
        done = {p["step"] for p in resumed.state["plan"] if p["status"] == "done"}
        for step in (s for s in STEPS if s not in done):
            self._act(step)
            changes = {
                "plan": [{"step": step, "status": "done"}],
                "data": {"lines": int(step[-2:])},
                "next": f"after {step}",
            }
            said = [{"by": "assistant", "text": f"I do {step}"}, {"by": "tool", "text": step}]
            version = self._commit(changes, said, version, step)
        return True

    def _commit(self, changes: Any, said: Any, version: int, step: str) -> int:
        if self.stage.twin == "hasty":
            self.say(f"{version + 1} {step}")
        made = self.threads.checkpoint(
            self.run, changes, messages=said, if_version=version, run=self.run, step=step
        )
        if self.stage.twin != "hasty":
            self.say(f"{made.version} {step}")
        return made.version

    def _act(self, step: str) -> None:
        if self.stage.twin == "forgetful":
            self._append(step)
            return
        call = self.threads.begin(
            self.run, step, "append", {"line": step}, worker=WORKER, observe="read the file"
        )
        if call.status == "unknown":  # looked for above, and not there
            call = self.threads.begin(
                self.run, step, "append", {"line": step}, worker=WORKER, retry=True
            )
        if call.to_run:
            self._append(step)
            self.threads.done(self.run, call, {"line": step})

    def _append(self, step: str) -> None:
        handle = os.open(self.stage.effects(self.run), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{step}\n".encode())
        os.close(handle)


# ---------------------------------------------------------------- killing it


def life(stage: Stage, run: str, fuse_at: int | None, kill_after: float | None) -> tuple[bool, Any]:
    """One life of the agent: whether it was killed, and the acknowledgements it gave."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            fuse = None if fuse_at is None else Fuse(fuse_at)
            memory = stage.open(fuse)
            os.write(writing, b"ready\n")
            if fuse is not None:
                fuse.armed = True
            Agent(stage, memory, run, lambda said: _say(writing, said)).work()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
    os.close(writing)
    heard = b""
    deadline = None if kill_after is None else time.monotonic() + kill_after
    while True:
        left = None if deadline is None else max(deadline - time.monotonic(), 0)
        if not select.select([reading], [], [], left)[0]:
            os.kill(pid, signal.SIGKILL)
            deadline = None
            continue
        part = os.read(reading, 65536)
        if not part:
            break
        heard += part
    os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, 9, -9), f"the agent ended with {status}"
    acknowledged = [line.split() for line in heard.decode().splitlines() if line != "ready"]
    return status != 0, [(int(version), step) for version, step in acknowledged]


def _say(pipe: int, said: str) -> None:
    os.write(pipe, f"{said}\n".encode())


def look(stage: Stage, run: str) -> dict[str, Any]:
    """The thread as a new process finds it."""

    def work() -> dict[str, Any]:
        with stage.open() as memory:
            memory.threads.checkpoint("other", {"goal": "so that the tenant's lock is free"})
            found = memory.threads.resume(run, worker=WORKER)
            thread = found.thread
            ids = memory._parts.read(
                memory.principal,
                lambda u: u.events.get(u.events.find(thread=thread)),  # type: ignore[arg-type]
            )
            return {
                "version": found.version,
                "state": dict(found.state),
                "unknown": [c.key for c in found.unknown],
                "calls": [(c.key, str(c.status), c.result) for c in memory.threads.calls(run)],
                "said": [e.text for e in sorted(ids, key=lambda e: e.seq)],
            }

    status, answer = child(work)
    assert status == 0
    return answer  # type: ignore[no-any-return]


@dataclass
class Report:
    """What the harness saw."""

    kills: int = 0
    runs: int = 0
    acknowledged: int = 0
    unknown: int = 0
    at_statements: int = 0
    faults: list[str] = field(default_factory=list)


class Trial:
    """Runs of the agent until it has been killed so often."""

    def __init__(self, stage: Stage, seed: int, kills: int) -> None:
        self.stage, self.random, self.kills = stage, random.Random(seed), kills
        self.report = Report()

    def run(self) -> Report:
        """A run nobody kills, then runs that are killed; each must end as the first did."""
        begun = time.monotonic()
        assert life(self.stage, "reference", None, None)[0] is False
        self.span = time.monotonic() - begun
        reference = look(self.stage, "reference")
        assert self.stage.lines("reference") == STEPS, "positive control"
        while self.report.kills < self.kills:
            self.report.runs += 1
            self._one(f"run-{self.report.runs}", reference)
        if child(self._verified) != (0, True):
            self.report.faults.append("the chains do not verify")
        return self.report

    def _verified(self) -> bool:
        with self.stage.open() as memory:
            return memory.verify().ok

    def _one(self, run: str, reference: dict[str, Any]) -> None:
        acknowledged: list[tuple[int, str]] = []
        while True:
            fuse_at = kill_after = None
            if self.report.kills < self.kills:
                if self.random.random() < 0.5:
                    fuse_at = self.random.randint(1, STATEMENTS)
                else:
                    kill_after = self.random.uniform(0, self.span)
            killed, heard = life(self.stage, run, fuse_at, kill_after)
            acknowledged += heard
            if not killed:
                break
            self.report.kills += 1
            self.report.at_statements += fuse_at is not None
            self._compare(run, acknowledged)
        self.report.acknowledged += len(acknowledged)
        self._ended(run, self._compare(run, acknowledged), reference)

    def _compare(self, run: str, acknowledged: list[tuple[int, str]]) -> dict[str, Any]:
        """Nothing twice, nothing done that nobody knows of, no word broken; what was found."""
        found, lines = look(self.stage, run), self.stage.lines(run)
        fault = lambda text: self.report.faults.append(f"{run}: {text}")  # noqa: E731
        for line, count in Counter(lines).items():
            if count > 1:
                fault(f"{line} was done {count} times")
        done = {key for key, status, _ in found["calls"] if status == "done"}
        self.report.unknown += len(found["unknown"])
        if self.stage.twin != "forgetful" and not set(lines) <= done | set(found["unknown"]):
            fault(f"done and not known of: {sorted(set(lines) - done - set(found['unknown']))}")
        if not done <= set(lines):
            fault(f"recorded and never done: {sorted(done - set(lines))}")
        steps = {p["step"] for p in found["state"].get("plan", ()) if p["status"] == "done"}
        lost = [step for version, step in acknowledged if version > found["version"]]
        lost += [step for _, step in acknowledged if step not in steps and step != "begin"]
        if lost:
            fault(f"acknowledged and lost: {lost}")
        if len({version for version, _ in acknowledged}) != len(acknowledged):
            fault("a version was acknowledged twice")
        return found

    def _ended(self, run: str, found: dict[str, Any], reference: dict[str, Any]) -> None:
        """The end is that of a run that nobody killed."""
        lines = self.stage.lines(run)
        if Counter(lines) != Counter(STEPS):
            self.report.faults.append(f"{run}: the world is {lines}")
        for name in ("version", "state", "unknown", "calls", "said"):
            if found[name] != reference[name]:
                self.report.faults.append(f"{run}: {name} is not that of a run never killed")


def main(url: str, key_file: str, folder: str, seed: str, kills: str, twin: str = "") -> None:
    """One JSON line: the report."""
    warm_up()
    stage = Stage(url, key_file, Path(folder), twin)
    report = Trial(stage, int(seed), int(kills)).run()
    print(json.dumps(report.__dict__))


if __name__ == "__main__":
    main(*sys.argv[1:])
