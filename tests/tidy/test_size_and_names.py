"""Files and functions stay small, and a module is named after what it is about."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.tidy.project import SOURCE, python_files

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70

# "path below src/muniment" or "path:function" -> why it is longer than the limit.
# Splitting a clear, linear piece only to pass is not wanted; an entry here is.
LONGER_FOR_A_REASON: dict[str, str] = {
    "store/migrations/versions/0001_first_schema.py:_records": "one statement, a line a column",
}

# They say what a module is made of, not what it is about, and so attract everything.
NAMES_THAT_SAY_NOTHING = {
    "base",
    "common",
    "core",
    "helpers",
    "managers",
    "models",
    "services",
    "utils",
}


def too_long(package: Path) -> set[str]:
    """Files over the limit as "path", functions over theirs as "path:qualified.name"."""
    found: set[str] = set()
    for path in python_files(package):
        name = path.relative_to(package).as_posix()
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > FILE_LINES_MAX:
            found.add(name)
        found |= {f"{name}:{function}" for function in _long_functions(ast.parse(text), "")}
    return found


def _long_functions(node: ast.AST, prefix: str) -> list[str]:
    found: list[str] = []
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}.{child.name}" if prefix else child.name
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            assert child.end_lineno is not None
            if child.end_lineno - child.lineno + 1 > FUNCTION_LINES_MAX:
                found.append(name)
        found += _long_functions(child, name)
    return found


def badly_named(package: Path) -> list[str]:
    """Modules and packages whose name says nothing."""
    parts = {path.with_suffix("").relative_to(package) for path in python_files(package)}
    return sorted(str(part) for part in parts if NAMES_THAT_SAY_NOTHING & set(part.parts))


def test_files_and_functions_are_short() -> None:
    """Whatever is longer is listed with its reason, and nothing else is listed."""
    assert too_long(SOURCE) == set(LONGER_FOR_A_REASON)


def test_modules_have_telling_names() -> None:
    """A name such as `utils` is no name."""
    assert badly_named(SOURCE) == []


def test_the_limits_catch_what_is_over_them(tmp_path: Path) -> None:
    """One line over the limit is found, at any depth; at the limit nothing is."""
    body = "        pass\n"
    at_limit = "class C:\n    def fits(self):\n" + body * (FUNCTION_LINES_MAX - 1)
    over = "    async def grows(self):\n" + body * FUNCTION_LINES_MAX
    (tmp_path / "functions.py").write_text(at_limit + over)
    (tmp_path / "fits.py").write_text("\n" * FILE_LINES_MAX)
    (tmp_path / "noun").mkdir()
    (tmp_path / "noun" / "grows.py").write_text("\n" * (FILE_LINES_MAX + 1))
    assert too_long(tmp_path) == {"functions.py:C.grows", "noun/grows.py"}


def test_bad_names_are_caught(tmp_path: Path) -> None:
    """As a module, and as a package; a name that only contains the word is fine."""
    for name in ("utils.py", "models/user.py", "records/score.py", "records/core_memory.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert badly_named(tmp_path) == ["models/user", "utils"]
