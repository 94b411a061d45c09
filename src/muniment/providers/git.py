"""A Git working tree, looked at through the `git` executable.

Reads only, and takes the repository for hostile: its configuration may name programs (filters,
hooks, monitors, helpers, transports), and none of them is run.  There is no shell, nothing is
fetched, output and time are bounded, and no path leads out of the tree.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO

from muniment.errors import InvalidInput, Unavailable
from muniment.threads.artifacts import FileSeen, Seen

TIMEOUT_S = 10.0
OUTPUT_BYTES_MAX = 4 * 1024 * 1024
DIRTY_MAX = 200
PATHS_MAX = 200
_CHUNK = 1 << 20

#: Overrides whatever the repository configures.
_FIXED = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.untrackedCache", "false"),
    ("core.attributesFile", os.devnull),
    ("core.excludesFile", os.devnull),
    ("core.quotePath", "false"),
    ("core.pager", "cat"),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat",
    "HOME": os.devnull,
    "LC_ALL": "C",
}


class GitWorkspace:
    """`muniment.threads.artifacts.Workspace` over a folder inside a Git working tree.

    Artifacts' paths are relative to that folder; of those asked for the first 200 are looked at.
    ``trusted`` accepts a repository that belongs to another user of the machine.  Raises
    `InvalidInput` ``git.no_repository``, `Unavailable` ``git.missing`` (no executable),
    ``git.not_trusted``, ``git.timeout`` or ``git.failed``.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        timeout_s: float = TIMEOUT_S,
        trusted: bool = False,
        git: str = "git",
    ) -> None:
        self.path = Path(path).absolute()
        self._timeout_s, self._trusted, self._name = timeout_s, trusted, git

    def look(self, paths: Sequence[str]) -> Seen:
        """Branch, head, what is not committed, and each path's last commit and content hash."""
        run = _Git(self._name, self.path, self._timeout_s, trusted=self._trusted)
        head, branch, changed = _status(run.ask(*_STATUS))
        sha = "sha256" if head is not None and len(head) == 64 else "sha1"
        below = run.ask("rev-parse", "--show-prefix").strip("\n")
        files = {}
        for path in list(dict.fromkeys(paths))[:PATHS_MAX]:
            files[path] = _file(run, path, changed, below, sha, committed=head is not None)
        return Seen(branch, head, tuple(sorted(changed)[:DIRTY_MAX]), files)

    def committed_at(self, commits: Sequence[str]) -> dict[str, datetime]:
        """When each of these was committed."""
        if not commits:
            return {}
        run = _Git(self._name, self.path, self._timeout_s, trusted=self._trusted)
        lines = run.ask("log", "--no-walk=unsorted", "--format=%H %ct", *commits, "--").split("\n")
        pairs = (line.split(" ") for line in lines if line)
        return {commit: datetime.fromtimestamp(int(at), UTC) for commit, at in pairs}


_STATUS = (
    *("status", "--porcelain=v2", "--branch", "-z", "--no-renames"),
    *("--untracked-files=normal", "--ignore-submodules=all"),
)


def _status(text: str) -> tuple[str | None, str | None, set[str]]:
    head = branch = None
    changed = set()
    for line in text.split("\0"):
        if line.startswith("# branch.oid ") and "(initial)" not in line:
            head = line.split(" ", 2)[2]
        elif line.startswith("# branch.head ") and "(detached)" not in line:
            branch = line.split(" ", 2)[2]
        elif line[:2] == "? ":
            changed.add(line[2:])
        elif line[:2] in ("1 ", "u "):
            changed.add(line.split(" ", 8 if line[0] == "1" else 10)[-1])
    return head, branch, changed


def _file(
    run: _Git, path: str, changed: set[str], below: str, sha: str, *, committed: bool
) -> FileSeen:
    inside = _inside(run.top / below, path)
    if inside is None:
        return FileSeen(exists=False)
    blob = _blob(inside, sha)
    name = below + PurePosixPath(path).as_posix()
    dirty = name in changed or any(c.endswith("/") and name.startswith(c) for c in changed)
    commit = run.ask("rev-list", "-1", "HEAD", "--", path).strip() if committed else ""
    return FileSeen(blob is not None, commit or None, blob, dirty or not commit)


def _inside(folder: Path, path: str) -> Path | None:
    """The file's place, if no part of its path leads out of the folder."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts or "\0" in path:
        return None
    place = folder / pure
    real = Path(os.path.realpath(folder))
    try:
        parent = Path(os.path.realpath(place.parent, strict=True))
    except OSError:
        return None
    return place if parent.is_relative_to(real) else None


def _blob(place: Path, sha: str) -> str | None:
    """The hash Git gives the bytes that lie there; ``None`` for what is no file or link.

    No filter is run, so a file that one would change (line endings, large file storage) has
    another hash here than in the repository; its commit tells then.
    """
    digest = hashlib.new(sha, usedforsecurity=False)
    try:
        found = os.lstat(place)
        if stat.S_ISLNK(found.st_mode):
            target = os.fsencode(os.readlink(place))
            digest.update(b"blob %d\0" % len(target) + target)
            return digest.hexdigest()
        if not stat.S_ISREG(found.st_mode):
            return None
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            size = os.fstat(handle).st_size
            digest.update(b"blob %d\0" % size)
            while size > 0 and (part := file.read(min(_CHUNK, size))):
                digest.update(part)
                size -= len(part)
    except OSError:
        return None
    return digest.hexdigest()


class _Git:
    """One look: the executable, the top of the tree, and a deadline for all of it."""

    def __init__(self, name: str, path: Path, timeout_s: float, *, trusted: bool) -> None:
        executable = shutil.which(name)
        if executable is None:
            raise Unavailable("git.missing", "there is no git executable to look with")
        top = _top(path)
        if top is None:
            raise InvalidInput("git.no_repository", f"{path} is in no Git working tree")
        self.executable, self.path, self.top = executable, path, top
        self._deadline = time.monotonic() + timeout_s
        fixed = [*_FIXED, *([("safe.directory", str(top))] if trusted else [])]
        self._environment = _environment(fixed, executable, top)
        named = self.ask("config", "--null", "--name-only", "--list")
        filters = [(key, "") for key in _filters(named.split("\0"))]
        required = [(k.rpartition(".")[0] + ".required", "false") for k, _ in filters]
        self._environment = _environment([*fixed, *filters, *required], executable, top)

    def ask(self, *arguments: str) -> str:
        """What a subcommand prints; errors typed."""
        with tempfile.TemporaryFile() as errors:
            code, output = self._run(arguments, errors)
            errors.seek(0)
            complaint = errors.read(_CHUNK).decode("utf-8", "replace")
        if time.monotonic() >= self._deadline:
            raise Unavailable("git.timeout", "git did not answer in time")
        if code != 0:
            raise _failed(complaint or "it said too much")
        return output.decode("utf-8", "replace")

    def _run(self, arguments: Sequence[str], errors: IO[bytes]) -> tuple[int, bytes]:
        left = self._deadline - time.monotonic()
        process = subprocess.Popen(
            [self.executable, "--no-pager", "--no-optional-locks", *arguments],
            cwd=self.path,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        timer = threading.Timer(max(left, 0.0), _kill, [process])
        timer.start()
        try:
            assert process.stdout is not None
            with process.stdout as pipe:
                output = pipe.read(OUTPUT_BYTES_MAX + 1)
            if len(output) > OUTPUT_BYTES_MAX:
                _kill(process)
            return process.wait(), output
        finally:
            timer.cancel()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _failed(text: str) -> Unavailable:
    if "dubious ownership" in text:
        return Unavailable("git.not_trusted", "the repository is another user's; pass trusted=True")
    return Unavailable("git.failed", f"git could not be asked: {text[:200].strip()}")


def _top(path: Path) -> Path | None:
    """The nearest folder above with a `.git`, found without asking the repository."""
    return next((p for p in (path, *path.parents) if (p / ".git").exists()), None)


def _filters(keys: Sequence[str]) -> list[str]:
    """The keys of every program that would be run on a file's content."""
    return [
        k
        for k in dict.fromkeys(keys)
        if k.startswith("filter.") and k.rpartition(".")[2] in ("clean", "smudge", "process")
    ]


def _environment(settings: Sequence[tuple[str, str]], executable: str, top: Path) -> dict[str, str]:
    """Nothing of the caller's environment, and settings that outrank the repository's own."""
    numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        numbered |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    path = f"{os.path.dirname(executable)}:{os.defpath}"
    return {**_ENVIRONMENT, "PATH": path, "GIT_WORK_TREE": str(top), **numbered}
