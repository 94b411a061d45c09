"""One layer of base64: a run that decodes to text which holds a secret is one itself."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from muniment.secrets.checks import Span
from muniment.secrets.findings import Grade
from muniment.secrets.rule import Find, Rule, Table
from muniment.secrets.view import view_of

_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,262144}+={0,2}", re.ASCII)
_TO_STANDARD = str.maketrans("-_", "+/")


def finder(rules: Sequence[Rule]) -> Find:
    """A finder of runs in whose decoded text a blocking rule finds something."""
    blocking = Table((n, rule) for n, rule in enumerate(rules) if rule.grade is Grade.BLOCK)

    def find(text: str, _lowered: str) -> list[Span]:
        return [m.span() for m in _RUN.finditer(text) if _holds(blocking, _decoded(m.group()))]

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


def _holds(rules: Table, decoded: str) -> bool:
    if not decoded:
        return False
    view = view_of(decoded).text
    lowered = view.lower()
    return any(rule.find(view, lowered) for _, rule in rules.applicable(lowered))
