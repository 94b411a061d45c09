"""settings, doctor, verify, rebuild-index, tidy, scrub: looking after a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from muniment.cli import evidence
from muniment.cli.exits import code_of
from muniment.cli.session import Session, session_of, shown_url


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (settings, doctor, verify, rebuild_index, tidy, scrub):
        app.command(command.__name__.replace("_", "-"))(command)


def settings(
    ctx: typer.Context,
    pause: Annotated[bool | None, typer.Option(help="Neither write nor recall.")] = None,
    pause_writes: Annotated[bool | None, typer.Option(help="Remember nothing new.")] = None,
    pause_recall: Annotated[bool | None, typer.Option(help="Recall nothing.")] = None,
    disable_kind: Annotated[
        list[str] | None, typer.Option(help="Never remember this kind; repeatable.")
    ] = None,
    enable_all_kinds: Annotated[
        bool, typer.Option("--enable-all-kinds", help="Remember every kind again.")
    ] = False,
    tenant_wide: Annotated[
        bool, typer.Option("--tenant-wide", help="For the whole tenant (admin).")
    ] = False,
) -> None:
    """Read the switches, or change them."""
    session = session_of(ctx)
    given: dict[str, Any] = {
        "pause": pause,
        "pause_writes": pause_writes,
        "pause_recall": pause_recall,
        "disable_kinds": [] if enable_all_kinds else disable_kind,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    with session.open() as memory:
        found = memory.settings(tenant_wide=tenant_wide, **changes)
    if session.as_json:
        session.screen.data(found)
        return
    kinds = ", ".join(found["disable_kinds"]) or "none"
    session.screen.fields(
        [
            ("writing", "paused" if found["pause_writes"] else "on"),
            ("recall", "paused" if found["pause_recall"] else "on"),
            ("kinds switched off", kinds),
            ("of", "the tenant" if tenant_wide else f"user {session.principal.user}"),
        ]
    )


def doctor(ctx: typer.Context) -> None:
    """One screen: store, schema, role, key, counts, index lag, and what is pending."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.doctor()
    if session.as_json:
        session.screen.data({"url": shown_url(session.url), **found})
        return
    records = ", ".join(f"{n} {status}" for status, n in found["records"].items())
    lag = found["index_lag"]
    session.screen.fields(
        [
            ("store", f"{found['store']}, {shown_url(session.url)}"),
            ("schema", found["schema"]),
            ("role", found["role"]),
            ("writable", f"no: {found['read_only']}" if found["read_only"] else "yes"),
            ("key", found["key"] or "missing"),
            ("audit of reads", found["audit_lane"]),
            ("policy", found["policy"]),
            ("readable by others", _exposed(found["open_to_others"])),
            ("tenant, user", f"{session.principal.tenant}, {session.principal.user}"),
            ("channel", session.principal.channel.value),
            ("evidence", f"{found['events']} events in {found['threads']} conversations"),
            ("records", records or "none yet"),
            ("waiting for an answer", found["held"]),
            ("index", f"{lag} changes behind" if lag else "up to date"),
            ("embedder", _embedder(found)),
            ("erasures unfinished", found["erasures_pending"]),
        ]
    )
    for text, command in advice(found):
        session.screen.command(session.command(*command), text)


def _embedder(found: Mapping[str, Any]) -> str:
    """Who makes the vectors, and whether all are there."""
    if found["embedder"] is None:
        return "none: words alone"
    state = "vectors missing" if found["vectors_missing"] else "every vector is there"
    return f"{found['embedder']}, {'it has just failed' if found['embedder_down'] else state}"


def _exposed(names: Sequence[str]) -> str | None:
    """Files others can read, with what to do about it."""
    return f"{', '.join(names)} (run chmod 600 on them)" if names else None


def advice(found: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """What to do about what a doctor found, each with its command."""
    out: list[tuple[str, tuple[str, ...]]] = []
    if not found["events"]:
        words = ("remember", "From now on use pnpm here.", "--project", "app")
        out.append(("Nothing is remembered here yet. Try:", words))
    if found["key"] is None:
        out.append(("If the key is lost for good, start a new epoch:", ("db", "new-key")))
    if found["events"] and not found["index_known"]:
        out.append(("The index is not filled; fill it:", ("rebuild-index",)))
    if found["held"]:
        out.append(("Somebody may have to answer:", ("review",)))
    due = ("lapsed_not_tidied", "expired_not_tidied", "erasures_pending")
    if any(found.get(name) for name in due):
        out.append(("Some things are due:", ("tidy",)))
    return out


def verify(ctx: typer.Context) -> None:
    """Check every chain of the tenant; ends with 1 and the first bad row if one does not fit."""
    session = session_of(ctx)
    with session.open() as memory:
        found = memory.verify()
    if session.as_json:
        session.screen.data(found)
    else:
        _verified(session, found.to_dict())
    if not found.ok:
        raise typer.Exit(code_of("failed"))


def _verified(session: Session, found: Mapping[str, Any]) -> None:
    screen = session.screen
    if found["ok"]:
        screen.line("Every chain fits.", style="bold green")
    else:
        screen.line("A chain is broken.", style="bold red")
    bad = found["first_bad"]
    since = found["unverifiable_since"]
    screen.fields(
        [
            ("first bad row", f"{bad['table']} {bad['row']}: {bad['why']}" if bad else None),
            ("events", found["events"]),
            ("trail entries", found["trail_entries"]),
            ("erased", found["erased"]),
            ("unverifiable", f"{found['unverifiable']}, since {since}" if since else None),
        ]
    )


def rebuild_index(ctx: typer.Context) -> None:
    """Fill the index again from records and events, vectors included.

    It can be interrupted and run again.
    """
    session = session_of(ctx)
    with session.open() as memory, evidence.progress("Indexing") as advance:
        total = memory.rebuild_index(progress=advance)
        missing = memory.doctor()["vectors_missing"]
    if session.as_json:
        session.screen.data({"indexed": total, "vectors_missing": missing})
        return
    session.screen.line(f"The index holds {total} records and events.")
    if missing:
        session.screen.command(session.command("tidy"), "vectors are missing; this makes them:")


def tidy(ctx: typer.Context) -> None:
    """Lapse, expire, promote, finish erasures, make missing vectors: a worker's chores."""
    session = session_of(ctx)
    with session.open() as memory:
        done = memory.tidy()
    if session.as_json:
        session.screen.data(done)
    else:
        session.screen.fields([(name.replace("_", " "), n) for name, n in done.items()])


def scrub(ctx: typer.Context) -> None:
    """Rewrite what may still hold erased words; needed on PostgreSQL, which locks meanwhile."""
    session = session_of(ctx)
    with session.open() as memory:
        done = memory.scrub()
    if session.as_json:
        session.screen.data(done)
        return
    session.screen.fields(
        [
            (name.replace("_", " "), "; ".join(n) if isinstance(n, list) else n)
            for name, n in done.items()
        ]
    )
