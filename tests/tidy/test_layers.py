"""Imports point downwards: the contract of `pyproject.toml`, and proof that it bites."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.tidy.project import PYPROJECT, ROOT

CHECK = "from importlinter.cli import lint_imports as lint; exit(lint(no_cache=True, no_logo=True))"

# From the top down, the modules whose place is the point of the contract.
TOY = ("cli", "memory", "store", "recall", "gate", "records", "events", "trail", "text")

# One for each thing the contract is there to prevent.
UPWARD = (
    ("records", "store"),  # a noun knows its storage
    ("gate", "recall"),  # the write path leans on the read path
    ("text", "memory"),  # a basic knows the product
    ("events", "trail"),  # two neighbours that stand apart
    ("memory", "cli"),  # behaviour hides in a surface
)


def lint_imports(root: Path, source: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package below `source`, by the contract in `root`."""
    return subprocess.run(
        [sys.executable, "-c", CHECK],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(source), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A package with some of our modules, each importing only the one below."""
    shutil.copy(PYPROJECT, tmp_path)
    package = tmp_path / "muniment"
    package.mkdir()
    (package / "__init__.py").touch()
    for module, below in itertools.pairwise(TOY):
        fine = module != "events"  # its neighbour stands apart
        (package / f"{module}.py").write_text(f"import muniment.{below}\n" if fine else "")
    (package / f"{TOY[-1]}.py").touch()
    return tmp_path


def test_imports_point_downwards() -> None:
    """No module imports one that is above it, nor a neighbour that stands apart."""
    result = lint_imports(ROOT, ROOT / "src")
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_tidy_package_passes(toy: Path) -> None:
    """The twin is accepted as long as nothing is wrong with it."""
    result = lint_imports(toy, toy)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(("importer", "imported"), UPWARD)
def test_an_import_that_points_upwards_is_caught(toy: Path, importer: str, imported: str) -> None:
    """Each forbidden direction, one at a time."""
    with (toy / "muniment" / f"{importer}.py").open("a") as module:
        module.write(f"import muniment.{imported}\n")
    result = lint_imports(toy, toy)
    assert result.returncode == 1
    assert f"muniment.{importer} -> muniment.{imported}" in result.stdout


def test_a_module_without_a_place_is_caught(toy: Path) -> None:
    """A new top-level module has to be put into the contract."""
    (toy / "muniment" / "newcomer.py").touch()
    result = lint_imports(toy, toy)
    assert result.returncode == 1
    assert "newcomer" in result.stdout


def test_the_contract_has_the_order_of_the_architecture() -> None:
    """The direction that everything else relies on, read from the contract itself."""
    contract = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = contract["contracts"][0]["layers"]
    order = [name for layer in layers for name in TOY if f"({name})" in layer]
    assert order == list(TOY)
