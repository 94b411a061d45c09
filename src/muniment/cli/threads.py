"""thread: the state of a conversation or task, its history, and going on with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from muniment.cli import cards, words
from muniment.cli.session import Session, session_of
from muniment.providers.git import GitWorkspace
from muniment.threads.checkpoint import Checkpoint
from muniment.threads.ledger import ToolCall
from muniment.threads.state import LISTS, OBJECTS, SECTIONS, TEXTS

thread = typer.Typer(help="The state of a conversation or task: look, go on, hand over, tidy.")

Label = Annotated[str, typer.Argument(metavar="THREAD", help="A label of yours, or its id.")]
Version = Annotated[int | None, typer.Option(help="At this version; the newest by default.")]
SHOWN_CHARS = 400


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(thread, name="thread")


@thread.command("list")
def list_threads(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(help="At most so many, the newest first.")] = 50,
) -> None:
    """Your threads, newest first.  --project and --scope narrow it down."""
    session = session_of(ctx)
    scope = session.scope if session.scope.to_dict() else None
    with session.open() as memory:
        found = memory.threads.list(limit=limit, scope=scope)
    if session.as_json:
        session.screen.data({"threads": found})
    elif not found:
        session.screen.line("No thread here yet." if scope is None else "No thread fits that.")
    else:
        session.screen.table(
            ("thread", "applies to", "events", "version", "committed", "goal", "next"),
            [
                (
                    t.thread.label or t.thread.id,
                    cards.place(t.thread.scope),
                    t.thread.length,
                    t.thread.version,
                    cards.when(t.at),
                    t.goal,
                    t.next,
                )
                for t in found
            ],
        )


@thread.command()
def show(ctx: typer.Context, thread: Label) -> None:
    """One screen: state, calls without outcome, approvals, and what to try next."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.threads.state(thread)
        calls = memory.threads.calls(thread)
        approvals = memory.threads.approvals(thread)
    if session.as_json:
        data = {"state": found, "calls": calls, "approvals": [a.to_dict() for a in approvals]}
        session.screen.data(data)
        return
    _state(session, found)
    if calls:
        session.screen.heading("Calls of tools")
        session.screen.table(_CALLS, map(_call, calls))
    if approvals:
        session.screen.heading("Approvals")
        for a in approvals:
            session.screen.line(f"{a.approval.name}: {a.standing.value} ({a.reason})", indent=2)
    session.screen.command(session.command("thread", "resume", thread), "To go on with it:")


@thread.command()
def state(ctx: typer.Context, thread: Label, at: Version = None) -> None:
    """The state, now or at an earlier version."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.threads.state(thread, at=at)
    if session.as_json:
        session.screen.data(found)
    else:
        _state(session, found)


@thread.command()
def history(
    ctx: typer.Context,
    thread: Label,
    limit: Annotated[int, typer.Option(help="At most so many, the newest first.")] = 50,
    before: Annotated[int | None, typer.Option(help="Only versions before this one.")] = None,
) -> None:
    """The checkpoints, newest first."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.threads.history(thread, limit=limit, before=before)
    if session.as_json:
        session.screen.data({"checkpoints": [c.to_dict() for c in found]})
    elif not found:
        session.screen.line("No checkpoint here yet.")
    else:
        session.screen.table(
            ("version", "committed", "run", "turn", "step", "events", "bytes"),
            [
                (c.version, cards.when(c.at), c.run, c.turn, c.step, c.through, c.size)
                for c in found
            ],
        )


@thread.command()
def diff(
    ctx: typer.Context,
    thread: Label,
    before: Annotated[int, typer.Argument(help="A version; 0 is before the first.")],
    after: Annotated[int | None, typer.Argument(help="Another; the newest by default.")] = None,
) -> None:
    """What changed between two versions."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.threads.diff(thread, before, after)
    if session.as_json:
        session.screen.data({"differences": [d.to_dict() for d in found]})
        return
    if not found:
        session.screen.line("They say the same.")
    for d in found:
        name = d.section if d.key is None else f"{d.section} {d.key}"
        session.screen.line(name, style="bold")
        for sign, value in (("-", d.before), ("+", d.after)):
            if value is not None:
                session.screen.line(f"{sign} {_short(value)}", indent=2)


@thread.command()
def resume(
    ctx: typer.Context,
    thread: Label,
    worker: Annotated[
        str | None, typer.Option(help="Your name as a worker, the same after a restart.")
    ] = None,
    look: Annotated[
        Path | None, typer.Option(help="A Git working tree to compare the artifacts with.")
    ] = None,
) -> None:
    """Take it up again: what to read, look at, settle, observe and check; then one task."""
    session = session_of(ctx)
    workspace = None if look is None else GitWorkspace(look)
    with session.open() as memory:
        found = memory.threads.resume(thread, worker=worker, look=workspace)
    if session.as_json:
        session.screen.data(found)
    else:
        for line in str(found).splitlines():
            session.screen.line(line)


@thread.command()
def compact(
    ctx: typer.Context,
    thread: Label,
    budget: Annotated[int, typer.Option(help="Tokens the view may have.")] = 4000,
) -> None:
    """A smaller view for the next call of a model; state and events stay as they are."""
    session = session_of(ctx)
    with session.open() as memory:
        view = memory.threads.compact(thread, budget_tokens=budget, language=session.language)
    if session.as_json:
        session.screen.data(view)
        return
    session.screen.line(view.text)
    session.screen.line(
        f"({view.tokens} of {view.budget_tokens} tokens, counted by {view.counter})", style="dim"
    )


@thread.command()
def handoff(
    ctx: typer.Context,
    thread: Label,
    out: Annotated[Path | None, typer.Option(help="A new file for the packet.")] = None,
) -> None:
    """A sealed packet of the facts that whoever goes on cannot do without."""
    session = session_of(ctx)
    with session.open() as memory:
        packet = memory.threads.handoff(thread)
    text = packet.to_json()
    if out is not None:
        words.write_new(out, text + "\n")
        session.screen.line(f"Written: {out}")
        session.screen.command(session.command("thread", "receive", str(out)), "To check it:")
    elif session.as_json:
        session.screen.data(packet.to_dict())
    else:
        print(text)


@thread.command()
def receive(
    ctx: typer.Context,
    packet: Annotated[Path, typer.Argument(help="A packet; - for standard input.")],
) -> None:
    """Check a packet against the store: unchanged, still so, and what its sources make it worth."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.threads.receive(words.read(packet))
    data = {
        "verdict": found.verdict.value,
        "thread": found.thread,
        "version": found.version,
        "current_version": found.current_version,
        "faults": [{"field": f.field, "reason": f.reason} for f in found.faults],
        "facts": {s: [f.to_dict() for f in facts] for s, facts in found.facts.items()},
    }
    if session.as_json:
        session.screen.data(data)
        return
    session.screen.line(f"{found.verdict.value}: version {found.version}", style="bold")
    for fault in found.faults:
        session.screen.line(f"at fault: {fault.field} ({fault.reason})", indent=2)
    for section, facts in found.facts.items():
        for fact in facts:
            session.screen.line(f"{section}: {fact.text} [{fact.origin}]", indent=2)


@thread.command()
def fork(
    ctx: typer.Context,
    thread: Label,
    to: Annotated[str, typer.Argument(help="The label of the new thread.")],
    at: Version = None,
) -> None:
    """A new thread that goes on from a version of this one."""
    session = session_of(ctx)
    with session.open() as memory:
        made = memory.threads.fork(thread, to, at=at)
    if session.as_json:
        session.screen.data(made.to_dict())
    else:
        session.screen.line(f"{to} goes on from {made.parent}.")


@thread.command()
def prune(
    ctx: typer.Context,
    thread: Label,
    keep: Annotated[int, typer.Option(help="How many of the newest checkpoints to keep.")] = 1,
) -> None:
    """Remove old checkpoints; the state stays as it is."""
    session = session_of(ctx)
    with session.open() as memory:
        gone = memory.threads.prune(thread, keep=keep)
    if session.as_json:
        session.screen.data({"removed": gone})
    else:
        session.screen.line(f"{gone} checkpoints removed.")


@thread.command()
def delete(ctx: typer.Context, thread: Label, yes: words.Yes = False) -> None:
    """Remove a thread's state, calls, approvals and large values; late writes are refused.

    What was said in it stays evidence: `erase` removes that.
    """
    session = session_of(ctx)
    with session.open() as memory:
        if not yes and session.asks:
            session.agree(f"Remove the state of {thread} for good?")
        counts = memory.threads.delete(thread)
    if session.as_json:
        session.screen.data({"removed": counts})
    else:
        shown = ", ".join(f"{n} {kind}" for kind, n in counts.items() if n) or "nothing"
        session.screen.line(f"Removed: {shown}. The thread takes nothing more.")


# ---------------------------------------------------------------- for people

_CALLS = ("key", "tool", "status", "attempt", "begun", "result or how to look")


def _call(call: ToolCall) -> tuple[object, ...]:
    told = call.error or (call.observe if not call.settled else _short(call.result))
    return (call.key, call.name, call.status.value, call.attempt, cards.when(call.begun_at), told)


def _state(session: Session, found: Checkpoint) -> None:
    screen = session.screen
    if not found.version:
        screen.line("No state is committed here yet.")
        return
    screen.line(f"version {found.version}, committed {cards.when(found.at)}", style="bold")
    for section in SECTIONS:
        value = found.state.get(section)
        if value is None:
            continue
        if section in TEXTS:
            screen.line(f"{section}: {value}")
            continue
        screen.line(f"{section}:")
        for line in _lines(section, value):
            screen.line(line, indent=2)


def _lines(section: str, value: Any) -> list[str]:
    if section in OBJECTS:
        return [f"{name}: {_short(inner)}" for name, inner in value.items()]
    key = LISTS[section] or "text"
    return [_item(item, key) for item in value]


def _item(item: Mapping[str, Any], key: str) -> str:
    more = ", ".join(f"{n} {_short(v)}" for n, v in item.items() if n != key)
    return f"{item[key]} ({more})" if more else str(item[key])


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"
