"""What the documentation says, read so that it can be compared with what the code does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from tests.tidy.project import ROOT, SOURCE, python_files

DOCS = ROOT / "docs"
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
POSTGRES = "postgresql://muniment:secret@localhost/muniment"

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[a-z]+) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`|`(tests/[\w/]+\.yaml)::([^`]+)`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; ``mark`` is the comment in front of it: ``run`` or ``output``."""

    language: str
    code: str
    mark: str | None

    @property
    def runs(self) -> bool:
        """Python always; shell where it says so."""
        return self.language == "python" or (self.language == "sh" and self.mark == "run")


def pages(root: Path = ROOT) -> list[Path]:
    """The READMEs and everything below docs, in a stable order."""
    return [*sorted(root.glob("README*.md")), *sorted((root / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    """A page's path below the root."""
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(m["language"], m["code"], m["mark"]) for m in _BLOCK.finditer(text)]


# ---------------------------------------------------------------- links


def broken_links(root: Path) -> list[str]:
    """Relative links to a file or heading that is not there, as "page: target"."""
    found = []
    for page in pages(root):
        for target in links(page):
            path, _, heading = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            known = file.exists() and (not heading or heading in headings(file))
            if not known:
                found.append(f"{page.relative_to(root).as_posix()}: {target}")
    return found


def links(page: Path) -> list[str]:
    """The relative links of a page, outside its code."""
    prose = _BLOCK.sub("", page.read_text("utf-8"))
    return [t for t in _LINK.findall(prose) if not re.match(r"[a-z]+:", t)]


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    titles = re.findall(r"^#+ (.+)$", _BLOCK.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", t.lower()).strip().replace(" ", "-") for t in titles}


def unreachable(root: Path) -> list[str]:
    """Pages that no chain of links leads to from the README."""
    seen: set[Path] = set()
    waiting = [root / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or not page.is_file() or page.suffix != ".md":
            continue
        seen.add(page)
        waiting += [(page.parent / t.partition("#")[0]).resolve() for t in links(page)]
    return [p.relative_to(root).as_posix() for p in pages(root) if p not in seen]


# ---------------------------------------------------------------- tests that are named


def missing_tests(text: str, root: Path = ROOT) -> list[str]:
    """Tests named in a page, as `path::name`, that do not exist."""
    found = []
    for path, function, cases, case in _TEST.findall(text):
        file = root / (path or cases)
        if not file.is_file() or (function or case) not in tests_of(file):
            found.append(f"{path or cases}::{function or case}")
    return found


@cache
def tests_of(file: Path) -> set[str]:
    """The test functions of a Python file, or the cases of a golden file."""
    if file.suffix == ".yaml":
        return {case["name"] for case in yaml.safe_load(file.read_text("utf-8"))}
    tree = ast.parse(file.read_text("utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
    }


def named_tests(text: str) -> int:
    """How many tests a page names."""
    return len(_TEST.findall(text))


# ---------------------------------------------------------------- tables


def rows(text: str) -> Iterator[list[str]]:
    """The cells of every table row, code marks taken off the first."""
    for line in text.splitlines():
        if line.startswith("| `"):
            cells = [c.strip() for c in line.strip("|\n ").split(" | ")]
            yield [cells[0].strip("` "), *cells[1:]]


# ---------------------------------------------------------------- error codes

KINDS = {
    "InvalidInput": "invalid_input",
    "NotFound": "not_found",
    "NotAllowed": "not_allowed",
    "Conflict": "conflict",
    "Unavailable": "unavailable",
}
_CODE = re.compile(r"[a-z_]+\.[a-z0-9_]+")


def raised(source: Path = SOURCE) -> dict[str, set[str]]:
    """Code -> kinds for every error made in the source; ``{…}`` stands for what is computed."""
    found: dict[str, set[str]] = {}
    for path in python_files(source):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and name in KINDS and node.args:
                for code in _codes(node.args[0]):
                    found.setdefault(code, set()).add(KINDS[name])
        if path.parent.name == "store":
            for code in _translated(tree):
                found.setdefault(code, set()).add("unavailable")
    return found


def _codes(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            part.value if isinstance(part, ast.Constant) else "{…}" for part in node.values
        )


def _translated(tree: ast.Module) -> Iterator[str]:
    """The codes in the stores' tables of foreign errors: rows of three texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple) and len(node.elts) == 3:
            texts = [e.value for e in node.elts if isinstance(e, ast.Constant)]
            if len(texts) == 3 and _CODE.fullmatch(str(texts[1])):
                yield str(texts[1])


def code_faults(text: str, made: Mapping[str, set[str]]) -> list[str]:
    """Codes that are raised and not documented, or the other way round, or of another kind."""
    documented = {row[0]: row[1].strip("`") for row in rows(text) if _CODE.fullmatch(row[0])}
    faults = []
    for code, kinds in made.items():
        pattern = re.escape(code).replace(re.escape("{…}"), "[a-z_]+")
        matching = [d for d in documented if re.fullmatch(pattern, d)]
        if not matching:
            faults.append(f"{code} is not documented")
        if "{…}" not in code and matching and not any(k in documented[code] for k in kinds):
            faults.append(f"{code} is {sorted(kinds)}, not {documented[code]}")
    patterns = [re.escape(c).replace(re.escape("{…}"), "[a-z_]+") for c in made]
    faults += [
        f"{code} is documented and nowhere raised"
        for code in documented
        if not any(re.fullmatch(p, code) for p in patterns)
    ]
    return faults
