"""What files and tools show: fields of manifests, "label: value" lines, statements in passing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from muniment.events.event import EventKind
from muniment.extract.attributes import Role
from muniment.extract.build import Reading, build
from muniment.extract.lexicon import says
from muniment.extract.manifest import Stated, is_guide, spec_of, stated, told
from muniment.extract.prose import read_sentence
from muniment.extract.sentences import Passage, Piece
from muniment.extract.triggers import Match, matches
from muniment.gate.candidate import Candidate

FOUND_MAX = 64
_GUIDES = (".md", ".rst", ".txt")


def observed(text: Passage, reading: Reading) -> list[Candidate]:
    """The candidates of a file or a tool's result, fields first."""
    path = (reading.event.path or "") if reading.event.kind is EventKind.FILE else ""
    found: list[Candidate] = []
    if spec := spec_of(path):
        runner = reading.event.metadata.get("runner")
        fields = stated(text.text, spec, reading.catalogue, runner and str(runner))
        return list(_made(fields, text.text, reading))
    if is_guide(path):
        found += _made(told(text.text), text.text, reading)
    for piece in text.sentences():
        if len(found) >= FOUND_MAX:
            break
        found += _of_line(piece, reading)
    return found


def _of_line(piece: Piece, reading: Reading) -> list[Candidate]:
    made = [
        build(piece, reading, match.predicate.kind, match=match)
        for match in matches(piece.text, piece.folded, reading.catalogue)
        if _shown(match, reading)
    ]
    if made or not says("claims", piece.folded):
        return made
    return read_sentence(piece, reading)


def _shown(match: Match, reading: Reading) -> bool:
    """Whether a line shows an attribute: by its label, a running system's, or in a guide."""
    if match.predicate.subject != "project" or match.dropped:
        return False
    guide = reading.event.kind is EventKind.FILE and (reading.event.path or "").endswith(_GUIDES)
    return match.labelled or match.predicate.volatile or (guide and match.context == "any")


def _made(found: Iterable[Stated], text: str, reading: Reading) -> Iterator[Candidate]:
    """Candidates of what a file states by its form, in the words of their predicates."""
    for one in found:
        predicate = reading.catalogue.get(one.predicate)
        if predicate is None:
            continue
        match = Match(predicate, one.value, 0, 0, role=Role.LABELLED)
        at = max(0, text.find(one.words))
        made = build(Piece(one.value, at), reading, predicate.kind, match=match)
        yield replace(
            made,
            content=predicate.render(one.value, "en"),
            language="en",
            span=(at, at + len(one.words)),
            write_reason="file",
        )
