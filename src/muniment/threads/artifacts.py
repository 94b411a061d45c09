"""Artifacts as the state records them against what a look at the workspace finds (a port)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

PREFIX_MIN = 6  # characters of a hash that may stand for it


@dataclass(frozen=True, slots=True)
class FileSeen:
    """One path as it was found.

    ``commit`` is the last commit that touched it, ``blob`` the hash of the file as it lies there,
    ``dirty`` whether it differs from what is committed.
    """

    exists: bool
    commit: str | None = None
    blob: str | None = None
    dirty: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """A workspace as it was found: where it stands, what is not committed, and the files."""

    branch: str | None = None
    head: str | None = None
    dirty: tuple[str, ...] = ()
    files: Mapping[str, FileSeen] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"branch": self.branch, "head": self.head, "dirty": list(self.dirty)}


class Workspace(Protocol):
    """Somewhere artifacts lie and can be looked at."""

    def look(self, paths: Sequence[str]) -> Seen:
        """Where the workspace stands and what those paths are; raises `Unavailable`."""
        ...


def compare(revision: str | None, seen: FileSeen) -> str:
    """``same``, ``changed``, ``gone`` or ``unrecorded`` (no revision to compare with).

    A revision is a commit or the hash of the content, whole or its first characters.  A commit
    vouches only for a file without changes on top of it.
    """
    if not seen.exists:
        return "gone"
    if not revision:
        return "unrecorded"
    if _stands_for(revision, seen.blob) or (not seen.dirty and _stands_for(revision, seen.commit)):
        return "same"
    return "changed"


def _stands_for(revision: str, full: str | None) -> bool:
    if full is None:
        return False
    return revision == full or (len(revision) >= PREFIX_MIN and full.startswith(revision.lower()))
