"""The functional core stays free of databases and of the environment."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.tidy.project import SOURCE, python_files

DATABASE_LIBRARIES = {"alembic", "psycopg", "psycopg_pool", "sqlalchemy", "sqlite3"}
ENVIRONMENT_READERS = {"environ", "environb", "getenv"}


def files_importing(package: Path, libraries: set[str]) -> set[str]:
    """Files that import one of some top-level packages, wherever in the file."""
    return {
        path.relative_to(package).as_posix()
        for path in python_files(package)
        if libraries & _imported_roots(ast.parse(path.read_text(encoding="utf-8")))
    }


def _imported_roots(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def files_reading_the_environment(package: Path) -> set[str]:
    """Files that name `os.environ` or `os.getenv`, by attribute or by import."""
    return {
        path.relative_to(package).as_posix()
        for path in python_files(package)
        if _names_environment(ast.parse(path.read_text(encoding="utf-8")))
    }


def _names_environment(tree: ast.AST) -> bool:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            names |= {alias.name for alias in node.names}
    return bool(ENVIRONMENT_READERS & names)


def test_only_the_store_knows_a_database() -> None:
    """Drivers and SQL are imported below `store/` and nowhere else."""
    importing = files_importing(SOURCE, DATABASE_LIBRARIES)
    assert {name for name in importing if not name.startswith("store/")} == set()


def test_only_config_reads_the_environment() -> None:
    """Settings have one door, so that one place can say what they all are."""
    assert files_reading_the_environment(SOURCE) <= {"config.py"}


def test_a_database_in_the_core_is_caught(tmp_path: Path) -> None:
    """Also inside a function, and as a submodule."""
    (tmp_path / "sly.py").write_text("def f():\n    from sqlalchemy.engine import URL\n")
    (tmp_path / "plain.py").write_text("import json, sqlite3\n")
    (tmp_path / "clean.py").write_text("from .sqlalchemy import x\nimport sqlalchemistry\n")
    assert files_importing(tmp_path, DATABASE_LIBRARIES) == {"plain.py", "sly.py"}


def test_reading_the_environment_is_caught(tmp_path: Path) -> None:
    """By each of the usual ways."""
    (tmp_path / "a.py").write_text("import os\nos.environ['X']\n")
    (tmp_path / "b.py").write_text("from os import getenv as g\n")
    (tmp_path / "c.py").write_text("import os\nos.getpid()\n")
    assert files_reading_the_environment(tmp_path) == {"a.py", "b.py"}
