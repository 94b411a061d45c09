"""Chains under a key: what was written cannot be altered, reordered or cut unnoticed.

Per thread (events) and per tenant and lane (trail)::

    commitment = HMAC(salt, payload)
    tag_n      = HMAC(key, domain ‖ meta_n ‖ commitment_n ‖ tag_{n-1})
    head_mac   = HMAC(key, "head" ‖ name of the chain ‖ n ‖ tag_n)

The payload can be erased with its salt: the commitment stays, nobody can test guesses against
it, and the chain still verifies.  Cutting off the last rows shows against the head; rolling the
whole store back does not (a witness outside the store would be needed: a stated limit).
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass, field
from typing import Any

GENESIS = b"\0" * 32
_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Key:
    """A chain key and its public name; the secret never leaves this object."""

    id: str
    secret: bytes = field(repr=False)

    def mac(self, domain: str, *parts: bytes) -> bytes:
        """HMAC-SHA-256 over length-prefixed parts, so that no two inputs coincide."""
        framed = [domain.encode(), b"\0"]
        for part in parts:
            framed += (len(part).to_bytes(8, "big"), part)
        return hmac.digest(self.secret, b"".join(framed), "sha256")

    def digest(self, domain: str, *parts: str) -> str:
        """A keyed digest as 32 hex digits: equal for equal input, useless without the key."""
        return self.mac(domain, *(p.encode("utf-8", "surrogatepass") for p in parts)).hex()[:32]

    @property
    def check_value(self) -> bytes:
        """Tells whether a key is the one a store was written with."""
        return self.mac("muniment/key-check", self.id.encode())


def commitment(salt: bytes, payload: str) -> bytes:
    """Binds a payload without revealing it."""
    return hmac.digest(salt, payload.encode("utf-8"), "sha256")


def link(key: Key, chain: str, meta: list[Any], commit: bytes, previous: bytes) -> bytes:
    """The tag of one row."""
    encoded = _PLAIN.encode(meta).encode()
    return key.mac(f"muniment/{chain}", encoded, commit, previous)


def head_mac(key: Key, chain: str, name: list[str], length: int, tag: bytes) -> bytes:
    """The seal over a chain's end."""
    encoded = _PLAIN.encode(name).encode()
    return key.mac(f"muniment/{chain}-head", encoded, str(length).encode(), tag)


def same(a: bytes, b: bytes) -> bool:
    """Constant-time comparison."""
    return hmac.compare_digest(a, b)
