"""muniment learn: shown first, written after a yes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.acceptance.conftest import RunCli


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one manifest."""
    root = tmp_path / "shop"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "package.json").write_text('{"packageManager": "pnpm@9", "scripts": {"test": "x"}}')
    return root


def test_without_a_terminal_it_needs_a_yes(cli: RunCli, repo: Path) -> None:
    """Nothing is written without; with it, and again, it is."""
    asked = cli("learn", str(repo), "--project", "shop")
    assert (asked.code, "confirmation.missing" in asked.err) == (2, True)
    assert cli("list", "--project", "shop", "--json").data["records"] == []
    done = cli("learn", str(repo), "--project", "shop", "--yes", "--json")
    assert {c["predicate"]: c["what"] for c in done.data["changes"]} == {
        "package_manager": "learn",
        "test_command": "learn",
    }
    again = cli("learn", str(repo), "--project", "shop", "--yes")
    assert (again.code, again.out) == (0, "Nothing new: what the files state is known.\n")


def test_a_dry_run_shows_the_difference(cli: RunCli, repo: Path) -> None:
    """What is new, what replaces what, what ends; and writes none of it."""
    shown = cli("learn", str(repo), "--project", "shop", "--dry-run").out
    assert "+ package_manager: pnpm  (package.json)" in shown
    assert cli("list", "--project", "shop", "--json").data["records"] == []
    cli("learn", str(repo), "--project", "shop", "--yes")
    (repo / "package.json").write_text('{"packageManager": "yarn@4"}')
    shown = cli("learn", str(repo), "--project", "shop", "--dry-run").out
    assert "~ package_manager: pnpm -> yarn  (package.json)" in shown
    assert "- test_command: pnpm test  (package.json)" in shown


def test_on_a_terminal_it_asks(terminal: RunCli, cli: RunCli, repo: Path) -> None:
    """A no leaves things as they are, a yes writes them."""
    assert terminal("learn", str(repo), "--project", "shop", answer="n\n").code == 0
    assert cli("list", "--project", "shop", "--json").data["records"] == []
    assert terminal("learn", str(repo), "--project", "shop", answer="y\n").code == 0
    assert len(cli("list", "--project", "shop", "--json").data["records"]) == 2
