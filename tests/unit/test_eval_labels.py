"""Labelled turns are checked as a whole; what is wrong is told with its line."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from muniment.errors import InvalidInput, Unavailable
from muniment.evals.labels import FILE_BYTES_MAX, load
from muniment.scope import Channel, Scope
from tests.support.labelled import TURNS

SOUND = """\
- id: en-1
  group: change
  lang: en
  in: {user: lin, project: web-app}
  said: 2026-09-03T09:00:00+08:00
  before:
  - {by: user, text: "It is npm.", then: delete}
  say: {by: user, text: "It is pnpm."}
  expect:
  - action: activate
    kind: fact
    until: "2026-09-30"
    about: pnpm
    replaces: npm
  secret: pnpm
"""


def write(folder: Path, text: str, name: str = "turns.yaml") -> Path:
    """A file of labelled turns."""
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_turn_is_read_as_it_is_written(tmp_path: Path) -> None:
    """Every field, the zone too; what a label leaves out is not stated."""
    [turn] = load([write(tmp_path, SOUND)]).turns
    assert (turn.id, turn.group, turn.language) == ("en-1", "change", "en")
    assert turn.place == Scope(user="lin", project="web-app")
    assert turn.said.utcoffset() == timedelta(hours=8) and turn.channel is Channel.RUNTIME
    [before], [expected] = turn.before, turn.expect
    assert before.deleted and before.message.text == "It is npm." and not turn.say.deleted
    assert (expected.action, expected.about, expected.replaces) == ("activate", "pnpm", "npm")
    assert expected.stated == {"kind": "fact", "until": date(2026, 9, 30)}
    assert turn.secret == "pnpm"


def test_nothing_expected_is_to_be_ignored() -> None:
    """An empty list is one entry of its own."""
    turn = next(t for t in load([TURNS]).turns if t.expect == ())
    assert [e.action for e in turn.entries] == ["ignore"]


def test_the_fingerprint_is_of_the_words(tmp_path: Path) -> None:
    """The same files in another order have it, another word has another."""
    one = write(tmp_path, SOUND, "a.yaml")
    two = write(tmp_path, SOUND.replace("en-1", "en-2"), "b.yaml")
    assert load([one, two]).fingerprint == load([two, one]).fingerprint
    assert load([one]).fingerprint != load([two]).fingerprint


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("  group: change", "  grupo: change", "labels.unknown", 2),
        ("group: change", "group: chnage", "labels.unknown", 2),
        ("lang: en", "lang: fr", "labels.unknown", 3),
        ("{user: lin, project: web-app}", "{usr: lin}", "labels.invalid", 4),
        ("{user: lin, project: web-app}", "lin", "labels.invalid", 4),
        ("2026-09-03T09:00:00+08:00", "2026-09-33T09:00:00+08:00", "labels.invalid", 5),
        ("2026-09-03T09:00:00+08:00", "2026-09-03T09:00:00", "labels.invalid", 5),
        ('by: user, text: "It is npm."', "by: boss, text: a", "labels.unknown", 7),
        ("then: delete", "then: eat", "labels.unknown", 7),
        ("then: delete", "when: now", "labels.unknown", 7),
        ('{by: user, text: "It is pnpm."}', "{by: user}", "labels.invalid", 8),
        ('{by: user, text: "It is pnpm."}', "{by: user, text: 5}", "labels.invalid", 8),
        ("action: activate", "action: keep", "labels.unknown", 10),
        ("- action: activate\n    kind: fact", "- kind: fact", "labels.invalid", 10),
        ("kind: fact", "kind: wish", "labels.unknown", 11),
        ("kind: fact", "origin: user", "labels.unknown", 11),
        ("kind: fact", "scope: {usr: lin}", "labels.invalid", 11),
        ("2026-09-30", "soon", "labels.invalid", 12),
        ("2026-09-30", "2026-02-30", "labels.invalid", 12),
        ("about: pnpm", "about: 7", "labels.invalid", 13),
        ("secret: pnpm", "secret: yarn", "labels.invalid", 15),
        ("id: en-1", "id: EN 1", "labels.invalid", 1),
        ("  lang: en\n", "", "labels.invalid", 1),
        ("lang: en", "lang: en\n  lang: en", "labels.invalid", 4),
        ("lang: en", "lang: [en", "labels.invalid", 4),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, code: str, line: int
) -> None:
    """One thing changed in a turn that is sound."""
    assert old in SOUND and load([write(tmp_path, SOUND)]).turns
    path = write(tmp_path, SOUND.replace(old, new, 1))
    with pytest.raises(InvalidInput) as raised:
        load([path])
    assert raised.value.code == code and raised.value.message.startswith(f"{path}:{line}:")


def test_an_id_is_there_once_in_all_files(tmp_path: Path) -> None:
    """The complaint names both places."""
    one, two = (write(tmp_path, SOUND, name) for name in ("a.yaml", "b.yaml"))
    with pytest.raises(InvalidInput) as raised:
        load([one, two])
    assert raised.value.code == "labels.duplicate"
    assert f"{one}:1" in raised.value.message and f"{two}:1" in raised.value.message


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "labels.empty"),
        (b"[]", "labels.empty"),
        (b"a: 1", "labels.invalid"),
        (b"- 1", "labels.invalid"),
        (b"\xff\xfe\xfd", "labels.invalid"),
        (b"#" * (FILE_BYTES_MAX + 1), "labels.too_large"),
    ],
)
def test_what_is_no_list_of_turns_is_refused(tmp_path: Path, data: bytes, code: str) -> None:
    """Nothing, something else, no text, too much of it."""
    path = tmp_path / "turns.yaml"
    path.write_bytes(data)
    with pytest.raises(InvalidInput) as raised:
        load([path])
    assert raised.value.code == code


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Also a directory."""
    for path in (tmp_path, tmp_path / "absent.yaml"):
        with pytest.raises(Unavailable) as raised:
            load([path])
        assert raised.value.code == "eval.unreadable"
