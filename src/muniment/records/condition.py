"""What must hold for a record to apply beyond its scope."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from muniment.errors import InvalidInput
from muniment.text import check_text, normalise

MAX_TERMS = 32


@dataclass(frozen=True, slots=True)
class Condition:
    """All named facets must hold; a facet holds when one of its terms does.  Empty: always.

    ``when`` are words that name none of the others ("when I am tired").  Whether they hold cannot
    be told from a request, so they keep no record from being shown, which says them itself; they
    keep it apart from what was said without them.
    """

    entities: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    when: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.testable or self.when)

    @property
    def testable(self) -> bool:
        """Whether a request can tell that it holds, or does not."""
        return bool(self.entities or self.paths or self.stages or self.tasks)

    @property
    def key(self) -> str:
        """Canonical: order, case and width of the terms do not matter; ``""`` for always."""
        terms = {
            f.name: sorted({normalise(t) for t in getattr(self, f.name)})
            for f in fields(self)
            if getattr(self, f.name)
        }
        return json.dumps(terms, ensure_ascii=False, separators=(",", ":")) if terms else ""

    def to_dict(self) -> dict[str, list[str]]:
        """The facets that are set."""
        return {f.name: list(v) for f in fields(self) if (v := getattr(self, f.name))}

    @classmethod
    def of(cls, value: object) -> Condition:
        """A condition from a mapping of lists; unknown facets are refused."""
        if isinstance(value, Condition):
            return value
        if value is None:
            return cls()
        names = {f.name for f in fields(cls)}
        if not isinstance(value, Mapping) or set(value) - names:
            raise InvalidInput("condition.invalid", f"condition: a mapping with {sorted(names)}")
        return cls(**{k: _terms(v, k) for k, v in value.items()})


def _terms(value: object, name: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput("condition.invalid", f"condition.{name}: pass a list of words")
    terms = tuple(check_text(v, name=f"condition.{name}", max_bytes=512) for v in value)
    if len(terms) > MAX_TERMS or not all(terms):
        raise InvalidInput("condition.invalid", f"condition.{name}: 1 to {MAX_TERMS} words")
    return terms
