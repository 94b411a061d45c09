"""A policy file: YAML in, a `Policy` out, or an error that says what to mend.

``safety:`` is applied on top of what it extends and can only make it stricter; an entry that
would loosen it is refused.  The version is a digest of what the file comes to, so that the
same policy has the same version however it is written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import timedelta
from enum import Enum
from functools import cache
from importlib import resources
from typing import Any, NoReturn, TypeVar

import yaml

from muniment.errors import InvalidInput
from muniment.gate.decision import Action
from muniment.gate.policy import DataClass, Policy, Topic, Worth
from muniment.records.facts import Catalogue, Predicate
from muniment.records.record import Kind, Origin, Sensitivity

PRESETS = ("coding", "health", "personal", "support")
#: High-impact topics the constitution knows; a file may only add to them.
TOPICS = ("credentials", "deletion", "deployment", "payment", "permissions", "security")
FILE_CHARS_MAX = 200_000
_KEYS = ("extends", "name", "safety", "worth")
_STRICT = {"hold": Action.HOLD, "refuse": Action.REFUSE}
_RANK = {Action.ACTIVATE: 0, Action.HOLD: 1, Action.REFUSE: 2}
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
E_ = TypeVar("E_", bound=Enum)


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """What a file came to: the policy, its name, and what it extends."""

    name: str
    extends: str | None
    policy: Policy

    def to_dict(self) -> dict[str, Any]:
        """As plain data: every entry in force, whoever set it."""
        p = self.policy
        numbers = {n: plain(getattr(p, n)) for n in _NUMBERS}
        return {
            "name": self.name,
            "version": p.version,
            "extends": self.extends,
            "safety": {**plain(p.safety), **numbers},
            "worth": {**plain(p.worth), "predicates": [x.name for x in own_predicates(p)]},
        }


def parse(text: str) -> PolicyFile:
    """The policy a file says.

    Raises `InvalidInput`: ``policy.invalid`` for what is not YAML or has a value of another form,
    ``policy.unknown_key`` with the known ones, ``policy.loosens`` for an entry of ``safety:`` that
    allows more than what it extends.
    """
    data = _mapping(_yaml(text), "the file", _KEYS)
    extends = data.get("extends")
    base = Policy() if extends is None else preset(extends).policy
    name = data.get("name", "policy")
    if not isinstance(name, str) or not name.strip():
        _invalid("name", "a word")
    policy = _tightened(base, _mapping(data.get("safety"), "safety", tuple(_SAFETY)))
    policy = _worth(policy, _mapping(data.get("worth"), "worth", ("drop", "keep", "predicates")))
    _check_names(policy)
    policy = replace(policy, version=f"{name.strip()}-{digest_of(policy)}")
    return PolicyFile(name.strip(), extends, policy)


@cache
def preset(name: object) -> PolicyFile:
    """A shipped policy by name."""
    if name not in PRESETS:
        raise InvalidInput("policy.unknown_preset", f"{name}: use one of {', '.join(PRESETS)}")
    return parse(_shipped(f"presets/{name}.yaml"))


def digest_of(policy: Policy) -> str:
    """Twelve hexadecimal digits of what the policy says; its own version has no part in it."""
    says = {n: plain(getattr(policy, n)) for n in (*_NUMBERS, "safety", "worth")}
    says["predicates"] = [plain(p) for p in own_predicates(policy)]
    text = json.dumps(says, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def own_predicates(policy: Policy) -> list[Predicate]:
    """The fact keys that the shipped catalogue does not have."""
    shipped = Policy().catalogue
    return [p for p in policy.catalogue if shipped.get(p.name) is None]


# ---------------------------------------------------------------- safety


def _tightened(policy: Policy, data: Mapping[str, Any]) -> Policy:
    safety: dict[str, Any] = {}
    numbers: dict[str, Any] = {}
    for key, value in data.items():
        where = f"safety.{key}"
        if key in _NUMBERS:
            numbers[key] = _NUMBERS[key](getattr(policy, key), value, where)
        else:
            field = "expires" if key == "expiry" else key
            safety[field] = _SAFETY[key](getattr(policy.safety, field), value, where)
    return replace(policy, safety=replace(policy.safety, **safety), **numbers)


def _subset(enum: type[E_], why: str) -> Callable[[frozenset[E_], object, str], frozenset[E_]]:
    def read(base: frozenset[E_], value: object, where: str) -> frozenset[E_]:
        chosen = frozenset(_word(enum, v, where) for v in _list(value, where))
        if more := sorted(str(v.value) for v in chosen - base):
            _loosens(where, f"{', '.join(more)}: {why}")
        return chosen

    return read


def _by_sensitivity(
    base: Mapping[Sensitivity, Action], value: object, where: str
) -> Mapping[Sensitivity, Action]:
    out = dict(base)
    for name, wanted in _mapping(value, where, [s.value for s in Sensitivity]).items():
        level = _word(Sensitivity, name, where)
        least = Action.HOLD if level is Sensitivity.SENSITIVE else Action.ACTIVATE
        out[level] = _stricter(out.get(level, least), wanted, f"{where}.{name}")
    return out


def _by_kind(base: Mapping[Kind, timedelta], value: object, where: str) -> Mapping[Kind, timedelta]:
    out = dict(base)
    for name, span in _mapping(value, where, [k.value for k in Kind]).items():
        kind = _word(Kind, name, where)
        out[kind] = _shorter(out.get(kind), span, f"{where}.{name}")
    return out


def _topics_more(base: Mapping[str, Topic], value: object, where: str) -> Mapping[str, Topic]:
    out = dict(base)
    for name, rule in _mapping(value, where).items():
        if not rule:
            _loosens(f"{where}.{name}", "a topic of high impact can be added to, not taken away")
        out[name] = _joined(out.get(name, Topic()), _topic(rule, f"{where}.{name}"))
    return out


def _approvals(base: frozenset[str], value: object, where: str) -> frozenset[str]:
    return base | {_text(v, where) for v in _list(value, where)}


def _third_parties(base: Action, value: object, where: str) -> Action:
    return _stricter(base, value, where)


def _data_classes(
    base: Mapping[str, DataClass], value: object, where: str
) -> Mapping[str, DataClass]:
    out, known = dict(base), _classes()
    for name, rule in _mapping(value, where).items():
        at = f"{where}.{name}"
        own = rule if isinstance(rule, Mapping) else {"then": rule}
        own = _mapping(own, at, ("predicates", "then", "words"))
        before = out.get(name)
        least = before.then if before else Action.ACTIVATE
        topic = before.topic if before else known.get(name, Topic())
        topic = _joined(topic, _topic({k: v for k, v in own.items() if k != "then"}, at))
        if not (topic.words or topic.predicates):
            _invalid(at, f"`words` for a class of one's own; known are {', '.join(known)}")
        out[name] = DataClass(topic, _stricter(least, own.get("then"), at))
    return out


def _stricter(least: Action, value: object, where: str) -> Action:
    """``hold`` or ``refuse``, if that is no less than what is there."""
    if value in ("activate", "keep", "allow", True):
        _loosens(where, f"the least here is {_name(least)}")
    if not isinstance(value, str) or value not in _STRICT:
        _invalid(where, f"one of {', '.join(_STRICT)}")
    wanted = _STRICT[value]
    if _RANK[wanted] < _RANK[least]:
        _loosens(where, f"{value} is less than {_name(least)}")
    return wanted


def _name(action: Action) -> str:
    return "the built-in rules" if action is Action.ACTIVATE else action.value


def _shorter(most: timedelta | None, value: object, where: str) -> timedelta:
    if value is None or value in ("never", "none", False):
        _loosens(where, "a term can be shortened, not taken away")
    found = _span(value, where)
    if most is not None and found > most:
        _loosens(where, f"{value} is longer than {_shown(most)}")
    return found


def _fewer(most: int, value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _invalid(where, "a whole number from 0")
    if value > most:
        _loosens(where, f"{value} is more than {most}")
    return value


_NUMBERS: dict[str, Callable[[Any, object, str], Any]] = {
    "held_lapse_after": _shorter,
    "held_per_source": _fewer,
    "observation_expires_after": _shorter,
}
_SAFETY: dict[str, Callable[[Any, object, str], Any]] = {
    "approvals": _approvals,
    "data_classes": _data_classes,
    "expiry": _by_kind,
    "high_impact": _topics_more,
    "kinds": _subset(Kind, "what it extends does not keep that kind"),
    "origins": _subset(Origin, "it never acts without a confirmation"),
    "sensitivity": _by_sensitivity,
    "third_parties": _third_parties,
    **_NUMBERS,
}


# ---------------------------------------------------------------- worth


def _worth(policy: Policy, data: Mapping[str, Any]) -> Policy:
    worth = Worth(
        keep={**policy.worth.keep, **_topics(data.get("keep"), "worth.keep")},
        drop={**policy.worth.drop, **_topics(data.get("drop"), "worth.drop")},
    )
    rows = _list(data.get("predicates") or [], "worth.predicates")
    catalogue: Catalogue = policy.catalogue.extended(rows) if rows else policy.catalogue
    return replace(policy, worth=worth, catalogue=catalogue)


def _topics(value: object, where: str) -> dict[str, Topic]:
    return {n: _topic(rule, f"{where}.{n}") for n, rule in _mapping(value, where).items()}


def _topic(rule: object, where: str) -> Topic:
    if isinstance(rule, list):
        rule = {"words": rule}
    data = _mapping(rule, where, ("predicates", "words"))
    words, names = (_list(data.get(k) or [], f"{where}.{k}") for k in ("words", "predicates"))
    return Topic(tuple(_text(w, where) for w in words), tuple(_text(n, where) for n in names))


def _joined(a: Topic, b: Topic) -> Topic:
    def both(x: Iterable[str], y: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*x, *y)))

    return Topic(both(a.words, b.words), both(a.predicates, b.predicates))


def _check_names(policy: Policy) -> None:
    """Names that mean something elsewhere have to be there."""
    safety, worth = policy.safety, policy.worth
    topics = {*TOPICS, *safety.high_impact}
    if unknown := sorted(safety.approvals - topics):
        _unknown("safety.approvals", unknown[0], topics)
    classes = [c.topic for c in safety.data_classes.values()]
    for topic in (*worth.keep.values(), *worth.drop.values(), *classes):
        for name in topic.predicates:
            if policy.catalogue.get(name) is None:
                _unknown("predicates", name, [p.name for p in policy.catalogue])


# ---------------------------------------------------------------- forms


def _yaml(text: str) -> object:
    if len(text) > FILE_CHARS_MAX:
        _invalid("the file", f"at most {FILE_CHARS_MAX} characters")
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        at = getattr(error, "problem_mark", None)
        line = f" at line {at.line + 1}" if at else ""
        raise InvalidInput("policy.invalid", f"policy: not YAML{line}") from None


def _mapping(value: object, where: str, known: Iterable[str] | None = None) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        _invalid(where, "a mapping")
    for key in value:
        if not isinstance(key, str) or (known is not None and key not in known):
            _unknown(where, key, known or ())
    return value


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        _invalid(where, "a list")
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip().removesuffix("*").strip():
        _invalid(where, "a list of words")
    return value.strip()


def _word(enum: type[E_], value: object, where: str) -> E_:
    try:
        return enum(value)
    except ValueError:
        _unknown(where, value, [str(e.value) for e in enum])


def _span(value: object, where: str) -> timedelta:
    number, unit = (value[:-1], value[-1:]) if isinstance(value, str) else ("", "")
    if unit not in _UNITS or not number.isascii() or not number.isdigit() or len(number) > 5:
        _invalid(where, "a number of hours, days or weeks such as 12h, 90d, 4w")
    if int(number) == 0:
        _invalid(where, "at least 1h")
    return timedelta(**{_UNITS[unit]: int(number)})


def _invalid(where: str, wanted: str) -> NoReturn:
    raise InvalidInput("policy.invalid", f"policy: {where}: {wanted}")


def _unknown(where: str, key: object, known: Iterable[str]) -> NoReturn:
    names = ", ".join(sorted(known))
    raise InvalidInput("policy.unknown_key", f"policy: {where}: unknown {key}; known are {names}")


def _loosens(where: str, why: str) -> NoReturn:
    raise InvalidInput("policy.loosens", f"policy: {where} would loosen: {why}")


# ---------------------------------------------------------------- plain data


def plain(value: Any) -> Any:
    """Any part of a policy as JSON data, sets in order."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, timedelta):
        return _shown(value)
    if isinstance(value, Mapping):
        return {str(plain(k)): plain(v) for k, v in value.items()}
    if isinstance(value, frozenset):
        return sorted(plain(v) for v in value)
    return [plain(v) for v in value] if isinstance(value, tuple | list) else value


def _shown(span: timedelta) -> str:
    hours = round(span.total_seconds() / 3600)
    return f"{hours // 24}d" if hours % 24 == 0 else f"{hours}h"


@cache
def _classes() -> Mapping[str, Topic]:
    data = yaml.safe_load(_shipped("classes.yaml"))
    return {name: _topic(rule, name) for name, rule in data.items()}


def _shipped(name: str) -> str:
    return resources.files("muniment.gate").joinpath(name).read_text("utf-8")
