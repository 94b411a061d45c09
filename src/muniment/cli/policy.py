"""policy: what a policy file says, and what it would decide."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

import muniment
from muniment.cli import cards, words
from muniment.cli.session import Session, session_of
from muniment.gate.policy import Policy
from muniment.gate.policy_file import PRESETS, PolicyFile
from muniment.scope import Channel, Principal
from muniment.verbs.policies import policy_of, read_policy

policy = typer.Typer(help="What is kept here: check a policy file, show it, try it on words.")

File = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE", help=f"A policy file, or a preset: {', '.join(PRESETS)}; else the one set."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(policy, name="policy")


@policy.command()
def check(ctx: typer.Context, file: File = None) -> None:
    """Whether a policy file is right; ends with 2 and what to mend if it is not."""
    session = session_of(ctx)
    found = _read(session, file)
    if session.as_json:
        session.screen.data({"ok": True, "name": found.name, "version": found.policy.version})
    else:
        session.screen.line(f"{found.name} is right; its version is {found.policy.version}.")


@policy.command()
def show(ctx: typer.Context, file: File = None) -> None:
    """Every entry in force, with what comes from the preset it extends."""
    session = session_of(ctx)
    said = _read(session, file).to_dict()
    if session.as_json:
        session.screen.data(said)
        return
    rows: list[tuple[str, object]] = [(n, said[n]) for n in ("name", "version", "extends")]
    for part in ("safety", "worth"):
        rows += [(f"{part}.{n}", _shown(v)) for n, v in said[part].items() if v not in ({}, [])]
    session.screen.fields(rows)


@policy.command()
def explain(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="The words; - reads them from standard input.")],
    file: Annotated[
        str | None,
        typer.Option("--policy", help="A policy file or preset; else the one set."),
    ] = None,
    by: words.By = "user",
) -> None:
    """What would become of words under a policy, and without one.  Nothing is written."""
    session = session_of(ctx)
    said = words.text_of(text) or ""
    found = _read(session, file)
    with_it = _tried(session, found.policy, said, by)
    without = _tried(session, Policy(), said, by)
    if session.as_json:
        told = {"with": with_it, "without": without}
        session.screen.data({"version": found.policy.version, **told})
        return
    for title, decisions in ((found.policy.version, with_it), ("without a policy", without)):
        session.screen.heading(title)
        if not decisions:
            session.screen.line("Nothing in it is a statement.", indent=2)
        for made in decisions:
            cards.decision(session.screen, made, session.language, indent=2)


def _tried(session: Session, wanted: Policy, said: str, by: str) -> Any:
    """The decisions of a memory that is gone at once."""
    who = Principal(user=session.settings.user, channel=Channel.RUNTIME)
    with muniment.open("sqlite://", principal=who, policy=wanted) as memory:
        return memory.remember(said, by=by, scope={"project": "tried", **session.scope.to_dict()})


def _read(session: Session, file: str | None) -> PolicyFile:
    wanted = file or session.settings.policy
    if wanted is None:
        return PolicyFile("builtin", None, policy_of(None))
    return read_policy(wanted)


def _shown(value: object) -> object:
    return value if isinstance(value, str | int) else json.dumps(value, ensure_ascii=False)
