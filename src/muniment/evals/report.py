"""The result of a run: every question's ranks, and what they come to.

A result holds ids and numbers, never a word of the data set.
"""

from __future__ import annotations

import json
import statistics as middle
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import muniment
from muniment.errors import InvalidInput, Unavailable
from muniment.evals.ask import DEPTH, Answer
from muniment.evals.dataset import LAYER_NOTE, Dataset
from muniment.evals.metrics import scores
from muniment.evals.statistics import SEED, bootstrap
from muniment.text import TOKEN_COUNTER, TOKENISER

FORMAT = "muniment-eval-1"
ALL = "all"


def result_of(
    dataset: Dataset,
    answers: Sequence[Answer],
    *,
    store: str,
    limit: int | None,
    embedder: str | None = None,
) -> dict[str, Any]:
    """The result as plain data."""
    return {
        "format": FORMAT,
        "layer": "archive",
        "note": LAYER_NOTE,
        "dataset": dataset.name,
        "data": dataset.fingerprint,
        "limit": limit,
        "conversations": len(dataset.conversations),
        "turns": sum(c.turns for c in dataset.conversations),
        "counts": dict(dataset.counts),
        "foreign": sum(a.foreign for a in answers),
        "depth": DEPTH,
        "store": store,
        "embedder": embedder,
        "version": muniment.__version__,
        "commit": commit(),
        "tokeniser": TOKENISER,
        "token_counter": TOKEN_COUNTER,
        "summary": summary_of(answers),
        "questions": [a.to_dict() for a in answers],
    }


def summary_of(answers: Sequence[Answer]) -> dict[str, Any]:
    """For all questions and for each category: n, every score with its interval, tokens."""
    groups = {ALL: list(answers)}
    for answer in sorted(answers, key=lambda a: a.category):
        groups.setdefault(answer.category, []).append(answer)
    return {name: _group(members) for name, members in groups.items() if members}


def _group(answers: Sequence[Answer]) -> dict[str, Any]:
    random = Random(SEED)
    each = [scores(a.ranks, a.gold) for a in answers]
    found = {name: bootstrap([s[name] for s in each], random) for name in each[0]}
    return {
        "n": len(answers),
        "scores": {
            name: {"mean": round(i.mean, 4), "low": round(i.low, 4), "high": round(i.high, 4)}
            for name, i in found.items()
        },
        "tokens_to_first": _tokens([a.tokens[0] for a in answers if a.tokens], len(answers)),
        "tokens_to_all": _tokens(
            [a.tokens[-1] for a in answers if len(a.tokens) == a.gold], len(answers)
        ),
    }


def _tokens(reached: Sequence[int], count: int) -> dict[str, Any]:
    """The median over the questions whose gold was reached, and which share these are."""
    median = round(middle.median(reached)) if reached else None
    return {"median": median, "reached": round(len(reached) / count, 4)}


def commit() -> str | None:
    """The commit this code is of, ``+`` where files differ from it; None outside a checkout."""
    root = Path(muniment.__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    command = ("git", "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=+")
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


def save(result: Mapping[str, Any], path: Path) -> None:
    """Write a result; `Unavailable` where that cannot be."""
    write(json.dumps(result, ensure_ascii=False, indent=1) + "\n", path)


def write(text: str, path: Path) -> None:
    """Write a file of a run, whole or not at all; `Unavailable` where that cannot be."""
    draft = path.with_name(path.name + ".part")
    try:
        try:
            draft.write_text(text, "utf-8")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable("eval.unwritable", f"{path}: {error.strerror}") from None


def read(path: Path) -> dict[str, Any]:
    """A result that was saved; `InvalidInput` for anything else."""
    try:
        found = json.loads(path.read_text("utf-8"))
        if found["format"] != FORMAT:
            raise ValueError(found["format"])
        for question in found["questions"]:
            scores(question["ranks"], question["gold"])
    except OSError as error:
        raise Unavailable("eval.unreadable", f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, IndexError):
        raise InvalidInput("eval.result", f"{path} is no result of `eval retrieval`") from None
    return dict(found)
