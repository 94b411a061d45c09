"""From evidence to decisions, inside one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from muniment.errors import Conflict, InvalidInput, NotAllowed, NotFound
from muniment.events.event import Event, EventKind
from muniment.extract.grounding import grounded
from muniment.extract.proposal import grounded_in, secret_marks
from muniment.gate.candidate import Candidate, CandidateStatus, Held
from muniment.gate.decision import Action, Decision
from muniment.gate.enact import Settling
from muniment.gate.keys import tombstone_digests
from muniment.gate.policy import Policy
from muniment.gate.settle import classed, settle
from muniment.ids import CandidateId, RecordId
from muniment.scope import Channel, Principal, Scope, permits
from muniment.text import negated
from muniment.text.grounds import declines
from muniment.trail.entry import Entry, actor_of


def settle_all(
    work: Settling, candidates: Sequence[Candidate], evidence: Sequence[Event]
) -> list[Decision]:
    """Settle what was read out of one event, in the order of its words."""
    out: list[Decision] = []
    sibling: RecordId | None = None
    for candidate in candidates:
        if marks := secret_marks(candidate):
            candidate = replace(candidate, flags=candidate.flags | marks)
        formal = candidate.write_reason == "file"  # read off a form: `make test` from `test:`
        decisions = settle_in_reach(work, candidate, evidence, sibling=sibling, based=formal)
        sibling = decisions[0].record_id or sibling
        out += decisions
    return out


def settle_in_reach(
    work: Settling,
    candidate: Candidate,
    evidence: Sequence[Event],
    *,
    sibling: RecordId | None = None,
    based: bool = False,
) -> list[Decision]:
    """Settle a candidate in the scope its writer may write; ``based`` needs no look at the words.

    Without the role to write for others the decision activates in the user's own part of the
    scope, and the wider one is proposed.
    """
    texts = [e.text for e in evidence if e.text]
    based = based or any(verbatim(candidate, t) for t in texts) or grounded(candidate, texts)
    reach = within_reach(work.principal, candidate.scope)
    mine = replace(candidate, scope=reach)
    decision = settle(work, mine, evidence, grounded=based, sibling=sibling)
    if reach == candidate.scope or decision.action is not Action.ACTIVATE:
        return [decision]
    wider = replace(candidate, wider=candidate.scope)
    return [decision, settle(work, wider, evidence, grounded=based, sibling=sibling)]


def verbatim(candidate: Candidate, text: str) -> bool:
    """The plain case of grounding: the words are a piece of the text, and nothing in the text
    could turn them round."""
    return candidate.content in text and negated(candidate.content) == negated(text)


def within_reach(principal: Principal, scope: Scope) -> Scope:
    """The scope itself where the principal may write it, else with the principal's user."""
    if may_write(principal, scope):
        return scope
    return scope.with_parts(user=principal.user)


def may_write(principal: Principal, scope: Scope) -> bool:
    """Whether a principal may write records that others will read.

    One's own: always; another user's: never.  A project one is in: embedded (``projects="*"``)
    or with the role ``write:project``.  A team one is in, or the whole tenant: only with
    ``write:team``, ``write:tenant``.  An admin: anywhere.
    """
    if principal.channel is Channel.ADMIN:
        return True
    if not permits(principal, scope):
        return False
    if scope.user is not None:
        return True
    if scope.team is not None:
        return "write:team" in principal.roles
    if scope.project is not None or scope.workspace is not None:
        return principal.projects == "*" or "write:project" in principal.roles
    return "write:tenant" in principal.roles


def propose(work: Settling, candidate: Candidate, evidence: Sequence[Event]) -> list[Decision]:
    """Settle a proposal; its words are read exactly as an extractor's are."""
    ready = grounded_in(candidate, evidence, work.policy.catalogue)
    return settle_in_reach(work, ready, evidence)


# ---------------------------------------------------------------- answering what waits


def held_for(work: Settling, candidate_id: CandidateId, digest: str | None) -> Held:
    """The waiting candidate the principal may answer for, exactly as it was shown.

    Raises `NotFound` for others' and for none alike, `Conflict` ``candidate.stale_digest`` if it
    has changed since, and `InvalidInput` if no digest says what was shown.
    """
    held = work.unit.candidates.get(candidate_id)
    if held is None or not may_see(work.principal, held):
        raise NotFound("candidate.not_found", "no such candidate waits; see `review`")
    if digest is None:
        raise InvalidInput("candidate.digest_missing", "pass the digest of what was shown")
    if digest != held.digest:
        raise Conflict(
            "candidate.stale_digest", "the candidate has changed since it was shown; look again"
        )
    return held


def may_see(principal: Principal, held: Held) -> bool:
    """Whether a waiting candidate is this principal's to know of and to answer."""
    if principal.channel is Channel.ADMIN:
        return True
    if held.candidate.scope.user is not None:
        return held.candidate.scope.user == principal.user
    return held.extra.get("owner") == principal.user or may_decide(principal, held.candidate.scope)


def may_decide(principal: Principal, scope: Scope) -> bool:
    """Whether what others proposed for that scope is this principal's to decide."""
    project, team = scope.project, scope.team
    inside = project is None or principal.projects == "*" or project in principal.projects
    inside = inside and (team is None or team in principal.teams)
    return inside and bool(principal.roles & {"approve", "admin"})


def check_may_answer(
    principal: Principal, held: Held, answer: Event | None, policy: Policy
) -> None:
    """Who may confirm: a person for their own; shared scopes and high impact by role; the
    runtime only relays a user's answer; agents, imports and jobs never."""
    if principal.channel in (Channel.AGENT, Channel.IMPORT, Channel.JOB):
        raise NotAllowed("confirm.channel", f"the {principal.channel} channel cannot confirm")
    _check_answer(principal, held, answer, "confirm")
    if answer is not None and declines(answer.text or ""):
        raise NotAllowed("confirm.answer_is_no", "the answer is a no; use `reject`")
    c = classed(held.candidate, policy)
    admin = principal.channel is Channel.ADMIN
    loosening = c.topic is not None and c.direction.value == "loosens" and not admin
    if loosening and not principal.roles & {"approve", "admin"}:
        raise NotAllowed("confirm.needs_role", "loosening a high-impact rule needs `approve`")
    if policy.safety.guards(c) and not admin and not principal.roles & {"approve", "admin"}:
        raise NotAllowed("confirm.needs_role", "the policy has this approved: it needs `approve`")
    shared = c.scope.user is None and not may_write(principal, c.scope)
    if shared and not admin and not principal.roles & {"approve", "admin"}:
        raise NotAllowed("confirm.needs_role", "confirming for others needs the role `approve`")


def check_may_reject(principal: Principal, held: Held, answer: Event | None) -> None:
    """Who may reject, which keeps it from coming back: a person; the runtime only relays a
    user's answer; agents, imports and jobs never."""
    if principal.channel in (Channel.AGENT, Channel.IMPORT, Channel.JOB):
        raise NotAllowed("reject.channel", f"the {principal.channel} channel cannot reject")
    _check_answer(principal, held, answer, "reject")


def _check_answer(principal: Principal, held: Held, answer: Event | None, verb: str) -> None:
    """A person's own word, given after the question; the runtime has to name one."""
    if principal.channel is Channel.RUNTIME and (
        answer is None or answer.kind is not EventKind.USER or answer.user != principal.user
    ):
        raise NotAllowed(
            f"{verb}.needs_answer", "pass the user's event that answers the question, as `answer`"
        )
    if answer is None:
        return
    if not (answer.live and answer.attested):
        raise NotAllowed(f"{verb}.needs_answer", "an imported or unattested event answers nothing")
    if answer.said_at < held.created_at:
        raise NotAllowed(f"{verb}.answer_too_old", "the answer is older than the question")


def check_may_edit(principal: Principal) -> None:
    """People edit what waits; agents, imports and jobs propose anew."""
    if principal.channel not in (Channel.USER, Channel.ADMIN, Channel.RUNTIME):
        raise NotAllowed("revise.channel", "this channel only proposes; use `propose`")


def confirm(work: Settling, held: Held, confirmation: Event, evidence: Sequence[Event]) -> Decision:
    """Settle a held candidate on the strength of a confirmation, which becomes its evidence."""
    candidate = replace(
        held.candidate,
        evidence=(*held.candidate.evidence, confirmation.id),
        said_at=confirmation.said_at,
        writer=work.principal.channel.value,
        write_reason="confirmed",
    )
    return settle(work, candidate, [*evidence, confirmation], grounded=True, held=held)


def reject(work: Settling, held: Held) -> Held:
    """Close it and keep it from coming back."""
    predicate = work.policy.catalogue.get(held.candidate.predicate)
    digests = tombstone_digests(work.unit, held.candidate, predicate)
    work.unit.tombstones.bury(digests, "reject", work.now)
    work.unit.candidates.close(held.id, CandidateStatus.REJECTED)
    details = {"candidate": held.id, "digest": held.digest}
    work.unit.trail.append([Entry("reject", work.now, actor_of(work.principal), details)])
    return replace(held, status=CandidateStatus.REJECTED)
