"""Who a statement is about, when it is not the one who says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from muniment.extract.lexicon import data, fold
from muniment.records.facts import builtin

UNNAMED = "person:unnamed"
_NAME_EN = r"[A-Z][\w'-]*"
_PRONOUN = re.compile(r"^(?:他|她|(?i:he|she))(?:们)?(?![A-Za-z])")
# "In meetings, Sam …": whom it is about may stand after where it holds.
_PLACE_FIRST = re.compile(
    r"^(?:(?i:in|at|on|for|during|when|as for|about|regarding)\b|关于|对于|在|聚餐|吃饭|开会)"
    r"[^,，]{0,30}[,，]\s*"
)


class _Words(NamedTuple):
    related: tuple[re.Pattern[str], ...]
    named: tuple[re.Pattern[str], ...]
    not_names: frozenset[str]


def person_in(text: str) -> str | None:
    """The subject ``person:NAME`` of a statement about somebody other than the speaker.

    The name as written, or the relation where no name is said ("my wife" → ``person:wife``).
    ``None`` for statements about the speaker, a project or nobody in particular.
    """
    folded = fold(text).strip()
    first = _person_at_start(folded)
    if first is None and (place := _PLACE_FIRST.match(folded)):
        return _person_at_start(folded[place.end() :])
    return first


def _person_at_start(folded: str) -> str | None:
    words = _words()
    for pattern in words.related:
        if hit := pattern.search(folded):
            name = hit.group("name")
            return f"person:{name if name and name not in words.not_names else hit.group('rel')}"
    for pattern in words.named:
        if (hit := pattern.search(folded)) and not _no_name(hit.group("name"), words.not_names):
            return f"person:{hit.group('name')}"
    return UNNAMED if _PRONOUN.search(folded) else None


def _no_name(name: str, known: frozenset[str]) -> bool:
    return name in known or name.casefold() in _products()


@cache
def _products() -> frozenset[str]:
    """Names of things: every value that a predicate knows."""
    return frozenset(spelling for predicate in builtin() for spelling in predicate.values)


@cache
def _words() -> _Words:
    spec = data("people.yaml")
    names = _name_zh(spec)
    return _Words(
        related=tuple(re.compile(p) for p in _related(spec, names)),
        named=tuple(re.compile(p) for p in _named(spec, names)),
        not_names=frozenset([*spec["not_names"], *spec["not_names_zh"]]),
    )


def _name_zh(spec: Mapping[str, Any]) -> str:
    surname, title = f"[{spec['surnames']}]", f"[{spec['titles'][:6]}]"
    return (
        rf"(?:[小老阿大][\u4e00-\u9fff]{title}?|{surname}{title}"
        rf"|{surname}(?:老师|经理|主任|医生|律师|教授)|{surname}[\u4e00-\u9fff]{{1,2}}?|[A-Z][A-Za-z]+)"
    )


def _related(spec: Mapping[str, Any], name_zh: str) -> Iterator[str]:
    """Relation first: "my wife …", "our designer Priya …", "我同事小王…", "同事小林…"."""
    rel_zh, rel_en = (_any(spec["relations"][lang]) for lang in ("zh", "en"))
    role_zh = _any([*spec["relations"]["zh"], *spec["roles"]["zh"]])
    role_en = _any([*spec["roles"]["en"], *spec["relations"]["en"]])
    state, said_en = _any(spec["states"]["zh"]), _any(spec["personal"]["en"])
    heard = r"(?:(?:今天|昨天|最近|刚才?|我|才)*(?:发现|得知|知道了?|听说))?"
    mine = rf"^(?:{heard}(?:我们?|咱们?|上)(?:的)?(?:[一那这][个位]|[老大小前亲])?)"
    owner = r"(?i:my|our|his|her|their) (?:[\w-]+ ){0,2}?"
    name = rf"(?: (?:is )?(?:called |named )?(?P<name>{_NAME_EN})(?! [a-z]+ing\b))"
    yield rf"{mine}(?P<rel>{role_zh})(?:叫|是)?(?P<name>{name_zh})(?={state})"
    yield rf"{mine}(?P<rel>{rel_zh})(?P<name>(?!))?(?=.)"
    yield rf"^(?P<rel>{rel_zh})(?P<name>(?!))?(?={_any(spec['personal']['zh'])})"
    yield rf"^(?P<rel>{role_zh})(?P<name>{name_zh})(?={state})"
    yield rf"^{owner}(?P<rel>(?i:{role_en}))\b,?{name}"
    yield rf"^{owner}(?P<rel>(?i:{rel_en}))\b(?P<name>(?!))?"
    yield rf"^{owner}(?P<rel>(?i:{role_en}))(?P<name>(?!))?(?: {said_en}\b|'s )"


def _named(spec: Mapping[str, Any], name_zh: str) -> Iterator[str]:
    """Name first: "Jack is my boss", "小林不吃香菜", "Priya can't eat …"."""
    rel_zh = _any([*spec["relations"]["zh"], *spec["roles"]["zh"]])
    rel_en = _any([*spec["relations"]["en"], *spec["roles"]["en"]])
    surname = r"(?: [A-Z][\w'-]+)?(?:,? and [A-Z]\w+)?"
    said = _any(p if p.startswith("(?:'s") else f" {p}" for p in spec["personal"]["en"])
    yield spec["introduced"]["zh"].replace("{rel}", rel_zh)
    yield spec["introduced"]["en"].replace("{rel}", rel_en)
    yield rf"^(?P<name>{name_zh})(?=\s*{_any(spec['personal']['zh'])})"
    yield rf"^(?P<name>[A-Z][a-z]+?(?:[-'](?!s\b)\w+)?){surname}{said}\b"


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(words)})"
