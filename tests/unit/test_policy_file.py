"""A policy file: what it may say, what is refused and why, and that safety only ever tightens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import muniment
from muniment.clock import ManualClock
from muniment.errors import InvalidInput, Unavailable
from muniment.gate import decide, rules
from muniment.gate.decision import Action
from muniment.gate.policy import Policy, Topic
from muniment.gate.policy_file import PRESETS, parse, preset
from muniment.records.record import Kind, Sensitivity
from muniment.verbs.policies import policy_of, read_policy
from tests.golden import runner

LOOSENING = [
    ("kinds: [fact, rule]", "extends: support\nsafety: {kinds: [fact, skill]}", "skill"),
    ("origins: [user_stated]", "safety: {origins: [model_inferred]}", "model_inferred"),
    ("sensitivity: {sensitive: refuse}", "safety: {sensitivity: {sensitive: activate}}", "hold"),
    ("expiry: {fact: 30d}", "safety: {expiry: {fact: never}}", "shortened"),
    ("expiry: {fact: 30d}", "extends: support\nsafety: {expiry: {fact: 91d}}", "90d"),
    ("high_impact: {payment: [gift]}", "safety: {high_impact: {payment: []}}", "taken away"),
    ("third_parties: refuse", "safety: {third_parties: keep}", "hold"),
    ("data_classes: {health: hold}", "safety: {data_classes: {health: allow}}", "built-in"),
    ("held_lapse_after: 6d", "safety: {held_lapse_after: 8d}", "7d"),
    ("held_per_source: 19", "safety: {held_per_source: 21}", "20"),
    ("observation_expires_after: 12h", "safety: {observation_expires_after: 2d}", "1d"),
    ("third_parties: refuse", "extends: coding\nsafety: {third_parties: hold}", "refuse"),
]


@pytest.mark.parametrize(("tightens", "loosens", "why"), LOOSENING)
def test_an_entry_that_would_loosen_is_refused_with_a_reason(
    tightens: str, loosens: str, why: str
) -> None:
    """By the constitution, or by the preset it extends; a stricter one is taken."""
    strict = parse(f"safety: {{{tightens}}}").policy
    assert replace(strict, version=Policy().version) != Policy()
    with pytest.raises(InvalidInput, match=why) as caught:
        parse(loosens)
    assert caught.value.code == "policy.loosens"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("safty: {}", "safty; known are extends, name, safety, worth"),
        ("safety: {kind: [fact]}", "kind; known are approvals, data_classes"),
        ("safety: {kinds: [facts]}", "facts; known are episode, external, fact"),
        ("safety: {expiry: {facts: 1d}}", "facts; known are episode"),
        ("safety: {approvals: [vouchers]}", "vouchers; known are credentials, deletion"),
        ("worth: {keeps: {}}", "keeps; known are drop, keep, predicates"),
        ("worth: {drop: {tea: {word: [tea]}}}", "word; known are predicates, words"),
        ("worth: {drop: {x: {predicates: [alergy]}}}", "alergy; known are"),
    ],
)
def test_an_unknown_key_is_named_with_the_known_ones(text: str, names: str) -> None:
    """At every level."""
    with pytest.raises(InvalidInput, match=names) as caught:
        parse(text)
    assert caught.value.code == "policy.unknown_key"


@pytest.mark.parametrize(
    "text",
    [
        "- a\n- b",
        "a: [",
        "name: 3",
        "safety: [kinds]",
        "safety: {kinds: fact}",
        "safety: {expiry: {fact: 3 months}}",
        "safety: {expiry: {fact: 0d}}",
        "safety: {third_parties: maybe}",
        "safety: {data_classes: {shoes: refuse}}",
        "worth: {drop: {tea: tea}}",
        "worth: {drop: {tea: ['*']}}",
        "worth: {predicates: {name: x}}",
        "x" * 200_001,
    ],
)
def test_another_form_is_refused(text: str) -> None:
    """What is no YAML, no mapping, no span, or too long."""
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert caught.value.code == "policy.invalid"


def test_the_version_is_a_digest_of_what_the_file_comes_to() -> None:
    """Order and comments do not count; a word does, and so does what it extends."""
    one = parse("name: a\nsafety: {third_parties: refuse, held_per_source: 3}\n").policy.version
    same = "safety:\n  # strict\n  held_per_source: 3\n  third_parties: refuse\nname: a\n"
    assert parse(same).policy.version == one
    assert parse(same.replace("3", "4")).policy.version != one
    assert parse("extends: coding\n" + same).policy.version != one
    assert len({preset(name).policy.version for name in PRESETS}) == len(PRESETS)


def test_a_file_extends_a_preset_and_adds_fact_keys() -> None:
    """What the preset refuses stays refused; a fact key of one's own is known."""
    found = parse(
        "extends: coding\nname: ours\nworth:\n  predicates:\n"
        "  - {name: spacing, kind: fact, templates: {en: 'the spacing is {value}'}}\n"
    )
    assert found.policy.safety == preset("coding").policy.safety
    assert found.policy.catalogue.get("spacing") is not None
    assert found.to_dict()["worth"]["predicates"] == ["spacing"]
    with muniment.open("sqlite://", policy=found.policy) as memory:
        [made] = memory.remember("The spacing is 8 pixels.", scope={"project": "web"})
    assert (made.candidate.predicate, made.candidate.value) == ("spacing", "8 pixels")


def test_a_policy_is_a_value_a_name_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the argument, else from the setting; a file that is not there says so."""
    path = tmp_path / "policy.yaml"
    path.write_text("name: ours\nsafety: {kinds: [fact]}\n")
    assert policy_of("support") == preset("support").policy
    assert read_policy(path).policy.safety.kinds == {Kind.FACT}
    monkeypatch.setenv("MUNIMENT_POLICY", str(path))
    with muniment.open("sqlite://") as memory:
        assert memory.doctor()["policy"].startswith("ours-")
    with muniment.open("sqlite://", policy=Policy()) as memory:
        assert memory.doctor()["policy"] == "builtin-1"
    with pytest.raises(Unavailable) as caught:
        read_policy(tmp_path / "none.yaml")
    assert caught.value.code == "policy.unreadable"


def test_words_of_a_topic_are_whole_words() -> None:
    """Unless they end in a star; Han words occur anywhere."""
    topic = Topic(words=("tea", "allerg*", "咖啡"))
    for text in ("a cup of Tea", "ALLERGIC to nuts", "我每天喝咖啡"):
        assert topic.in_text(text)
    for text in ("the team", "steam", "nonallergic", "茶"):
        assert not topic.in_text(text)


# ---------------------------------------------------------------- it only tightens

_STRICT = {
    "kinds": "safety: {kinds: [preference, fact]}",
    "origins": "safety: {origins: [user_confirmed]}",
    "sensitivity": "safety: {sensitivity: {internal: hold, personal: refuse, sensitive: refuse}}",
    "data": "safety: {data_classes: {health: hold, location: refuse, contact: hold}}",
    "others": "safety: {third_parties: refuse}",
    "impact": "safety: {high_impact: {code: [pnpm, 文章, articles]}, approvals: [payment, code]}",
    "all": "extends: support\nsafety: {origins: [user_confirmed], data_classes: {contact: hold}}",
}
#: What may become of it once a policy is stricter.
_NO_LOOSER = {
    Action.ACTIVATE: {"activate", "hold", "refuse"},
    Action.HOLD: {"hold", "refuse"},
    Action.THREAD_ONLY: {"thread_only", "refuse"},
    Action.IGNORE: {"ignore", "refuse"},
    Action.REFUSE: {"refuse"},
}


def looser(policy: Policy, every: int) -> list[str]:
    """The golden cases in which words come to more under a policy than under none."""
    clock = ManualClock(runner.START)
    with muniment.open("sqlite://", clock=clock) as memory:
        found = []
        for n, case in enumerate(_cases(every)):
            plain = _actions(memory, clock, case, f"plain-{n}")
            strict = _actions(runner.under(memory, policy), clock, case, f"strict-{n}")
            pairs = zip(plain, strict, strict=True)
            if any(s not in _NO_LOOSER[Action(p)] for p, s in pairs):
                found.append(f"{case['name']}: {plain} {strict}")
    return found


def _cases(every: int) -> Iterator[dict[str, object]]:
    for name in ("articles", "blind"):
        cases = runner.cases_of(runner.HERE / f"{name}.yaml")
        yield from (c for c in cases[::every] if not c.get("before") and "propose" not in c)


def _actions(
    memory: muniment.Memory, clock: ManualClock, case: dict[str, object], label: str
) -> list[str]:
    return [str(s["action"]) for s in runner.play(case, memory, clock, label).seen]


@pytest.mark.parametrize("name", _STRICT)
def test_safety_only_tightens(name: str) -> None:
    """Over the golden cases nothing comes to more than without the entry."""
    assert looser(parse(_STRICT[name]).policy, every=5) == []


def test_a_gate_that_lets_a_policy_loosen_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: holding before the constitution has refused or ignored."""
    monkeypatch.setattr(decide, "RULES", (rules.policy_holds, *rules.RULES))
    assert looser(parse(_STRICT["sensitivity"]).policy, every=5) != []


def test_a_kind_ends_when_the_policy_says_so() -> None:
    """At the latest then; what ends earlier by itself still does."""
    policy = parse("safety: {expiry: {fact: 30d}}").policy
    clock = ManualClock(runner.START)
    with muniment.open("sqlite://", clock=clock, policy=policy) as memory:
        [made] = memory.remember("The default branch is trunk.", scope={"project": "web"})
        [wish] = memory.remember("Keep answers short from now on.")
        [seen] = memory.remember("deployed version: 1.2.3", by="tool", scope={"project": "web"})
    assert made.expires_at == clock.now() + timedelta(days=30)
    assert wish.expires_at is None
    assert seen.expires_at == clock.now() + timedelta(days=1)


def test_every_preset_refuses_no_less_than_sensitivity_asks() -> None:
    """They are read from data like any other file, and none is a mere copy of the built-in one."""
    for name in PRESETS:
        assert preset(name).policy.safety != Policy().safety
    assert preset("support").policy.safety.sensitivity[Sensitivity.SENSITIVE] is Action.REFUSE
