"""In and out: conversations as evidence, exports, and exports brought back through the gate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from muniment.errors import InvalidInput, MunimentError, NotAllowed, Unavailable
from muniment.events.event import Event
from muniment.events.formats import count_messages, read_batches
from muniment.events.message import Message
from muniment.extract import remember as remembering
from muniment.gate.candidate import Candidate, Claim
from muniment.gate.codec import candidate_from_dict, candidate_to_dict
from muniment.gate.decision import Action
from muniment.gate.unit import Unit
from muniment.ids import EventId
from muniment.records.record import Kind, Record, Status
from muniment.records.table import Filter
from muniment.scope import Channel, Principal, Scope, permits
from muniment.store.private import make_private
from muniment.store.schema import canonical_json
from muniment.verbs import appending
from muniment.verbs.keeping import Progress
from muniment.verbs.parts import Parts

IMPORT_BATCH = 500
FORMAT = "muniment-export-1"


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: ``appended`` new events, ``known`` ones that were there already."""

    appended: int = 0
    known: int = 0
    threads: int = 0
    activated: int = 0
    blocked: tuple[str, ...] = ()
    waiting: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        out = {name: getattr(self, name) for name in self.__slots__}
        return {**out, "blocked": list(self.blocked)}


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote."""

    path: str
    records: int
    events: int

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"path": self.path, "records": self.records, "events": self.events}


def importing(principal: Principal) -> Principal:
    """The same person through the import channel: evidence from the past, nothing confirmed."""
    if principal.channel is Channel.AGENT:
        raise NotAllowed("import.channel", "the agent channel cannot import")
    return replace(principal, channel=Channel.IMPORT)


def import_file(
    parts: Parts,
    principal: Principal,
    path: Path,
    *,
    scope: Scope | None,
    attest: bool,
    progress: Progress | None,
) -> Imported:
    """Append every message of the file.  Batches commit one by one: what is in stays in, and a
    second run finds it there.  Indexing is left to whoever asks first, or to `tidy`."""
    who = importing(principal)
    total = count_messages(path)
    done = Imported()
    threads: set[str] = set()
    seen = 0
    for batch in read_batches(path, IMPORT_BATCH):
        messages = [_with_id(m, seen + i) for i, m in enumerate(batch.messages)]
        seen += len(messages)
        before = parts.now()
        try:
            events = appending.append(
                parts,
                who,
                messages,
                thread=batch.thread,
                scope=batch.scope or scope,
                attest=attest,
                index=False,
            )
        except InvalidInput as error:
            raise InvalidInput(error.code, f"near line {batch.line}: {error.message}") from None
        new = sum(e.recorded_at >= before for e in events)
        threads.add(events[0].thread)
        done = replace(done, appended=done.appended + new, known=done.known + len(events) - new)
        if progress is not None:
            progress(seen, max(total, seen) if total else 0)
    return replace(done, threads=len(threads))


def _with_id(message: Message, position: int) -> Message:
    """A message without an id is known again by its place in the file."""
    return message if message.id is not None else replace(message, id=f"row-{position}")


# ---------------------------------------------------------------- export


def export(parts: Parts, principal: Principal, path: Path) -> Exported:
    """Records one may know of with the events they stand on; sealed, so that a store knows its
    own exports again.  Nothing half-written: the file appears whole."""
    if principal.channel is Channel.AGENT:
        raise NotAllowed("export.channel", "the agent channel cannot export")
    records, events = parts.read(principal, lambda unit: _gather(unit, principal))
    lines = [canonical_json({"format": FORMAT, "tenant": principal.tenant})]
    lines += [canonical_json({"event": _event_data(e)}) for e in events]
    lines += [canonical_json({"record": _record_data(r)}) for r in records]
    body = "\n".join(lines)
    key = parts.store.key
    seal = key.digest("export", principal.tenant, body) if key else ""
    draft = path.with_name(path.name + ".part")
    try:
        draft.unlink(missing_ok=True)
        make_private(draft)
        draft.write_text(f"{body}\n{canonical_json({'seal': seal})}\n", "utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise Unavailable("export.failed", f"could not write {path}: {error.strerror}") from None
    if not parts.audit_read(principal, "export", [r.id for r in records]):
        path.unlink(missing_ok=True)
        raise Unavailable("audit.unavailable", "the export could not be audited")
    return Exported(str(path), len(records), len(events))


def _gather(unit: Unit, principal: Principal) -> tuple[list[Record], list[Event]]:
    admin = principal.channel is Channel.ADMIN
    keys = [s.key for s in unit.scopes() if admin or permits(principal, s)]
    kept = [s for s in Status if s not in (Status.DELETED, Status.ERASED)]
    found = unit.records.find(Filter(scope_keys=keys, statuses=kept))
    records = unit.records.get([r.id for r in found])
    wanted = dict.fromkeys(e for r in records for e in r.evidence)
    events = []
    for event in unit.events.get(wanted):
        thread = unit.events.thread(event.thread)
        if not event.erased and thread and (admin or thread.owner == principal.user):
            events.append(event)
    return records, events


def _event_data(e: Event) -> dict[str, Any]:
    data = {
        "id": e.id,
        "thread": e.thread,
        "scope": e.scope.to_dict(),
        "by": e.kind.value,
        "text": e.text,
        "at": e.said_at.isoformat(),
        "attested": e.attested,
    }
    for name in ("speaker", "path", "url", "name", "run", "turn", "step"):
        if (value := getattr(e, name)) is not None:
            data[name] = value
    return data


def _record_data(r: Record) -> dict[str, Any]:
    candidate = Candidate(
        content=r.content or "",
        kind=r.kind,
        subject=r.subject,
        scope=r.scope,
        evidence=r.evidence,
        said_at=r.said_at,
        predicate=r.predicate,
        value=r.value,
        condition=r.condition,
        namespace=r.namespace,
        claim=claim_of(r),
        durability=r.durability,
        sensitivity=r.sensitivity,
        language=r.language,
        valid_from=r.valid_from,
        valid_to=r.valid_to,
        expires_at=r.expires_at,
        refresh=r.refresh,
        tags=r.tags,
        confidence=r.confidence,
        writer=r.writer,
        write_reason=r.write_reason,
    )
    return {
        "id": r.id,
        "status": r.status.value,
        "origin": r.origin.value,
        "candidate": candidate_to_dict(candidate),
    }


def claim_of(r: Record) -> Claim:
    """Which column of the event table a record belongs to."""
    if r.kind in (Kind.RULE, Kind.SKILL):
        return Claim.RULE
    about_person = r.subject.split(":")[0] in ("user", "person")
    return Claim.USER if r.kind is Kind.PREFERENCE or about_person else Claim.WORLD


# ---------------------------------------------------------------- bringing it back


def import_backup(parts: Parts, principal: Principal, path: Path, *, attest: bool) -> Imported:
    """Append the events of an export and settle its records again, in the order they were said.

    The store's own exports are recognised by their seal; anything else needs an admin who
    attests, or else counts as observed.  What was erased, deleted or rejected is blocked.
    """
    who = importing(principal)
    rows, sealed = _read_export(parts, principal, path)
    trusted = sealed or (attest and principal.channel is Channel.ADMIN)
    if attest and not trusted:
        raise NotAllowed("import.attest", "only an admin attests a foreign export")

    def work(unit: Unit) -> Imported:
        before = parts.now()
        events = _restore_events(parts, unit, who, rows, trusted)
        new = sum(e.channel is Channel.IMPORT and e.recorded_at >= before for e in events.values())
        return _restore_records(parts, unit, who, principal, rows, events, new)

    return parts.write(principal, work, adds=len(rows))


def _read_export(
    parts: Parts, principal: Principal, path: Path
) -> tuple[list[dict[str, Any]], bool]:
    try:
        lines = path.read_text("utf-8").removesuffix("\n").split("\n")
        rows = [json.loads(line) for line in lines]
    except OSError as error:
        raise Unavailable("import.unreadable", f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InvalidInput("import.not_json", f"{path}: not a Muniment export") from None
    if not all(isinstance(row, dict) for row in rows) or rows[0].get("format") != FORMAT:
        raise InvalidInput("import.unknown_format", f"{path}: not a Muniment export")
    seal = rows[-1].get("seal")
    if seal is None:
        raise InvalidInput("import.truncated", f"{path}: the end is missing")
    key = parts.store.key
    body = "\n".join(lines[:-1])
    tenant = str(rows[0].get("tenant"))
    sealed = key is not None and key.digest("export", tenant, body) == seal
    return rows[1:-1], sealed and tenant == principal.tenant


def _restore_events(
    parts: Parts, unit: Unit, who: Principal, rows: list[dict[str, Any]], trusted: bool
) -> dict[str, Event]:
    """Events by their id in the export; one that is still there is not appended again."""
    out: dict[str, Event] = {}
    for row in rows:
        if "event" not in row:
            continue
        data = _mapping(row["event"])
        known = unit.events.get([EventId(str(data.get("id")))])
        if known:  # still here; or erased, and then it stays away
            if not known[0].erased:
                out[known[0].id] = known[0]
            continue
        fields = {k: v for k, v in data.items() if k not in ("id", "thread", "scope", "attested")}
        message = Message.of({**fields, "id": f"export:{data.get('id')}"})
        attest = trusted and bool(data.get("attested"))
        label, scope = f"export:{data.get('thread')}", Scope.of(data.get("scope"))
        [event] = appending.append_in(parts, unit, who, [message], label, scope, attest)
        out[str(data.get("id"))] = event
    return out


def _restore_records(
    parts: Parts,
    unit: Unit,
    who: Principal,
    principal: Principal,
    rows: list[dict[str, Any]],
    events: Mapping[str, Event],
    new: int,
) -> Imported:
    settling = parts.settling(unit, who)
    activated, waiting, blocked = 0, 0, []
    for name, candidate in sorted(_candidates(rows), key=lambda pair: pair[1].said_at):
        evidence = [events[e] for e in candidate.evidence if e in events]
        if not may_bring(principal, candidate):
            blocked.append(f"{name}: scope.not_member")
            continue
        mine = replace(
            candidate,
            evidence=tuple(e.id for e in evidence),
            writer="import",
            write_reason="imported",
        )
        decision = remembering.propose(settling, mine, evidence)[0]
        activated += decision.action is Action.ACTIVATE
        waiting += decision.action is Action.HOLD
        if decision.action in (Action.IGNORE, Action.REFUSE):
            blocked.append(f"{name}: {decision.reasons[0]}")
    known = len(events) - new
    return Imported(new, known, 0, activated, tuple(blocked), waiting)


def may_bring(principal: Principal, candidate: Candidate) -> bool:
    """An export brings back one's own; an admin's, anybody's.  No file says who may write."""
    if principal.channel is Channel.ADMIN:
        return True
    own = not candidate.subject.startswith("user:") or candidate.subject == principal.subject
    return own and remembering.may_write(principal, candidate.scope)


def _candidates(rows: list[dict[str, Any]]) -> Iterator[tuple[str, Candidate]]:
    for row in rows:
        if "record" not in row:
            continue
        data = _mapping(row["record"])
        try:
            yield str(data["id"]), candidate_from_dict(data["candidate"])
        except MunimentError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidInput("import.invalid", "a record of the export is damaged") from None


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput("import.invalid", "an entry of the export is damaged")
    return value
