"""Statements without a known attribute: what kind of record they could be, if any."""

from __future__ import annotations

from muniment.extract.annotate import topic_of
from muniment.extract.build import Reading, of_project
from muniment.extract.lexicon import says
from muniment.extract.people import person_in
from muniment.extract.sentences import Piece
from muniment.records.record import Kind


def general_kind(words: Piece, folded: str, reading: Reading, *, explicit: bool) -> Kind | None:
    """The kind of a statement, ``None`` where there is nothing lasting in it.

    ``words`` are without their lead, ``folded`` is the whole segment.  A wish for now counts as
    a rule: the gate keeps it to its thread.
    """
    if says("agent_config", folded):
        return Kind.RULE
    if reading.by_user and for_now(folded):
        return _wish_for_now(words.folded, folded)
    if says("norm", folded) or (says("norm_weak", folded) and says("standing", folded)):
        return Kind.PREFERENCE if says("style", folded) else Kind.RULE
    if says("permission", folded) and topic_of(folded, Kind.RULE):
        return Kind.RULE
    if says("standing", folded) or _preference(folded):
        return Kind.PREFERENCE
    if reading.by_user and _prohibits(words.folded):
        return Kind.RULE
    if (explicit and not says("task", words.folded)) or _durable(words, reading):
        return Kind.FACT
    return None


def for_now(folded: str) -> bool:
    """Whether the words keep themselves to this task."""
    return says("one_off", folded) and not says("lasting", folded)


def bare_prohibition(folded: str) -> bool:
    """Whether "don't touch the schema" stands without any word that makes it last."""
    lasting = ("agent_config", "standing", "norm", "permission", "modal_no")
    return not any(says(name, folded) for name in lasting)


def about_user(words: Piece, reading: Reading) -> bool:
    """Whether a plain fact is one about the user: it says so, or speaks of no project."""
    folded = words.folded
    return says("self", folded) or not (of_project(folded, reading) or says("cause", folded))


def _wish_for_now(bare: str, folded: str) -> Kind | None:
    idle = says("fleeting", bare) and not says("prohibition", folded)
    return None if idle else Kind.RULE


def _preference(folded: str) -> bool:
    return says("preference", folded) and not says("opinion_of_this", folded)


def _prohibits(folded: str) -> bool:
    if says("imperative_no", folded):
        return True
    # "生产部署不能跳过审批" is a rule; "我不能登录" is a complaint.
    return says("modal_no", folded) and topic_of(folded, Kind.RULE) is not None


def _durable(words: Piece, reading: Reading) -> bool:
    folded = words.folded
    if says("cause", folded) or (says("first_person", folded) and says("sensitive", folded)):
        return True
    if any(says(name, folded) for name in ("trouble", "fleeting", "task")):
        return False
    if says("durable_fact", folded):
        return True
    if person_in(words.text):
        return says("durable_other", folded)
    return says("durable_self", folded) if reading.by_user else says("user_claim", folded)
