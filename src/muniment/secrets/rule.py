"""What a rule of the screen is, and how rows of its tables are made.

A row's pattern runs over the folded view (`muniment.secrets.view`), with ``re.ASCII``, and only
if one of its anchors, lower-case literals, occurs in the text; a row without anchors always runs.
Patterns never use ``\\b``, which sees no boundary beside Han characters, never match ``MASK`` and
bound every quantifier; possessive ones stand on single classes only, as before 3.11.5 those on
groups backtrack wrongly. Of rows that find the very same span the first names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from muniment.secrets.assign import Family
from muniment.secrets.checks import Check, Span, vendor
from muniment.secrets.findings import Grade

BLOCK, HOLD = Grade.BLOCK, Grade.HOLD
_TOKEN_TAIL = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


Find = Callable[[str, str], list[Span]]
"""From a view's text, and the same in lower case, to spans in order and apart from each other."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row; ``digits`` is how many a text must have in all for it to match."""

    kind: str
    grade: Grade
    anchors: tuple[str, ...]
    find: Find
    digits: int = 0


class Table:
    """Rules with their numbers, flat, so that choosing among them is one comprehension."""

    def __init__(self, rules: Iterable[tuple[int, Rule]]) -> None:
        self._rules = dict(rules)
        self._anchored = [(a, number) for number, rule in self._rules.items() for a in rule.anchors]
        self._always = [
            (number, rule.digits) for number, rule in self._rules.items() if not rule.anchors
        ]

    def applicable(self, lowered: str) -> list[tuple[int, Rule]]:
        """Those that could find anything, by their anchors and the digits they need."""
        numbers = {number for anchor, number in self._anchored if anchor in lowered}
        digits = sum(map(lowered.count, "0123456789"))
        numbers.update(number for number, least in self._always if least <= digits)
        return [(number, self._rules[number]) for number in sorted(numbers)]


def _finder(
    pattern: str, check: Check, *, flags: int = 0, grows: bool = False, whole: bool = False
) -> Find:
    @cache
    def compiled() -> re.Pattern[str]:  # most are never needed: their anchors do not occur
        return re.compile(pattern, re.ASCII | flags)

    def find(text: str, _lowered: str) -> list[Span]:
        spans = []
        at = 0
        while match := compiled().search(text, at):
            at = match.end() if whole else match.start() + 1
            if span := check(match):
                start, end = span
                if grows and (tail := _TOKEN_TAIL.match(text, end)):
                    end = tail.end()
                spans.append((start, end))
                at = max(end, at)
        return spans

    return find


def row(
    kind: str,
    grade: Grade,
    anchors: str,
    pattern: str,
    check: Check,
    *,
    flags: int = 0,
    whole: bool = False,
) -> Rule:
    """Any pattern; ``whole``: what failed its check is not looked into again."""
    find = _finder(pattern, check, flags=flags, whole=whole)
    return Rule(kind, grade, _split(anchors), find)


def _split(anchors: str) -> tuple[str, ...]:
    return tuple(anchors.split("|")) if anchors else ()


def fixed(kind: str, anchors: str, body: str, check: Check = vendor) -> Rule:
    """A vendor's token of known length: nothing alphanumeric may follow."""
    return row(kind, BLOCK, anchors, rf"(?<![A-Za-z0-9])(?:{body})(?![A-Za-z0-9])", check)


def token(kind: str, anchors: str, body: str, check: Check = vendor) -> Rule:
    """A vendor's token of at least some length: all that hangs on to it is covered."""
    find = _finder(rf"(?<![A-Za-z0-9])(?:{body})", check, grows=True)
    return Rule(kind, BLOCK, _split(anchors), find)


def digits(kind: str, grade: Grade, least: int, body: str, check: Check) -> Rule:
    """A number of at least so many digits on its own: no digits, letters or decimal point right
    beside it."""
    alone = rf"(?<![A-Za-z0-9_])(?<![0-9][.-])(?:{body})(?![A-Za-z0-9_]|[.-][0-9])"
    return Rule(kind, grade, (), _finder(alone, check), least)


def spaced(kind: str, grade: Grade, low: int, high: int, test: Callable[[str], bool]) -> Rule:
    """A number read out digit by digit: ``6 2 2 2 …``, of ``low`` to ``high`` digits."""

    def check(match: re.Match[str]) -> Span | None:
        return match.span() if test(re.sub("[ -]", "", match.group())) else None

    # From the first digit of a row to its last, so that no row is begun twice.
    whole = rf"(?:[0-9][ -]{{1,2}}){{{low - 1},{high - 1}}}[0-9Xx](?![ -]{{1,2}}[0-9])"
    body = rf"(?<![0-9][ -])(?<![0-9][ -][ -]){whole}"
    return digits(kind, grade, low - 1, body, check)


def assigned(kind: str, family: Family) -> tuple[Rule, Rule]:
    """The two directions of a family of names."""
    return (
        Rule(kind, BLOCK, family.anchors, family.find),
        Rule(kind, BLOCK, family.anchors, family.find_reversed),
    )
