"""remember, propose: through the gate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from muniment.cli import cards, words
from muniment.cli.session import Session, pairs, session_of
from muniment.errors import InvalidInput
from muniment.gate.decision import Action, Decision


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(remember)
    app.command()(propose)


def remember(
    ctx: typer.Context,
    text: Annotated[
        str | None, typer.Argument(help="The words; - reads them from standard input.")
    ] = None,
    event: Annotated[str | None, typer.Option(help="An event appended before instead.")] = None,
    by: words.By = "user",
    thread: words.Thread = None,
    at: words.At = None,
    id: words.MessageId = None,
    speaker: words.Speaker = None,
    path: words.FilePath = None,
    source_url: words.SourceUrl = None,
    name: words.Name = None,
    metadata: words.Metadata = None,
    key: words.Key = None,
) -> None:
    """Read what was said and put it through the gate: each decision comes with its reasons.

    A refusal is an answer, not an error.
    """
    session = session_of(ctx)
    fields = words.message_fields(id, at, speaker, path, source_url, name, metadata)
    with session.open() as memory:
        decisions = memory.remember(
            words.text_of(text),
            event=event,
            by=by,
            thread=thread,
            scope=words.place_of(session, thread, event),
            key=key,
            **fields,
        )
    _show(session, decisions)


def _show(session: Session, decisions: list[Decision]) -> None:
    if session.as_json:
        session.screen.data({"decisions": decisions})
        return
    if not decisions:
        session.screen.line("Nothing in it was a statement; it is kept as evidence only.")
    for made in decisions:
        cards.decision(session.screen, made, session.language)
    if any(made.action is Action.HOLD for made in decisions):
        session.screen.command(session.command("review"), "What waits, and how to answer:")


def propose(
    ctx: typer.Context,
    content: Annotated[str | None, typer.Option(help="The words to remember.")] = None,
    evidence: Annotated[
        list[str] | None, typer.Option(help="An event it rests on; repeatable.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="preference, fact, rule, lesson, …")] = None,
    predicate: Annotated[str | None, typer.Option(help="The fact key, from the catalogue.")] = None,
    value: Annotated[str | None, typer.Option(help="Its value, as text.")] = None,
    value_json: Annotated[str | None, typer.Option(help="Its value, as JSON.")] = None,
    subject: Annotated[str | None, typer.Option(help="Whom or what it is about.")] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACET=WORD", help="entities, paths, stages, tasks, when; repeatable."
        ),
    ] = None,
    record_scope: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="The scope of the record itself; repeatable."),
    ] = None,
    expires_at: Annotated[str | None, typer.Option(help="An instant with a zone.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Repeatable.")] = None,
    write_reason: Annotated[str | None, typer.Option(help="Why it is proposed.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="A JSON object with these and all other fields; - is stdin.")
    ] = None,
    key: words.Key = None,
) -> None:
    """Put a candidate of your own through the gate, on evidence that is already there."""
    session = session_of(ctx)
    given = {
        "content": content,
        "evidence": evidence,
        "kind": kind,
        "predicate": predicate,
        "value": words.json_of(value_json, "value-json") if value_json is not None else value,
        "subject": subject,
        "condition": _facets(condition or []) or None,
        "scope": pairs(record_scope or [], "record-scope") or None,
        "expires_at": expires_at,
        "tags": tag,
        "write_reason": write_reason,
    }
    proposal = {**_from_file(file), **{k: v for k, v in given.items() if v is not None}}
    with session.open() as memory:
        decisions = memory.propose(proposal, scope=session.scope, key=key)
    _show(session, decisions)


def _facets(given: list[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for item in given:
        for facet, term in pairs([item], "condition").items():
            out.setdefault(facet, []).append(term)
    return out


def _from_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    found = words.json_of(words.read(path), str(path))
    if not isinstance(found, dict):
        raise InvalidInput("proposal.invalid", f"{path}: a JSON object with the proposal")
    return found
