"""Where the project's files are, for the tests of its style."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "muniment"
PYPROJECT = ROOT / "pyproject.toml"

# What to pass over where git cannot say what is ignored.
GENERATED_DIRECTORIES = {"__pycache__", "build", "demo-store", "dist"}


def python_files(directory: Path) -> list[Path]:
    """All Python files below a directory, in a stable order."""
    return sorted(path for path in directory.rglob("*.py") if "__pycache__" not in path.parts)


def handed_over_files(root: Path = ROOT) -> list[Path]:
    """The files somebody gets with a clone: tracked, or new and not ignored."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listing.returncode != 0:  # an unpacked archive, or a checkout of another user
        return sorted(_walk(root))
    names = os.fsdecode(listing.stdout).split("\0")
    return sorted(path for name in names if name and (path := root / name).is_file())


def _walk(directory: Path) -> list[Path]:
    found: list[Path] = []
    for path in directory.iterdir():
        if path.is_symlink() or path.name in GENERATED_DIRECTORIES:
            continue
        if not path.is_dir():
            found.append(path)
        elif path.name == ".ci" or not path.name.startswith("."):
            found += _walk(path)
    return found
