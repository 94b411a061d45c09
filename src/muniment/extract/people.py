"""Who a statement is about, when it is not the one who says it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from muniment.extract.lexicon import data, fold

_NAME_EN = r"[A-Z][\w'-]*"
_PRONOUN = re.compile(r"^(?:他|她|(?i:he|she))(?:们)?(?![A-Za-z])")


class _Words(NamedTuple):
    related: tuple[re.Pattern[str], ...]
    named: tuple[re.Pattern[str], ...]
    not_names: frozenset[str]


def person_in(text: str) -> str | None:
    """The subject ``person:NAME`` of a statement about somebody other than the speaker.

    The name as written, or the relation where no name is said ("my wife" → ``person:wife``).
    ``None`` for statements about the speaker, a project or nobody in particular.
    """
    folded, words = fold(text).strip(), _words()
    for pattern in words.related:
        if hit := pattern.search(folded):
            name = hit.group("name")
            return f"person:{name if name and name not in words.not_names else hit.group('rel')}"
    for pattern in words.named:
        if (hit := pattern.search(folded)) and hit.group("name") not in words.not_names:
            return f"person:{hit.group('name')}"
    return "person:unnamed" if _PRONOUN.search(folded) else None


@cache
def _words() -> _Words:
    spec = data("people.yaml")
    names = spec["surnames"]
    name_zh = (
        rf"(?:[小老阿大][\u4e00-\u9fff][哥姐总工]?|[{names}][\u4e00-\u9fff]{{1,2}}?|[A-Z][A-Za-z]+)"
    )
    rel_zh, rel_en = _any(spec["relations"]["zh"]), _any(spec["relations"]["en"])
    state, personal = _any(spec["states"]["zh"]), spec["personal"]
    return _Words(
        related=(
            re.compile(rf"^我们?(?:的)?(?P<rel>{rel_zh})(?:叫)?(?P<name>{name_zh})?(?={state})"),
            re.compile(
                rf"^(?i:my|our|his|her|their) (?:\w+ )?(?P<rel>{rel_en})\b,?"
                rf"(?: (?:is )?(?:called |named )?(?P<name>{_NAME_EN}))?"
            ),
        ),
        named=(
            re.compile(spec["introduced"]["zh"].replace("{rel}", rel_zh)),
            re.compile(spec["introduced"]["en"].replace("{rel}", rel_en)),
            re.compile(rf"^(?P<name>{name_zh})(?={_any(personal['zh'])})"),
            re.compile(rf"^(?P<name>[A-Z][a-z][\w'-]*)(?: [A-Z][\w'-]+)? {_any(personal['en'])}\b"),
        ),
        not_names=frozenset(spec["not_names"]),
    )


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(words)})"
