"""`Memory`: the whole product as a few verbs.  Read this first.

Every verb takes the principal, checks who may, does one thing in one transaction and answers
with values; what it decides is in the module it calls (``verbs/``, and the nouns below them).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from types import TracebackType
from typing import Any

from muniment.clock import Clock, SystemClock
from muniment.config import Settings
from muniment.context.compose import Context
from muniment.context.turn import Turn
from muniment.errors import InvalidInput
from muniment.events.event import Event
from muniment.events.log import Thread
from muniment.events.message import Message
from muniment.gate.candidate import Held
from muniment.gate.decision import Decision
from muniment.gate.policy import Policy
from muniment.ids import Ids, SortableIds
from muniment.providers.embedders import guarded_of
from muniment.recall.embed import Embedder
from muniment.recall.envelope import Recalled
from muniment.records.facts import Catalogue
from muniment.records.history import History
from muniment.records.record import Record
from muniment.scope import Principal, Scope
from muniment.store.connect import connect
from muniment.store.verify import Verification
from muniment.trail.lane import ReadLane
from muniment.verbs import (
    answering,
    appending,
    explaining,
    forgetting,
    keeping,
    learning,
    portable,
    reading,
    remembering,
    revising,
    uses,
)
from muniment.verbs.explaining import Why
from muniment.verbs.forgetting import Forgotten
from muniment.verbs.keeping import Progress
from muniment.verbs.learning import Learnt
from muniment.verbs.parts import Parts, write_lane
from muniment.verbs.paths import path_of
from muniment.verbs.policies import policy_of
from muniment.verbs.portable import Exported, Imported
from muniment.verbs.threads import Threads


class Memory:
    """An open memory.  Thread-safe; `close` it, or use it as a context manager.

    ``principal`` (of the call, else of `open`) says who acts; ``scope`` where.  Errors are those
    of `muniment.errors`; a refusal by the gate is a `Decision` with reasons, not an error.
    """

    def __init__(self, parts: Parts, principal: Principal) -> None:
        self._parts, self.principal = parts, principal
        #: Short-term state: checkpoints, tool calls, approvals, resuming (`Threads`).
        self.threads = Threads(parts, self._who)

    # ------------------------------------------------------------ evidence

    def thread(
        self,
        label: str | None = None,
        *,
        scope: object = None,
        principal: object = None,
    ) -> Thread:
        """Open (or reopen) a thread of one's own; its scope is fixed when it is first opened."""
        who, where, name = self._who(principal), _scope(scope), _label(label)
        return self._parts.write(
            who, lambda u: appending.open_thread(self._parts, u, who, name, where), adds=0
        )

    def append(
        self,
        text: str,
        *,
        by: str = "user",
        thread: object = None,
        scope: object = None,
        principal: object = None,
        **fields: Any,
    ) -> Event:
        """Append one event as evidence; nothing is remembered yet.

        ``fields`` are those of `Message` (id, at, speaker, path, url, name, run, turn, step,
        metadata).  With an ``id``, appending again returns the first event.
        """
        message = Message.of({"by": by, "text": text, **fields})
        return self.append_many([message], thread=thread, scope=scope, principal=principal)[0]

    def append_many(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        thread: object = None,
        scope: object = None,
        principal: object = None,
    ) -> list[Event]:
        """Append several events to one thread, all of them or none."""
        if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
            raise InvalidInput("messages.invalid", "messages: a list of messages")
        checked = [Message.of(m) for m in messages]
        return appending.append(
            self._parts,
            self._who(principal),
            checked,
            thread=_label(thread),
            scope=_scope(scope),
        )

    def import_file(
        self,
        path: str | Path,
        *,
        scope: object = None,
        attest: bool = False,
        principal: object = None,
        progress: Progress | None = None,
    ) -> Imported:
        """Append a JSON Lines file of messages, or a LoCoMo or MemDaily file, as events.

        Idempotent and resumable: run it again after an interruption.  Who spoke is only vouched
        for with ``attest`` (and then the file is trusted for it).
        """
        who = self._who(principal)
        return portable.import_file(
            self._parts, who, path_of(path), scope=_scope(scope), attest=attest, progress=progress
        )

    # ------------------------------------------------------------ writing

    def remember(
        self,
        text: str | None = None,
        *,
        event: object = None,
        by: str = "user",
        thread: object = None,
        scope: object = None,
        principal: object = None,
        key: str | None = None,
        **fields: Any,
    ) -> list[Decision]:
        """Read what was said (words, or an event appended before) and put it through the gate.

        Words, evidence, decisions and records are one transaction.  An empty list means that
        nothing in it was a statement.  With ``key``, a replay returns the first decisions.
        """
        if text is None and fields:
            raise InvalidInput("remember.unknown_field", f"with an event: not {sorted(fields)}")
        message = None if text is None else Message.of({"by": by, "text": text, **fields})
        return remembering.remember(
            self._parts,
            self._who(principal),
            event=None if event is None else str(getattr(event, "id", event)),
            message=message,
            thread=_label(thread),
            scope=_scope(scope),
            key=key,
        )

    def learn(
        self,
        path: str | Path,
        *,
        scope: object = None,
        dry_run: bool = False,
        principal: object = None,
    ) -> Learnt:
        """What the files of a repository state of its project; what they no longer do expires."""
        who, where = self._who(principal), _scope(scope)
        return learning.learn(self._parts, who, path_of(path), scope=where, dry_run=dry_run)

    def propose(
        self,
        proposal: Mapping[str, Any],
        *,
        scope: object = None,
        principal: object = None,
        key: str | None = None,
    ) -> list[Decision]:
        """Put a candidate of one's own through the gate.  It names its evidence; its origin
        follows from channel and evidence and cannot be passed."""
        who = self._who(principal)
        return remembering.propose(self._parts, who, proposal, scope=_scope(scope), key=key)

    def review(self, *, limit: int = 100, principal: object = None) -> list[Held]:
        """The candidates that wait for this principal, oldest first."""
        return answering.review(self._parts, self._who(principal), limit=limit)

    def confirm(
        self,
        candidate: str,
        *,
        digest: str | None,
        answer: str | None = None,
        principal: object = None,
        key: str | None = None,
    ) -> Decision:
        """Confirm a waiting candidate exactly as shown (``digest``).

        A person does; the runtime relays one's ``answer`` (an event id); an agent never may.
        """
        who = self._who(principal)
        return answering.confirm(self._parts, who, candidate, digest=digest, answer=answer, key=key)

    def reject(
        self,
        candidate: str,
        *,
        digest: str | None,
        answer: str | None = None,
        principal: object = None,
    ) -> Held:
        """Reject a waiting candidate; it does not come back until the user says it anew."""
        return answering.reject(
            self._parts, self._who(principal), candidate, digest=digest, answer=answer
        )

    def revise(
        self,
        record: str,
        *,
        if_version: int,
        content: str | None = None,
        value: Any = None,
        tags: Sequence[str] | None = None,
        principal: object = None,
        key: str | None = None,
    ) -> Record:
        """A new version of a record, if it is still at ``if_version``."""
        return revising.revise(
            self._parts,
            self._who(principal),
            record,
            if_version=if_version,
            content=content,
            value=value,
            tags=tags,
            key=key,
        )

    def revise_candidate(self, candidate: str, *, principal: object = None, **changes: Any) -> Held:
        """Edit a waiting candidate before it is confirmed; its digest changes."""
        return answering.revise_candidate(self._parts, self._who(principal), candidate, changes)

    # ------------------------------------------------------------ reading

    def recall(
        self,
        text: str,
        *,
        scope: object = None,
        stage: str | None = None,
        entities: Sequence[str] = (),
        paths: Sequence[str] = (),
        kinds: Sequence[str] = (),
        layers: Sequence[str] = ("records",),
        limit: int = 8,
        neighbours: int = 1,
        principal: object = None,
    ) -> Recalled:
        """What applies here and answers the task, best first, as envelopes.

        ``layers=("archive",)`` searches turns instead, with ``neighbours`` on either side.
        """
        who = self._who(principal)
        request = reading.request_of(
            self._parts,
            who,
            text,
            scope=scope,
            stage=stage,
            entities=entities,
            paths=paths,
            kinds=kinds,
            layers=layers,
            limit=limit,
            neighbours=neighbours,
        )
        return reading.recall(self._parts, who, request)

    def context(
        self,
        text: str,
        *,
        scope: object = None,
        stage: str | None = None,
        entities: Sequence[str] = (),
        paths: Sequence[str] = (),
        budget_tokens: int = 800,
        window: Sequence[str] = (),
        limit: int = 20,
        language: str | None = None,
        principal: object = None,
    ) -> Context:
        """The fenced block for a model within a budget, policy apart from memory, and the report
        of what is in it and what is not."""
        who = self._who(principal)
        request = reading.request_of(
            self._parts,
            who,
            text,
            scope=scope,
            stage=stage,
            entities=entities,
            paths=paths,
            limit=limit,
        )
        return reading.context(
            self._parts, who, request, budget_tokens=budget_tokens, window=window, tongue=language
        )

    def turn(
        self,
        thread: object,
        message: str,
        *,
        scope: object = None,
        stage: str | None = None,
        entities: Sequence[str] = (),
        budget_tokens: int = 800,
        window: Sequence[str] = (),
        principal: object = None,
        **fields: Any,
    ) -> Turn:
        """One turn of an agent as a context manager: see `muniment.context.turn.Turn`."""
        who = self._who(principal)
        host = uses.Host(
            self,
            who,
            thread=_label(thread),
            scope=_scope(scope),
            asked={"stage": stage, "entities": entities, "budget_tokens": budget_tokens},
        )
        turn_id = self._parts.ids.new("turn")
        return Turn(host, message, turn_id=turn_id, window=window, fields=fields)

    def used(
        self, turn: str, use: str, records: Sequence[str], *, principal: object = None
    ) -> None:
        """Record that a turn was ``offered``, ``injected``, ``cited`` or ``corrected`` these."""
        uses.used(self._parts, self._who(principal), turn, use, records)

    def list(
        self,
        *,
        where: Mapping[str, Any] | None = None,
        limit: int = 100,
        after: str | None = None,
        principal: object = None,
    ) -> list[Record]:
        """Records one may know of, by exact conditions (status, kind, predicate, subject, tag,
        muted, and parts of the scope); deleted ones never, superseded ones too."""
        who = self._who(principal)
        exact: Mapping[str, Any] = {} if where is None else where
        return reading.list_records(self._parts, who, where=exact, limit=limit, after=after)

    def show(self, what: str, *, principal: object = None) -> Record | Event:
        """A record, or an event of one's own threads, by id."""
        return explaining.show(self._parts, self._who(principal), what)

    def history(
        self,
        record: str,
        *,
        as_of: datetime | str | None = None,
        believed_at: datetime | str | None = None,
        principal: object = None,
    ) -> History:
        """What held at ``as_of`` according to what was believed at ``believed_at``."""
        who = self._who(principal)
        return explaining.history(self._parts, who, record, as_of=as_of, believed_at=believed_at)

    def why(self, record: str, *, language: str = "en", principal: object = None) -> Why:
        """From a record to the very words it stands on, the decisions, and what one can do."""
        return explaining.why(self._parts, self._who(principal), record, tongue=language)

    def profile(self, *, principal: object = None) -> dict[str, Any]:
        """A person's current facts and preferences as one document: a projection, rebuilt at
        every call and never a second copy."""
        return explaining.profile(self._parts, self._who(principal))

    # ------------------------------------------------------------ forgetting

    def mute(
        self,
        record: str | None = None,
        *,
        dry_run: bool = False,
        principal: object = None,
        **target: Any,
    ) -> Forgotten:
        """Stop recalling; `unmute` undoes it.  ``target`` as in `delete`."""
        return self._forget("mute", _with_record(record, target), dry_run, principal)

    def unmute(
        self,
        record: str | None = None,
        *,
        dry_run: bool = False,
        principal: object = None,
        **target: Any,
    ) -> Forgotten:
        """Recall again."""
        return self._forget("unmute", _with_record(record, target), dry_run, principal)

    def expire(
        self,
        record: str | None = None,
        *,
        dry_run: bool = False,
        principal: object = None,
        **target: Any,
    ) -> Forgotten:
        """End the validity now; what it was stays for questions about the past."""
        return self._forget("expire", _with_record(record, target), dry_run, principal)

    def delete(
        self, *, dry_run: bool = False, principal: object = None, **target: Any
    ) -> Forgotten:
        """Logical: out of every answer, kept for the audit, not to be learnt again.

        ``target`` is one of record, event, subject, or scope with ``match="exact"|"within"``.
        """
        return self._forget("delete", target, dry_run, principal)

    def erase(self, *, dry_run: bool = False, principal: object = None, **target: Any) -> Forgotten:
        """Physical: the words gone with everything derived from them; the target as in `delete`."""
        _check_target(target)
        return forgetting.erase(self._parts, self._who(principal), target, dry_run=dry_run)

    # ------------------------------------------------------------ keeping

    def settings(
        self, *, tenant_wide: bool = False, principal: object = None, **changes: Any
    ) -> dict[str, Any]:
        """Read or change switches: pause, pause_writes, pause_recall, disable_kinds."""
        who = self._who(principal)
        return keeping.settings(self._parts, who, changes, tenant_wide=tenant_wide)

    def export(self, path: str | Path, *, principal: object = None) -> Exported:
        """Every record one may know of (an admin: the tenant's) with its evidence, as JSON Lines;
        the state of threads is not in it, a `backup` has that too."""
        return portable.export(self._parts, self._who(principal), path_of(path))

    def import_backup(
        self, path: str | Path, *, attest: bool = False, principal: object = None
    ) -> Imported:
        """Bring an export back through the gate: what was erased or deleted stays away."""
        who = self._who(principal)
        return portable.import_backup(self._parts, who, path_of(path), attest=attest)

    def backup(self, path: str | Path, *, principal: object = None) -> Path:
        """A consistent copy of an embedded store while it is in use."""
        return keeping.backup(self._parts, self._who(principal), path)

    def rebuild_index(self, *, progress: Progress | None = None, principal: object = None) -> int:
        """Fill the index again from records and events; how many things it holds."""
        return keeping.rebuild_index(self._parts, self._who(principal), progress)

    def verify(self, *, principal: object = None) -> Verification:
        """Check every chain of the tenant."""
        return keeping.verify(self._parts, self._who(principal))

    def doctor(self, *, principal: object = None) -> dict[str, Any]:
        """One screen about the health of the store."""
        return keeping.doctor(self._parts, self._who(principal))

    def tidy(self, *, principal: object = None) -> dict[str, int]:
        """Lapse, expire, promote, finish erasures: what a background worker would do."""
        return keeping.tidy(self._parts, self._who(principal))

    def scrub(self, *, principal: object = None) -> dict[str, Any]:
        """Rewrite what may still hold erased words; needed on PostgreSQL, which locks meanwhile."""
        return keeping.scrub(self._parts, self._who(principal))

    def close(self) -> None:
        """Write open audit batches, bring the index up to date, and release everything."""
        self._parts.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------ plumbing

    def _who(self, principal: object) -> Principal:
        return self.principal if principal is None else Principal.of(principal)

    def _forget(
        self, verb: str, target: dict[str, Any], dry_run: bool, principal: object
    ) -> Forgotten:
        _check_target(target)
        who = self._who(principal)
        return forgetting.simple(self._parts, who, verb, target, dry_run=dry_run)


_TARGETS = {"record", "event", "subject", "scope", "match"}


def _with_record(record: str | None, target: Mapping[str, Any]) -> dict[str, Any]:
    return dict(target) if record is None else {"record": record, **target}


def _check_target(target: Mapping[str, Any]) -> None:
    unknown = sorted(set(target) - _TARGETS)
    if unknown:
        raise InvalidInput("target.unknown", f"{unknown[0]}: name one of {sorted(_TARGETS)}")


def _scope(scope: object) -> Scope | None:
    return None if scope is None else Scope.of(scope)


def _rows(predicates: object) -> list[Mapping[str, Any]]:
    if isinstance(predicates, str | Mapping) or not isinstance(predicates, Iterable):
        raise InvalidInput("predicate.invalid", "predicates: a list of mappings")
    return list(predicates)


def _label(thread: object) -> str | None:
    label = getattr(thread, "id", thread)
    if label is not None and not isinstance(label, str):
        raise InvalidInput("thread.invalid", "thread: a label, an id or a Thread")
    return label


def open(  # the product's first word: muniment.open(url)
    url: str | None = None,
    *,
    principal: object = None,
    key_file: str | Path | None = None,
    policy: Policy | str | Path | None = None,
    predicates: Iterable[Mapping[str, Any]] = (),
    clock: Clock | None = None,
    ids: Ids | None = None,
    tz: tzinfo = UTC,
    memory_off: bool | None = None,
    embedder: Embedder | str | None = None,
    creator: Any = None,
) -> Memory:
    """Open a memory: ``sqlite:///path.db``, ``sqlite://`` (in memory) or ``postgresql://…``.

    Without ``principal`` the caller is tenant ``local``, the system's user, channel ``runtime``.
    The chain key is read from ``key_file`` (else ``MUNIMENT_KEY_FILE``, else a file beside the
    database, made with mode 0600).  ``policy`` is a `Policy`, a preset by name, or a policy file
    (else ``MUNIMENT_POLICY``).  ``predicates`` adds to the catalogue, ``tz`` is the zone in
    which "yesterday" is understood, ``creator`` a factory of SQLite connections.  With
    ``memory_off`` nothing is recalled or remembered; evidence and threads go on.  ``embedder`` is
    an object or a setting (else ``MUNIMENT_EMBEDDER``).

    Raises `Unavailable` (schema of another version, unreachable, …), `NotAllowed` for a
    PostgreSQL role that bypasses row-level security, `InvalidInput` for a URL it cannot read.
    """
    settings = Settings()
    clock, ids = clock or SystemClock(), ids or SortableIds()
    who = Principal(user=settings.user) if principal is None else Principal.of(principal)
    policy = policy_of(settings.policy if policy is None else policy)
    rows = _rows(predicates)
    if rows:
        catalogue: Catalogue = policy.catalogue.extended(rows)
        policy = replace(policy, catalogue=catalogue)
    guarded = guarded_of(embedder, settings)
    store, index = connect(
        settings.url if url is None else url,
        key_file=settings.key_file if key_file is None else path_of(key_file),
        data_home=settings.data_home,
        ids=ids,
        now=clock.now(),
        creator=creator,
    )
    lane = ReadLane(f"reads-{os.getpid()}-{ids.new('lane')}", write_lane(store), clock)
    off = settings.memory_off if memory_off is None else memory_off
    return Memory(Parts(store, index, clock, ids, policy, lane, tz, off, guarded), who)
