"""Whether the evidence bears the words of a candidate out, without a model.

The rule is in the semantics, "Grounding without a model": every number, quoted string, identifier
and the value itself occurs, normalised, in an evidence event, and negation agrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from muniment.extract.lexicon import concept, concepts, fold, simplified
from muniment.extract.sentences import sentence_texts
from muniment.gate.candidate import Candidate
from muniment.records.facts import Catalogue, Predicate, builtin
from muniment.records.record import Value
from muniment.text import identifiers, negated, normalise, tokens

# Without a value to look for, this share of the content's words has to occur.
SHARED_TOKENS_MIN = 0.7

_EVIDENCE_CHARS_MAX = 200_000
_SHORT_CHARS = 1_000
_LETTER = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z](?![A-Za-z0-9_'])")
# Who tells it is no word of what is told.
_ACTS = {"nothing": ""}
_WORD_ENDS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_WORD = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


def grounded(
    candidate: Candidate, texts: Sequence[str], catalogue: Catalogue | None = None
) -> bool:
    """Whether what the candidate says occurs in the evidence, in some one text for the polarity.

    The spellings that ``catalogue`` (the shipped one by default) knows for a value count as the
    value.  Of a text the first 200,000 characters are read.
    """
    predicate = (catalogue or builtin()).get(candidate.predicate)
    return borne_out(candidate.content, texts, _spellings(candidate.value, predicate))


def borne_out(content: str, texts: Sequence[str], spellings: frozenset[str] = frozenset()) -> bool:
    """`grounded` for words alone; ``spellings`` are those (normalised) that show their value."""
    texts = [text[:_EVIDENCE_CHARS_MAX] for text in texts if text]
    if not texts:
        return False
    known = [_plain(text) for text in texts]
    needed = [_plain(term) for term in identifiers(content)]
    labels = _labels(content)
    if labels and not labels <= frozenset().union(*map(_labels_shown, texts)):
        return False
    if not all(_occurs(term, known) or term in spellings for term in needed):
        return False
    bearing: Sequence[str]
    if spellings:
        bearing = [t for t, k in zip(texts, known, strict=True) if _any_occurs(spellings, [k])]
    else:
        bearing = _sharing(content, texts)
    return any(_same_polarity(content, text, spellings) for text in bearing)


def names_occur(content: str, texts: Sequence[str]) -> bool:
    """Whether every number, quotation and identifier of the content is in one of the texts."""
    known = [_plain(text[:_EVIDENCE_CHARS_MAX]) for text in texts if text]
    return all(_occurs(_plain(term), known) for term in identifiers(content))


def _sharing(content: str, texts: Sequence[str]) -> Sequence[str]:
    """The texts that have enough of the content's words; all of them if only together."""
    wanted = _told(content)
    found = [t for t in texts if _share(wanted, t) >= SHARED_TOKENS_MIN]
    if found or len(texts) == 1:
        return found
    return texts if _share(wanted, "\n".join(texts)) >= SHARED_TOKENS_MIN else ()


def value_occurs(value: Value, texts: Sequence[str], predicate: Predicate | None = None) -> bool:
    """Whether the value, or a spelling of it that the predicate knows, is in one of the texts."""
    spellings = _spellings(value, predicate)
    return not spellings or _any_occurs(spellings, [_plain(text) for text in texts])


def qualifiers_lost(content: str, evidence_text: str) -> bool:
    """Whether a when, where, except, only, after or before of the evidence is not in the content.

    Compared with the one sentence of the evidence that the content shares most words with; a
    qualifier elsewhere in a long text is about something else.
    """
    clause = fold(nearest(content, evidence_text))
    kept = fold(content)
    return any(
        words.search(clause) and not words.search(kept) for words in concepts("qualifiers").values()
    )


def _spellings(value: Value, predicate: Predicate | None) -> frozenset[str]:
    """The normalised spellings any of which shows the value; empty where there is none to see."""
    if value is None or isinstance(value, (dict, list)):
        return frozenset()
    found = {_plain(str(value))}
    if predicate is not None:
        canonical = predicate.canonical(value)
        found.add(_plain(str(canonical)))
        found |= {spelling for spelling, of in predicate.values.items() if of == canonical}
    return frozenset(found - {""})


def _plain(text: str) -> str:
    """As texts are compared here: in either script of Chinese."""
    return normalise(simplified(text))


def _any_occurs(terms: Iterable[str], texts: Sequence[str]) -> bool:
    return any(_occurs(term, texts) for term in terms)


def _occurs(term: str, texts: Sequence[str]) -> bool:
    """As a whole word where its ends are Latin letters or digits; anywhere otherwise."""
    left = term[:1] in _WORD_ENDS and term != ""
    right = term[-1:] in _WORD_ENDS and term != ""
    return any(_stands(term, text, left=left, right=right) for text in texts)


def _stands(term: str, text: str, *, left: bool, right: bool) -> bool:
    at = text.find(term)
    while at >= 0:
        end = at + len(term)
        joined = (left and at > 0 and text[at - 1] in _WORD) or (
            right and end < len(text) and text[end] in _WORD
        )
        if not joined:
            return True
        at = text.find(term, at + 1)
    return False


def _share(wanted: AbstractSet[str], text: str) -> float:
    """Which part of the wanted words occurs."""
    return len(wanted & _told(text)) / len(wanted) if wanted else 0.0


def _told(text: str) -> frozenset[str]:
    """The words of a text, whoever tells it: "the user chose" are those of "I choose"."""
    return _told_short(text) if len(text) <= _SHORT_CHARS else _retold(text)


def _retold(text: str) -> frozenset[str]:
    folded = fold(text)
    retold: str = folded
    for act, words in concepts("retold").items():
        if not words.excluded(folded):
            retold = words.pattern.sub(f" {_ACTS.get(act, act)} ", retold)
    return frozenset(tokens(retold))


# One reading asks for the same few sentences several times.
_told_short = lru_cache(maxsize=64)(_retold)


def _labels(text: str) -> frozenset[str]:
    """Which of several a text names: the "C" of "plan C", the "third" of "the third one"."""
    found = (next(filter(None, hit.groups())) for hit in concept("label").finditer(fold(text)))
    return frozenset(label.casefold() for label in found)


def _labels_shown(text: str) -> frozenset[str]:
    """The labels of a text, and letters that stand alone: "C, please"."""
    alone = (hit.group().casefold() for hit in _LETTER.finditer(simplified(text)))
    return _labels(text).union(alone)


def _same_polarity(content: str, text: str, spellings: frozenset[str]) -> bool:
    """Whether the sentence that bears the content out says it the same way round."""
    near = sentence_texts(text) or [text]
    if spellings:
        near = [s for s in near if _any_occurs(spellings, [_plain(s)])] or near
    way = negated(content)
    if len(near) == 1:
        return negated(near[0]) == way
    wanted = _told(content)
    shares = [_share(wanted, s) for s in near]
    best = max(shares, default=0.0)
    return any(
        negated(s) == way for s, share in zip(near, shares, strict=True) if share >= best * 0.8
    )


def nearest(content: str, text: str) -> str:
    pieces = sentence_texts(text[:_EVIDENCE_CHARS_MAX])
    wanted = _told(content) if len(pieces) > 1 else frozenset()
    return max(pieces, key=lambda piece: _share(wanted, piece), default=text[:1_000])
