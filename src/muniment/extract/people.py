"""Who a statement is about, when it is not the one who says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from muniment.extract.lexicon import data, narrowed, simplified
from muniment.extract.words import Lazy
from muniment.records.facts import builtin

UNNAMED = "person:unnamed"
_NAME_EN = r"[A-Z][\w'-]*"
_HAN = re.compile(r"[\u4e00-\u9fff]")
_PRONOUN = re.compile(r"^(?:他|她|(?i:he|she))(?:们)?(?![A-Za-z])")
# "In meetings, Sam …": whom it is about may stand after where it holds.
_PLACE_FIRST = re.compile(
    r"^(?:(?i:in|at|on|for|during|when|as for|about|regarding)\b|关于|对于|在|聚餐|吃饭|开会)"
    r"[^,，]{0,30}[,，]\s*"
)


class _Turn(NamedTuple):
    """One way to say whom it is about; ``latin`` ones are English, the others hold Han."""

    expression: Lazy
    related: bool
    latin: bool


def person_in(text: str) -> str | None:
    """The subject ``person:NAME`` of a statement about somebody other than the speaker.

    The name as written, or the relation where no name is said ("my wife" → ``person:wife``).
    ``None`` for statements about the speaker, a project or nobody in particular.
    """
    said = narrowed(text).strip()
    folded = simplified(said)
    first = _person_at_start(folded, said)
    if first is None and (place := _PLACE_FIRST.match(folded)):
        return _person_at_start(folded[place.end() :], said[place.end() :])
    return first


def _person_at_start(folded: str, said: str) -> str | None:
    han, latin = _HAN.search(folded) is not None, folded[:1].isascii()
    for turn in _turns():
        if not (latin if turn.latin else han):
            continue
        hit = turn.expression.pattern.search(folded)
        if hit is None:
            continue
        name = hit.group("name")
        if turn.related and (not name or name in _not_names()):
            return f"person:{hit.group('rel')}"
        if turn.related or not _no_name(name):
            start, end = hit.span("name")
            return f"person:{said[start:end]}"
    return UNNAMED if _PRONOUN.search(folded) else None


def _no_name(name: str) -> bool:
    if name in _not_names() or name.casefold() in _products():
        return True
    return name.islower() and name.capitalize() in _not_names()


@cache
def _not_names() -> frozenset[str]:
    spec = data("people.yaml")
    return frozenset([*spec["not_names"], *spec["not_names_zh"]])


@cache
def _products() -> frozenset[str]:
    """Names of things: every value that a predicate knows."""
    return frozenset(spelling for predicate in builtin() for spelling in predicate.values)


@cache
def _turns() -> tuple[_Turn, ...]:
    spec = data("people.yaml")
    names = _name_zh(spec)
    ways = (
        (_related_zh(spec, names), True, False),
        (_related_en(spec), True, True),
        (_named_zh(spec, names), False, False),
        (_named_en(spec), False, True),
    )
    return tuple(_Turn(Lazy(p, 0), *kind) for patterns, *kind in ways for p in patterns)


def _name_zh(spec: Mapping[str, Any]) -> str:
    surname, title = f"[{spec['surnames']}]", f"[{spec['titles'][:6]}]"
    return (
        rf"(?:[小老阿大][\u4e00-\u9fff]{title}?|{surname}{title}"
        rf"|{surname}(?:老师|经理|主任|医生|律师|教授)|{surname}[\u4e00-\u9fff]{{1,2}}?|[A-Z][A-Za-z]+)"
    )


def _related_zh(spec: Mapping[str, Any], name: str) -> Iterator[str]:
    """Relation first: "我同事小王…", "同事小林…", "我妈妈…"."""
    relation, role = _any(spec["relations"]["zh"]), _all_of(spec, "zh")
    state, said = _any(spec["states"]["zh"]), _any(spec["personal"]["zh"])
    mine = f"^{spec['mine']['zh']}"
    yield rf"{mine}(?P<rel>{role})(?:叫|是)?(?P<name>{name})(?={state})"
    yield rf"{mine}(?P<rel>{relation})(?P<name>(?!))?(?=.)"
    yield rf"^(?P<rel>{relation})(?P<name>(?!))?(?={said})"
    yield rf"^(?P<rel>{role})(?P<name>{name})(?={state})"


def _related_en(spec: Mapping[str, Any]) -> Iterator[str]:
    """Relation first: "my wife …", "our designer Priya …"."""
    relation, role = _any(spec["relations"]["en"]), _all_of(spec, "en")
    said, mine = _any(spec["personal"]["en"]), f"^{spec['mine']['en']}"
    yield (
        rf"{mine}(?P<rel>(?i:{role}))\b,?"
        rf"(?: (?:is )?(?:called |named )?(?P<name>{_NAME_EN})(?! [a-z]+ing\b))"
    )
    yield rf"{mine}(?P<rel>(?i:{relation}))\b(?P<name>(?!))?"
    yield rf"{mine}(?P<rel>(?i:{role}))(?P<name>(?!))?(?: {said}\b|'s )"


def _named_zh(spec: Mapping[str, Any], name: str) -> Iterator[str]:
    """Name first: "赵雅婷是我的同事", "小林不吃香菜"."""
    yield spec["introduced"]["zh"].replace("{rel}", _all_of(spec, "zh"))
    yield rf"^(?P<name>{name})(?=\s*{_any(spec['personal']['zh'])})"
    yield from (turn.replace("{name}", name) for turn in spec["named_later"]["zh"])


def _named_en(spec: Mapping[str, Any]) -> Iterator[str]:
    """Name first: "Jack is my boss", "Priya can't eat …"."""
    surname = r"(?: [A-Z][\w'-]+)?(?:,? and [A-Z]\w+)?"
    said = _any(p if p.startswith("(?:'s") else f" {p}" for p in spec["personal"]["en"])
    yield spec["introduced"]["en"].replace("{rel}", _all_of(spec, "en"))
    yield rf"^(?P<name>[A-Z][a-z]+?(?:[-'](?!s\b)\w+)?){surname}{said}\b"
    yield from (turn.replace("{name}", "[A-Z][a-z]+") for turn in spec["named_later"]["en"])
    yield spec["uncapital"]


def _all_of(spec: Mapping[str, Any], language: str) -> str:
    roles, relations = spec["roles"][language], spec["relations"][language]
    return _any([*relations, *roles] if language == "zh" else [*roles, *relations])


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(words)})"
