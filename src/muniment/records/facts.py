"""The predicate catalogue: the one contract between extraction and gate, as data.

A predicate is a fact key: two records with the same one (and subject, scope, condition) speak
of the same attribute.  The shipped catalogue is `predicates.yaml`; a deployment adds its own
with `Catalogue.extended`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import cache
from importlib import resources
from typing import Any

import yaml

from muniment.errors import InvalidInput
from muniment.records.record import Kind, Sensitivity, Value
from muniment.scope import PARTS
from muniment.text import check_id, normalise

# Safe, and ten times as fast where libyaml is there.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Predicate:
    """All the gate needs to know of a fact key.

    ``scope`` names the default scope parts; ``single`` whether one value holds at a time;
    ``volatile`` facts get ``expires`` (a span) and a ``refresh`` hint; ``files`` are
    authoritative for it; ``topic`` is its high-impact topic; ``facet`` the kind of task it
    matters to; ``cues`` are search keys (never shown); ``values`` maps spellings to one value;
    ``touches`` are the things an instruction may forbid.
    """

    name: str
    kind: Kind
    subject: str = "project"
    scope: tuple[str, ...] = ("project",)
    single: bool = True
    conditions: bool = True
    volatile: bool = False
    expires: timedelta | None = None
    refresh: str | None = None
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    files: tuple[str, ...] = ()
    topic: str | None = None
    facet: str | None = None
    namespace: str = "project"
    templates: Mapping[str, str] = field(default_factory=dict)
    cues: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    touches: tuple[str, ...] = ()

    def render(self, value: Value, language: str) -> str:
        """The content for a value alone, in the record's language."""
        template = self.templates.get("zh" if language == "zh" else "en", "{value}")
        shown = "、".join(map(str, value)) if isinstance(value, list) else str(value)
        return template.format(value=shown)

    def canonical(self, value: Value) -> Value:
        """One spelling for each known value; other values as they are."""
        if isinstance(value, str):
            return self.values.get(normalise(value), value)
        return value


class Catalogue:
    """The predicates by name."""

    def __init__(self, predicates: Iterable[Predicate]) -> None:
        self._by_name = {p.name: p for p in predicates}

    def get(self, name: str | None) -> Predicate | None:
        """A predicate, or ``None`` for an unknown or absent name."""
        return self._by_name.get(name) if name is not None else None

    def __iter__(self) -> Any:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def extended(self, rows: Iterable[Mapping[str, Any]]) -> Catalogue:
        """With predicates of one's own; a name that is taken is refused."""
        own = [predicate_of(row) for row in rows]
        taken = [p.name for p in own if p.name in self._by_name]
        if taken:
            raise InvalidInput("predicate.taken", f"predicate {taken[0]} is already defined")
        return Catalogue([*self, *own])


_SPANS = {"h": "hours", "d": "days", "w": "weeks"}


def _span(text: str) -> timedelta:
    return timedelta(**{_SPANS[text[-1]]: int(text[:-1])})


def predicate_of(row: object) -> Predicate:
    """A predicate from one row of data; whatever is wrong with it is an `InvalidInput`."""
    if not isinstance(row, Mapping):
        raise InvalidInput("predicate.invalid", "a predicate is a mapping with name and kind")
    unknown = set(row) - {f.name for f in fields(Predicate)}
    if unknown or "name" not in row or "kind" not in row:
        raise InvalidInput("predicate.invalid", f"predicate {row.get('name')}: {sorted(unknown)}")
    try:
        predicate = _built(row)
        predicate.render("x", "en")
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise InvalidInput("predicate.invalid", f"predicate {row['name']}: {error}") from None
    if set(predicate.scope) - set(PARTS):
        raise InvalidInput("predicate.invalid", f"predicate {row['name']}: unknown scope part")
    return predicate


def _built(row: Mapping[str, Any]) -> Predicate:
    data = dict(row)
    data["name"] = check_id(data["name"], name="predicate.name")
    data["kind"] = Kind(data["kind"])
    data["sensitivity"] = Sensitivity(data.get("sensitivity", "internal"))
    if data.get("expires"):
        data["expires"] = _span(data["expires"])
    for name in ("scope", "files", "cues", "touches"):
        default = ("project",) if name == "scope" else ()
        data[name] = tuple(data.get(name, default) or ())
    data["values"] = {
        normalise(str(spelling)): canonical
        for canonical, spellings in (data.get("values") or {}).items()
        for spelling in [canonical, *spellings]
    }
    return Predicate(**data)


@cache
def builtin() -> Catalogue:
    """The shipped catalogue."""
    text = resources.files("muniment.records").joinpath("predicates.yaml").read_text("utf-8")
    return Catalogue(predicate_of(row) for row in yaml.load(text, _LOADER))
