"""review, confirm, reject, revise: a person's answers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from muniment.cli import cards, words
from muniment.cli.session import Session, session_of
from muniment.errors import InvalidInput, NotFound
from muniment.events.event import Event
from muniment.gate.candidate import Held
from muniment.gate.reasons import explain
from muniment.memory import Memory

Candidate = Annotated[str, typer.Argument(help="The id of what waits; see `review`.")]
Answer = Annotated[
    str | None, typer.Option(help="The event in which the user answered (runtime channel).")
]
Digest = Annotated[str | None, typer.Option(help="Of what was shown; see `review`.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(review)
    app.command()(confirm)
    app.command()(reject)
    app.command()(revise)


def review(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(help="At most so many, the oldest first.")] = 100,
) -> None:
    """What waits for you: the words, the evidence, and the exact commands to answer."""
    session = session_of(ctx)
    with session.open() as memory:
        waiting = [(held, _evidence(memory, held)) for held in memory.review(limit=limit)]
    if session.as_json:
        session.screen.data({"waiting": [_data(held, events) for held, events in waiting]})
        return
    if not waiting:
        session.screen.line("Nothing waits for you.")
    for number, (held, events) in enumerate(waiting):
        if number:
            session.screen.line()
        _show(session, held, events)


def _evidence(memory: Memory, held: Held) -> list[Event]:
    """The events it stands on, as far as they may be read."""
    found = []
    for name in held.candidate.evidence:
        try:
            event = memory.show(name)
        except NotFound:
            continue
        if isinstance(event, Event):
            found.append(event)
    return found


def _data(held: Held, events: list[Event]) -> dict[str, Any]:
    c = held.candidate
    return {
        "candidate": held.id,
        "digest": held.digest,
        "content": c.content,
        "kind": c.kind,
        "subject": c.subject,
        "scope": c.scope,
        "condition": c.condition,
        "predicate": c.predicate,
        "value": c.value,
        "origin": held.origin,
        "reconcile": held.reconcile,
        "target": held.target,
        "reasons": held.reasons,
        "count": held.count,
        "created_at": held.created_at,
        "lapses_at": held.lapses_at,
        "evidence": [
            {"event": e.id, "by": e.kind, "said_at": e.said_at, "text": e.text} for e in events
        ],
    }


def _show(session: Session, held: Held, events: list[Event]) -> None:
    c, screen = held.candidate, session.screen
    what = "delete" if held.reconcile == "delete" else c.kind.value
    screen.line(f"{what}: {c.content}", style="bold yellow")
    screen.fields(
        [
            ("because", "; ".join(f"{explain(r, session.language)} ({r})" for r in held.reasons)),
            ("about", c.subject),
            ("applies to", cards.place(c.scope)),
            ("only when", cards.terms(c.condition)),
            ("concerns", held.target),
            ("times", held.count if held.count > 1 else None),
            ("lapses", cards.when(held.lapses_at)),
            ("candidate", held.id),
            ("digest", held.digest),
        ],
        indent=2,
    )
    for e in events:
        who = cards.speaker(e.kind.value, e.speaker)
        screen.line(f"“{e.text}” ({who}, {cards.when(e.said_at)}, {e.id})", indent=2)
    if not events:
        screen.line("(the evidence is in a conversation that is not yours)", indent=2)
    for verb in ("confirm", "reject"):
        screen.command(session.command(verb, held.id, "--digest", held.digest, person=True))


def confirm(
    ctx: typer.Context,
    candidate: Candidate,
    digest: Digest = None,
    answer: Answer = None,
    key: words.Key = None,
) -> None:
    """Confirm exactly what was shown.  A person does; an agent never may."""
    session = session_of(ctx)
    with session.open() as memory:
        made = memory.confirm(candidate, digest=digest, answer=answer, key=key)
    if session.as_json:
        session.screen.data(made)
    else:
        cards.decision(session.screen, made, session.language)


def reject(
    ctx: typer.Context, candidate: Candidate, digest: Digest = None, answer: Answer = None
) -> None:
    """Reject what waits; it does not come back until the user says it anew."""
    session = session_of(ctx)
    with session.open() as memory:
        held = memory.reject(candidate, digest=digest, answer=answer)
    if session.as_json:
        session.screen.data({"candidate": held.id, "status": "rejected"})
    else:
        session.screen.line(f"Rejected: {held.candidate.content}")


def revise(
    ctx: typer.Context,
    what: Annotated[str, typer.Argument(help="A record, or a candidate that waits.")],
    if_version: Annotated[
        int | None, typer.Option(help="The version you read (records only).")
    ] = None,
    content: Annotated[str | None, typer.Option(help="The new words.")] = None,
    value: Annotated[str | None, typer.Option(help="The new value, as text.")] = None,
    value_json: Annotated[str | None, typer.Option(help="The new value, as JSON.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="All tags from now on.")] = None,
    expires_at: Annotated[str | None, typer.Option(help="Candidates only: until when.")] = None,
    key: words.Key = None,
) -> None:
    """Correct a record: a new version, if nobody changed it since.  Or edit what waits."""
    session = session_of(ctx)
    meaning = words.json_of(value_json, "value-json") if value_json is not None else value
    if what.startswith("cand_"):
        changes = {"content": content, "value": meaning, "tags": tag, "expires_at": expires_at}
        _edit(session, what, {k: v for k, v in changes.items() if v is not None})
        return
    if expires_at is not None:
        raise InvalidInput("revise.unknown_field", "--expires-at is for candidates only")
    if if_version is None:
        raise InvalidInput(
            "version.missing", "pass --if-version with the version you read; `show` tells it"
        )
    with session.open() as memory:
        record = memory.revise(
            what, if_version=if_version, content=content, value=meaning, tags=tag, key=key
        )
    if session.as_json:
        session.screen.data(record)
        return
    session.screen.line(f"Version {record.version} from {cards.when(record.updated_at)} on:")
    session.screen.fields(cards.record_fields(record), indent=2)


def _edit(session: Session, candidate: str, changes: dict[str, Any]) -> None:
    with session.open() as memory:
        held = memory.revise_candidate(candidate, **changes)
        events = _evidence(memory, held)
    if session.as_json:
        session.screen.data(_data(held, events))
    else:
        _show(session, held, events)
