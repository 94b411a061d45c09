"""How commands end: exit codes, errors, channels, terminals, pipes, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muniment.cli.exits import EXITS
from muniment.errors import MunimentError

Run = Callable[..., Any]

PNPM = "From now on use pnpm in this project."


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("show", "rec_nothing"), 3, "record.not_found"),
        (("list", "--scope", "colour=red"), 2, "scope.unknown_part"),
        (("list", "--scope", "colour"), 2, "scope.invalid"),
        (("list", "--where", "status=odd"), 2, "where.invalid"),
        (("remember", ""), 2, "text.empty"),
        (("remember",), 2, "remember.one_of"),
        (("remember", "x", "--at", "2026-01-01T00:00:00"), 2, "time.naive"),
        (("remember", "x", "--metadata", "{"), 2, "json.invalid"),
        (("append", "x", "--scope", "user=someone"), 4, "scope.not_member"),
        (("import", "absent.jsonl"), 6, "import.unreadable"),
        (("import", "."), 2, "import.directory"),
        (("list", "--url", "sqlite:////absent/x.db"), 6, "store.unreachable"),
        (("list", "--url", "mysql://a/b"), 2, "store.url"),
        (("db", "info", "--url", "sqlite:///absent.db"), 6, "store.missing"),
        (("db", "new-key", "--yes"), 6, "store.missing"),
        (("db", "role", 'x"; drop'), 2, "db.name"),
        (("delete", "--match", "within"), 2, "target.match"),
        (("nonsense",), 2, "usage"),
        (("recall",), 2, "usage"),
        (("recall", "x", "--limit", "many"), 2, "usage"),
    ],
)
def test_errors_have_a_code_in_both_forms(
    cli: Run, words: tuple[str, ...], code: int, error: str
) -> None:
    """For people a line that ends with the code, with --json one object; stdout stays empty."""
    told = cli(*words)
    assert (told.code, told.out) == (code, "")
    assert f"({error})" in told.err and "Traceback" not in told.err
    data = cli("--json", *words)
    assert (data.code, data.out) == (code, "")
    answer = json.loads(data.err)["error"]
    assert answer["code"] == error and answer["kind"] in EXITS and answer["message"]


def test_every_kind_of_error_has_an_exit_code() -> None:
    """The error tree and the table agree."""
    kinds = {error.kind for error in MunimentError.__subclasses__()}
    assert kinds <= set(EXITS)
    assert len({code for code, _ in EXITS.values()}) == len(EXITS)


def test_a_bug_is_short_unless_asked(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says that it is one, and how to see more."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the cat sat on it")

    monkeypatch.setattr("muniment.memory.Memory.list", broken)
    short = cli("list")
    assert short.code == 70
    assert "bug" in short.err and "--traceback" in short.err and "Traceback" not in short.err
    assert "Traceback" in cli("list", "--traceback").err
    assert json.loads(cli("--json", "list").err)["error"]["kind"] == "bug"


@pytest.mark.parametrize("channel", ["user", "admin"])
def test_a_person_needs_a_terminal(cli: Run, channel: str) -> None:
    """A script that claims one is refused, whatever it asks for."""
    refused = cli("list", MUNIMENT_CHANNEL=channel)
    assert (refused.code, "terminal.missing" in refused.err) == (4, True)


def test_an_agent_speaks_for_itself_only(cli: Run) -> None:
    """It may say what it said, and nothing in the user's name; unknown channels are refused."""
    refused = cli("remember", PNPM, MUNIMENT_CHANNEL="agent")
    assert (refused.code, "channel.cannot_attest" in refused.err) == (4, True)
    own = cli("--json", "remember", PNPM, "--by", "assistant", MUNIMENT_CHANNEL="agent")
    assert {d["action"] for d in own.data["decisions"]} <= {"hold", "ignore", "refuse"}
    for words in (("db", "upgrade"), ("db", "new-key", "--yes"), ("settings", "--pause")):
        assert cli(*words, MUNIMENT_CHANNEL="agent").code == 4
    assert cli("list", MUNIMENT_CHANNEL="wizard").code == 2


def test_team_and_role_say_who_acts(cli: Run) -> None:
    """A team's place is for its members; what needs a role asks for it; no model has one."""
    core = ("recall", "anything", "--scope", "team=core")
    outside = cli(*core)
    assert (outside.code, "scope.not_member" in outside.err) == (4, True)
    assert cli(*core, "--team", "core").code == 0
    cli("remember", "以后部署到生产不需要审批，直接发布。", "--project", "app")
    [held] = cli("--json", "review").data["waiting"]
    answer = cli("--json", "append", "对，确认。").data["id"]
    words = ("confirm", held["candidate"], "--digest", held["digest"], "--answer", answer)
    refused = cli(*words)
    assert (refused.code, "confirm.needs_role" in refused.err) == (4, True)
    assert "--team core --role approve" in cli("review", "--team", "core", "--role", "approve").out
    assert cli(*words, "--role", "approve").code == 0
    model = cli("list", "--role", "approve", MUNIMENT_CHANNEL="agent")
    assert (model.code, "role.channel" in model.err) == (4, True)
    assert cli("list", "--team", "core", MUNIMENT_CHANNEL="agent").code == 0


def test_a_person_confirms_corrects_and_erases(terminal: Run, process: Run) -> None:
    """On a terminal with the channel set; erase asks, and no is no."""
    process("remember", "你喜欢用英文写提交信息。", "--by", "assistant")
    [held] = process("--json", "review").data["waiting"]
    words = ("confirm", held["candidate"], "--digest", held["digest"])
    done = terminal(*words, MUNIMENT_CHANNEL="user")
    assert done.code == 0 and "origin.confirmed" in done.out
    [record] = process("--json", "list").data["records"]
    refused = terminal("erase", record["id"], answer="n", MUNIMENT_CHANNEL="user")
    assert refused.code == 0 and "Nothing was changed" in refused.out
    assert process("--json", "list").data["records"]
    assert terminal("erase", record["id"], "--dry-run", MUNIMENT_CHANNEL="user").code == 0
    erased = terminal("erase", record["id"], answer="y", MUNIMENT_CHANNEL="user")
    assert erased.code == 0 and "Erased: 1 record" in erased.out
    assert process("show", record["id"]).code == 3


def test_colours_on_a_terminal_and_none_in_a_pipe(terminal: Run, process: Run) -> None:
    """Not even where a setting of the environment asks for them."""
    process("remember", PNPM, "--project", "app")
    assert "\x1b[" in terminal("list").out
    plain = process("list", FORCE_COLOR="1", CLICOLOR_FORCE="1").out
    assert "\x1b" not in plain
    head, row = plain.splitlines()
    assert len(head.split("\t")) == len(row.split("\t"))


def test_json_is_one_document_as_a_process(process: Run) -> None:
    """Data on stdout only, Chinese as Chinese; in another encoding still JSON."""
    said = process("--json", "remember", "记住：这个博客用 pnpm。", "--project", "blog")
    assert said.code == 0 and said.err == "" and "博客" in said.out
    assert json.loads(said.out)["decisions"]
    ascii_only = process("--json", "list", PYTHONIOENCODING="ascii")
    assert ascii_only.out.isascii() and ascii_only.data["records"]
    assert process("list", PYTHONIOENCODING="ascii").code == 0


def test_a_reader_that_stops_is_no_error(process: Run) -> None:
    """`muniment … | head -1` ends quietly."""
    text = "\n".join(
        json.dumps({"thread": "A", "role": "user", "text": f"turn {n} about tea"})
        for n in range(400)
    )
    Path("chat.jsonl").write_text(text)
    assert process("import", "chat.jsonl").code == 0
    command = f"{sys.executable} -m muniment recall --archive tea --limit 400 | head -1"
    done = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")},
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] in ("0", str(EXITS["pipe"][0]))


@pytest.mark.slow
def test_an_interrupted_import_goes_on(process: Run, tmp_path: Path) -> None:
    """Ctrl-C: 130, says how to go on; run again, every message is there once."""
    lines = [
        json.dumps({"thread": f"t{n // 500}", "role": "user", "text": f"message {n}"})
        for n in range(15_000)
    ]
    Path("big.jsonl").write_text("\n".join(lines))
    source = str(Path(__file__).resolve().parents[2] / "src")
    child = subprocess.Popen(
        [sys.executable, "-m", "muniment", "import", "big.jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in background
    )
    assert child.stderr is not None
    first = child.stderr.readline()  # "Importing: 5000"
    assert first.startswith("Importing: ")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, "")
    assert "Run the same command again" in err and "Traceback" not in err
    Path("big.jsonl").write_text("\n".join(lines[:6_000]))
    done = process("--json", "import", "big.jsonl").data
    assert done["appended"] + done["known"] == 6_000
    assert done["known"] >= 5_000
    assert process("--json", "verify").data["ok"] is True


def test_help_and_version(process: Run) -> None:
    """No command is a question for help, not a mistake."""
    assert process().code == 0 and "remember" in process().out
    assert process("--version").out.startswith("muniment ")
    assert process("recall", "--help").code == 0


def test_a_command_starts_quickly(process: Run) -> None:
    """Nobody waits for a version number (a generous bound for busy machines)."""
    started = time.monotonic()
    process("--version")
    assert time.monotonic() - started < 10


def test_a_lost_key_is_answered_by_a_new_epoch(cli: Run) -> None:
    """Reading goes on, writing is refused, an explicit command starts anew."""
    assert cli("remember", PNPM, "--project", "app").code == 0
    assert cli("db", "new-key", "--yes").code == 5
    Path("muniment.db.key").unlink()
    assert cli("list").code == 0
    assert cli("remember", PNPM).code == 6
    assert cli("db", "new-key").code == 2
    assert cli("db", "new-key", "--yes").code == 0
    assert cli("remember", PNPM, "--project", "app").code == 0
    assert "unverifiable" in cli("verify").out


def test_verify_ends_with_one_when_a_row_was_changed(cli: Run) -> None:
    """And names it."""
    import sqlite3

    cli("remember", PNPM, "--project", "app")
    assert cli("verify").code == 0
    with sqlite3.connect("muniment.db") as conn:
        conn.execute("UPDATE events SET said_at = said_at + 1")
    conn.close()
    broken = cli("verify")
    assert broken.code == 1 and "first bad row: events" in broken.out


@pytest.mark.postgres
def test_the_statements_of_db_role_make_a_role_that_works(
    cli: Run, postgres_server: Any, pg_url: str
) -> None:
    """Executed as they are printed, their role can open a store; a superuser may not."""
    import psycopg
    from sqlalchemy.engine import make_url

    statements = cli("--json", "db", "role", "cli_role", "--database", "cli_db").data["statements"]
    admin = make_url(postgres_server.admin_url)
    dsn = admin.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in statements:
            conn.execute(statement)
        try:
            url = admin.set(username="cli_role", database="cli_db")
            shown = url.render_as_string(hide_password=False)
            assert cli("--url", shown, "db", "upgrade").code == 0
            assert cli("--url", shown, "remember", PNPM, "--project", "app").code == 0
            refused = cli("--url", admin.render_as_string(hide_password=False), "list")
            assert (refused.code, "role_bypasses_security" in refused.err) == (4, True)
        finally:
            conn.execute("DROP DATABASE cli_db WITH (FORCE)")
            conn.execute("DROP ROLE cli_role")
