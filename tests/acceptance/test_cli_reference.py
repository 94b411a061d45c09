"""The reference names every command, option, setting and exit code; every verb has a command."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from muniment.cli import app
from muniment.cli.exits import EXITS
from muniment.config import Settings
from muniment.memory import Memory

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md"

#: Verbs under another name.  `turn` is an object for code that runs a model, `close` is what
#: every command does at its end.
OTHERWISE = {
    "append_many": "import",
    "import_file": "import",
    "revise_candidate": "revise",
    "thread": "thread open",
    "turn": None,
    "close": None,
}


def commands(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its full name."""
    for name, command in node.commands.items():
        full = f"{path} {name}".strip()
        if hasattr(command, "commands"):
            yield from commands(command, full)
        else:
            yield full, command


ROOT = typer.main.get_command(app)
COMMANDS = dict(commands(ROOT))


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    """The reference by command."""
    text = REFERENCE.read_text("utf-8")
    parts = re.split(r"^### `muniment (.+?)`$", text, flags=re.MULTILINE)
    found = {}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        name = " ".join(word for word in title.split() if word.islower() and "[" not in word)
        found[name] = body
    return found


def test_every_verb_has_a_command() -> None:
    """What can be done from Python can be done from a shell."""
    verbs = {
        name
        for name, _ in inspect.getmembers(Memory, inspect.isfunction)
        if not name.startswith("_")
    }
    missing = {
        verb
        for verb in verbs
        if (command := OTHERWISE.get(verb, verb.replace("_", "-"))) is not None
        and command not in COMMANDS
    }
    assert missing == set()
    assert set(OTHERWISE) <= verbs


def test_every_command_is_in_the_reference(sections: dict[str, str]) -> None:
    """And the reference has none that is not there."""
    assert set(sections) == set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_in_the_reference(sections: dict[str, str], name: str) -> None:
    """With its arguments; and the reference names none that is not there."""
    known = {
        opt
        for p in COMMANDS[name].params
        if p.name != "help"
        for opt in ([*p.opts, *p.secondary_opts] if p.param_type_name == "option" else [])
    }
    listed = set(re.findall(r"^\| ((?:`-[^|]+`(?:, )?)+) \|", sections[name], re.MULTILINE))
    documented = {opt for cell in listed for opt in re.findall(r"`(-[^`]+)`", cell)}
    assert documented == known
    assert COMMANDS[name].help


def test_shared_options_settings_and_exit_codes_are_in_the_reference() -> None:
    """All of them, with their numbers."""
    text = REFERENCE.read_text("utf-8")
    for param in ROOT.params:
        assert any(f"`{opt}`" in text for opt in param.opts) or param.name == "help"
    for name in Settings.model_fields:
        assert f"`MUNIMENT_{name.upper()}`" in text
    for name, (code, meaning) in EXITS.items():
        assert f"| {code} | `{name}` | {meaning} |" in text
