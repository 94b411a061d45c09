"""The labelled turns keep their form, and their halves stay apart and comparable."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parent
HALVES = ("development", "sealed")
HALF_MIN = 210
LIKENESS_MAX = 0.4  # of two texts in different halves: shared pairs of characters or words

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
SPEAKERS = frozenset("user assistant tool file web mail document search mcp_resource".split())
SCOPE_PARTS = frozenset("team user workspace project agent task thread".split())
TURN_KEYS = frozenset("id group lang in said before say expect".split())
TURN_NEEDS = ("id", "group", "lang", "in", "say", "expect")
SAID_KEYS = frozenset("by text name path url".split())
EXPECT_KEYS = frozenset("action kind scope origin until about replaces".split())

CHINESE = re.compile(r"[\u4e00-\u9fff]")
LATIN = re.compile(r"[A-Za-z]")

Turn = dict[str, Any]
Halves = dict[str, list[Turn]]


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
    return found or faults_of_halves(halves)


def faults_of(turn: Turn) -> list[str]:
    """Unknown keys or labels of one turn, and pieces of text that nobody said."""
    found = _unlisted("key", turn, TURN_KEYS)
    found += [f"no {key}" for key in TURN_NEEDS if key not in turn]
    if found:
        return found
    if not re.fullmatch(r"[a-z0-9-]+", turn["id"]):
        found.append("the id is not in lower case")
    found += _unlisted("group", [turn["group"]], GROUPS) + _unlisted("lang", [turn["lang"]], LANGS)
    found += _unlisted("scope part", turn["in"], SCOPE_PARTS)
    if "said" in turn and not (isinstance(turn["said"], datetime) and turn["said"].tzinfo):
        found.append(f"said {turn['said']!r} is no time with a zone")
    for said in (turn["say"], *turn.get("before", ())):
        found += _unlisted("key of what is said", said, SAID_KEYS)
        found += _unlisted("speaker", [said.get("by")], SPEAKERS)
        found += [] if said.get("text") else ["nothing is said"]
    return found or _faults_of_language(turn) + _faults_of_labels(turn)


def faults_of_halves(halves: Halves) -> list[str]:
    """Too few turns, unequal halves, a group or language short in one, a text in both."""
    found: list[str] = []
    for half, turns in halves.items():
        if len(turns) < HALF_MIN:
            found.append(f"only {len(turns)} turns in {half}")
        here = {(turn["group"], turn["lang"] == "en") for turn in turns}
        for group, english in sorted({*product(GROUPS, (False, True))} - here):
            found.append(f"no {group} in {'English' if english else 'Chinese'} in {half}")
        share = sum(turn["lang"] == "en" for turn in turns) / max(len(turns), 1)
        if abs(share - 0.5) > 0.05:
            found.append(f"{share:.0%} of {half} is English")
    sizes = [len(turns) for turns in halves.values()]
    if max(sizes) - min(sizes) > 0.02 * sum(sizes):
        found.append(f"halves of unequal size: {sizes}")
    texts = Counter(_plain(turn) for turns in halves.values() for turn in turns)
    found += [f"said {count} times: {text}" for text, count in texts.items() if count > 1]
    return found + _faults_of_likeness(*(halves[half] for half in HALVES))


def _faults_of_language(turn: Turn) -> list[str]:
    """A language that the words do not have; what a file or a tool prints may be in none."""
    text, lang = turn["say"]["text"], turn["lang"]
    chinese, latin = bool(CHINESE.search(text)), bool(LATIN.search(text))
    if (lang == "en" and chinese) or (lang == "mixed" and not (chinese and latin)):
        return [f"the words are not {lang}"]
    if lang == "zh" and not chinese and turn["say"]["by"] == "user":
        return ["the words are not zh"]
    return []


def _faults_of_labels(turn: Turn) -> list[str]:
    """Labels that say too little, contradict the speaker, or name words that nobody said."""
    text = turn["say"]["text"]
    earlier = "\n".join(said["text"] for said in turn.get("before", ()))
    found: list[str] = []
    for label in turn["expect"]:
        found += _unlisted("key of a label", label, EXPECT_KEYS)
        found += _unlisted("action", [label.get("action")], ACTIONS)
        found += _unlisted("kind", [label["kind"]] if "kind" in label else [], KINDS)
        found += _unlisted("origin", [label["origin"]] if "origin" in label else [], ORIGINS)
        found += _unlisted("scope part", label.get("scope", ()), SCOPE_PARTS)
        found += [f"no {key}" for key in ("origin", "about") if _lacks(label, key)]
        if str(label.get("about", "")) not in f"{text}\n{earlier}":
            found.append(f"nobody said {label['about']!r}")
        if str(label.get("replaces", "")) not in earlier:
            found.append(f"nobody said {label['replaces']!r} before")
        found += _faults_of_until(label.get("until"))
        if label.get("origin") == "user_stated" and turn["say"]["by"] != "user":
            found.append(f"a {turn['say']['by']} states nothing for a user")
    return found


def _lacks(label: dict[str, Any], key: str) -> bool:
    return label.get("action") != "refuse" and not label.get(key)


def _faults_of_until(until: object) -> list[str]:
    if until is None or until == "any":
        return []
    try:
        date.fromisoformat(str(until))
    except ValueError:
        return [f"until {until!r} is neither a day nor any"]
    return [] if not isinstance(until, datetime) else [f"until {until} is no day"]


def _faults_of_likeness(one: list[Turn], other: list[Turn]) -> list[str]:
    """Pairs of turns in different halves that are nearly the same words."""
    marks = [[(turn["id"], _pairs(turn)) for turn in turns] for turns in (one, other)]
    return [
        f"{a} and {b} are nearly the same words"
        for (a, mine), (b, theirs) in product(*marks)
        if len(mine & theirs) > LIKENESS_MAX * len(mine | theirs)
    ]


def _plain(turn: Turn) -> str:
    return re.sub(r"[\W_]+", " ", str(turn["say"]["text"]).lower()).strip()


def _pairs(turn: Turn) -> frozenset[str]:
    """Neighbouring characters of Chinese, words and neighbouring words of English."""
    plain = _plain(turn)
    if CHINESE.search(plain):
        plain = plain.replace(" ", "")
        return frozenset(plain[i : i + 2] for i in range(max(len(plain) - 1, 1)))
    words = plain.split()
    return frozenset(words) | {f"{a} {b}" for a, b in pairwise(words)}


def _unlisted(what: str, values: Iterable[Any], listed: frozenset[str]) -> list[str]:
    return [f"unknown {what} {value!r}" for value in values if value not in listed]


def test_nothing_is_wrong_with_the_labelled_turns(halves: Halves) -> None:
    """Known keys and labels, ids unique over both files, comparable halves that share no text."""
    assert faults(halves) == []


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("grupo",), "irony", "unknown key 'grupo'"),
        (("id",), "ZH-1", "the id is not in lower case"),
        (("group",), "smalltalk", "unknown group 'smalltalk'"),
        (("lang",), "fr", "unknown lang 'fr'"),
        (("lang",), "en", "the words are not en"),
        (("in",), {"usr": "lin"}, "unknown scope part 'usr'"),
        (("said",), datetime(2026, 9, 1), f"said {datetime(2026, 9, 1)!r} is no time with a zone"),
        (("say", "as"), "user", "unknown key of what is said 'as'"),
        (("say", "by"), "boss", "unknown speaker 'boss'"),
        (("say", "by"), "web", "a web states nothing for a user"),
        (("say", "text"), "", "nothing is said"),
        (("expect", 0, "action"), "keep", "unknown action 'keep'"),
        (("expect", 0, "kind"), "wish", "unknown kind 'wish'"),
        (("expect", 0, "origin"), "user", "unknown origin 'user'"),
        (("expect", 0, "origin"), None, "unknown origin None"),
        (("expect", 0, "scope"), {"usr": "lin"}, "unknown scope part 'usr'"),
        (("expect", 0, "until"), "soon", "until 'soon' is neither a day nor any"),
        (("expect", 0, "about"), "never said", "nobody said 'never said'"),
        (("expect", 0, "about"), "", "no about"),
        (("expect", 0, "replaces"), "never said", "nobody said 'never said' before"),
        (("expect", 0, "scop"), {}, "unknown key of a label 'scop'"),
    ],
)
def test_a_wrong_turn_is_caught(path: tuple[str | int, ...], value: object, fault: str) -> None:
    """The broken twin of one sound turn: the same check names the fault."""
    turn: Any = copy.deepcopy(SOUND)
    assert faults_of(turn) == []
    part = turn
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    assert fault in faults_of(turn)


@pytest.mark.parametrize("key", TURN_NEEDS)
def test_a_turn_that_lacks_something_is_caught(key: str) -> None:
    """Each key that a turn needs is missed."""
    assert faults_of({k: v for k, v in SOUND.items() if k != key}) == [f"no {key}"]


SOUND: Turn = {
    "id": "zh-test-001",
    "group": "standing_wish",
    "lang": "zh",
    "in": {"user": "lin"},
    "say": {"by": "user", "text": "以后先说结论。"},
    "expect": [{"action": "activate", "origin": "user_stated", "until": None, "about": "结论"}],
}


def test_an_id_used_twice_is_caught(halves: Halves) -> None:
    """Also when the two turns stand in different files."""
    again = {**halves, "sealed": [*halves["sealed"][:-1], halves["development"][0]]}
    assert f"{halves['development'][0]['id']}: 2 turns have this id" in faults(again)


def test_a_text_in_both_halves_is_caught(halves: Halves) -> None:
    """Word for word, with other punctuation, or with one word changed; the rest is like before."""
    turn = next(t for t in halves["development"] if len(t["say"]["text"].split()) > 12)
    text = turn["say"]["text"]
    for other in (text, text.upper() + "!!", f"Well, {text}"):
        twin = {**turn, "id": "en-twin-001", "say": {"by": "user", "text": other}}
        found = faults_of_halves({**halves, "sealed": [*halves["sealed"][:-1], twin]})
        assert f"{turn['id']} and en-twin-001 are nearly the same words" in found
        same = any(fault.startswith("said 2 times") for fault in found)
        assert same == (not other.startswith("Well"))


def test_unlike_halves_are_caught(halves: Halves) -> None:
    """A group or a language of it in one half only, unequal halves, too few, too much English."""
    lacking = {**halves, "sealed": [t for t in halves["sealed"] if t["group"] != "small_talk"]}
    found = faults_of_halves(lacking)
    assert "no small_talk in Chinese in sealed" in found
    assert any(fault.startswith("halves of unequal size") for fault in found)
    english = {half: [{**turn, "lang": "en"} for turn in halves[half]] for half in HALVES}
    found = faults_of_halves(english)
    assert "100% of sealed is English" in found
    assert "no irony in Chinese in development" in found
    few = {half: halves[half][: HALF_MIN - 1] for half in HALVES}
    assert f"only {HALF_MIN - 1} turns in sealed" in faults_of_halves(few)
