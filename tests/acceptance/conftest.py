"""Ways to drive the command line: in this process, as a process, and on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from muniment.cli import app

RunCli = Callable[..., "Ran"]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Standard output as the one JSON document it is."""
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of whoever runs the tests reaches the commands, and none writes elsewhere."""
    for name in [n for n in os.environ if n.startswith("MUNIMENT_") and "TEST" not in n]:
        if name != "MUNIMENT_DATA":
            monkeypatch.delenv(name)
    monkeypatch.setenv("MUNIMENT_DATA_HOME", str(tmp_path / "data-home"))
    monkeypatch.setenv("MUNIMENT_USER", "ana")
    monkeypatch.setenv("MUNIMENT_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def cli() -> RunCli:
    """Run a command in this process, on ``muniment.db`` in a directory of the test's own."""

    def run(*words: str, stdin: str | bytes | None = None, **env: str) -> Ran:
        done = CliRunner().invoke(app, list(words), input=stdin, env=env)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return Ran(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def process() -> RunCli:
    """Run a command as a process of its own, its output in pipes."""

    def run(*words: str, stdin: bytes = b"", **env: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "muniment", *words],
            input=stdin,
            capture_output=True,
            env=_environment(env),
            check=False,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def terminal() -> RunCli:
    """Run a command on a terminal, as a person would; ``answer`` is typed at the first question."""

    def run(*words: str, answer: str | None = None, **env: str) -> Ran:
        master, slave = pty.openpty()
        child = subprocess.Popen(
            [sys.executable, "-m", "muniment", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=_environment({"TERM": "xterm-256color", "COLUMNS": "160", **env}),
            start_new_session=True,
        )
        os.close(slave)
        shown = _read(master, answer)
        os.close(master)
        return Ran(child.wait(timeout=120), shown.replace("\r\n", "\n"), "")

    return run


def _read(master: int, answer: str | None) -> str:
    seen = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other end is closed
            return seen.decode()
        if not chunk:
            return seen.decode()
        seen += chunk
        if answer is not None and b"[y/N]" in seen:
            os.write(master, f"{answer}\n".encode())
            answer = None


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    source = str(Path(__file__).resolve().parents[2] / "src")
    return {**os.environ, "PYTHONPATH": source, "PYTHONIOENCODING": "utf-8", **more}
