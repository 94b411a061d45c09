"""What the files of a project state: fields, scripts, targets, packages, as `files.yaml` says."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from muniment.extract.lexicon import data
from muniment.records.facts import Catalogue
from muniment.text import normalise

# A manifest is a few kilobytes; nothing larger is parsed.
MANIFEST_CHARS_MAX = 200_000
_PACKAGE = re.compile(r"\s*@?([\w.-]+(?:/[\w.-]+)?)")
_NO_TEST = "no test specified"  # what `npm init` writes


@dataclass(frozen=True, slots=True)
class Stated:
    """One attribute a file states: the value, and the words that state it."""

    predicate: str
    value: str
    words: str


def spec_of(path: str, *, whole: bool = False) -> Mapping[str, Any] | None:
    """The row for a file; ``whole`` for names that are exactly so, and no copies."""
    pure = PurePosixPath(path)
    fits = re.fullmatch if whole else re.match
    for spec in _files():
        inside = spec.get("within") in (None, str(pure.parent))
        if inside and fits(spec["name"], pure.name):
            return spec
    return None


@cache
def _files() -> list[Mapping[str, Any]]:
    return list(data("files.yaml"))


def stated(
    text: str, spec: Mapping[str, Any], catalogue: Catalogue, runner: str | None = None
) -> Iterator[Stated]:
    """What a file states, in the order of the data; a text that does not parse states only what
    its being there means.  ``runner`` is what runs scripts where the file does not say."""
    for name, value in spec.get("means", {}).items():
        yield Stated(name, value, text[:80])
    if len(text) > MANIFEST_CHARS_MAX:
        return
    tree = _tree(text, spec.get("format"))
    for path, rule in spec.get("fields", {}).items():
        value = _field(text, tree, spec["format"], path, rule)
        hit = re.match(rule.get("value", r"(?P<v>.+)"), value) if value else None
        if value and hit:
            found = hit.group("v").strip()
            yield Stated(rule["predicate"], rule.get("shown", "{value}").format(value=found), value)
    yield from _scripts(tree, spec.get("scripts", {}), runner)
    yield from _targets(text, spec.get("targets", {}))
    yield from _packages(tree, spec, catalogue)


def _tree(text: str, form: str | None) -> Any:
    try:
        if form == "json":
            return json.loads(text)
        return tomllib.loads(text) if form == "toml" else None
    except (ValueError, RecursionError):
        return None


def _field(text: str, tree: Any, form: str, path: str, rule: Mapping[str, Any]) -> str | None:
    if form in ("json", "toml"):
        found = _at(tree, path)
        return found if isinstance(found, str) else None
    if form == "ini":
        hit = re.search(rf"(?m)^\s*{re.escape(path)}\s*=\s*([^\s#;]+)", text)
    else:
        hit = re.match(rule.get("pattern", r"\s*(\S{1,60})\s*$"), text)
    return hit.group(1) if hit else None


def _at(tree: Any, path: str) -> Any:
    for key in path.split("."):
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def _scripts(tree: Any, names: Mapping[str, str], runner: str | None) -> Iterator[Stated]:
    """What one types to run a script; the first name of a predicate counts."""
    scripts = _at(tree, "scripts") if names else None
    if not isinstance(scripts, dict):
        return
    declared = _at(tree, "packageManager")
    tool = declared.split("@")[0] if isinstance(declared, str) else runner or "npm"
    seen: set[str] = set()
    for script, predicate in names.items():
        body = scripts.get(script)
        if isinstance(body, str) and predicate not in seen and _NO_TEST not in body:
            seen.add(predicate)
            short = script == "test" and tool != "bun"
            yield Stated(predicate, f"{tool} {'' if short else 'run '}{script}", f'"{script}"')


def _targets(text: str, names: Mapping[str, str]) -> Iterator[Stated]:
    seen: set[str] = set()
    for target, predicate in names.items():
        if predicate not in seen and (hit := re.search(rf"(?m)^{target}\s*:(?!=)", text)):
            seen.add(predicate)
            yield Stated(predicate, f"make {target}", hit.group())


def _packages(tree: Any, spec: Mapping[str, Any], catalogue: Catalogue) -> Iterator[Stated]:
    """Known values among the dependencies; of several for one single-valued predicate, none."""
    names = list(
        dict.fromkeys(n for p in spec.get("dependencies", ()) for n in _named(_at(tree, p)))
    )
    for predicate in filter(None, map(catalogue.get, spec.get("packages", ()))):
        found = {v: n for n in names if (v := predicate.values.get(normalise(n))) is not None}
        if len(found) == 1 or not predicate.single:
            yield from (Stated(predicate.name, value, name) for value, name in found.items())


def _named(node: Any) -> Iterator[str]:
    """Names of packages in a mapping of versions, a list of requirements, or groups of those."""
    if isinstance(node, list):
        for entry in node:
            if isinstance(entry, str) and (hit := _PACKAGE.match(entry)):
                yield hit.group(1)
    elif isinstance(node, dict):
        for name, inner in node.items():
            if isinstance(inner, list):
                yield from _named(inner)
            else:
                yield name


# ---------------------------------------------------------------- guides

_GUIDE = re.compile(r"(?:README|CONTRIBUTING)(?:\.(?:md|rst|txt))?", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}\s+(?P<h>.+?)\s*#*$")
_FENCE = re.compile(r"^(?:```|~~~)\s*(?:sh|bash|shell|console|zsh)?\s*$")
_COMMAND = re.compile(r"^[\w./-]+(?: [^\n|;&<>`$]{1,100})?$")
_SECTIONS = {
    "test_command": r"(?:run(?:ning)? (?:the )?)?(?:unit )?tests?|testing|(?:运行|跑)?测试",
    "build_command": r"build(?:ing)?|compil(?:e|ing)|构建|编译",
    "run_command": r"run(?:ning)?(?: locally)?|start|development|运行|启动|本地运行",
    "lint_command": r"lint(?:ing)?|代码检查",
}


def is_guide(path: str) -> bool:
    """Whether it is a file that tells people how to work here."""
    return _GUIDE.fullmatch(PurePosixPath(path).name) is not None


def told(text: str) -> Iterator[Stated]:
    """The first command under a heading that names what it is for."""
    wanted: str | None = None
    lines = iter(text[:MANIFEST_CHARS_MAX].splitlines())
    for line in lines:
        if hit := _HEADING.match(line):
            wanted = _section(hit.group("h"))
        elif wanted and _FENCE.match(line):
            command = next(lines, "").strip().removeprefix("$ ")
            if _COMMAND.match(command):
                yield Stated(wanted, command, command)
            wanted = None


def _section(heading: str) -> str | None:
    for predicate, words in _SECTIONS.items():
        if re.fullmatch(words, heading.strip(" :："), re.IGNORECASE):
            return predicate
    return None
