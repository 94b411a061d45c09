"""Finding and replacing secrets in one text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from muniment.secrets.findings import Finding, Grade
from muniment.secrets.rule import Table
from muniment.secrets.rules import BLOCK_KINDS, RULES
from muniment.secrets.view import View, view_of

Digest = Callable[[str], str]
_Spotted = tuple[int, int, int]  # start and end in the view, row of the rule

# What is replaced may have kept its neighbour from being seen; seldom more than once.
_ROUNDS = 6
_PLACEHOLDER = re.compile(r"\[secret:([a-z0-9_]{1,40}):[0-9a-f]{8,12}\]")
_DIGEST = re.compile(r"[0-9a-f]{8,12}")


def scan(text: str) -> tuple[Finding, ...]:
    """All findings, in order, none overlapping another, by offsets into ``text`` itself.

    Blocking spans that overlap become one, named after the widest (of equals, the first rule);
    holding ones give way to blocking ones, then to wider ones. Placeholders left by `redact`
    are never part of a finding.
    """
    view = view_of(text)
    blocked, rest = _blocked(view)
    held = _widest(_spot(rest, Grade.HOLD)) if rest.text else []
    return tuple(
        Finding(RULES[row].kind, RULES[row].grade, *view.to_original(start, end))
        for start, end, row in sorted(blocked + held)
    )


def redact(text: str, digest: Digest) -> tuple[str, tuple[Finding, ...]]:
    """Replace each blocking span by ``[secret:kind:digest]``; nothing else changes.

    Returns the new text and `scan`'s findings, whose offsets are those of the old text.
    ``digest`` gets the secret as folded (so that a key reads the same with and without hidden
    characters) and returns 8 to 12 lower-case hexadecimal digits, else ValueError: shorter
    would not tell secrets apart, longer could itself be taken for a number or key. It should
    be keyed, for secrets such as PINs can be guessed from a plain hash. Redacting a second
    time changes nothing.
    """
    findings = scan(text)
    parts: list[str] = []
    at = 0
    for found in findings:
        if found.grade is Grade.BLOCK:
            secret = text[found.start : found.end]
            parts += (text[at : found.start], placeholder(found.kind, secret, digest))
            at = found.end
    return "".join((*parts, text[at:])), findings


def placeholder(kind: str, secret: str, digest: Digest) -> str:
    """What stands in the place of a secret."""
    mark = digest(view_of(secret).text)
    if not _DIGEST.fullmatch(mark):
        raise ValueError("a secret's digest must be 8 to 12 lower-case hexadecimal digits")
    return f"[secret:{kind}:{mark}]"


def _blocked(view: View) -> tuple[list[_Spotted], View]:
    """The blocking spans, and the view without them and without earlier placeholders."""
    view = view.hide([m.span() for m in _PLACEHOLDER.finditer(view.text) if m[1] in BLOCK_KINDS])
    found: list[_Spotted] = []
    for _ in range(_ROUNDS):
        spotted = _union(_spot(view, Grade.BLOCK))
        if not spotted:
            break
        found += spotted
        view = view.hide([(start, end) for start, end, _ in spotted])
    return _union(found), view


def _spot(view: View, grade: Grade) -> list[_Spotted]:
    lowered = view.text.lower()
    return [
        (start, end, row)
        for row, rule in _OF_GRADE[grade].applicable(lowered)
        for start, end in rule.find(view.text, lowered)
    ]


_OF_GRADE = {
    grade: Table((row, rule) for row, rule in enumerate(RULES) if rule.grade is grade)
    for grade in Grade
}


def _union(spotted: Iterable[_Spotted]) -> list[_Spotted]:
    merged: list[_Spotted] = []
    widest = 0
    for start, end, row in sorted(spotted):
        if merged and start < merged[-1][1]:
            first, last, named = merged[-1]
            if (end - start, -row) > (widest, -named):
                widest, named = end - start, row
            merged[-1] = (first, max(last, end), named)
        else:
            widest = end - start
            merged.append((start, end, row))
    return merged


def _widest(spotted: Iterable[_Spotted]) -> list[_Spotted]:
    kept: list[_Spotted] = []
    for start, end, row in sorted(spotted, key=lambda one: (one[0], -one[1], one[2])):
        if kept and start < kept[-1][1]:
            if end - start > kept[-1][1] - kept[-1][0]:
                kept[-1] = (start, end, row)
        else:
            kept.append((start, end, row))
    return kept
