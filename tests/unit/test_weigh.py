"""Choosing weights: what is weighed is what recall found, and only a gain changes a weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import muniment
from bench import centre, weigh
from muniment import Memory
from muniment.evals import ask
from muniment.evals.dataset import Conversation, Dataset, Question, Talk
from muniment.evals.metrics import ndcg_at, recall_at
from muniment.events.message import Message
from muniment.recall.weights import TURNS
from tests.support.embedders import Meaning

_SAID = (
    "I had an espresso in Lisbon.",
    "Which dog is that?",
    "That is Rex, a puppy.",
    "The build is green.",
    "Where did we stay? In an apartment in Lisbon.",
)
TALK = Talk("t", tuple(Message("user", text, id=str(n)) for n, text in enumerate(_SAID)))
QUESTIONS = (
    Question("q0", "Where did I have coffee?", "a", frozenset({"t#0"})),
    Question("q1", "Which dog?", "a", frozenset({"t#1", "t#2"})),
    Question("q2", "What was the flat in Lisbon?", "b", frozenset({"t#4"})),
    Question("q3", "Nobody knows.", "b", frozenset()),
)
DATASET = Dataset("toy", "f0", (Conversation("toy", (TALK,), QUESTIONS),))


@pytest.fixture
def memory() -> Iterator[Memory]:
    """A store of its own, with an embedder."""
    with muniment.open("sqlite://", embedder=Meaning()) as opened:
        yield opened


def test_a_question_scores_as_the_evaluation_scores_it(memory: Memory) -> None:
    """The same ranking, from what recall itself weighed."""
    answers = ask.evaluate(memory, DATASET, lambda *_: None)
    found = list(weigh.found_in(memory, DATASET))
    assert len(found) == len(answers) == 3
    for one, answer in zip(found, answers, strict=True):
        scores = recall_at(answer.ranks, answer.gold, 10), ndcg_at(answer.ranks, answer.gold, 10)
        assert one.score(TURNS) == pytest.approx(sum(scores) / 2)


def test_only_what_gains_is_changed(memory: Memory) -> None:
    """Without meaning the flat is not found first: it is given weight; what gains nothing stays."""
    sets = {"toy": list(weigh.found_in(memory, DATASET))}
    start = replace(TURNS, meaning=0.0, time=0.25)
    better = weigh.best(sets, start)
    assert better.meaning > 0 and better.time == start.time
    assert weigh.judged(sets, better)["toy"] > weigh.judged(sets, start)["toy"]
    assert weigh.best(sets, better) == better


def test_the_middle_is_made_of_sentences_in_both_languages() -> None:
    """Enough of each, none of them a name or a number alone."""
    found = centre.sentences()
    assert min(map(len, found.values())) > 200
    assert all(" " in s or not s.isascii() for texts in found.values() for s in texts)
