"""A short piece of a stored sentence finds it, in languages written without spaces and with."""

from __future__ import annotations

import json

from tests.contract.kit import Desk
from tests.unit.test_text import OWN, probes, thousand_sentences

PIECES_TRIED = 2  # of each of the 20 sentences a language


def test_a_short_piece_finds_its_sentence_among_a_thousand(desk: Desk) -> None:
    """2 characters (Thai: 3) put a turn among the first three of 1,000, through `recall`."""
    everything = thousand_sentences()
    _import(desk, everything)
    missed = [
        f"{piece} in {sentence}"
        for tongue, own in OWN.items()
        for sentence in own
        for piece in probes(sentence, 3 if tongue == "th" else 2, everything)[:PIECES_TRIED]
        if sentence not in _found(desk, piece)
    ]
    assert missed == []
    assert _found(desk, "鱻麤") == []  # and what nobody said is not found


def _import(desk: Desk, sentences: list[str]) -> None:
    rows = [
        {"thread": "talk", "by": "user", "text": text, "id": f"s{number}"}
        for number, text in enumerate(sentences)
    ]
    path = desk.place.folder / "sentences.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    assert desk.memory.import_file(path, attest=True).appended == len(sentences)


def _found(desk: Desk, piece: str) -> list[str]:
    found = desk.memory.recall(piece, layers=["archive"], limit=3)
    assert not found.degraded
    return [envelope.content for envelope in found]
