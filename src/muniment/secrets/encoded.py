"""One layer of base64: a run that decodes to text which holds a secret is one itself."""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from muniment.secrets.checks import Span
from muniment.secrets.findings import Grade
from muniment.secrets.rule import Find, Rule, Table
from muniment.secrets.view import MASK, view_of

_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,262144}+={0,2}", re.ASCII)
_APART = f"\n{MASK}\n"
_TO_STANDARD = str.maketrans("-_", "+/")


def finder(rules: Sequence[Rule]) -> Find:
    """A finder of runs in whose decoded text a blocking rule finds something."""
    blocking = Table((n, rule) for n, rule in enumerate(rules) if rule.grade is Grade.BLOCK)

    def find(text: str, _lowered: str) -> list[Span]:
        runs = [(m.span(), plain) for m in _RUN.finditer(text) if (plain := _decoded(m.group()))]
        return [runs[at][0] for at in _holding(blocking, [plain for _, plain in runs])]

    return find


def _decoded(run: str) -> str:
    """The text behind a run; empty where it is not printable text."""
    plain = run.rstrip("=").translate(_TO_STANDARD)
    if len(plain) % 4 == 1:
        return ""
    try:
        text = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8")
    except ValueError:
        return ""
    return text if text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else ""


def _holding(rules: Table, pieces: list[str]) -> list[int]:
    """Which pieces hold a secret. Read as one text, since rules cost by the call."""
    views = [view_of(piece).text for piece in pieces]
    starts = list(accumulate((len(view) + len(_APART) for view in views), initial=0))
    text = _APART.join(views)
    lowered = text.lower()
    found = [
        span
        for _, rule in (rules.applicable(lowered) if views else ())
        for span in rule.find(text, lowered)
    ]
    return sorted({bisect_right(starts, start) - 1 for start, _ in found})
