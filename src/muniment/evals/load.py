"""The data sets that can be read.  Reading only; nothing of them is part of this project.

Turn ids are the data's own.  Where a set's own book-keeping stands in a turn's words (BEAM's
``->-> 1,2``), it is left out.  Times without a zone are taken as UTC.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from muniment.errors import InvalidInput, Unavailable
from muniment.evals.dataset import Conversation, Dataset, Question, Talk, known_gold, turn_key
from muniment.events.formats import read_batches
from muniment.events.message import Message
from muniment.text import blank

Reader = Callable[[list[Path], Counter[str]], Iterator[Conversation]]
_BATCH = 1_000_000  # a thread in one piece


def load(name: str, path: Path) -> Dataset:
    """A data set from a file or folder.

    Raises `InvalidInput` for a name that is not known or data of another shape, `Unavailable`
    for what cannot be read.
    """
    if name not in READERS:
        raise InvalidInput("eval.dataset", f"dataset: use {', '.join(READERS)}")
    files = _files(path)
    counts: Counter[str] = Counter()
    try:
        conversations = tuple(READERS[name](files, counts))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InvalidInput("eval.data", f"{path} is no {name} data: {error!r}") from None
    if not any(c.questions for c in conversations):
        raise InvalidInput("eval.data", f"{path} has no question of {name}")
    counts["questions without gold"] = sum(not q.gold for c in conversations for q in c.questions)
    return Dataset(name, _fingerprint(files), conversations, {k: v for k, v in counts.items() if v})


def _files(path: Path) -> list[Path]:
    found = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if not found or not found[0].is_file():
        raise Unavailable("eval.unreadable", f"{path}: no JSON file there")
    return found


def _fingerprint(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _rows(file: Path) -> list[Any]:
    """A JSON list, or one JSON value a line."""
    text = file.read_text("utf-8")
    if text.lstrip().startswith("["):
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _talks(file: Path) -> dict[str, Talk]:
    """The conversations of a file that `import` reads too, by thread, in the same words."""
    batches = read_batches(file, _BATCH)
    return {b.thread: Talk(b.thread, b.messages) for b in batches}


# ---------------------------------------------------------------- LoCoMo

_LOCOMO_CATEGORIES = {
    1: "1 multi-hop",
    2: "2 temporal",
    3: "3 open-domain",
    4: "4 single-hop",
    5: "5 adversarial",
}
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def _locomo(files: list[Path], counts: Counter[str]) -> Iterator[Conversation]:
    for file in files:
        talks = list(_talks(file).values())
        for row, talk in zip(_rows(file), talks, strict=True):
            bare = Conversation(talk.thread, (talk,), ())
            keys = bare.keys()
            questions = [
                Question(
                    f"{talk.thread}/{number}",
                    qa["question"],
                    _LOCOMO_CATEGORIES[qa["category"]],
                    known_gold(
                        [turn_key(talk.thread, i) for i in evidence(qa["evidence"], counts)],
                        keys,
                        counts,
                    ),
                )
                for number, qa in enumerate(row["qa"])
            ]
            yield Conversation(talk.thread, (talk,), tuple(questions))


def evidence(given: Iterable[str], counts: Counter[str]) -> list[str]:
    """LoCoMo's turn ids.  ``D8:6; D9:17`` are two, ``D:11:26`` is D11:26; what holds none is
    left out.  All of these are counted."""
    out: list[str] = []
    for text in given:
        found = [f"D{int(s)}:{int(t)}" for s, t in _EVIDENCE.findall(text)]
        if found != [text]:
            counts["evidence ids normalised" if found else "evidence ids unreadable"] += 1
        out += found
    return out


# ---------------------------------------------------------------- MemDaily


def _memdaily(files: list[Path], counts: Counter[str]) -> Iterator[Conversation]:
    """A file is one pool: alone, a trajectory of eight messages is no search."""
    for file in files:
        talks = _talks(file)
        keys = Conversation(file.stem, tuple(talks.values()), ()).keys()
        questions = []
        for row in _rows(file):
            thread = f"memdaily:{file.stem}:{row['tid']}"
            for asked in row["question_list"]:
                gold = [turn_key(thread, str(i)) for i in asked["target_step_id"]]
                name = f"{thread}/{asked['qid']}"
                found = known_gold(gold, keys, counts)
                questions.append(Question(name, asked["question"], file.stem, found))
        yield Conversation(file.stem, tuple(talks.values()), tuple(questions))


# ---------------------------------------------------------------- MADial-Bench

_SPEAKER = re.compile(r"^<[^>]*>[:：]?")


def _madial(files: list[Path], counts: Counter[str]) -> Iterator[Conversation]:
    """A user's memories, each a thread of its own: they are no conversation.  What is asked is the
    dialogue up to the first turn in which the assistant is to remember."""
    memories = [m for f in files if "memory" in f.stem for r in _rows(f) for m in r.values()]
    dialogues = [d for f in files if "dialogue" in f.stem for d in _rows(f)]
    ordered = sorted(memories, key=lambda m: (m["user-id"], m["time"], int(m["id"])))
    for user, mine in groupby(ordered, key=lambda m: m["user-id"]):
        name = f"madial:{user}"
        talks = tuple(
            Talk(
                f"{name}:{m['id']}",
                (Message("user", m["event"], id="0", at=_at(m["time"], "%Y-%m-%d")),),
            )
            for m in mine
        )
        keys = Conversation(name, talks, ()).keys()
        questions = tuple(
            Question(
                f"{name}/{d['id']}",
                _said_before(d["dialogue"], d["test-turn"][0]),
                f"user {user}",
                known_gold([turn_key(f"{name}:{i}", "0") for i in d["relevant-id"]], keys, counts),
            )
            for d in dialogues
            if d["user-id"] == user
        )
        yield Conversation(name, talks, questions)


def _said_before(lines: list[str], turn: int) -> str:
    said = (_SPEAKER.sub("", line.strip()).strip(' "“”') for line in lines[:turn])
    return "\n".join(words for words in said if words)


# ---------------------------------------------------------------- BEAM

_MARK = re.compile(r"\s*->->\s*[\w.,/ -]*$")


def _beam(files: list[Path], counts: Counter[str]) -> Iterator[Conversation]:
    for chat in (f for f in files if f.name == "chat.json"):
        thread = f"beam:{chat.parent.name}"
        talk = Talk(thread, tuple(_beam_messages(json.loads(chat.read_text("utf-8")))))
        keys = Conversation(thread, (talk,), ()).keys()
        probes = json.loads((chat.parent / "probing_questions.json").read_text("utf-8"))
        questions = tuple(
            Question(
                f"{thread}/{category}/{number}",
                probe["question"],
                category,
                known_gold(
                    [turn_key(thread, i) for i in _ids(probe.get("source_chat_ids"))], keys, counts
                ),
            )
            for category, asked in probes.items()
            for number, probe in enumerate(asked)
        )
        yield Conversation(thread, (talk,), questions)


def _beam_messages(sessions: list[Mapping[str, Any]]) -> Iterator[Message]:
    """A time is stated now and then, and holds until the next."""
    at: datetime | None = None
    for session in sessions:
        for turn in (m for turns in session["turns"] for m in turns):
            if turn.get("time_anchor"):
                at = _at(turn["time_anchor"], "%B-%d-%Y")
            words = _MARK.sub("", turn["content"])
            yield Message(turn["role"], words or turn["content"], id=str(turn["id"]), at=at)


def _ids(given: object) -> list[str]:
    """Message ids in whatever they are wrapped: a list, or lists under names."""
    if isinstance(given, Mapping):
        return [i for inner in given.values() for i in _ids(inner)]
    if isinstance(given, list):
        return [i for inner in given for i in _ids(inner)]
    return [] if given is None else [str(given)]


# ---------------------------------------------------------------- LongMemEval

_LONGMEMEVAL_TIME = "%Y/%m/%d (%a) %H:%M"


def _longmemeval(files: list[Path], counts: Counter[str]) -> Iterator[Conversation]:
    """A question has a haystack of its own; the gold are the turns marked ``has_answer``."""
    for row in (r for f in files for r in _rows(f)):
        name = f"longmemeval:{row['question_id']}"
        talks, gold = [], []
        sessions = zip(row["haystack_dates"], row["haystack_sessions"], strict=True)
        for number, (date, turns) in enumerate(sessions):
            thread, at = f"{name}:{number}", _at(date, _LONGMEMEVAL_TIME)
            spoken = [(str(n), t) for n, t in enumerate(turns) if not blank(t["content"])]
            talk = Talk(thread, tuple(Message(t["role"], t["content"], n, at) for n, t in spoken))
            talks += [talk] if talk.messages else []
            gold += [turn_key(thread, n) for n, t in spoken if t.get("has_answer")]
        keys = Conversation(name, tuple(talks), ()).keys()
        found = known_gold(gold, keys, counts)
        question = Question(row["question_id"], row["question"], row["question_type"], found)
        yield Conversation(name, tuple(talks), (question,))


def _at(text: str, pattern: str) -> datetime:
    return datetime.strptime(text, pattern).replace(tzinfo=UTC)


READERS: Mapping[str, Reader] = {
    "locomo": _locomo,
    "beam": _beam,
    "memdaily": _memdaily,
    "madial": _madial,
    "longmemeval": _longmemeval,
}
