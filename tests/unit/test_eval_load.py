"""Loaders of public data sets, on small files made up for this."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from muniment.errors import MunimentError
from muniment.evals.dataset import Dataset
from muniment.evals.load import READERS, evidence, load

LOCOMO = [
    {
        "sample_id": "c1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a ferret."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Look.", "blip_caption": "a kayak"},
            ],
        },
        "qa": [
            {"question": "Who has a pet?", "evidence": ["D1:1; D1:2"], "category": 4},
            {"question": "And a house?", "evidence": ["D", "D7:1"], "category": 5},
        ],
    }
]
BEAM_CHAT = [
    {
        "turns": [
            [
                {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "Hi ->-> 1,1"},
                {"role": "assistant", "id": 1, "content": "A -> b ->-> c.\nHello."},
            ]
        ]
    }
]
BEAM_PROBES = {
    "abstention": [{"question": "What is not there?"}],
    "knowledge_update": [{"question": "Who?", "source_chat_ids": {"old": [0], "new": [1, 0]}}],
}
MEMDAILY = [
    {
        "tid": 3,
        "message_list": [
            {"mid": 0, "message": "我的猫叫雪球。", "time": "2024年04月01日 周一 08:39"}
        ],
        "question_list": [{"qid": 0, "question": "猫叫什么？", "target_step_id": [0]}],
    }
]
MADIAL_MEMORY = [
    {"2": {"id": "2", "user-id": 1, "time": "2023-12-25", "event": "跳舞，很开心。"}},
    {"1": {"id": "1", "user-id": 1, "time": "2023-01-02", "event": "吃了冰淇淋。"}},
]
MADIAL_DIALOGUE = {
    "id": 0,
    "user-id": 1,
    "relevant-id": [2],
    "test-turn": [2, 4],
    "dialogue": ["<BOD>\n", '<Bart>:"我要表演！"\n', '<Assistant>:"记得跳舞吗？"\n', "<EOD>\n"],
}
LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "What degree?",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 03:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "\u200b"}],
            [{"role": "user", "content": "A degree in botany.", "has_answer": True}],
        ],
    }
]


def put(folder: Path, name: str, value: Any) -> None:
    """Write a JSON file."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(value, ensure_ascii=False), "utf-8")


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Read a data set from files given by name."""

    def of(name: str, **files: Any) -> Dataset:
        for file, value in files.items():
            put(tmp_path, file.replace("__", "/") + ".json", value)
        return load(name, tmp_path)

    return of


def test_locomo_is_read_with_its_times_speakers_and_gold(read: Any) -> None:
    """Ids that are malformed are mended or left out, and counted; categories have names."""
    found = read("locomo", any=LOCOMO)
    [conversation] = found.conversations
    [talk] = conversation.talks
    assert [m.text for m in talk.messages] == ["I adopted a ferret.", "Look. [shares a kayak]"]
    assert talk.messages[0].at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert talk.messages[1].speaker == "Ben"
    pets, house = conversation.questions
    assert pets.gold == {"locomo:c1#D1:1", "locomo:c1#D1:2"} <= conversation.keys()
    assert (pets.category, house.category, house.gold) == ("4 single-hop", "5 adversarial", set())
    assert found.counts == {
        "evidence ids normalised": 1,
        "evidence ids unreadable": 1,
        "gold naming no turn": 1,
        "questions without gold": 1,
    }


@pytest.mark.parametrize(
    ("given", "ids", "odd"),
    [
        ("D1:3", ["D1:3"], {}),
        ("D:11:26", ["D11:26"], {"evidence ids normalised": 1}),
        ("D8:6; D9:17", ["D8:6", "D9:17"], {"evidence ids normalised": 1}),
        ("D30:05", ["D30:5"], {"evidence ids normalised": 1}),
        ("D", [], {"evidence ids unreadable": 1}),
    ],
)
def test_malformed_evidence_is_mended_and_counted(
    given: str, ids: list[str], odd: dict[str, int]
) -> None:
    """Each shape that LoCoMo has; what is well formed is not counted."""
    counts: Counter[str] = Counter()
    assert evidence([given], counts) == ids
    assert counts == odd


def test_beam_is_read_without_its_marks(read: Any) -> None:
    """Only at the end of a turn; a time holds until the next; gold from under any name."""
    found = read("beam", **{"7__chat": BEAM_CHAT, "7__probing_questions": BEAM_PROBES})
    [conversation] = found.conversations
    messages = conversation.talks[0].messages
    assert [m.text for m in messages] == ["Hi", "A -> b ->-> c.\nHello."]
    assert messages[1].at.isoformat() == "2024-03-15T00:00:00+00:00"
    assert [sorted(q.gold) for q in conversation.questions] == [[], ["beam:7#0", "beam:7#1"]]


def test_memdaily_is_one_pool_a_file(read: Any) -> None:
    """Its trajectories are threads in it."""
    found = read("memdaily", a=MEMDAILY, b=MEMDAILY)
    assert [c.name for c in found.conversations] == ["a", "b"]
    assert found.conversations[0].questions[0].gold == {"memdaily:a:3#0"}
    assert found.conversations[0].talks[0].messages[0].text == "我的猫叫雪球。"


def test_madial_asks_with_what_was_said_before_the_turn(read: Any, tmp_path: Path) -> None:
    """Never with the turn that remembers; one JSON value a line is read too."""
    lines = "\n".join(json.dumps(m, ensure_ascii=False) for m in MADIAL_MEMORY)
    (tmp_path / "x-memory.json").write_text(lines, "utf-8")
    (tmp_path / "x-dialogue.json").write_text(json.dumps(MADIAL_DIALOGUE), "utf-8")
    [conversation] = load("madial", tmp_path).conversations
    assert [t.thread for t in conversation.talks] == ["madial:1:1", "madial:1:2"]
    [question] = conversation.questions
    assert (question.text, question.gold) == ("我要表演！", {"madial:1:2#0"})


def test_longmemeval_has_a_haystack_a_question(read: Any) -> None:
    """Sessions are threads; the gold are the marked turns."""
    [conversation] = read("longmemeval", x=LONGMEMEVAL).conversations
    assert conversation.questions[0].gold == {"longmemeval:q1:1#0"} <= conversation.keys()


@pytest.mark.parametrize("name", READERS)
def test_other_data_is_refused(read: Any, name: str) -> None:
    """Also where it is JSON, and of no question."""
    with pytest.raises(MunimentError, match=r"is no|has no question|neither"):
        read(name, chat=[{"nothing": 1}])


def test_the_limit_keeps_the_first_questions_and_their_conversations(read: Any) -> None:
    """Whole conversations: what is searched stays as large."""
    found = read("memdaily", a=MEMDAILY * 1, b=MEMDAILY, c=MEMDAILY)
    limited = found.limited(2)
    assert [c.name for c in limited.conversations] == ["a", "b"] and limited.questions == 2
    assert found.limited(None) is found
