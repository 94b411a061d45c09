"""The labelled turns keep their form, and their halves stay comparable."""

from __future__ import annotations

import copy
from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parent
HALVES = ("development", "sealed")
TURNS_MIN = 400

GROUPS = frozenset(
    "explicit_remember standing_wish project_fact team_agreement correction change supplement "
    "exception condition one_off revocation third_person question quotation retelling "
    "hypothetical irony small_talk assistant_suggestion non_answer tool_observation "
    "document_text secret sensitive high_impact several_in_one episode".split()
)
LANGS = frozenset({"zh", "en", "mixed"})
ACTIONS = frozenset({"activate", "hold", "refuse", "thread_only", "ignore"})
KINDS = frozenset("preference fact rule lesson episode run_note skill external pointer".split())
ORIGINS = frozenset("admin_policy user_confirmed user_stated tool_observed model_inferred".split())
SCOPE_PARTS = frozenset("team user workspace project agent task thread".split())
TURN_KEYS = frozenset("id group lang in said before say expect".split())
EXPECT_KEYS = frozenset("action kind scope origin until about replaces".split())

Halves = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def halves() -> Halves:
    """Both files as they are; tests change copies."""
    return {h: yaml.safe_load((HERE / f"{h}.yaml").read_text(encoding="utf-8")) for h in HALVES}


def faults(halves: Halves) -> list[str]:
    """What is wrong with single turns or with the two halves together; empty when all is well."""
    turns = [turn for half in HALVES for turn in halves[half]]
    found = [f"{turn.get('id')}: {fault}" for turn in turns for fault in faults_of(turn)]
    ids = Counter(turn.get("id") for turn in turns)
    found += [f"{name}: {count} turns have this id" for name, count in ids.items() if count > 1]
    texts = Counter(turn["say"]["text"] for turn in turns if "text" in turn.get("say", ()))
    found += [f"said {count} times: {text}" for text, count in texts.items() if count > 1]
    return found + faults_of_halves(halves)


def faults_of(turn: dict[str, Any]) -> list[str]:
    """Unknown keys or labels of one turn, and pieces of text that nobody said."""
    found = _unlisted("key", turn, TURN_KEYS)
    found += [
        f"no {key}" for key in ("id", "group", "lang", "in", "say", "expect") if key not in turn
    ]
    if found:
        return found
    found += _unlisted("group", [turn["group"]], GROUPS) + _unlisted("lang", [turn["lang"]], LANGS)
    found += _unlisted("scope part", turn["in"], SCOPE_PARTS)
    if not {"by", "text"} <= set(turn["say"]):
        return [*found, "say needs `by` and `text`"]
    earlier = "\n".join(said["text"] for said in turn.get("before", ()))
    for expected in turn["expect"]:
        found += _faults_of_label(expected, turn["say"]["text"], earlier)
    return found


def faults_of_halves(halves: Halves) -> list[str]:
    """Too few turns, halves of unequal size, a group missing in one, one language too frequent."""
    sizes = {half: len(halves[half]) for half in HALVES}
    total = sum(sizes.values())
    found = [f"only {total} turns"] if total < TURNS_MIN else []
    if max(sizes.values()) - min(sizes.values()) > 0.02 * total:
        found.append(f"halves of unequal size: {sizes}")
    for half in HALVES:
        missing = GROUPS - {turn.get("group") for turn in halves[half]}
        found += [f"no {group} in {half}" for group in sorted(missing)]
    english = sum(turn.get("lang") == "en" for half in HALVES for turn in halves[half])
    if abs(english - total / 2) > 0.05 * total:
        found.append(f"{english} of {total} turns are English")
    return found


def _faults_of_label(expected: dict[str, Any], text: str, earlier: str) -> list[str]:
    found = _unlisted("key of a label", expected, EXPECT_KEYS)
    found += _unlisted("action", [expected.get("action")], ACTIONS)
    found += _unlisted("kind", [expected["kind"]] if "kind" in expected else [], KINDS)
    found += _unlisted("origin", [expected["origin"]] if "origin" in expected else [], ORIGINS)
    found += _unlisted("scope part", expected.get("scope", ()), SCOPE_PARTS)
    if expected.get("about", "") not in f"{text}\n{earlier}":
        found.append(f"nobody said {expected['about']!r}")
    if expected.get("replaces", "") not in earlier:
        found.append(f"nobody said {expected['replaces']!r} before")
    return found + _faults_of_until(expected.get("until"))


def _faults_of_until(until: object) -> list[str]:
    if until is None or until == "any":
        return []
    try:
        date.fromisoformat(str(until))
    except ValueError:
        return [f"until {until!r} is neither a day nor any"]
    return [] if not isinstance(until, datetime) else [f"until {until} is no day"]


def _unlisted(what: str, values: Any, listed: frozenset[str]) -> list[str]:
    return [f"unknown {what} {value!r}" for value in values if value not in listed]


def test_nothing_is_wrong_with_the_labelled_turns(halves: Halves) -> None:
    """Known labels, ids unique over both files, comparable halves, half of it Chinese."""
    assert faults(halves) == []


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("group",), "smalltalk", "unknown group 'smalltalk'"),
        (("lang",), "fr", "unknown lang 'fr'"),
        (("expect", 0, "action"), "keep", "unknown action 'keep'"),
        (("expect", 0, "kind"), "wish", "unknown kind 'wish'"),
        (("expect", 0, "origin"), "user", "unknown origin 'user'"),
        (("expect", 0, "until"), "soon", "until 'soon' is neither a day nor any"),
        (("expect", 0, "about"), "never said", "nobody said 'never said'"),
        (("expect", 0, "scop"), {}, "unknown key of a label 'scop'"),
    ],
)
def test_a_wrong_label_is_caught(
    halves: Halves, path: tuple[str | int, ...], value: object, fault: str
) -> None:
    """The broken twin of one turn: the same check names it, and nothing else."""
    broken = copy.deepcopy(halves)
    turn: Any = next(t for t in broken["development"] if t["expect"])
    name = turn["id"]
    for step in path[:-1]:
        turn = turn[step]
    turn[path[-1]] = value
    assert faults(broken) == [f"{name}: {fault}"]


def test_unlike_halves_are_caught(halves: Halves) -> None:
    """An id in both files, a group in one only, halves of other sizes, too much of one language."""
    again = {**halves, "sealed": [*halves["sealed"][:-1], halves["development"][0]]}
    assert any("2 turns have this id" in fault for fault in faults(again))
    lacking = {**halves, "sealed": [t for t in halves["sealed"] if t["group"] != "small_talk"]}
    assert "no small_talk in sealed" in faults(lacking)
    assert any(fault.startswith("halves of unequal size") for fault in faults(lacking))
    english = {half: [{**turn, "lang": "en"} for turn in halves[half]] for half in HALVES}
    assert any(fault.endswith("are English") for fault in faults(english))
    few = {half: halves[half][: TURNS_MIN // 4] for half in HALVES}
    assert f"only {TURNS_MIN // 2} turns" in faults(few)
