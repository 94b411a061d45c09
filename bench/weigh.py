"""What the parts of a turn's score should weigh: ``make weigh DATA=dir``.

``DATA`` holds a folder a data set (``locomo``, ``beam…``, ``memdaily``, ``madial…``), each with the
half that may be looked at.  Every question is asked once; what was found is then scored with
other weights, one of them changed at a time, for as long as the mean over the sets gains.  Each set
counts alike, and a question by the mean of its rec@10 and nDCG@10.

Prints each set under the weights of ``muniment/recall/weights.toml`` and under the best found, and
those.  It writes nothing: put them there if they are worth it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

import muniment
from muniment import Memory
from muniment.evals import ask
from muniment.evals.dataset import Dataset
from muniment.evals.load import READERS, load
from muniment.evals.metrics import ndcg_at, recall_at
from muniment.events.event import Event
from muniment.recall import recall as recalling
from muniment.recall.nearby import worth
from muniment.recall.weights import TURNS, TurnWeights

CUT = 10
GAIN_MIN = 0.0005  # less is no reason for another number
#: The values that are tried for each weight.
GRID: Mapping[str, Sequence[Any]] = {
    "meaning": (0.0, 0.15, 0.25, 0.35, 0.5),
    "beside": ((0.0, 0.0), (0.3, 0.0), (0.3, 0.15), (0.4, 0.1), (0.4, 0.2), (0.5, 0.25)),
    "short_chars": (100, 400, 1600),
    "sitting": (0.0, 0.1, 0.2, 0.3),
    "thread": (0.0, 0.05, 0.1, 0.15, 0.2),
    "thread_best": (1, 3, 8, 12),
    "assistant": (1.0, 0.7, 0.5, 0.3),
    "time": (0.0, 0.25, 0.5, 1.0),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found, before anything was weighed, and which of it is gold."""

    events: Sequence[Event]
    words: Mapping[str, float]
    meaning: Mapping[str, float]
    named: Mapping[str, Any]  # the time it asks for, whether it is about the assistant
    gold: frozenset[str]
    golds: int

    def score(self, weights: TurnWeights) -> float:
        """The mean of rec@10 and nDCG@10 under these weights."""
        parts = worth(self.events, self.words, self.meaning, **self.named, weights=weights)
        score = {i: round(sum(p.values()), 12) for i, p in parts.items()}
        ranked = sorted(self.events, key=lambda e: (-score[e.id], e.said_at, e.seq, e.id))
        ranks = [n for n, e in enumerate(ranked[: ask.DEPTH], 1) if e.id in self.gold]
        return (recall_at(ranks, self.golds, CUT) + ndcg_at(ranks, self.golds, CUT)) / 2


def found_in(memory: Memory, dataset: Dataset) -> Iterator[Found]:
    """Every question of a data set that has gold, asked once."""
    for conversation in dataset.conversations:
        who = ask.reader(dataset, conversation)
        keys = ask.append(memory, conversation, who)
        memory.tidy(principal=who)
        ids = {key: event for event, key in keys.items()}
        known: dict[str, Event] = {}  # each event once, however many questions find it
        for question in conversation.questions:
            if question.gold:
                with patch.object(recalling, "worth", wraps=worth) as watched:
                    ask.recalled(memory, question, who)
                (events, words, meaning), named = watched.call_args
                events = [known.setdefault(e.id, e) for e in events]
                gold = frozenset(ids[key] for key in question.gold)
                yield Found(events, words, meaning, named, gold, len(question.gold))


def judged(sets: Mapping[str, Sequence[Found]], weights: TurnWeights) -> dict[str, float]:
    """Each set under these weights."""
    return {name: fmean(f.score(weights) for f in found) for name, found in sets.items()}


def best(sets: Mapping[str, Sequence[Found]], start: TurnWeights) -> TurnWeights:
    """One weight after the other, as long as the mean over the sets gains."""
    weights, mean = start, fmean(judged(sets, start).values())
    gained = True
    while gained:
        gained = False
        for name, values in GRID.items():
            for value in values:
                other = replace(weights, **{name: value})
                got = fmean(judged(sets, other).values()) if other != weights else mean
                if got > mean + GAIN_MIN:
                    weights, mean, gained = other, got, True
                    print(f"{name} = {value}: {mean:.4f}", file=sys.stderr, flush=True)
    return weights


def main(arguments: Sequence[str] | None = None) -> int:
    """Weigh; 2 for a folder without a data set."""
    made = argparse.ArgumentParser(prog="python -m bench.weigh", description=__doc__)
    made.add_argument("data", type=Path, help="a folder with a folder a data set")
    made.add_argument("--set", action="append", choices=sorted(READERS), help="only these")
    made.add_argument("--every", type=int, default=1, help="only every so many-th question")
    given = made.parse_args(arguments)
    folders = {
        name: folder
        for name in given.set or ("locomo", "beam", "memdaily", "madial")
        for folder in sorted(given.data.glob(f"{name}*"))
    }
    if not folders:
        made.error(f"{given.data} has no folder of a data set")
    sets: dict[str, list[Found]] = {}
    for name, folder in folders.items():
        with (
            tempfile.TemporaryDirectory(prefix="muniment-weigh-") as store,
            muniment.open(f"sqlite:///{store}/weigh.db") as memory,
        ):
            sets[name] = list(found_in(memory, load(name, folder)))[:: given.every]
        print(f"{name}: {len(sets[name])} questions", file=sys.stderr, flush=True)
    weights = best(sets, TURNS)
    before, after = judged(sets, TURNS), judged(sets, weights)
    for name in sets:
        print(f"{name:10} {before[name]:.4f} → {after[name]:.4f}")
    for name, value in asdict(weights).items():
        print(f"{name} = {list(value) if isinstance(value, tuple) else value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
