"""Embedders as recall needs them (a port), and the guard without which none is ever asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from muniment.errors import MunimentError, Unavailable

#: float32 rows of an array of numpy, which is only there where an embedder is.
Matrix = Any
WITHIN_S = 5.0
REST_S = 30.0
DOWN = "embedder_unavailable"
CHANGED = "embedder_changed"


class Embedder(Protocol):
    """Texts as vectors of which near ones mean alike.

    ``name`` stands for everything by which vectors differ (model, prefixes, version): vectors of
    two names are never compared.  ``batch`` is how many texts it takes at once.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def batch(self) -> int: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Matrix:
        """A row of ``dimension`` float32 for each text; ``query`` for what is asked for.

        Raises `Unavailable` where it cannot.
        """
        ...


class Guarded:
    """An embedder as its callers see it: checked unit vectors within a time, or `Unavailable`.

    A query is answered within ``within_s`` whatever the embedder does.  After a failure it is
    left alone for ``rest_s``, and ``down`` says so; one that was only slow to begin with, since
    it had its weights to read, until its first answer.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        within_s: float = WITHIN_S,
        rest_s: float = REST_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder, self._within_s, self._rest_s = embedder, within_s, rest_s
        self._monotonic = monotonic
        self._rests_until = float("-inf")
        self._answered = False

    @property
    def name(self) -> str:
        """The embedder's name, with its dimension: of another one no vector is comparable."""
        return f"{self._embedder.name}/{self._embedder.dimension}"

    @property
    def batch(self) -> int:
        """How many texts it takes at once."""
        return max(self._embedder.batch, 1)

    @property
    def down(self) -> bool:
        """Whether it has just failed and is left alone."""
        return self._monotonic() < self._rests_until

    def query(self, text: str) -> Matrix:
        """The vector of what is asked, in time."""
        box: list[Matrix | BaseException] = []

        def ask() -> None:
            try:
                box.append(self._asked([text], query=True)[0])
            except BaseException as error:
                box.append(error)

        self._check_rested()
        # A thread of its own, for there is no other way to stop waiting for foreign code.
        thread = threading.Thread(target=ask, name="muniment-embed-query", daemon=True)
        thread.start()
        thread.join(self._within_s)
        if not box:
            self._rest()
            raise Unavailable("embedder.slow", f"no vector within {self._within_s:g} s")
        if isinstance(box[0], BaseException):
            raise box[0]
        return box[0]

    def documents(self, texts: Sequence[str]) -> Matrix:
        """The vectors of what is to be found; it may take its time."""
        self._check_rested()
        return self._asked(texts, query=False)

    def _asked(self, texts: Sequence[str], *, query: bool) -> Matrix:
        try:
            given = self._embedder.embed(texts, query=query)
            vectors = checked(given, len(texts), self._embedder.dimension)
        except MunimentError:
            self._rest()
            raise
        except Exception as error:
            self._rest()
            raise Unavailable("embedder.failed", f"the embedder failed: {error!r}") from error
        if not self._answered:
            self._answered, self._rests_until = True, float("-inf")
        return vectors

    def _check_rested(self) -> None:
        if self.down:
            raise Unavailable("embedder.failed", "the embedder has just failed; it is left alone")

    def _rest(self) -> None:
        self._rests_until = self._monotonic() + self._rest_s


def checked(vectors: object, count: int, dimension: int) -> Matrix:
    """Unit vectors of what an embedder gave; `Unavailable` ``embedder.bad_vectors`` for anything
    else than ``count`` rows of ``dimension`` finite numbers that are not all zero."""
    import numpy as np

    try:
        matrix = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        raise Unavailable("embedder.bad_vectors", "the embedder gave no numbers") from None
    if matrix.shape != (count, dimension):
        raise Unavailable(
            "embedder.bad_vectors",
            f"the embedder gave {matrix.shape}, not {count} rows of {dimension}",
        )
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise Unavailable("embedder.bad_vectors", "the embedder gave a vector that is none")
    return matrix / lengths
