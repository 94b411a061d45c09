"""How a command ends: the exit codes, and errors in words or as JSON."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping

from muniment.cli.screen import safe
from muniment.errors import MunimentError

#: The one table: how a command ended, its exit code, and what that means.  A decision of the
#: gate is an answer, also where it refuses, so it ends with 0.
EXITS: Mapping[str, tuple[int, str]] = {
    "ok": (0, "done; also where the gate held, ignored or refused: the decision is the answer"),
    "failed": (1, "`verify` found a row that does not fit, or a scenario did not go as expected"),
    "invalid_input": (2, "the command line, a file or a value is wrong; nothing was changed"),
    "not_found": (3, "no such thing for this user"),
    "not_allowed": (4, "this user, role or channel may not do it"),
    "conflict": (5, "what was read has changed since; look again, then decide"),
    "unavailable": (6, "the store cannot be asked now; nothing was changed"),
    "bug": (70, "an error nobody foresaw; please report it"),
    "interrupted": (130, "stopped with Ctrl-C; what was committed stays, nothing is half done"),
    "pipe": (141, "whoever read the output stopped reading"),
}

#: What to do about some errors on the command line, by the end of their code.
_HINTS = {
    ".channel": (
        "On a terminal, put MUNIMENT_CHANNEL=user (or admin) in front of the command to act "
        "as the person you are."
    ),
    ".admin_only": "On a terminal, put MUNIMENT_CHANNEL=admin in front of the command.",
    "cannot_attest": "A model says what it said itself with --by assistant, or --by tool.",
    "thread.other_scope": "Leave --project and --scope out, or name another --thread.",
}


def code_of(kind: str) -> int:
    """The exit code of an ending."""
    return EXITS[kind][0]


def report(error: MunimentError, *, as_json: bool) -> int:
    """Say on stderr what went wrong; the exit code."""
    tell(error.kind, error.code, error.message, as_json=as_json)
    hint = next((text for end, text in _HINTS.items() if error.code.endswith(end)), None)
    if hint is not None and not as_json:
        print(hint, file=sys.stderr)
    return code_of(error.kind)


def report_bug(error: BaseException, *, as_json: bool, with_traceback: bool) -> int:
    """An error nobody foresaw: short, and how to see more."""
    message = f"{type(error).__name__}: {error}"
    if with_traceback:
        traceback.print_exception(error)
    tell("bug", "bug", message, as_json=as_json)
    if not as_json:
        print(
            "This is a bug in Muniment. Run the command again with --traceback and report what "
            "it prints.",
            file=sys.stderr,
        )
    return code_of("bug")


def tell(kind: str, code: str, message: str, *, as_json: bool) -> None:
    """One error on stderr: for people, or as one JSON object."""
    if as_json:
        answer = {"error": {"kind": kind, "code": code, "message": message}}
        print(json.dumps(answer), file=sys.stderr)
    else:
        print(f"Error: {safe(message)} ({code})", file=sys.stderr)
