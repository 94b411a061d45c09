"""list, show, history, why, profile: what is remembered, and why."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from muniment.cli import cards
from muniment.cli.session import Session, pairs, session_of
from muniment.records.record import Record
from muniment.verbs.explaining import Why

RecordId = Annotated[str, typer.Argument(help="The id of a record.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("list")(list_records)
    app.command()(show)
    app.command()(history)
    app.command()(why)
    app.command()(profile)


def list_records(
    ctx: typer.Context,
    status: Annotated[
        str | None, typer.Option(help="scheduled, active, superseded or expired.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="preference, fact, rule, lesson, …")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="predicate, subject, tag, muted, or a part of the scope; repeatable.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(help="At most so many, the oldest first.")] = 100,
    after: Annotated[str | None, typer.Option(help="Go on after this record.")] = None,
) -> None:
    """The records you may know of.  --project and --scope narrow it down."""
    session = session_of(ctx)
    conditions: dict[str, Any] = {**session.scope.to_dict(), **pairs(where or [], "where")}
    conditions |= {k: v for k, v in (("status", status), ("kind", kind)) if v is not None}
    if conditions.get("muted") in ("true", "false"):
        conditions["muted"] = conditions["muted"] == "true"
    with session.open() as memory:
        records = memory.list(where=conditions, limit=limit, after=after)
    if session.as_json:
        session.screen.data({"records": records})
        return
    if not records:
        _nothing(session, bool(conditions) or after is not None)
        return
    session.screen.table(
        ("record", "kind", "status", "applies to", "said", "content"), map(_row, records)
    )
    if len(records) == limit:
        session.screen.line(f"There may be more: --after {records[-1].id}")


def _row(r: Record) -> tuple[object, ...]:
    status = f"{r.status.value}, muted" if r.muted else r.status.value
    condition = cards.terms(r.condition)
    content = f"{r.content} [{condition}]" if condition else r.content
    said = r.said_at.date().isoformat()
    return (r.id, r.kind.value, status, cards.place(r.scope), said, content)


def _nothing(session: Session, narrowed: bool) -> None:
    if narrowed:
        session.screen.line("No record fits that.")
        return
    session.screen.line("Nothing is remembered here yet.")
    hint = session.command("remember", "From now on use pnpm here.", "--project", "app")
    session.screen.command(hint, "Try:")


def show(
    ctx: typer.Context,
    what: Annotated[str, typer.Argument(help="The id of a record, or of an event of yours.")],
) -> None:
    """A record or an event with everything that is known about it."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.show(what)
    if session.as_json:
        session.screen.data(found)
    elif isinstance(found, Record):
        session.screen.fields(cards.record_fields(found))
    else:
        session.screen.fields(cards.event_fields(found))


def history(
    ctx: typer.Context,
    record: RecordId,
    as_of: Annotated[str | None, typer.Option(help="What was so then; an instant.")] = None,
    believed_at: Annotated[
        str | None, typer.Option(help="According to what was believed then; an instant.")
    ] = None,
) -> None:
    """What held when, and what was believed when, across the records of one fact."""
    session = session_of(ctx)
    with session.open() as memory:
        answer = memory.history(record, as_of=as_of, believed_at=believed_at)
    screen = session.screen
    if session.as_json:
        screen.data(answer)
        return
    then = f"On {cards.when(answer.as_of)}, as believed on {cards.when(answer.believed_at)}"
    screen.line(f"{then}: {answer.content or 'nothing'}", style="bold")
    screen.fields([("record", answer.record), ("versions of this record", answer.versions)])
    screen.line()
    screen.table(
        ("record", "status", "from", "to", "version", "content"),
        [
            (
                entry["record"],
                entry["status"],
                cards.when(entry["valid_from"]),
                cards.when(entry["valid_to"]) or "",
                entry["version"],
                entry["content"] or "(erased)",
            )
            for entry in answer.timeline
        ],
    )


def why(ctx: typer.Context, record: RecordId) -> None:
    """From a record to the very words it stands on, and what you can do about it."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.why(record, language=session.language)
    if session.as_json:
        session.screen.data(found)
    else:
        _why(session, found)


def _why(session: Session, found: Why) -> None:
    screen, r = session.screen, found.record
    screen.line(r.content or "(erased)", style="bold")
    screen.fields(
        [
            ("kind", f"{r.kind.value}, {r.status.value}, version {r.version}"),
            ("applies to", cards.place(r.scope)),
            ("only when", cards.terms(r.condition)),
            ("origin", r.origin.value),
            ("replaces", found.superseded),
        ],
        indent=2,
    )
    screen.heading("What was said")
    for quote in found.quotes:
        text = "(erased)" if quote["erased"] else f"“{quote['text']}”"
        screen.line(f"{cards.speaker(quote['by'], quote['speaker'])}: {text}")
        source = quote["path"] or quote["url"]
        screen.fields(
            [("said", cards.when(quote["said_at"])), ("from", source), ("event", quote["event"])],
            indent=2,
        )
    screen.heading("What was decided")
    for made in found.decisions:
        screen.line(f"{cards.when(made['at'])}: {made['action']} / {made['reconcile']}")
        reasons = "; ".join(f"{r['text']} ({r['code']})" for r in made["reasons"])
        screen.fields(
            [("because", reasons), ("by", f"{made['writer']} ({made['write_reason']})")], indent=2
        )
    _actions(session, found)


def _actions(session: Session, found: Why) -> None:
    screen, r = session.screen, found.record
    screen.heading("What you can do" if found.actions else "It is not yours to change")
    if "correct" in found.actions:
        words = ("revise", r.id, "--if-version", str(r.version), "--content", r.content or "…")
        screen.command(session.command(*words), "correct it (put the right words in)")
    if "mute" in found.actions:
        screen.command(session.command("unmute" if r.muted else "mute", r.id), _mute_note(r))
    if "delete" in found.actions:
        screen.command(
            session.command("delete", r.id, person=True), "delete it (it is not learnt again)"
        )


def _mute_note(r: Record) -> str:
    return "recall it again" if r.muted else "stop recalling it (unmute brings it back)"


def profile(ctx: typer.Context) -> None:
    """What is currently known of you, as one document."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.profile()
    screen = session.screen
    if session.as_json:
        screen.data(found)
        return
    screen.line(found["subject"], style="bold")
    if not found["fields"]:
        screen.line("Nothing is known of this user yet.")
    for name, entries in found["fields"].items():
        screen.line(f"{name}:")
        for entry in entries:
            screen.line(f"{entry['content']} ({cards.place(entry['scope'])})", indent=2)
            screen.line(f"since {cards.when(entry['since'])}; {entry['record']}", indent=4)
