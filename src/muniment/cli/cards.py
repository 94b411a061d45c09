"""Decisions, records, turns and envelopes as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from muniment.cli.screen import Screen
from muniment.events.event import Event
from muniment.gate.decision import Action, Decision, Reconcile
from muniment.gate.reasons import explain
from muniment.recall.envelope import Envelope
from muniment.records.condition import Condition
from muniment.records.record import Record
from muniment.scope import Scope

_STYLE = {
    Action.ACTIVATE: "bold green",
    Action.HOLD: "bold yellow",
    Action.THREAD_ONLY: "bold blue",
    Action.IGNORE: "bold",
    Action.REFUSE: "bold red",
}
_ACTIONS = {
    Action.ACTIVATE: ("in force", "已生效"),
    Action.HOLD: ("held: somebody has to confirm it", "待确认"),
    Action.THREAD_ONLY: ("for this conversation only", "只用于本次会话"),
    Action.IGNORE: ("ignored", "忽略"),
    Action.REFUSE: ("refused", "拒绝"),
}
_WORDS = {
    "reasons": ("because", "因为"),
    "applies": ("applies to", "适用于"),
    "when": ("only when", "条件"),
    "replaces": ("replaces", "取代"),
    "exception_of": ("exception to", "例外于"),
    "until": ("valid until", "有效至"),
    "record": ("record", "记录"),
    "candidate": ("candidate", "候选"),
    "everyone": ("everyone in the tenant", "整个租户"),
}


def word(name: str, language: str) -> str:
    """A label in the reader's language."""
    en, zh = _WORDS[name]
    return zh if language == "zh" else en


def when(at: datetime | str | None) -> str | None:
    """An instant to the minute, in UTC."""
    if at is None:
        return None
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def place(scope: Scope | Mapping[str, str], language: str = "en") -> str:
    """A scope in words."""
    parts = scope.to_dict() if isinstance(scope, Scope) else scope
    shown = ", ".join(f"{name} {value}" for name, value in parts.items())
    return shown or word("everyone", language)


def terms(condition: Condition | Mapping[str, Sequence[str]]) -> str | None:
    """A condition in words; nothing for always."""
    parts = condition.to_dict() if isinstance(condition, Condition) else condition
    shown = "; ".join(f"{name}: {', '.join(values)}" for name, values in parts.items())
    return shown or None


def decision(screen: Screen, made: Decision, language: str, *, indent: int = 0) -> None:
    """One decision: what became of which words, and every reason, the decisive one first."""
    c, zh = made.candidate, language == "zh"
    known = made.reconcile is Reconcile.MERGE
    meaning = ("known already", "已经知道") if known else _ACTIONS[made.action]
    screen.line(
        f"{made.action.value} / {made.reconcile.value}: {meaning[zh]}"
        + (" (replayed)" if made.replayed else ""),
        style=_STYLE[made.action],
        indent=indent,
    )
    screen.line(f"{c.kind.value}: {c.content}", indent=indent + 2)
    names = [f"{explain(code, language)} ({code})" for code in made.reasons]
    screen.fields(
        [
            (word("reasons", language), "; ".join(names)),
            (word("applies", language), place(c.scope, language)),
            (word("when", language), terms(c.condition)),
            (word("replaces", language), made.supersedes),
            (word("exception_of", language), made.exception_of),
            (word("until", language), when(made.expires_at)),
            (word("record", language), made.record_id),
            (word("candidate", language), made.candidate_id if made.digest else None),
        ],
        indent=indent + 2,
    )


def record_fields(r: Record) -> list[tuple[str, object]]:
    """A record's title: who, where, since when, by what right."""
    standing = f"{r.status.value}, muted" if r.muted else r.status.value
    return [
        ("record", r.id),
        ("kind", r.kind.value),
        ("content", r.content if r.content is not None else "(erased)"),
        ("about", r.subject),
        ("applies to", place(r.scope)),
        ("only when", terms(r.condition)),
        ("fact", f"{r.predicate} = {r.value}" if r.predicate else None),
        ("origin", r.origin.value if r.sure else f"{r.origin.value}, unsure"),
        ("status", standing),
        ("version", r.version),
        ("said", when(r.said_at)),
        ("valid from", when(r.valid_from)),
        ("valid to", when(r.valid_to)),
        ("expires", when(r.expires_at)),
        ("look again", r.refresh),
        ("replaces", r.supersedes),
        ("exception to", r.exception_of),
        ("sensitivity", r.sensitivity.value),
        ("tags", ", ".join(r.tags)),
        ("evidence", ", ".join(r.evidence)),
        ("written by", f"{r.writer} ({r.write_reason})"),
    ]


def event_fields(e: Event) -> list[tuple[str, object]]:
    """An event's title."""
    return [
        ("event", e.id),
        ("thread", e.thread),
        ("by", speaker(e.kind.value, e.speaker)),
        ("said", when(e.said_at)),
        ("recorded", when(e.recorded_at)),
        ("applies to", place(e.scope)),
        ("path", e.path),
        ("url", e.url),
        ("name", e.name),
        ("vouched for", "yes" if e.attested else "no"),
        ("secrets", "taken out before storing" if e.redacted else None),
        ("text", e.text if e.text is not None else "(erased)"),
    ]


def speaker(by: object, name: object) -> str:
    """Who spoke: the kind, and the name where one is known."""
    return f"{by} ({name})" if name else str(by)


def envelope(screen: Screen, e: Envelope, *, explain_score: bool = False) -> None:
    """One result with its source; ``explain_score`` adds the named parts of the score."""
    mark = "rule, loaded" if e.loaded and e.kind == "rule" else e.kind
    screen.line(e.content, style="bold")
    screen.fields(
        [
            ("what", f"{mark}, {e.origin.replace('_', ' ')}, said {when(e.said_at)}"),
            ("applies to", place(e.scope)),
            ("only when", terms(e.condition)),
            ("record", e.id),
            ("overridden by", e.overridden_by),
            ("conflicts with", ", ".join(e.conflicts_with)),
            ("valid until", when(e.expires_at)),
            ("look again", e.refresh),
            ("sure", None if e.sure else "no: verify first"),
            ("score", score(e) if explain_score else None),
        ],
        indent=2,
    )


def score(e: Envelope) -> str:
    """A score as the sum of its named parts."""
    shown = " ".join(f"{'+' if v >= 0 else '-'} {k} {abs(v):.3f}" for k, v in e.parts.items())
    return f"{e.score:.3f} = {shown.removeprefix('+ ')}"


def turn(screen: Screen, e: Envelope, *, explain_score: bool = False) -> None:
    """A turn of the archive among its neighbours, with its address."""
    here = int(e.source.get("seq", 0))
    rows: list[tuple[int, str, Any, bool]] = [
        (int(n["seq"]), speaker(n["by"], n["speaker"]), n["text"], False) for n in e.neighbours
    ]
    rows.append((here, speaker(e.origin, e.source.get("speaker")), e.content, True))
    for seq, who, text, found in sorted(rows, key=lambda row: row[0]):
        arrow = ">" if found else " "
        screen.line(f"{arrow} #{seq} {who}: {text}", style="bold" if found else "dim")
    screen.fields(
        [
            ("said", when(e.said_at)),
            ("event", e.id),
            ("thread", e.source.get("thread")),
            ("score", score(e) if explain_score else None),
        ],
        indent=2,
    )
