"""Candidates as plain data and back: how held ones are stored and confirmations name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import Any

from muniment.clock import as_utc
from muniment.gate.candidate import Candidate, Claim, Direction, Flag, Intent
from muniment.ids import EventId
from muniment.records.condition import Condition
from muniment.records.record import Durability, Kind, Sensitivity
from muniment.scope import Scope

_ENUMS = {
    "kind": Kind,
    "claim": Claim,
    "intent": Intent,
    "durability": Durability,
    "direction": Direction,
    "sensitivity": Sensitivity,
}
_INSTANTS = ("said_at", "valid_from", "valid_to", "expires_at")


def candidate_to_dict(c: Candidate) -> dict[str, Any]:
    """Every field as JSON data."""
    return {f.name: _plain(getattr(c, f.name)) for f in fields(c)}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Scope | Condition):
        return value.to_dict()
    if isinstance(value, frozenset):
        return sorted(v.value for v in value)
    if isinstance(value, tuple):
        return list(value)
    return value


def candidate_from_dict(data: Mapping[str, Any]) -> Candidate:
    """The inverse of `candidate_to_dict`."""
    d = dict(data)
    for name, enum in _ENUMS.items():
        d[name] = enum(d[name])
    for name in _INSTANTS:
        d[name] = None if d[name] is None else as_utc(d[name], name=name)
    d["scope"] = Scope.of(d["scope"])
    d["wider"] = None if d["wider"] is None else Scope.of(d["wider"])
    d["condition"] = Condition.of(d["condition"])
    d["flags"] = frozenset(Flag(f) for f in d["flags"])
    d["evidence"] = tuple(EventId(e) for e in d["evidence"])
    d["tags"] = tuple(d["tags"])
    d["span"] = tuple(d["span"]) if d["span"] else None
    return Candidate(**d)
