"""scenario run: stories with expectations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from muniment.cli.session import session_of

scenario = typer.Typer(help="Behaviour as data: run stories and see whether they hold.")


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(scenario, name="scenario")


@scenario.callback()
def group() -> None:
    """Behaviour as data: run stories and see whether they hold."""


@scenario.command("run")
def run(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Scenario files.")],
    through: Annotated[
        str, typer.Option(help="The surface to run through: python, cli, http or mcp.")
    ] = "python",
) -> None:
    """Run scenarios, on a store of their own or with --url on that one.

    Ends with 0 if every expectation held, 1 if one did not, 2 if a file is no scenario or has a
    verb this version lacks.
    """
    from muniment.scenario.run import run_files

    session = session_of(ctx)
    code = run_files(
        files,
        url=session.given.url,
        through=through,
        as_json=session.as_json,
        out=sys.stdout,
    )
    raise typer.Exit(code)
