"""Values a thread keeps beside its state: checked, screened for secrets, large ones apart."""

from __future__ import annotations

import json
from typing import Any

from muniment.errors import InvalidInput
from muniment.gate.keys import Digester
from muniment.ids import ThreadId
from muniment.scope import Principal
from muniment.secrets import TooLarge, redact, redact_json
from muniment.text import check_text
from muniment.threads.large import BLOB, INLINE_BYTES_MAX, JSON, blob_digest, is_named, named
from muniment.threads.ledger import canonical
from muniment.threads.ports import ThreadUnit
from muniment.verbs.parts import Parts


def plain_of(
    value: object,
    name: str,
    bytes_max: int,
    parts: Parts | None = None,
    principal: Principal | None = None,
) -> tuple[Any, str]:
    """The value as JSON data and as canonical text; with a principal, secrets are taken out.

    Raises `InvalidInput` ``<name>.invalid`` or ``<name>.too_large``.
    """
    try:
        encoded = canonical(value)
        plain = json.loads(encoded)
        if parts is not None and principal is not None:
            keys = parts.digester(principal.tenant)
            plain = redact_json(plain, lambda secret: _mark(keys, secret))[0]
            encoded = canonical(plain)
        size = len(encoded.encode())
    except (TypeError, ValueError, RecursionError, TooLarge):
        raise InvalidInput(f"{name}.invalid", f"{name}: JSON data only, not too deep") from None
    if is_named(plain):
        raise InvalidInput(f"{name}.invalid", f"{name}: `$blob` is a name of the store's own")
    if size > bytes_max:
        raise InvalidInput(
            f"{name}.too_large", f"{name}: at most {bytes_max} bytes; keep a file and its path"
        )
    return plain, encoded


def words_of(parts: Parts, principal: Principal, value: object, name: str, bytes_max: int) -> str:
    """A text, with secrets taken out."""
    keys = parts.digester(principal.tenant)
    checked = check_text(value, name=name, max_bytes=bytes_max)
    return redact(checked, lambda secret: _mark(keys, secret))[0]


def kept(unit: ThreadUnit, value: Any, encoded: str, thread: ThreadId, used_in: str) -> Any:
    """What to store: the value or, if it is large, the name of the blob it went into."""
    data = encoded.encode()
    if len(data) <= INLINE_BYTES_MAX:
        return value

    def keep(kind: str, data: bytes) -> str:
        digest = blob_digest(unit, kind, data)
        unit.blobs.keep(digest, kind, data, thread, used_in)
        return digest

    return named(JSON, data, keep)


def loaded(unit: ThreadUnit, stored: Any, thread: ThreadId) -> Any:
    """The value itself, out of its blob if it has one."""
    found = unit.blobs.get(thread, stored[BLOB]) if is_named(stored) else None
    return stored if found is None else json.loads(found[1])


def _mark(keys: Digester, secret: str) -> str:
    return keys.digest("secret", secret)[:8]
