"""recall, context: what applies to a task."""

from __future__ import annotations

from typing import Annotated

import typer

from muniment.cli import cards, words
from muniment.cli.screen import Screen
from muniment.cli.session import Session, session_of
from muniment.context.compose import Context
from muniment.recall.envelope import Recalled


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(recall)
    app.command()(context)
    app.command()(used)


def recall(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="The task or question; - reads standard input.")],
    archive: Annotated[
        bool, typer.Option("--archive", help="Search the turns of your conversations instead.")
    ] = False,
    layer: Annotated[
        list[str] | None, typer.Option(help="records, archive; repeatable for both.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the named parts of each score.")
    ] = False,
    stage: words.Stage = None,
    entity: words.Entity = None,
    path: words.TaskPath = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only these kinds; repeatable.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 8,
    neighbours: Annotated[int, typer.Option(help="Turns on either side (archive).")] = 1,
) -> None:
    """Get back what applies here and answers the task, best first, each with its source."""
    session = session_of(ctx)
    layers = tuple(layer or (("archive",) if archive else ("records",)))
    with session.open() as memory:
        found = memory.recall(
            words.text_of(text) or "",
            scope=session.scope,
            stage=stage,
            entities=entity or (),
            paths=path or (),
            kinds=kind or (),
            layers=layers,
            limit=limit,
            neighbours=neighbours,
        )
    if session.as_json:
        session.screen.data(found)
    else:
        _show(session, found, layers, explain)


def _show(session: Session, found: Recalled, layers: tuple[str, ...], explain: bool) -> None:
    screen = session.screen
    _degraded(screen, found.degraded)
    if not found.envelopes:
        if found.degraded:
            return
        screen.line("Nothing is known about that here.")
        if "archive" not in layers:
            hint = session.command("recall", "--archive", "…")
            screen.command(hint, "What was said can still be searched:")
        return
    for number, e in enumerate(found.envelopes):
        if number:
            screen.line()
        if e.layer == "archive":
            cards.turn(screen, e, explain_score=explain)
        else:
            cards.envelope(screen, e, explain_score=explain)


def _degraded(screen: Screen, degraded: tuple[str, ...]) -> None:
    if degraded:
        screen.line(f"Incomplete: {', '.join(degraded)}", style="bold yellow")


def context(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="The task; - reads standard input.")],
    stage: words.Stage = None,
    entity: words.Entity = None,
    path: words.TaskPath = None,
    budget: Annotated[int, typer.Option(help="Tokens the block may take.")] = 800,
    window: Annotated[
        list[str] | None, typer.Option(help="A text the model has already; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(help="At most so many memories.")] = 20,
) -> None:
    """Compose the fenced block for a model; then the report of what is in it and what is not."""
    session = session_of(ctx)
    with session.open() as memory:
        composed = memory.context(
            words.text_of(text) or "",
            scope=session.scope,
            stage=stage,
            entities=entity or (),
            paths=path or (),
            budget_tokens=budget,
            window=window or (),
            limit=limit,
            language=session.given.language,
        )
    if session.as_json:
        session.screen.data(composed)
    else:
        block(session.screen, composed)
        session.screen.line()
        account(session.screen, composed)


def block(screen: Screen, composed: Context) -> None:
    """What goes to the model: policy to the system prompt, memory as fenced data."""
    for rule in composed.policy:
        screen.line(f"Policy (for the system prompt): {rule}")
    screen.raw(composed.memory or "(no block: nothing here is worth saying)")


def account(screen: Screen, composed: Context) -> None:
    """Why each thing is in the block or not."""
    report = composed.report
    screen.fields(
        [
            ("tokens", f"{report.tokens} of {report.budget_tokens}, counted by {report.counter}"),
            ("included", ", ".join(report.included) or "nothing"),
            ("left out", "; ".join(f"{id} ({why})" for id, why in report.left_out)),
        ]
    )
    for found in report.conflicts:
        screen.line(
            f"Conflict: {found['content']} ({found['record']}): {found['reason']}",
            style="yellow",
        )
    _degraded(screen, composed.degraded)
    if composed.incomplete_rules:
        screen.line("Incomplete rules: a rule that applies did not fit.", style="bold red")


def used(
    ctx: typer.Context,
    turn: Annotated[str, typer.Argument(help="The id of the turn.")],
    use: Annotated[str, typer.Argument(help="offered, injected, cited or corrected.")],
    records: Annotated[list[str], typer.Argument(help="The records.")],
) -> None:
    """Record what a turn did with memories; it feeds their ranking."""
    session = session_of(ctx)
    with session.open() as memory:
        memory.used(turn, use, records)
    if session.as_json:
        session.screen.data({"turn": turn, "use": use, "records": records})
    else:
        session.screen.line(f"Noted: {use} {len(records)} in {turn}.")
