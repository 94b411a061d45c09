"""A working copy as files of record: which files it has, what is in them, since when.

Where Git cannot be asked (`muniment.providers.git`), a file is as old as its time stamp says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from muniment.errors import InvalidInput, Unavailable
from muniment.extract.manifest import is_guide, spec_of
from muniment.providers.git import GitWorkspace

FILE_BYTES_MAX = 8 * 1024 * 1024
#: What is kept of a file of which only its being there counts, such as a lock file.
HEAD_CHARS = 200
WORKFLOWS = Path(".github/workflows")
DEFAULT_BRANCH = Path(".git/refs/remotes/origin/HEAD")


@dataclass(frozen=True, slots=True)
class Seen:
    """One file as it was found: ``path`` from the root, ``sha256`` of all of it, ``at`` when it was
    last changed, ``commit`` the one it comes from unless it has changed since."""

    path: str
    text: str
    sha256: str
    at: datetime
    commit: str | None


@dataclass(frozen=True, slots=True)
class Repository:
    """A folder of a repository, the commit it is at, and what was found or passed over."""

    root: Path
    commit: str | None
    files: tuple[Seen, ...]
    skipped: tuple[str, ...]
    looked: frozenset[str]

    def covers(self, path: str) -> bool:
        """Whether a file of that path would have been seen, were it there."""
        return str(Path(path).parent) in self.looked or path in self.looked


def look(path: Path) -> Repository:
    """Read the files that state something: of a folder, or one file.

    Raises `Unavailable` ``learn.unreadable``, and `InvalidInput` ``learn.no_repository`` outside of
    a Git repository.
    """
    try:
        start = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise Unavailable("learn.unreadable", f"learn: {path}: {error}") from None
    folder = start if start.is_dir() else start.parent
    root = next((p for p in (folder, *folder.parents) if (p / ".git").exists()), None)
    if root is None or ".git" in start.relative_to(root).parts:
        raise InvalidInput("learn.no_repository", f"learn: {path} is in no Git repository")
    wanted = [start] if start.is_file() else list(_named(folder, root))
    names = [each.relative_to(root).as_posix() for each in wanted]
    commit, history = _history(root, names)
    files, skipped = [], []
    for each, name in zip(wanted, names, strict=True):
        seen = _seen(each, name, root, history.get(name))
        if seen is None:
            skipped.append(name)
        else:
            files.append(seen)
    looked = {start.relative_to(root).as_posix()} if start.is_file() else _looked(folder, root)
    return Repository(root, commit, tuple(files), tuple(skipped), frozenset(looked))


def _looked(folder: Path, root: Path) -> set[str]:
    own = folder.relative_to(root).as_posix()
    inner = {WORKFLOWS.as_posix(), DEFAULT_BRANCH.parent.as_posix()} if folder == root else set()
    return {own, *inner}


def _named(folder: Path, root: Path) -> Iterator[Path]:
    """Files whose names the data knows, in the folder and, at the root, of CI and of Git."""
    places = [folder, folder / WORKFLOWS] if folder == root else [folder]
    for place in places:
        if place.is_dir():
            yield from sorted(p for p in place.iterdir() if _known(p, root) and p.is_file())
    if folder == root and (root / DEFAULT_BRANCH).is_file():
        yield root / DEFAULT_BRANCH


def _known(path: Path, root: Path) -> bool:
    name = path.relative_to(root).as_posix()
    return spec_of(name, whole=True) is not None or is_guide(name)


def _seen(path: Path, name: str, root: Path, committed: tuple[str, datetime] | None) -> Seen | None:
    """The file, or nothing where it leads out of the repository, is too large or no text."""
    try:
        inside = path.resolve(strict=True).is_relative_to(root)
        if not inside or path.stat().st_size > FILE_BYTES_MAX:
            return None
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig").replace("\0", "")
    except (OSError, UnicodeDecodeError):
        return None
    commit, at = committed or (None, datetime.fromtimestamp(path.stat().st_mtime, UTC))
    spec = spec_of(name) or {}
    whole = is_guide(name) or "format" in spec
    return Seen(
        path=name,
        text=(text if whole else text[:HEAD_CHARS]) or name,
        sha256=hashlib.sha256(raw).hexdigest(),
        at=at,
        commit=commit,
    )


def _history(root: Path, names: list[str]) -> tuple[str | None, dict[str, tuple[str, datetime]]]:
    """The commit the repository is at; and for each file that still is as it was committed the
    commit that last changed it, and when.  Nothing where Git cannot be asked."""
    workspace = GitWorkspace(root)
    try:
        found = workspace.look(names)
        clean = {n: f.commit for n, f in found.files.items() if f.commit and not f.dirty}
        times = workspace.committed_at(sorted(set(clean.values())))
    except Unavailable:
        return None, {}
    return found.head, {n: (c, times[c]) for n, c in clean.items() if c in times}
