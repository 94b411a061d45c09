"""Approvals: who allowed what exactly, until when; checked again at every resume.

An approval belongs to one thread and is bound to a keyed digest of the very thing approved.
It is state of a task, never memory: nothing recalled can stand in for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from muniment.errors import NotAllowed
from muniment.events.event import Event, EventKind
from muniment.gate.keys import Digester
from muniment.scope import Channel, Principal
from muniment.text.grounds import declines
from muniment.threads.artifacts import FileSeen, compare
from muniment.threads.ledger import canonical

WHAT_BYTES_MAX = 64 * 1024


class Standing(StrEnum):
    """Whether an approval still allows anything."""

    VALID = "valid"
    EXPIRED = "expired"
    CHANGED = "changed"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Approval:
    """One approval as it was given.  ``until`` is the first instant at which it is over."""

    thread: str
    name: str
    digest: str
    what: Any
    by: str
    channel: str
    event_id: str
    granted_at: datetime
    until: datetime | None = None
    revoked_at: datetime | None = None
    answer_id: str | None = None

    def seal(self, keys: Digester) -> str:
        """A keyed digest of all of it, kept in the trail, against which `verify` checks the row."""
        values = [getattr(self, f.name) for f in fields(self)]
        words = canonical([v.isoformat() if isinstance(v, datetime) else v for v in values])
        return keys.digest("approval-seal", words)

    def ended(self, at: datetime) -> Approval:
        """The same, revoked."""
        return replace(self, revoked_at=at)


@dataclass(frozen=True, slots=True)
class Checked:
    """An approval with what it is worth now, and why."""

    approval: Approval
    standing: Standing
    reason: str

    @property
    def valid(self) -> bool:
        """Whether what was approved may be done, exactly as approved."""
        return self.standing is Standing.VALID

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        a = self.approval
        return {
            "name": a.name,
            "what": a.what,
            "by": a.by,
            "granted_at": a.granted_at.isoformat(),
            "until": None if a.until is None else a.until.isoformat(),
            "standing": self.standing.value,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Now:
    """What is known when an approval is checked.

    ``current`` maps names of approvals to digests of the things as they are now; ``seen`` what
    a look at the workspace found, by path; ``revisions`` what the state itself records.
    """

    at: datetime
    current: Mapping[str, str] | None = None
    seen: Mapping[str, FileSeen] | None = None
    revisions: Mapping[str, str] | None = None


def digest_of(keys: Digester, thread: str, what: Any) -> str:
    """The digest an approval is bound to: equal for equal JSON data in the same thread."""
    return keys.digest("approval", thread, canonical(what))


def standing(approval: Approval, now: Now) -> Checked:
    """What an approval is worth: revoked, expired, changed or valid, with the reason in words."""
    if approval.revoked_at is not None:
        return Checked(approval, Standing.REVOKED, f"revoked at {_at(approval.revoked_at)}")
    if approval.until is not None and approval.until <= now.at:
        return Checked(approval, Standing.EXPIRED, f"was good until {_at(approval.until)}")
    given = (now.current or {}).get(approval.name)
    if given is not None and given != approval.digest:
        return Checked(approval, Standing.CHANGED, "what was approved is not what there is now")
    for path, revision in artifacts_in(approval.what):
        reason = _artifact_changed(path, revision, now)
        if reason is not None:
            return Checked(approval, Standing.CHANGED, reason)
    until = "" if approval.until is None else f" until {_at(approval.until)}"
    blind = [p for p, _ in artifacts_in(approval.what) if p not in (now.seen or {})]
    unseen = f"; nobody has looked at {', '.join(blind)}" if blind else ""
    given = f"approved by {approval.by} at {_at(approval.granted_at)}{until}{unseen}"
    return Checked(approval, Standing.VALID, given)


def _artifact_changed(path: str, revision: str, now: Now) -> str | None:
    seen = (now.seen or {}).get(path)
    if seen is not None:
        word = compare(revision, seen)
        same = word == "same"
        return None if same else f"{path} is {word} since revision {revision} was approved"
    recorded = (now.revisions or {}).get(path)
    if recorded is not None and recorded != revision:
        return f"{path} has gone on to revision {recorded} since {revision} was approved"
    return None


def artifacts_in(what: Any) -> Iterator[tuple[str, str]]:
    """Every (path, revision) that what is approved names, at any depth."""
    if isinstance(what, Mapping):
        path, revision = what.get("path"), what.get("revision")
        if isinstance(path, str) and isinstance(revision, str):
            yield path, revision
        for inner in what.values():
            yield from artifacts_in(inner)
    elif isinstance(what, Sequence) and not isinstance(what, str):
        for inner in what:
            yield from artifacts_in(inner)


def check_may_approve(
    principal: Principal, thread: str, answer: Event | None, revoked_at: datetime | None = None
) -> None:
    """A person approves, an administrator too; the runtime only relays the user's own answer.

    An agent, an import or a job never does.  The answer was said in this very thread, live, is
    not a no, and is younger than the last revocation.  Raises `NotAllowed`.
    """
    channel = principal.channel
    if channel not in (Channel.USER, Channel.ADMIN, Channel.RUNTIME):
        raise NotAllowed("approve.channel", f"the {channel} channel cannot approve")
    if answer is None:
        if channel is Channel.RUNTIME:
            raise NotAllowed("approve.needs_answer", _NEEDS)
        return
    own = answer.kind is EventKind.USER and answer.user == principal.user
    if not (own and answer.live and answer.attested):
        raise NotAllowed("approve.needs_answer", _NEEDS)
    if answer.thread != thread:
        raise NotAllowed("approve.answer_elsewhere", "the answer was given in another thread")
    if revoked_at is not None and answer.said_at <= revoked_at:
        raise NotAllowed("approve.answer_too_old", "the answer is older than the revocation")
    if declines(answer.text or ""):
        raise NotAllowed("approve.answer_is_no", "the answer is a no")


_NEEDS = "pass the user's own event that answers the question, as `answer`"


def _at(at: datetime) -> str:
    return at.isoformat(timespec="minutes")
