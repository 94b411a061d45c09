"""The command line: every group of verbs, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]

PNPM = "From now on use pnpm in this project."
GUESS = "你喜欢用英文写提交信息。"


def _remembered(cli: Cli, *more: str) -> dict[str, Any]:
    answer = cli("--json", "remember", PNPM, "--project", "app", *more).data
    [decision] = answer["decisions"]
    return dict(decision)


def test_what_was_said_is_decided_recalled_and_fenced(cli: Cli) -> None:
    """The thin path: remember, recall, context."""
    made = cli("remember", PNPM, "--project", "app")
    assert made.code == 0
    assert "activate / insert" in made.out and "origin.stated" in made.out
    assert "pnpm" in cli("recall", "which package manager", "--project", "app").out
    composed = cli("context", "which package manager", "--project", "app").out
    assert composed.index("<muniment-memory>") < composed.index("pnpm") < composed.index("tokens:")


def test_another_project_does_not_get_it(cli: Cli) -> None:
    """And the answer is honest, with exit code 0."""
    _remembered(cli)
    other = cli("recall", "which package manager", "--project", "other")
    assert other.code == 0
    assert "Nothing is known about that here." in other.out


def test_a_refusal_is_an_answer_and_no_secret_is_shown(cli: Cli) -> None:
    """Exit code 0, the reason in words, the words themselves gone."""
    made = cli("remember", "记住：数据库密码是 hunter2-Xyz99!A")
    assert made.code == 0
    assert "refuse" in made.out and "secret.refused" in made.out
    assert "hunter2" not in made.out


def test_words_come_from_standard_input(cli: Cli) -> None:
    """With a dash; and what is not UTF-8 is refused."""
    assert "pnpm" in cli("remember", "-", stdin=PNPM + "\n").out
    bad = cli("remember", "-", stdin=b"\xff\xfe")
    assert (bad.code, "text.not_utf8" in bad.err) == (2, True)


def test_shared_options_stand_before_or_after(cli: Cli) -> None:
    """Both ways give the same, and after ``--`` a word is a word."""
    _remembered(cli)
    before = cli("--project", "app", "--json", "list").data
    assert before == cli("list", "--project=app", "--json").data
    assert cli("append", "--", "--json").out.startswith("event:")


def test_an_event_is_shown_and_put_through_the_gate(cli: Cli) -> None:
    """append, show, remember --event, thread."""
    event = cli("--json", "append", PNPM, "--project", "app", "--id", "m1", "--thread", "A").data
    again = cli("--json", "append", PNPM, "--project", "app", "--id", "m1", "--thread", "A").data
    assert again["id"] == event["id"]
    assert "pnpm" in cli("show", event["id"]).out
    [made] = cli("--json", "remember", "--event", event["id"]).data["decisions"]
    assert made["action"] == "activate"
    opened = cli("--json", "thread", "open", "A").data
    assert (opened["id"], opened["scope"]) == (
        event["thread"],
        {"user": "ana", "project": "app"},
    )


def test_a_proposal_waits_with_evidence_digest_and_commands(cli: Cli) -> None:
    """review says everything that is needed to answer, and its commands name the store."""
    cli("remember", GUESS, "--by", "assistant")
    [held] = cli("--json", "review").data["waiting"]
    assert held["evidence"][0]["text"] == GUESS
    shown = cli("--url", "sqlite:///muniment.db", "review").out
    expected = f"confirm {held['candidate']} --digest {held['digest']}"
    assert f"muniment --url sqlite:///muniment.db {expected}" in shown
    assert GUESS in shown and "origin.inferred" in shown


def test_propose_takes_options_and_a_file(cli: Cli, tmp_path: Path) -> None:
    """Both name the same candidate; unknown fields are refused by the product."""
    event = cli("--json", "append", PNPM, "--project", "app", "--thread", "A").data["id"]
    options = ("--predicate", "package_manager", "--value", "pnpm", "--evidence", event)
    first = cli("--json", "propose", *options, "--project", "app").data["decisions"][0]
    proposal = {"predicate": "package_manager", "value": "pnpm", "evidence": [event]}
    Path("proposal.json").write_text(json.dumps(proposal))
    second = cli("--json", "propose", "--file", "proposal.json").data["decisions"][0]
    assert first["content"] == second["content"]
    Path("proposal.json").write_text(json.dumps({**proposal, "origin": "user_stated"}))
    wrong = cli("propose", "--file", "proposal.json")
    assert (wrong.code, "proposal.unknown_field" in wrong.err) == (2, True)


def test_a_relayed_answer_confirms(cli: Cli) -> None:
    """The runtime relays the user's event, never its own opinion; a stale digest is a conflict."""
    cli("remember", GUESS, "--by", "assistant", "--thread", "A")
    [held] = cli("--json", "review").data["waiting"]
    shown = (held["candidate"], "--digest", held["digest"])
    stale = cli("confirm", held["candidate"], "--digest", "0" * 32)
    assert (stale.code, "candidate.stale_digest" in stale.err) == (5, True)
    bare = cli("confirm", *shown)
    assert (bare.code, "confirm.needs_answer" in bare.err) == (4, True)
    metadata = json.dumps({"candidate": held["candidate"], "digest": held["digest"]})
    said = ("对，确认。", "--thread", "A", "--metadata", metadata)
    answer = cli("--json", "append", *said).data["id"]
    assert "origin.confirmed" in cli("confirm", *shown, "--answer", answer).out
    assert "Nothing waits for you." in cli("review").out


def test_reject_and_edit_what_waits(cli: Cli) -> None:
    """An edit changes the digest; a rejected guess does not come back."""
    cli("remember", GUESS, "--by", "assistant")
    [held] = cli("--json", "review").data["waiting"]
    edited = cli("--json", "revise", held["candidate"], "--content", "你喜欢用中文写提交信息").data
    assert edited["digest"] != held["digest"]
    assert cli("reject", held["candidate"], "--digest", held["digest"]).code == 5
    shown = (held["candidate"], "--digest", edited["digest"])
    assert "reject.needs_answer" in cli("reject", *shown).err
    answer = cli("--json", "append", "不，我没这么说过。").data["id"]
    gone = cli("--json", "reject", *shown, "--answer", answer).data
    assert gone == {"candidate": held["candidate"], "status": "rejected"}
    assert cli("--json", "review").data["waiting"] == []


def test_a_record_is_looked_at_from_every_side(cli: Cli) -> None:
    """list, show, history, why, profile."""
    record = _remembered(cli)["record"]
    assert record in cli("list").out
    assert "project app" in cli("show", record).out
    assert "pnpm" in cli("history", record).out
    why = cli("why", record).out
    assert PNPM in why and "origin.stated" in why
    for verb in ("revise", "mute", "delete"):
        assert f"{verb} {record}" in why
    assert cli("profile").code == 0


def test_list_is_narrowed_by_exact_conditions(cli: Cli) -> None:
    """By place, status, kind and tag; an unknown condition is refused."""
    record = _remembered(cli)["record"]
    for words in (("--status", "active"), ("--where", "muted=false"), ("--project", "app")):
        assert [r["id"] for r in cli("--json", "list", *words).data["records"]] == [record]
    assert cli("list", "--project", "other").out == "No record fits that.\n"
    assert cli("list", "--where", "colour=red").code == 2


def test_revising_takes_the_version_that_was_read(cli: Cli) -> None:
    """Stale is a conflict, missing is a mistake; the answer says from when it applies."""
    record = _remembered(cli)["record"]
    assert cli("revise", record, "--value", "npm").code == 2
    done = cli("revise", record, "--if-version", "1", "--value", "npm")
    assert done.code == 0 and "Version 2 from" in done.out
    assert cli("revise", record, "--if-version", "1", "--value", "yarn").code == 5


def test_mute_and_unmute(cli: Cli) -> None:
    """Out of recall and back; a dry run changes nothing."""
    record = _remembered(cli)["record"]
    assert "Would mute: 1 record" in cli("mute", record, "--dry-run").out
    assert "pnpm" in cli("recall", "package manager", "--project", "app").out
    assert "No longer recalled: 1 record" in cli("mute", record).out
    assert "pnpm" not in cli("recall", "package manager", "--project", "app").out
    assert cli("--json", "unmute", record).data["counts"]["records"] == 1
    assert "pnpm" in cli("recall", "package manager", "--project", "app").out


@pytest.mark.parametrize("verb", ["expire", "delete", "erase"])
def test_the_runtime_may_not_destroy_and_is_told_how(cli: Cli, verb: str) -> None:
    """Exit code 4, a hint, and nothing changed."""
    record = _remembered(cli)["record"]
    refused = cli(verb, record)
    assert (refused.code, f"{verb}.channel" in refused.err) == (4, True)
    assert "MUNIMENT_CHANNEL=user" in refused.err
    assert record in cli("list", "--status", "active").out


def test_switches(cli: Cli) -> None:
    """Paused recall says so; switched on again, it answers."""
    _remembered(cli)
    assert "recall: paused" in cli("settings", "--pause-recall").out
    assert "recall_paused" in cli("recall", "package manager", "--project", "app").out
    assert cli("--json", "settings", "--no-pause-recall", "--disable-kind", "lesson").data[
        "disable_kinds"
    ] == ["lesson"]
    assert "kinds switched off: none" in cli("settings", "--enable-all-kinds").out


def test_the_archive_shows_turns_with_neighbours(cli: Cli, tmp_path: Path) -> None:
    """import, then recall --archive in both languages; importing again adds nothing."""
    texts = ["我们先看预算", "周五之前把发票寄给财务", "the invoice goes to Berlin", "bye"]
    lines = [json.dumps({"thread": "A", "role": "user", "text": t, "time": TIME}) for t in texts]
    Path("chat.jsonl").write_text("\n".join(lines))
    assert "4 messages appended, 0 known" in cli("import", "chat.jsonl").out
    assert "0 messages appended, 4 known" in cli("import", "chat.jsonl").out
    shown = cli("recall", "--archive", "发票").out
    assert f"> #2 user: {texts[1]}" in shown and f"  #1 user: {texts[0]}" in shown
    [turn] = cli("--json", "recall", "--archive", "invoice Berlin").data["results"]
    assert turn["content"] == texts[2] and len(turn["neighbours"]) == 2


TIME = "2026-01-05T09:00:00+08:00"


def test_a_score_is_the_sum_of_its_named_parts(cli: Cli) -> None:
    """recall --explain."""
    _remembered(cli)
    line = next(
        part
        for part in cli("recall", "pnpm", "--project", "app", "--explain").out.splitlines()
        if "score:" in part
    )
    assert "relevance" in line and "trust" in line


def test_out_and_in_again(cli: Cli) -> None:
    """export, import-backup, backup."""
    _remembered(cli)
    assert "1 record" in cli("export", "out.jsonl").out
    assert cli("--json", "--url", "sqlite:///other.db", "import-backup", "out.jsonl").code == 0
    assert cli("backup", "copy.db").code == 0 and Path("copy.db").exists()
    assert cli("backup", "copy.db").code == 2


def test_the_state_of_a_store(cli: Cli) -> None:
    """doctor, verify, rebuild-index, tidy, scrub."""
    _remembered(cli)
    screen = cli("doctor").out
    assert "schema: " in screen and "records: 1 active" in screen
    assert len(screen.splitlines()) < 24
    assert cli("--json", "verify").data["ok"] is True
    assert "The index holds 2" in cli("rebuild-index").out
    assert cli("--json", "tidy").data["expired"] == 0
    assert cli("scrub").code == 0


def test_empty_states_say_what_to_try(cli: Cli) -> None:
    """Nothing is an answer too."""
    assert "Nothing is remembered here yet." in cli("list").out
    assert "muniment remember" in cli("list").out
    assert "Nothing waits for you." in cli("review").out
    assert "muniment remember" in cli("doctor").out


def test_explanations_follow_the_language(cli: Cli) -> None:
    """By option and by setting; another language is refused."""
    assert "用户亲口说的" in cli("remember", PNPM, "--language", "zh").out
    assert "用户亲口说的" in cli("remember", PNPM + " ", MUNIMENT_LANGUAGE="zh").out
    assert cli("list", "--language", "fr").code == 2


def test_what_a_turn_did_is_noted(cli: Cli) -> None:
    """used."""
    record = _remembered(cli)["record"]
    assert "cited 1" in cli("used", "turn-1", "cited", record).out
    assert cli("used", "turn-1", "eaten", record).code == 2


def test_a_scenario_runs(cli: Cli) -> None:
    """Exit codes 0, 1 and 2 are the runner's."""
    steps = "name: one\nnow: 2026-09-29T10:00:00+08:00\nas: {tenant: t, user: u}\nin: {user: u}\n"
    Path("good.yaml").write_text(steps + "steps:\n- thread: A\n")
    assert cli("scenario", "run", "good.yaml").code == 0
    Path("bad.yaml").write_text("steps: what\n")
    assert cli("scenario", "run", "bad.yaml").code == 2


def test_stored_text_cannot_act_on_a_terminal(cli: Cli) -> None:
    """Escape sequences and direction marks are written out, in JSON as JSON escapes."""
    text = "Remember: the tab is \x1b[31mred\x1b[0m \u202egnp"
    event = cli("--json", "append", text)
    assert event.data["text"] == text
    assert "\x1b" not in event.out and "\u202e" not in event.out
    shown = cli("show", event.data["id"]).out
    assert "\\x1b[31m" in shown and "\x1b" not in shown


def test_suggested_commands_do_not_show_a_password(cli: Cli) -> None:
    """Neither does an error."""
    url = "postgresql://app:sekrit@127.0.0.1:1/muniment"
    refused = cli("--url", url, "list")
    assert refused.code == 6
    assert "sekrit" not in refused.out + refused.err


@pytest.mark.postgres
def test_the_same_on_postgresql(cli: Cli, pg_url: str) -> None:
    """One URL changed."""
    here = ("--url", pg_url, "--project", "app")
    assert "activate / insert" in cli("remember", PNPM, *here).out
    assert "pnpm" in cli("recall", "which package manager", *here).out
    assert "pnpm" in cli("context", "which package manager", *here).out
    assert "store: postgresql" in cli("doctor", *here).out
    assert cli("--json", "db", "info", *here).data["store"] == "postgresql"
    assert cli("verify", *here).code == 0
