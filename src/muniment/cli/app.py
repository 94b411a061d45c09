"""The root command: shared options, wherever they stand, and one way to end."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from muniment import __version__
from muniment.cli import (
    database,
    demo,
    evaluating,
    evidence,
    forgetting,
    keeping,
    learning,
    looking,
    moving,
    policy,
    recalling,
    reviewing,
    scenarios,
    threads,
    writing,
)
from muniment.cli.exits import code_of, report, report_bug, tell
from muniment.cli.session import Given, Session
from muniment.errors import MunimentError

_WITH_VALUE = {
    "--url",
    "--tenant",
    "--user",
    "--team",
    "--role",
    "--project",
    "--scope",
    "--key-file",
    "--language",
}
_FLAGS = {"--json", "--traceback"}


def hoisted(words: Sequence[str]) -> list[str]:
    """The shared options first, wherever they were written before a ``--``."""
    first: list[str] = []
    rest: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return [*first, *rest, word, *waiting]
        if word in _FLAGS or (word.partition("=")[0] in _WITH_VALUE and "=" in word):
            first.append(word)
        elif word in _WITH_VALUE:
            first += [word, *waiting[:1]]
            waiting = waiting[1:]
        else:
            rest.append(word)
    return [*first, *rest]


class Root(TyperGroup):
    """Turns every ending into an exit code of `muniment.cli.exits.EXITS`."""

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,
    ) -> Any:
        """Run; always leaves by `SystemExit`."""
        words = hoisted(sys.argv[1:] if args is None else args)
        before = words[: words.index("--")] if "--" in words else words
        as_json = "--json" in before
        extra["standalone_mode"] = False
        try:
            code = super().main(args=words, prog_name=prog_name or "muniment", **extra) or 0
        except MunimentError as error:
            code = report(error, as_json=as_json)
        except typer.Abort:
            tell("interrupted", "interrupted", "no answer was given", as_json=as_json)
            code = code_of("interrupted")
        except Exception as error:
            if not hasattr(error, "format_message"):
                verbose = "--traceback" in before
                code = report_bug(error, as_json=as_json, with_traceback=verbose)
            else:
                code = _usage(error, as_json)
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:
        """A command, with the two endings that no command has to think of."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except KeyboardInterrupt:
            print("\nInterrupted. What was committed stays; nothing is half done.", file=sys.stderr)
            raise typer.Exit(code_of("interrupted")) from None
        except BrokenPipeError:
            # The interpreter would complain again when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(code_of("pipe")) from None


def _usage(error: Any, as_json: bool) -> int:
    tell("invalid_input", "usage", error.format_message(), as_json=as_json)
    ctx = getattr(error, "ctx", None)
    if ctx is not None and not as_json:
        print(f"Try '{ctx.command_path} --help'.", file=sys.stderr)
    return code_of("invalid_input")


app = typer.Typer(
    cls=Root,
    name="muniment",
    help="Memory for agents: what is kept has a source, an owner, a place, a term and a way back.",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"muniment {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(help="The store: sqlite:///file.db or postgresql://… (MUNIMENT_URL)."),
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="The tenant (MUNIMENT_TENANT).")] = None,
    user: Annotated[str | None, typer.Option(help="The user who acts (MUNIMENT_USER).")] = None,
    team: Annotated[
        list[str] | None, typer.Option(help="A team the user belongs to; repeatable.")
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option(help="A role the user has, such as approve; repeatable.")
    ] = None,
    project: Annotated[
        str | None, typer.Option(help="The project it is about (MUNIMENT_PROJECT).")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Another part of the place, such as task=article."),
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option(help="Where the chain key lives (MUNIMENT_KEY_FILE).")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Of explanations: en or zh (MUNIMENT_LANGUAGE).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document instead.")] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show the traceback of a bug.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_version, help="Print the version."),
    ] = False,
) -> None:
    """Shared options may stand before or after the command."""
    given = Given(
        url=url,
        tenant=tenant,
        user=user,
        teams=tuple(team or ()),
        roles=tuple(role or ()),
        project=project,
        scope=tuple(scope or ()),
        key_file=key_file,
        language=language,
        as_json=as_json,
    )
    ctx.obj = Session(given)
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


for _module in (
    demo,
    evidence,
    writing,
    learning,
    reviewing,
    recalling,
    looking,
    forgetting,
    keeping,
    moving,
    policy,
    threads,
    scenarios,
    evaluating,
    database,
):
    _module.add_to(app)


def main() -> None:
    """The entry point of the command ``muniment``."""
    app(prog_name="muniment")
