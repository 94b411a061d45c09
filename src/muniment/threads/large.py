"""Large values of a state: kept apart, and named where they were."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from muniment.errors import InvalidInput
from muniment.gate.keys import Digester

INLINE_BYTES_MAX = 64 * 1024
BLOB_BYTES_MAX = 64 * 1024 * 1024
JSON = "application/json"
BLOB = "$blob"

#: Keeps bytes of a type and returns the digest they are named by.
Keep = Callable[[str, bytes], str]


def blob_digest(keys: Digester, kind: str, data: bytes) -> str:
    """What a large value is named by: nobody without the key can tell what it may be."""
    return keys.digest("blob", kind, data.hex())


def outlined(value: Any, keep: Keep) -> Any:
    """The value with each text or list over 64 KB replaced by ``{"$blob": …, "type", "size"}``."""
    if isinstance(value, dict):
        return {name: outlined(inner, keep) for name, inner in value.items()}
    if isinstance(value, str) and len(value) * 4 <= INLINE_BYTES_MAX:
        return value
    if isinstance(value, str | list):
        data = json.dumps(value, ensure_ascii=False).encode()
        if len(data) > INLINE_BYTES_MAX:
            return named(JSON, data, keep)
    return value


def named(kind: str, data: bytes, keep: Keep) -> dict[str, Any]:
    """What stands in a state for bytes kept apart."""
    if len(data) > BLOB_BYTES_MAX:
        raise InvalidInput("blob.too_large", f"at most {BLOB_BYTES_MAX // 2**20} MB in one value")
    return {BLOB: keep(kind, data), "type": kind, "size": len(data)}


def is_named(value: Any) -> bool:
    """Whether a value stands for bytes kept apart."""
    return isinstance(value, Mapping) and isinstance(value.get(BLOB), str)


def digests(value: Any) -> Iterator[str]:
    """The digests of everything kept apart that a value names."""
    if is_named(value):
        yield value[BLOB]
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from digests(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from digests(inner)
