"""Search by meaning: the question's vector against every one the partitions hold, exactly.

There is no approximate index: under a filter by access it loses what matters.  Above `INT8_ABOVE`
rows a partition's are kept as int8 with a scale each, a quarter of the memory for an error in the
third digit of a similarity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from muniment.gate.unit import Unit
from muniment.recall.embed import Matrix
from muniment.recall.index import Index, Layer, Vectors

INT8_ABOVE = 20_000
_ROWS_AT_ONCE = 4_096  # as float32 they stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's unit vector, and whose it is."""

    embedder: str
    vector: Matrix


def similar(
    index: Index,
    unit: Unit,
    layer: Layer,
    partitions: Sequence[str],
    asked: Asked,
    *,
    also: Iterable[str],
    skipped: Collection[str],
    most: int,
) -> dict[str, float]:
    """How alike documents and question are (cosines, negative ones as 0): of the ``most`` nearest,
    and of ``also`` wherever those have a vector; none of ``skipped``."""
    with index.look(unit, layer, partitions) as look:
        vectors = look.vectors(asked.embedder)
        if vectors is None:
            return {}
        near = np.maximum(products(vectors, asked.vector), 0.0)
        best = np.argsort(-near, kind="stable")[:most]
        ids = dict(look.names([int(n) for n in vectors.numbers[best]]))
        ids |= {h.number: h.id for h in look.held(also)}
    wanted = np.array(sorted(ids), dtype=np.int64)
    at = np.searchsorted(vectors.numbers, wanted)
    at[at == len(vectors.numbers)] = 0
    return {
        ids[int(number)]: float(near[row])
        for number, row in zip(wanted, at, strict=True)
        if vectors.numbers[row] == number and ids[int(number)] not in skipped
    }


def packed(numbers: Sequence[int], raw: bytes) -> Vectors:
    """Rows of float16 bytes as they are searched."""
    rows: Any = np.frombuffer(raw, dtype="<f2").reshape(len(numbers), -1)
    if len(numbers) <= INT8_ABOVE:
        return Vectors(np.array(numbers, dtype=np.int64), rows.astype(np.float32))
    return _quartered(Vectors(np.array(numbers, dtype=np.int64), rows))


def joined(parts: Sequence[Vectors]) -> Vectors:
    """Those of several partitions as one."""
    numbers: Any = np.concatenate([p.numbers for p in parts])
    order = np.argsort(numbers)
    small = all(p.scales is None for p in parts)
    alike = parts if small else [p if p.scales is not None else _quartered(p) for p in parts]
    rows = np.concatenate([p.rows for p in alike])[order]
    scales = None if small else np.concatenate([p.scales for p in alike])[order]
    return Vectors(numbers[order], rows, scales)


def products(vectors: Vectors, asked: Matrix) -> Matrix:
    """The product of every row with a vector, as float32."""
    if vectors.scales is None:
        return vectors.rows @ asked
    parts = range(0, len(vectors.rows), _ROWS_AT_ONCE)
    found = [vectors.rows[i : i + _ROWS_AT_ONCE].astype(np.float32) @ asked for i in parts]
    return np.concatenate(found) * vectors.scales


def _quartered(vectors: Vectors) -> Vectors:
    """As int8, each row by a scale of its own."""
    rows = np.empty(vectors.rows.shape, dtype=np.int8)
    scales = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = vectors.rows[start : start + _ROWS_AT_ONCE].astype(np.float32)
        step = np.maximum(np.abs(part).max(axis=1), 1e-9) / 127.0
        rows[start : start + _ROWS_AT_ONCE] = np.rint(part / step[:, None])
        scales[start : start + _ROWS_AT_ONCE] = step
    return Vectors(vectors.numbers, rows, scales)
