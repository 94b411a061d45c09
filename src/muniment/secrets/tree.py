"""The same screen over JSON-like data: metadata, tool arguments, whatever has keys and values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from muniment.secrets.assign import CODE, KEY, PASSWORD, Family
from muniment.secrets.findings import Finding, Grade, PathFinding
from muniment.secrets.rules import BLOCK_KINDS
from muniment.secrets.screen import Digest, placeholder, redact, scan
from muniment.secrets.view import view_of

MAX_DEPTH = 64
MAX_NODES = 100_000

_Path = tuple[str | int, ...]
_FAMILIES: tuple[tuple[str, Family], ...] = (("password", PASSWORD), ("key", KEY), ("code", CODE))
_FIELDS = tuple(
    (
        kind,
        family,
        re.compile(rf"(?:.*[^A-Za-z]|.*?)(?:{family.english}|{family.chinese})s?", re.I | re.A),
    )
    for kind, family in _FAMILIES
)
_PLACEHOLDER = re.compile(rf"\[secret:(?:{'|'.join(sorted(BLOCK_KINDS))}):[0-9a-f]{{8,12}}\]")
_MAX_FIELD_NAME = 80
_LARGEST_INT = 10**40
#: Names of fields in which nothing was found: the same few come again in every piece of data.
_CLEAN: set[str] = set()
_CLEAN_MAX = 4096


class TooLarge(ValueError):
    """The data is nested deeper than 64 levels (or in itself), or holds over 100,000 values."""


def scan_json(value: Any) -> tuple[PathFinding, ...]:
    """The findings in all strings, keys and whole numbers, in the order of the data.

    A key that names a secret (``db_password``, ``apiKey``, 验证码) vouches for its value, and so
    does ``{"name": "DB_PASSWORD", "value": …}``. Raises `TooLarge`, and TypeError for anything
    that JSON does not have.
    """
    _Screen(None).walk(value, (), "", screen := _Found())
    return tuple(screen.items)


def redact_json(value: Any, digest: Digest) -> tuple[Any, tuple[PathFinding, ...]]:
    """A copy with every blocking span replaced as `muniment.secrets.redact` does it.

    A number that is a secret becomes a string. Paths are those of the data as given. Two keys
    that become the same keep both their values: the second gets ``#2``. Errors as `scan_json`.
    """
    found = _Found()
    return _Screen(digest).walk(value, (), "", found), tuple(found.items)


class _Found:
    """Findings so far, and how many values were visited."""

    def __init__(self) -> None:
        self.items: list[PathFinding] = []
        self.visited = 0


class _Screen:
    """One walk, at most MAX_DEPTH calls deep; without a digest it only looks."""

    def __init__(self, digest: Digest | None) -> None:
        self._digest = digest

    def walk(self, value: Any, path: _Path, field: str, found: _Found) -> Any:
        found.visited += 1
        if len(path) > MAX_DEPTH or found.visited > MAX_NODES:
            raise TooLarge(f"more than {MAX_DEPTH} levels or {MAX_NODES} values")
        if isinstance(value, dict):
            return self._walk_dict(value, path, found)
        if isinstance(value, list | tuple):
            return [self.walk(one, (*path, i), field, found) for i, one in enumerate(value)]
        if isinstance(value, str):
            return self._leaf(value, value, path, field, found)
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            digits = str(value) if abs(value) < _LARGEST_INT else ""
            return self._leaf(value, digits, path, field, found)
        raise TypeError(f"not JSON: {type(value).__name__}")

    def _walk_dict(self, value: dict[Any, Any], path: _Path, found: _Found) -> dict[str, Any]:
        copy: dict[str, Any] = {}
        told = value.get("name", value.get("key"))
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"not a JSON key: {type(key).__name__}")
            field = told if key == "value" and isinstance(told, str) else key
            inside = (*path, key)
            clean = self._key(key, inside, found)
            copy[_free(clean, copy)] = self.walk(inner, inside, field, found)
        return copy

    def _key(self, key: str, path: _Path, found: _Found) -> str:
        if key in _CLEAN:
            return key
        findings = scan(key)
        if not findings and len(key) <= _MAX_FIELD_NAME and len(_CLEAN) < _CLEAN_MAX:
            _CLEAN.add(key)
        found.items += [PathFinding(path, True, one) for one in findings]
        if self._digest is None or not findings:
            return key
        return redact(key, self._digest)[0]

    def _leaf(self, value: Any, text: str, path: _Path, field: str, found: _Found) -> Any:
        kind = _field_kind(field, text)
        findings = (Finding(kind, Grade.BLOCK, 0, len(text)),) if kind else scan(text)
        found.items += [PathFinding(path, False, one) for one in findings]
        if self._digest is None or not any(one.grade is Grade.BLOCK for one in findings):
            return value
        return placeholder(kind, text, self._digest) if kind else redact(text, self._digest)[0]


def _free(key: str, taken: dict[str, Any]) -> str:
    names: Iterator[str] = (f"{key}#{n}" for n in range(2, len(taken) + 3))
    return next(name for name in names if name not in taken) if key in taken else key


def _field_kind(field: str, text: str) -> str | None:
    """The kind of secret that the name of a field says its value is, if the value can be one."""
    if not field or len(field) > _MAX_FIELD_NAME or not text or _PLACEHOLDER.search(text):
        return None
    name, value = view_of(field).text.strip(), view_of(text).text
    for kind, family, pattern in _FIELDS:
        if pattern.fullmatch(name) and family.judge_field(value) is Grade.BLOCK:
            return kind
    return None
