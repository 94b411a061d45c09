"""Taking a thread up again: from what was committed to what to do first.

Pure.  A resumption reads nothing into the state: what cannot be known is named as unknown, what
was seen of the outside is told as of its time, and what was allowed is checked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from muniment.text import inert
from muniment.threads.approvals import Approval, Checked, Now, Standing, standing
from muniment.threads.artifacts import Seen, compare
from muniment.threads.ledger import CallStatus, ToolCall, Worker, as_seen
from muniment.threads.observations import Observation, plain

_OVER = ("done", "skipped")


@dataclass(frozen=True, slots=True)
class Head:
    """The committed state a thread is taken up from.

    ``through`` is the number of the thread's last event at the commit, ``length`` that of now.
    """

    thread: str
    version: int
    at: datetime | None
    sections: Mapping[str, Any] = field(default_factory=dict)
    through: int = 0
    length: int = 0

    def items(self, section: str) -> Sequence[Mapping[str, Any]]:
        """The items of a list section; none where the state says nothing."""
        found: Sequence[Mapping[str, Any]] = self.sections.get(section) or ()
        return found


@dataclass(frozen=True, slots=True)
class Task:
    """The one thing to do next.  ``after`` are the keys of calls to be settled before it."""

    text: str
    why: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArtifactNow:
    """An artifact against its recorded revision.

    ``word`` is same, changed, gone, unrecorded or, where nobody looked, ``unseen``.
    """

    path: str
    revision: str | None
    word: str
    found: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """The smallest check of one thing that is claimed done, and who verified it before."""

    of: str
    how: str
    verified_by: str


@dataclass(frozen=True, slots=True)
class Resumption:
    """What somebody who takes a thread up has to know, as of ``now``."""

    thread: str
    version: int
    at: datetime | None
    now: datetime
    state: Mapping[str, Any]
    read: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    workspace: Seen | None = None
    not_looked: str | None = None
    artifacts: tuple[ArtifactNow, ...] = ()
    checks: tuple[Check, ...] = ()
    stale: tuple[Observation, ...] = ()
    unknown: tuple[ToolCall, ...] = ()
    running: tuple[ToolCall, ...] = ()
    approvals: tuple[Checked, ...] = ()
    expired: tuple[str, ...] = ()
    task: Task | None = None
    memory_degraded: tuple[str, ...] = ()

    @property
    def paused(self) -> timedelta:
        """How long nothing was committed."""
        return timedelta(0) if self.at is None else max(self.now - self.at, timedelta(0))

    def approval(self, name: str) -> Checked | None:
        """An approval with its standing now, or ``None`` if there is none of that name."""
        return next((c for c in self.approvals if c.approval.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "thread": self.thread,
            "version": self.version,
            "at": None if self.at is None else self.at.isoformat(),
            "now": self.now.isoformat(),
            "paused_s": self.paused.total_seconds(),
            "state": dict(self.state),
            "read": list(self.read),
            "setup": list(self.setup),
            "workspace": None if self.workspace is None else self.workspace.to_dict(),
            "not_looked": self.not_looked,
            "artifacts": [_plain(a, "path", "revision", "word", "found") for a in self.artifacts],
            "checks": [_plain(c, "of", "how", "verified_by") for c in self.checks],
            "stale": [
                {"name": o.name, "value": o.value, "note": o.again(), "how": o.how}
                for o in self.stale
            ],
            "unknown": [c.to_dict() for c in self.unknown],
            "running": [c.to_dict() for c in self.running],
            "approvals": [c.to_dict() for c in self.approvals],
            "expired": list(self.expired),
            "task": None if self.task is None else _plain(self.task, "text", "why", "after"),
            "memory_degraded": list(self.memory_degraded),
        }

    def __str__(self) -> str:
        """The protocol in the order it is to be gone through, a line a thing."""
        return "\n".join(_told(self))


def resumption(
    head: Head,
    calls: Sequence[ToolCall],
    approvals: Sequence[Approval],
    now: datetime,
    *,
    worker: Worker | None = None,
    current: Mapping[str, str] | None = None,
    seen: Seen | None = None,
    not_looked: str | None = None,
    memory_degraded: Sequence[str] = (),
) -> Resumption:
    """Everything `Resumption` holds, from a state, its ledger, its approvals and a look around.

    ``current`` maps names of approvals to digests of what there is now.
    """
    calls = [as_seen(call, now, worker) for call in calls]
    unknown = tuple(c for c in calls if c.status is CallStatus.UNKNOWN)
    revisions = {
        str(a["path"]): str(a["revision"]) for a in head.items("artifacts") if a.get("revision")
    }
    known = Now(now, current, None if seen is None else seen.files, revisions)
    checked = tuple(standing(a, known) for a in approvals)
    observed = tuple(Observation.of(item) for item in head.items("observations"))
    return Resumption(
        thread=head.thread,
        version=head.version,
        at=head.at,
        now=now,
        state=head.sections,
        read=tuple(_to_read(head)),
        setup=tuple(_texts(head.sections.get("setup"))),
        workspace=seen,
        not_looked=not_looked,
        artifacts=tuple(_artifacts(head, seen)),
        checks=tuple(_checks(head, observed)),
        stale=tuple(o for o in observed if o.stale(now, now) is not None),
        unknown=unknown,
        running=tuple(c for c in calls if c.status is CallStatus.RUNNING),
        approvals=checked,
        expired=tuple(_expired(observed, checked, now)),
        task=_task(head, tuple(c.key for c in unknown)),
        memory_degraded=tuple(memory_degraded),
    )


def _to_read(head: Head) -> Iterator[str]:
    filled = [name for name, value in head.sections.items() if value]
    yield f"the state at version {head.version}: {', '.join(filled) or 'empty'}"
    if head.length > head.through:
        first = head.through + 1
        yield f"the thread's events {first} to {head.length}, said after that checkpoint"


def _artifacts(head: Head, seen: Seen | None) -> Iterator[ArtifactNow]:
    for item in head.items("artifacts"):
        path, revision = str(item["path"]), item.get("revision")
        file = None if seen is None else seen.files.get(path)
        if file is None:
            yield ArtifactNow(path, revision, "unseen")
        else:
            found = file.blob if file.dirty or file.commit is None else file.commit
            yield ArtifactNow(path, revision, compare(revision, file), found)


def _checks(head: Head, observed: Sequence[Observation]) -> Iterator[Check]:
    """One check for each way of checking; what only its maker vouches for comes first."""
    ways = {o.name: o.how for o in observed if o.how}
    claims = [
        (str(a["name"]), a, str(a.get("verified_by") or "nobody"))
        for a in head.items("acceptance")
        if a.get("status") == "met"
    ]
    claims += [
        (str(p["step"]), p, "nobody")
        for p in head.items("plan")
        if p.get("status") == "done" and (p.get("check") or p["step"] in ways)
    ]
    done: set[str] = set()
    for name, item, by in sorted(claims, key=lambda c: c[2] in ("test", "other")):
        how = item.get("check") or ways.get(name) or _by_evidence(item)
        if how not in done:
            done.add(how)
            yield Check(name, how, by)


def _by_evidence(item: Mapping[str, Any]) -> str:
    evidence = ", ".join(_texts(item.get("evidence")))
    return f"read its evidence: {evidence}" if evidence else "no way to check it is recorded"


def _expired(
    observed: Sequence[Observation], checked: Sequence[Checked], now: datetime
) -> Iterator[str]:
    for c in checked:
        if c.standing is Standing.EXPIRED:
            yield f"approval {c.approval.name}: {c.reason}"
    for o in observed:
        if o.stale(now) is not None:
            yield f"observation {o.name}: {o.again()}"


def _task(head: Head, unknown: tuple[str, ...]) -> Task | None:
    """One task: what the state names as next, else what runs, else what may run, else what is
    still to be met."""
    plan = head.items("plan")
    said = head.sections.get("next")
    if said:
        return Task(str(said), "the state names it as next", unknown)
    for p in plan:
        if p.get("status") == "running":
            return Task(str(p["step"]), "it was running", unknown)
    over = {p["step"] for p in plan if p.get("status") in _OVER}
    for p in plan:
        if p.get("status", "todo") == "todo" and over.issuperset(p.get("after") or ()):
            return Task(str(p["step"]), "it is the first that may begin", unknown)
    for p in plan:
        if p.get("status") == "failed":
            return Task(str(p["step"]), "it failed, and the rest waits for it", unknown)
    for a in head.items("acceptance"):
        if a.get("status") != "met":
            return Task(str(a["name"]), "the plan is done, this is not met", unknown)
    if unknown:
        return Task("settle the unknown calls", "nothing else is left", unknown)
    return None


def _told(r: Resumption) -> Iterator[str]:
    at = "nothing committed yet" if r.at is None else f"committed {_at(r.at)}"
    yield f"thread {r.thread}, version {r.version}, {at}, now {_at(r.now)}"
    if r.memory_degraded:
        yield f"without long-term memory: {', '.join(r.memory_degraded)}"
    yield from _block("read first", r.read)
    yield from _block("set up", r.setup)
    yield from _block("look at the workspace", _workspace(r))
    yield from _block("settle before anything else", map(_unknown, r.unknown))
    yield from _block("running elsewhere, leave alone", map(_running, r.running))
    yield from _block(
        "observe again", (f"{o.name}: {plain(o.value)} ({o.again()})" for o in r.stale)
    )
    yield from _block(
        "approvals", (f"{c.approval.name}: {c.standing}, {c.reason}" for c in r.approvals)
    )
    yield from _block(
        "check what is claimed done",
        (f"{c.of} (verified by {c.verified_by}): {c.how}" for c in r.checks),
    )
    if r.task is None:
        yield "then: nothing is left to do"
    else:
        first = f", after settling {', '.join(r.task.after)}" if r.task.after else ""
        yield inert(f"then one task: {r.task.text} ({r.task.why}{first})")


def _block(title: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    shown = [f"  {inert(line)}" for line in lines]
    if shown:
        yield f"{title}:"
        yield from shown


def _workspace(r: Resumption) -> Iterator[str]:
    if r.not_looked is not None:
        yield f"could not be looked at: {r.not_looked}"
    if r.workspace is not None:
        w = r.workspace
        yield f"branch {w.branch or 'none'} at {w.head or 'no commit'}"
        if w.dirty:
            yield f"not committed: {', '.join(w.dirty)}"
    for a in r.artifacts:
        recorded = f"recorded {a.revision}" if a.revision else "no revision recorded"
        yield f"{a.path}: {a.word} ({recorded}{f', found {a.found}' if a.found else ''})"


def _unknown(c: ToolCall) -> str:
    how = c.observe or "no way is recorded; find out whether it happened"
    return f"{c.name} under key {c.key}, begun {_at(c.begun_at)}, outcome unknown; observe: {how}"


def _running(c: ToolCall) -> str:
    return f"{c.name} under key {c.key} by {c.worker} until {_at(c.lease_until)}"


def _texts(value: Any) -> list[str]:
    """A section of plain texts, or of items with a text."""
    if not value:
        return []
    if isinstance(value, str):
        return [value]
    return [str(v.get("text", v) if isinstance(v, Mapping) else v) for v in value]


def _plain(value: Any, *names: str) -> dict[str, Any]:
    found = {name: getattr(value, name) for name in names}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in found.items()}


def _at(at: datetime) -> str:
    return at.isoformat(timespec="minutes")
