"""Who acts (`Principal`), where a memory applies (`Scope`), and how the two meet.

A scope is a conjunction: it applies where every one of its parts agrees with the place of use.
A place of use with k parts therefore has at most 2^k applicable scopes, so that reading is
``scope_key IN (applicable ∩ permitted)``: exact, indexable, and decided before any search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import lru_cache
from itertools import product
from typing import Literal
from urllib.parse import quote, unquote

from muniment.errors import InvalidInput, NotAllowed
from muniment.text import check_id

PARTS = ("team", "user", "workspace", "project", "agent", "task", "thread")
MAX_MEMBERSHIPS = 64


class Channel(StrEnum):
    """The kind of credential a call came through; it decides what the call can bring about."""

    RUNTIME = "runtime"
    USER = "user"
    AGENT = "agent"
    ADMIN = "admin"
    IMPORT = "import"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a record applies.  No parts means the whole tenant."""

    team: str | None = None
    user: str | None = None
    workspace: str | None = None
    project: str | None = None
    agent: str | None = None
    task: str | None = None
    thread: str | None = None

    def __post_init__(self) -> None:
        for name, value in self.parts():
            check_id(value, name=f"scope.{name}")

    def parts(self) -> Iterator[tuple[str, str]]:
        """The parts that are set, in canonical order."""
        for name in PARTS:
            value = getattr(self, name)
            if value is not None:
                yield name, value

    @property
    def key(self) -> str:
        """The canonical key: injective (ids are percent-encoded), stable, ``""`` for no parts."""
        return _key_of(self)

    def to_dict(self) -> dict[str, str]:
        """The set parts as a plain mapping."""
        return dict(self.parts())

    @classmethod
    def of(cls, value: object, *, name: str = "scope") -> Scope:
        """A scope from a `Scope` or a mapping; unknown parts are refused, never ignored."""
        if isinstance(value, Scope):
            return value
        if value is None:
            return cls()
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{name}.invalid", f"{name}: pass a mapping such as {{'user': …}}")
        unknown = [str(k) for k in value if k not in PARTS]
        if unknown:
            raise InvalidInput(
                f"{name}.unknown_part", f"{name}: {', '.join(unknown)} is not one of {PARTS}"
            )
        return cls(**{k: v for k, v in value.items() if v is not None})

    def covers(self, place: Scope) -> bool:
        """Whether this scope applies at that place: each of its parts agrees with it."""
        return all(getattr(place, name) == value for name, value in self.parts())

    def narrower_than(self, other: Scope) -> bool:
        """A strict superset of the other's parts; incomparable scopes are neither."""
        return self != other and other.covers(self)

    @classmethod
    def of_key(cls, key: str) -> Scope:
        """The scope a stored `key` stands for."""
        pairs = (pair.split("=", 1) for pair in key.split("&") if pair)
        return stored_scope(tuple((name, unquote(value)) for name, value in pairs))

    def only(self, names: Iterable[str]) -> Scope:
        """The same scope reduced to the named parts."""
        keep = set(names)
        return Scope(**{name: value for name, value in self.parts() if name in keep})

    def with_parts(self, **parts: str | None) -> Scope:
        """A copy with the given parts replaced."""
        return replace(self, **parts)


@lru_cache(maxsize=4096)
def _key_of(scope: Scope) -> str:
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in scope.parts())


@lru_cache(maxsize=4096)
def stored_scope(parts: tuple[tuple[str, str], ...]) -> Scope:
    """The scope of a stored row, whose ids were checked when it was written."""
    return Scope(**dict(parts))


Members = tuple[str, ...] | Literal["*"]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who acts, through which kind of credential, as a member of what.

    In a service all of it comes from the credential.  In process the caller is trusted to name
    it, which is a stated limit; ``projects="*"`` (the embedded default) means any project.
    """

    tenant: str = "local"
    user: str | None = None
    agent: str | None = None
    workspaces: Members = "*"
    projects: Members = "*"
    teams: tuple[str, ...] = ()
    roles: frozenset[str] = field(default_factory=frozenset)
    channel: Channel = Channel.RUNTIME

    def __post_init__(self) -> None:
        check_id(self.tenant, name="principal.tenant")
        for name in ("user", "agent"):
            if getattr(self, name) is not None:
                check_id(getattr(self, name), name=f"principal.{name}")
        for name in ("workspaces", "projects", "teams"):
            object.__setattr__(self, name, _members(getattr(self, name), name))
        object.__setattr__(self, "roles", _roles(self.roles))
        try:
            object.__setattr__(self, "channel", Channel(self.channel))
        except ValueError:
            raise InvalidInput(
                "principal.channel", f"channel: use one of {', '.join(Channel)}"
            ) from None

    @classmethod
    def of(cls, value: object) -> Principal:
        """A principal from a `Principal` or a mapping; unknown fields are refused."""
        if isinstance(value, Principal):
            return value
        if not isinstance(value, Mapping):
            raise InvalidInput("principal.invalid", "principal: pass a Principal or a mapping")
        names = {f.name for f in fields(cls)}
        unknown = [str(k) for k in value if k not in names]
        if unknown:
            raise InvalidInput("principal.unknown_field", f"principal: unknown {unknown}")
        return cls(**value)

    @property
    def subject(self) -> str | None:
        """The subject of what is about this principal's user; ``None`` without a user."""
        return None if self.user is None else f"user:{self.user}"


def _members(value: object, name: str) -> Members:
    if value == "*" and name != "teams":
        return "*"
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"principal.{name}", f"{name}: pass a list of ids")
    members = tuple(check_id(v, name=f"principal.{name}") for v in value)
    if len(members) > MAX_MEMBERSHIPS:
        raise InvalidInput(f"principal.{name}", f"{name}: at most {MAX_MEMBERSHIPS}")
    return members


def _roles(value: object) -> frozenset[str]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput("principal.roles", "roles: pass a list of words")
    return frozenset(check_id(v, name="principal.roles") for v in value)


def permits(principal: Principal, scope: Scope) -> bool:
    """Whether records of that scope may be shown to that principal at all."""
    return (
        scope.user in (None, principal.user)
        and (scope.team is None or scope.team in principal.teams)
        and _in(scope.project, principal.projects)
        and _in(scope.workspace, principal.workspaces)
        and (principal.agent is None or scope.agent in (None, principal.agent))
    )


def _in(value: str | None, members: Members) -> bool:
    return value is None or members == "*" or value in members


def place_of_use(principal: Principal, scope: Scope) -> Scope:
    """The place a call acts in: the given scope with the principal's own user and agent.

    Raises `NotAllowed` ``scope.not_member`` where the principal has no business there.
    """
    own = principal.channel is not Channel.ADMIN  # an admin speaks for the place, not for himself
    if own and scope.user is None and principal.user is not None:
        scope = scope.with_parts(user=principal.user)
    if scope.agent is None and principal.agent is not None:
        scope = scope.with_parts(agent=principal.agent)
    if not permits(principal, scope):
        raise NotAllowed(
            "scope.not_member", "the scope names a user, team, project or agent that is not yours"
        )
    return scope


def applicable_keys(principal: Principal, place: Scope) -> tuple[str, ...]:
    """Every scope key that applies at that place and that the principal may read."""
    choices: list[tuple[str | None, ...]] = []
    for name in PARTS:
        value = getattr(place, name)
        if name == "team" and value is None:
            choices.append((None, *principal.teams))
        else:
            choices.append((None,) if value is None else (None, value))
    scopes = (Scope(**dict(zip(PARTS, combo, strict=True))) for combo in product(*choices))
    return tuple(s.key for s in scopes if permits(principal, s))
