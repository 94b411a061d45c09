"""Chain keys, kept apart from the database."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path

from muniment.errors import InvalidInput, Unavailable
from muniment.trail.chain import Key

SECRET_BYTES = 32


def new_key() -> Key:
    """A fresh random key."""
    return Key(id="key_" + secrets.token_hex(6), secret=secrets.token_bytes(SECRET_BYTES))


class KeyFile:
    """A JSON file ``{"key_id": …, "secret": …}`` with mode 0600.

    Losing it loses no data, but nothing written before can be verified any more; the store then
    opens read-only until an operator starts a new epoch (``muniment db new-key``).
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> Key | None:
        """The key, or ``None`` if there is no file."""
        try:
            data = json.loads(self.path.read_text("utf-8"))
            return Key(id=data["key_id"], secret=bytes.fromhex(data["secret"]))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable(
                "key.unreadable", f"cannot read the key file {self.path}: {error.strerror}"
            ) from None
        except (ValueError, KeyError, TypeError):
            raise InvalidInput(
                "key.invalid", f"{self.path} is not a Muniment key file; restore it from a backup"
            ) from None

    def create(self, key: Key) -> Key:
        """Write a new key file; if another process was faster, its key."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump({"key_id": key.id, "secret": key.secret.hex()}, file)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, self.path)  # fails if the name exists: never overwrites a key
        except FileExistsError:
            return self.load() or key
        finally:
            with contextlib.suppress(FileNotFoundError):
                draft.unlink()
        return key

    def replace(self, key: Key) -> Key:
        """Put a new key in its place; what was there is kept beside it, never overwritten."""
        if self.path.exists():
            spare = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}.old")
            self.path.rename(spare)
        return self.create(key)


class MemoryKey:
    """For stores that live in memory: the key dies with them."""

    def __init__(self) -> None:
        self._key: Key | None = None

    def load(self) -> Key | None:
        """The key, once created."""
        return self._key

    def create(self, key: Key) -> Key:
        """Keep it."""
        self._key = key
        return key

    replace = create
