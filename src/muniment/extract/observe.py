"""What files and tools show: fields of manifests, "label: value" lines, statements in passing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from muniment.events.event import EventKind
from muniment.extract.attributes import Role
from muniment.extract.build import Reading, build
from muniment.extract.lexicon import data, says
from muniment.extract.prose import read_sentence
from muniment.extract.sentences import Passage, Piece
from muniment.extract.triggers import Match, matches
from muniment.gate.candidate import Candidate

# A manifest is a few kilobytes; nothing larger is parsed.
MANIFEST_CHARS_MAX = 200_000
FOUND_MAX = 64
_GUIDES = (".md", ".rst", ".txt")


def observed(text: Passage, reading: Reading) -> list[Candidate]:
    """The candidates of a file or a tool's result, fields first."""
    if reading.event.kind is EventKind.FILE and (spec := _manifest(reading)):
        return list(_fields(text.text, spec, reading))
    found: list[Candidate] = []
    for piece in text.sentences():
        if len(found) >= FOUND_MAX:
            break
        found += _of_line(piece, reading)
    return found


def _of_line(piece: Piece, reading: Reading) -> list[Candidate]:
    made = [
        build(piece, reading, match.predicate.kind, match=match)
        for match in matches(piece.text, piece.folded, reading.catalogue)
        if _shown(match, reading)
    ]
    if made or not says("claims", piece.folded):
        return made
    return read_sentence(piece, reading)


def _shown(match: Match, reading: Reading) -> bool:
    """Whether a line shows an attribute: by its label, a running system's, or in a guide."""
    if match.predicate.subject != "project" or match.dropped:
        return False
    guide = reading.event.kind is EventKind.FILE and (reading.event.path or "").endswith(_GUIDES)
    return match.labelled or match.predicate.volatile or (guide and match.context == "any")


def _manifest(reading: Reading) -> Mapping[str, Any] | None:
    name = (reading.event.path or "").rsplit("/", 1)[-1]
    return next((spec for spec in _files() if re.match(spec["name"], name)), None)


def _fields(text: str, spec: Mapping[str, Any], reading: Reading) -> Iterator[Candidate]:
    """The fields of a manifest that the data names; text that does not parse has none."""
    if len(text) > MANIFEST_CHARS_MAX:
        return
    for field, rule in spec["fields"].items():
        predicate = reading.catalogue.get(rule["predicate"])
        value = _field(text, spec["format"], field)
        hit = re.match(rule.get("value", r"(?P<v>.+)"), value) if value else None
        if predicate and value and hit:
            found = Match(predicate, hit.group("v").strip(), 0, 0, role=Role.LABELLED)
            at = text.find(value)
            made = build(Piece(value, at), reading, predicate.kind, match=found)
            yield replace(made, content=predicate.render(found.value, "en"), language="en")


@cache
def _files() -> list[Mapping[str, Any]]:
    return list(data("files.yaml"))


def _field(text: str, form: str, field: str) -> str | None:
    if form == "json":
        return _json_field(text, field.split("."))
    if form == "toml":
        hit = re.search(rf"(?m)^\s*{re.escape(field)}\s*=\s*[\"']([^\"'\n]+)[\"']", text)
    elif form == "ini":
        hit = re.search(rf"(?m)^\s*{re.escape(field)}\s*=\s*([^\s#;]+)", text)
    else:
        hit = re.match(r"\s*(\S{1,60})\s*$", text)
    return hit.group(1) if hit else None


def _json_field(text: str, keys: list[str]) -> str | None:
    try:
        node: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node if isinstance(node, str) else None
