"""The options every command shares, and what follows from them: who acts, where, on what."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import typer

import muniment
from muniment.cli.screen import Screen, quoted
from muniment.config import Settings
from muniment.errors import InvalidInput, NotAllowed
from muniment.memory import Memory
from muniment.scope import Channel, Principal, Scope

LANGUAGES = ("en", "zh")
_CHANNELS = (Channel.RUNTIME, Channel.USER, Channel.AGENT, Channel.ADMIN)


@dataclass(frozen=True, slots=True)
class Given:
    """The shared options as they were written on the command line."""

    url: str | None = None
    tenant: str | None = None
    user: str | None = None
    teams: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    project: str | None = None
    scope: tuple[str, ...] = ()
    key_file: Path | None = None
    language: str | None = None
    as_json: bool = False


@dataclass(slots=True)
class Session:
    """One run of the command line.  ``language`` is that of explanations."""

    given: Given
    settings: Settings = field(default_factory=Settings)
    screen: Screen = field(default_factory=Screen)

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise InvalidInput("language.unknown", "language: en or zh")

    @property
    def language(self) -> str:
        """``en`` or ``zh``."""
        return self.given.language or self.settings.language

    @property
    def as_json(self) -> bool:
        """Whether one JSON document is wanted instead of text for people."""
        return self.given.as_json

    @property
    def url(self) -> str:
        """The store."""
        return self.given.url or self.settings.url

    @property
    def principal(self) -> Principal:
        """Who acts.  Raises `NotAllowed` where a person is claimed and no terminal is there, and
        for a role that a model takes for itself."""
        channel = channel_of(self.settings.channel)
        if self.given.roles and channel is Channel.AGENT:
            raise NotAllowed("role.channel", "the agent channel has no roles; leave --role out")
        return Principal(
            tenant=self.given.tenant or self.settings.tenant,
            user=self.given.user or self.settings.user,
            teams=self.given.teams,
            roles=frozenset(self.given.roles),
            channel=channel,
        )

    @property
    def scope(self) -> Scope:
        """Where the command acts: the project, and whatever ``--scope`` adds."""
        project = self.given.project or self.settings.project
        parts = {"project": project} if project else {}
        return Scope.of({**parts, **pairs(self.given.scope, "scope")})

    def open(self) -> Memory:
        """The memory; close it."""
        return muniment.open(self.url, principal=self.principal, key_file=self.given.key_file)

    def forbid_agents(self, what: str) -> None:
        """Some commands look after the store itself and are no business of a model."""
        if self.principal.channel is Channel.AGENT:
            raise NotAllowed("db.channel", f"the agent channel cannot {what}")

    @property
    def asks(self) -> bool:
        """Whether somebody is there to be asked."""
        return sys.stdin.isatty()

    def agree(self, question: str) -> None:
        """Ask before something that cannot be undone; without a yes nothing happens."""
        if not typer.confirm(question, err=True):
            print("Nothing was changed.", file=sys.stderr)
            raise typer.Exit(0)

    def command(self, *words: str, person: bool = False) -> str:
        """A command line that does something on the same store as the same user.

        ``person`` puts the channel of a person in front where this session has not got it.
        """
        acting = self.settings.channel in (Channel.USER, Channel.ADMIN)
        prefix = "MUNIMENT_CHANNEL=user " if person and not acting else ""
        shared, secret = self._shared(), urlsplit(self.given.url or "").password is not None
        if secret:
            prefix += f'{program()} --url "$MUNIMENT_URL" '
            return prefix + quoted([*_flat(shared[1:]), *words])
        return prefix + quoted([*program().split(" "), *_flat(shared), *words])

    def _shared(self) -> list[tuple[str, str]]:
        """What was given of store (first) and principal, to be given again."""
        g = self.given
        key_file = None if g.key_file is None else str(g.key_file)
        named = [("--url", g.url), ("--tenant", g.tenant), ("--user", g.user)]
        named += [("--team", t) for t in g.teams] + [("--role", r) for r in g.roles]
        named += [("--key-file", key_file)]
        return [(name, value) for name, value in named if value is not None]


def _flat(options: Sequence[tuple[str, str]]) -> list[str]:
    return [word for pair in options for word in pair]


def channel_of(wanted: str | None) -> Channel:
    """The channel of the command line.

    A person is only there on a terminal, and only where the configuration says so; a script
    that claims one is refused rather than taken for something less.
    """
    if not wanted:
        return Channel.RUNTIME
    if wanted not in _CHANNELS:
        names = ", ".join(_CHANNELS)
        raise InvalidInput("channel.unknown", f"MUNIMENT_CHANNEL: use one of {names}")
    if wanted in (Channel.USER, Channel.ADMIN) and not sys.stdin.isatty():
        raise NotAllowed(
            "terminal.missing",
            f"MUNIMENT_CHANNEL={wanted} is for a person at a terminal, and the standard input "
            "is none; unset it, or use the `agent` or `runtime` channel",
        )
    return Channel(wanted)


def pairs(words: Sequence[str], name: str) -> dict[str, str]:
    """``KEY=VALUE`` words as a mapping."""
    out: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise InvalidInput(f"{name}.invalid", f"{name}: write {word!r} as KEY=VALUE")
        out[key] = value
    return out


def program() -> str:
    """How this program was called, as somebody can type it again."""
    started = Path(sys.argv[0])
    if started.name not in ("muniment", "__main__.py"):
        return "muniment"  # called from other code
    script = started if started.name == "muniment" else Path(sys.executable).with_name("muniment")
    found = shutil.which("muniment")
    if found is not None and Path(found).absolute() == script.absolute():
        return "muniment"
    return _near(script) if script.exists() else f"{_near(Path(sys.executable))} -m muniment"


def _near(path: Path) -> str:
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def session_of(ctx: typer.Context) -> Session:
    """The session of a command."""
    found = ctx.find_object(Session)
    assert found is not None, "the root command makes the session"
    return found


def shown_url(url: str) -> str:
    """A URL without its password."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return url.replace(f":{parts.password}@", ":***@", 1)
