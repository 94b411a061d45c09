"""Learn: what the files of a repository state, and what they no longer do.

A file is authoritative for its own predicates only.  What it states goes through the gate like
anything else; what was learnt from a file that has vanished, or no longer states it, expires.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from muniment.erase import forget
from muniment.errors import InvalidInput, NotAllowed
from muniment.events.event import Event, EventKind
from muniment.events.log import Thread
from muniment.events.message import Message
from muniment.extract import remember as remembering
from muniment.extract.manifest import spec_of
from muniment.gate.candidate import Candidate
from muniment.gate.decision import Action, Decision, Reconcile
from muniment.gate.reconcile import same_value
from muniment.gate.unit import Unit
from muniment.records.record import Record, Status, Value
from muniment.records.table import Filter
from muniment.scope import Channel, Principal, Scope, place_of_use
from muniment.verbs.appending import find_thread, make, open_thread, store_events
from muniment.verbs.parts import Parts
from muniment.verbs.remembering import read_event
from muniment.verbs.repository import Repository, Seen, look

READERS = (Channel.RUNTIME, Channel.USER, Channel.ADMIN)


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one attribute.

    ``what`` is learn, change, confirm (known, and now stated here too), keep (nothing new), history
    (an older statement), hold, refuse, expire, or differ (another file is asked first).
    """

    what: str
    predicate: str
    value: Value
    path: str
    sha256: str | None = None
    commit: str | None = None
    before: Value = None
    record: str | None = None
    reasons: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "reasons": list(self.reasons)
        }


@dataclass(frozen=True, slots=True)
class Learnt:
    """What a repository taught, or with ``dry_run`` would."""

    root: str
    commit: str | None
    dry_run: bool
    changes: tuple[Change, ...]
    skipped: tuple[str, ...]

    @property
    def news(self) -> tuple[Change, ...]:
        """What is not as it was before."""
        return tuple(c for c in self.changes if c.what not in ("keep", "differ"))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "root": self.root,
            "commit": self.commit,
            "dry_run": self.dry_run,
            "changes": [c.to_dict() for c in self.changes],
            "skipped": list(self.skipped),
        }


class _Undone(Exception):
    """Ends a rehearsal: the transaction is rolled back and its outcome carried out."""

    def __init__(self, changes: list[Change]) -> None:
        super().__init__("rehearsed")
        self.changes = changes


def learn(
    parts: Parts, principal: Principal, path: Path, *, scope: Scope | None, dry_run: bool
) -> Learnt:
    """Read a repository and settle what it states; a dry run does the same and rolls it back."""
    if principal.channel not in READERS:
        raise NotAllowed("learn.channel", "this channel cannot vouch for what is in a file")
    if principal.channel is Channel.USER:  # it is this program that reads the file for the person
        principal = replace(principal, channel=Channel.RUNTIME)
    place = place_of_use(principal, scope or Scope())
    if place.project is None:
        raise InvalidInput("learn.no_project", "learn: name the project the files are of")
    found = look(path)
    work = _Lesson(parts, principal, place, found)
    try:
        changes = parts.write(
            principal, lambda unit: work.run(unit, dry_run), adds=len(found.files)
        )
    except _Undone as undone:
        changes = undone.changes
    return Learnt(str(found.root), found.commit, dry_run, tuple(changes), found.skipped)


class _Lesson:
    """One repository being learnt; what the files say is read before the transaction."""

    def __init__(self, parts: Parts, principal: Principal, place: Scope, found: Repository) -> None:
        self.parts, self.principal, self.place, self.found = parts, principal, place, found
        self.label = (
            "muniment:files:" + parts.digester(principal.tenant).digest("files", place.key)[:26]
        )
        thread = parts.read(
            principal, lambda unit: find_thread(parts, unit, principal, self.label, place)
        )
        runner = _runner(found)
        self.read = [_read(parts, principal, thread, seen, runner) for seen in found.files]
        self.asked = _asked_first(parts, [c for _, _, cs in self.read for c in cs], self.read)

    def run(self, unit: Unit, dry_run: bool) -> list[Change]:
        """Everything in one transaction."""
        changes = [
            c for seen, event, found in self.read for c in self._file(unit, seen, event, found)
        ]
        changes += self._gone(unit)
        if dry_run:
            raise _Undone(changes)
        return changes

    def _file(
        self, unit: Unit, seen: Seen, event: Event, found: Sequence[Candidate]
    ) -> Iterator[Change]:
        mine = [c for c in found if self._first(c, seen)]
        yield from (_change("differ", c, seen) for c in found if c not in mine)
        said = unit.events.get([event.id])
        if said and not any(self._again(unit, said[0], c) for c in mine):
            yield from (self._kept(unit, c, seen) for c in mine)
            return
        if not mine:
            return
        if said:  # it states again what it had ceased to state
            now = self.parts.now()
            again = self.parts.ids.new("evt")
            event = replace(event, id=type(event.id)(again), said_at=now)
            mine = [replace(c, evidence=(event.id,), said_at=now) for c in mine]
        thread = open_thread(self.parts, unit, self.principal, self.label, self.place)
        [evidence] = store_events(self.parts, unit, self.principal, thread, [event], [])
        settling = self.parts.settling(unit, self.principal)
        for candidate in mine:
            before = self._holder(unit, candidate)
            for made in remembering.settle_all(settling, [candidate], [evidence]):
                yield _decided(made, seen, before)

    def _first(self, candidate: Candidate, seen: Seen) -> bool:
        key = candidate.predicate
        return key not in self.asked or self.asked[key] == seen.path

    def _records(self, unit: Unit, c: Candidate, *statuses: Status) -> list[Record]:
        keys = [c.scope.key, c.scope.with_parts(user=self.principal.user).key]
        where = Filter(
            scope_keys=keys, subject=c.subject, predicate=c.predicate, statuses=list(statuses)
        )
        return unit.records.get([r.id for r in unit.records.find(where)])

    def _holder(self, unit: Unit, c: Candidate) -> Record | None:
        """What is in force of the same attribute; of a set the same value alone."""
        predicate = self.parts.policy.catalogue.get(c.predicate)
        active = self._records(unit, c, Status.ACTIVE)
        if predicate is not None and not predicate.single:
            active = [r for r in active if same_value(c, r, predicate)]
        return active[-1] if active else None

    def _kept(self, unit: Unit, c: Candidate, seen: Seen) -> Change:
        holder = self._holder(unit, c)
        return replace(_change("keep", c, seen), record=holder.id if holder else None)

    def _again(self, unit: Unit, event: Event, c: Candidate) -> bool:
        """Whether a file that was read before states what is not in force any more: because it
        ended, or because this file or one that is gone said otherwise meanwhile."""
        holder = self._holder(unit, c)
        if holder is None:
            past = self._records(unit, c, Status.EXPIRED, Status.SUPERSEDED)
            return any(event.id in r.evidence for r in past)
        if same_value(c, holder, self.parts.policy.catalogue.get(c.predicate)):
            return False
        told = unit.events.get(holder.evidence)
        return all(_of_file(e) and (e.path == event.path or self._silent(e, holder)) for e in told)

    def _gone(self, unit: Unit) -> Iterator[Change]:
        """Expire what only files said that no longer do."""
        keys = [self.place.only(parts).key for parts in (("project",), ("project", "user"))]
        active = unit.records.find(Filter(scope_keys=keys, statuses=[Status.ACTIVE]))
        told = [r.id for r in active if r.source.get("kind") == EventKind.FILE]
        gone = [r for r in unit.records.get(told) if self._unsaid(unit, r)]
        if gone:
            ids = [r.id for r in gone]
            forget.expire(unit, ids, self.parts.now())
            self.parts.audit(unit, self.principal, "expire", records=ids)
        for r in gone:
            yield Change(
                "expire", r.predicate or "", r.value, str(r.source.get("path")), record=r.id
            )

    def _unsaid(self, unit: Unit, r: Record) -> bool:
        if not remembering.may_write(self.principal, r.scope):
            return False
        return all(self._silent(e, r) for e in unit.events.get(r.evidence))

    def _silent(self, event: Event, r: Record) -> bool:
        """Whether evidence is a file that is gone, or does not state the attribute any longer."""
        predicate = self.parts.policy.catalogue.get(r.predicate)
        if predicate is None or not _of_file(event) or not self.found.covers(event.path or ""):
            return False
        now = [c for seen, _, found in self.read if seen.path == event.path for c in found]
        same = [c for c in now if c.predicate == r.predicate]
        return not (same if predicate.single else [c for c in same if same_value(c, r, predicate)])


def _of_file(event: Event) -> bool:
    """Whether it is a file that was read here; others were only shown."""
    return event.kind is EventKind.FILE and event.metadata.get("sha256") is not None


def _read(
    parts: Parts, principal: Principal, thread: Thread, seen: Seen, runner: str | None
) -> tuple[Seen, Event, list[Candidate]]:
    """The event a file is, and what it states.  A guide is only observed, so it is seen today."""
    now = parts.now()
    at = min(seen.at, now) if spec_of(seen.path) else now
    day = at.isoformat() if spec_of(seen.path) else f"{now:%Y-%m-%d}"
    metadata = {"sha256": seen.sha256, "commit": seen.commit, "runner": runner}
    message = Message(
        by="file",
        text=seen.text,
        id=parts.digester(principal.tenant).digest("file", seen.path, seen.sha256, day)[:40],
        at=at,
        path=seen.path,
        metadata={k: v for k, v in metadata.items() if v is not None},
    )
    event = make(parts, principal, thread, message)
    return seen, event, read_event(parts, principal, event)


def _runner(found: Repository) -> str | None:
    """What runs scripts here, by the lock files that are there."""
    meant = ((spec_of(f.path) or {}).get("means", {}).get("package_manager") for f in found.files)
    return next((m for m in meant if m in ("pnpm", "yarn", "bun", "npm")), None)


def _asked_first(
    parts: Parts,
    candidates: Sequence[Candidate],
    read: Sequence[tuple[Seen, Event, list[Candidate]]],
) -> dict[str | None, str]:
    """Of several files that state one single-valued attribute, the one its predicate prefers."""
    first: dict[str | None, str] = {}
    for predicate in filter(
        None, map(parts.policy.catalogue.get, {c.predicate for c in candidates})
    ):
        stating = [s for s, _, found in read if any(c.predicate == predicate.name for c in found)]
        ranked = sorted(stating, key=lambda s: (_rank(s.path, predicate.files), s.path))
        if predicate.single and ranked:
            first[predicate.name] = ranked[0].path
    return first


def _rank(path: str, files: Sequence[str]) -> int:
    return next((n for n, name in enumerate(files) if Path(path).match(name)), len(files))


def _change(what: str, c: Candidate, seen: Seen) -> Change:
    return Change(what, c.predicate or "", c.value, seen.path, seen.sha256, seen.commit)


def _decided(made: Decision, seen: Seen, before: Record | None) -> Change:
    change = _change(_WHAT.get(made.action, "hold"), made.candidate, seen)
    if made.action is Action.ACTIVATE:
        what = {Reconcile.MERGE: "confirm", Reconcile.SUPERSEDE: "change"}.get(made.reconcile)
        history = made.status is Status.SUPERSEDED
        change = replace(change, what="history" if history else what or "learn")
    told = before.value if before is not None and change.what != "confirm" else None
    return replace(change, before=told, record=made.record_id, reasons=made.reasons)


_WHAT: dict[Action, str] = {Action.REFUSE: "refuse", Action.IGNORE: "refuse", Action.HOLD: "hold"}
