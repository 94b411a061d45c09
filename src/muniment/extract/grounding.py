"""Whether the evidence bears the words of a candidate out, without a model.

The rule is in the semantics, "Grounding without a model": every number, quoted string, identifier
and the value itself occurs, normalised, in an evidence event, and negation agrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from muniment.extract.lexicon import concepts, fold
from muniment.extract.sentences import sentences
from muniment.gate.candidate import Candidate
from muniment.records.facts import Catalogue, Predicate, builtin
from muniment.records.record import Value
from muniment.text import identifiers, negated, normalise, tokens

# Without a value to look for, this share of the content's words has to occur.
SHARED_TOKENS_MIN = 0.7

_EVIDENCE_CHARS_MAX = 200_000


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
    known = [normalise(text) for text in texts]
    needed = [normalise(term) for term in identifiers(content)]
    if not all(_occurs(term, known) or term in spellings for term in needed):
        return False
    if spellings:
        bearing = [t for t, k in zip(texts, known, strict=True) if _any_occurs(spellings, [k])]
    else:
        bearing = [t for t in texts if _shared(content, t) >= SHARED_TOKENS_MIN]
        if not bearing and _shared(content, "\n".join(texts)) >= SHARED_TOKENS_MIN:
            bearing = list(texts)
    return any(_same_polarity(content, text, spellings) for text in bearing)


def names_occur(content: str, texts: Sequence[str]) -> bool:
    """Whether every number, quotation and identifier of the content is in one of the texts."""
    known = [normalise(text[:_EVIDENCE_CHARS_MAX]) for text in texts if text]
    return all(_occurs(normalise(term), known) for term in identifiers(content))


def value_occurs(value: Value, texts: Sequence[str], predicate: Predicate | None = None) -> bool:
    """Whether the value, or a spelling of it that the predicate knows, is in one of the texts."""
    spellings = _spellings(value, predicate)
    return not spellings or _any_occurs(spellings, [normalise(text) for text in texts])


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
    found = {normalise(str(value))}
    if predicate is not None:
        canonical = predicate.canonical(value)
        found.add(normalise(str(canonical)))
        found |= {spelling for spelling, of in predicate.values.items() if of == canonical}
    return frozenset(found - {""})


def _any_occurs(terms: Iterable[str], texts: Sequence[str]) -> bool:
    return any(_occurs(term, texts) for term in terms)


def _occurs(term: str, texts: Sequence[str]) -> bool:
    """As a whole word where its ends are Latin letters or digits; anywhere otherwise."""
    left = r"(?<![a-z0-9_])" if term[:1].isascii() and term[:1].isalnum() else ""
    right = r"(?![a-z0-9_])" if term[-1:].isascii() and term[-1:].isalnum() else ""
    pattern = re.compile(left + re.escape(term) + right)
    return any(pattern.search(text) for text in texts)


def _shared(content: str, text: str) -> float:
    wanted = set(tokens(content))
    if not wanted:
        return 0.0
    return len(wanted & set(tokens(text))) / len(wanted)


def _same_polarity(content: str, text: str, spellings: frozenset[str]) -> bool:
    """Whether the sentence that bears the content out says it the same way round."""
    near = [s.text for s in sentences(text)] or [text]
    if spellings:
        near = [s for s in near if _any_occurs(spellings, [normalise(s)])] or near
    wanted = negated(content)
    best = max((_shared(content, s) for s in near), default=0.0)
    return any(negated(s) == wanted for s in near if _shared(content, s) >= best * 0.8)


def nearest(content: str, text: str) -> str:
    pieces = [s.text for s in sentences(text[:_EVIDENCE_CHARS_MAX])]
    return max(pieces, key=lambda piece: _shared(content, piece), default=text[:1_000])
