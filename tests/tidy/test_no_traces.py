"""Nothing that is handed over depends on the machine it was written on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.tidy.project import ROOT, handed_over_files

# A directory of somebody's, or the place of a checkout in a container or a build. The look-behind
# lets addresses and relative paths through: they only end in such words. The names are examples.
MACHINE_PATH = re.compile(
    r"(?<![\w.~}\])-])/(?:(?:home|Users)/(?!(?:alice|bob|me|user\d*|you)\b)[A-Za-z]"
    r"|(?:root|work|workspace|builds)/\w)"
)

# Where packages come from is for whoever installs them to say.
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs|npmmirror\.com|proxy\.golang\.org|crates\.io"
    r"|(?:--|PIP_)(?:extra-)?index-url|find-link[s]",
    re.IGNORECASE,
)

# "path" -> why its text has such a thing (a story that is told, not a place that is used).
MEANT: dict[str, str] = {}


def traces(root: Path) -> list[str]:
    """Lines with a path of a machine or the host of a registry, as "path:line: text"."""
    found: list[str] = []
    for path in handed_over_files(root):
        name = path.relative_to(root).as_posix()
        if name in MEANT or b"\0" in (content := path.read_bytes()):
            continue
        lines = content.decode("utf-8", errors="replace").splitlines()
        found += [
            f"{name}:{number}: {line.strip()}"
            for number, line in enumerate(lines, start=1)
            if str(root) in line or MACHINE_PATH.search(line) or REGISTRY.search(line)
        ]
    return found


def test_no_trace_of_a_machine() -> None:
    """Neither an absolute path of a checkout or a home, nor a registry's host."""
    assert traces(ROOT) == []


@pytest.mark.parametrize(
    "line",
    [
        "data = '/" + "home/ada/data'",
        "(/" + "root/store.db)",
        "sqlite:////" + "work/try/memory.db",
        "pip install --" + "index-url x",
        "see https://pypi" + ".org/project/x",
    ],
)
def test_a_trace_is_caught(tmp_path: Path, line: str) -> None:
    """In a file git tracks, in one it does not know yet, not in one it ignores."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("ignored\n")
    for name in ("tracked", "new", "ignored"):
        (tmp_path / name).write_text(f"fine\n{line}\n")
    subprocess.run(["git", "-C", tmp_path, "add", "tracked"], check=True)
    assert traces(tmp_path) == [f"new:2: {line}", f"tracked:2: {line}"]


def test_without_git_the_tree_is_walked(tmp_path: Path) -> None:
    """An unpacked archive is checked too, save what installing and running left in it."""
    for name in (".venv/x", "dist/x", "src/x", ".ci/run"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(f"{tmp_path}\n")
    assert [line.partition(":")[0] for line in traces(tmp_path)] == [".ci/run", "src/x"]


@pytest.mark.parametrize(
    "line",
    [
        "https://example.org/" + "home/page",
        "../" + "work/notes, ~/" + "work/notes, $HOME/" + "root/x",
        "/" + "home/user1, /" + "Users/alice/notes",
        "/tmp/x, /dev/null, /usr/bin/env bash",
    ],
)
def test_what_only_looks_like_one_passes(tmp_path: Path, line: str) -> None:
    """Addresses, relative paths, examples, and the directories every machine has."""
    (tmp_path / "file").write_text(f"{line}\n")
    assert traces(tmp_path) == []
