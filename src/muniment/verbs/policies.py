"""The policy an open memory goes by: a value, a shipped one by name, or a file."""

from __future__ import annotations

from muniment.errors import Unavailable
from muniment.gate.policy import Policy
from muniment.gate.policy_file import PRESETS, PolicyFile, parse, preset
from muniment.verbs.paths import path_of


def policy_of(value: object) -> Policy:
    """A `Policy`; ``None`` for the built-in one.  A name of a preset is one, all else is a file."""
    if isinstance(value, Policy):
        return value
    return Policy() if value is None else read_policy(value).policy


def read_policy(value: object) -> PolicyFile:
    """A preset by its name, or the file of that name.

    Raises `Unavailable` ``policy.unreadable``, and `InvalidInput` for what `parse` refuses.
    """
    if isinstance(value, str) and value in PRESETS:
        return preset(value)
    path = path_of(value)
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable("policy.unreadable", f"policy: {path}: {error}") from None
    return parse(text)
