"""Search by meaning: what has no word of the question, and never what one may not see."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from muniment.recall import dense
from tests.contract.kit import WEB, Desk, Place
from tests.support.embedders import BROKEN, Broken, Meaning

ARCHIVE = ("archive",)


@pytest.fixture
def meant(place: Place) -> Iterator[Desk]:
    """An open memory on each of the stores, with an embedder that can be broken later."""
    desk = Desk(place, options={"embedder": Broken(how="not at all")})
    yield desk
    desk.memory.close()


def test_a_turn_is_found_without_a_word_of_the_question(meant: Desk) -> None:
    """In another language too; the score names the part, and says nothing of words."""
    wanted = meant.say("Espresso keeps me awake.", thread="one")
    meant.say("The build is green.", thread="two")
    assert len(meant.memory.recall("我爱喝咖啡吗", layers=ARCHIVE)) == 0, "no vector yet"
    meant.memory.tidy()
    found = meant.memory.recall("我爱喝咖啡吗", layers=ARCHIVE)
    assert found.degraded == () and found.envelopes[0].id == wanted.id
    assert {"meaning"} <= set(found.envelopes[0].parts)
    assert "relevance" not in found.envelopes[0].parts
    assert len(found) == 1, "what is only the next nearest is no answer"
    assert len(meant.memory.recall("which puppy?", layers=ARCHIVE)) == 0


def test_a_record_is_found_without_a_word_of_the_task(meant: Desk) -> None:
    """Where it is near enough; what is only the nearest of what there is is no answer."""
    event = meant.say("The office is an apartment near the river.")
    made = meant.propose("The office is an apartment near the river.", event)
    assert made.record_id is not None, made.reasons
    meant.memory.tidy()
    [found] = meant.memory.recall("a flat for rent", scope=WEB).envelopes
    assert found.id == made.record_id and found.parts["meaning"] > 0
    assert meant.memory.recall("walk the dog", scope=WEB).envelopes == ()
    assert "apartment" in meant.memory.context("a flat for rent", scope=WEB).memory


def test_words_and_meaning_add_up(meant: Desk) -> None:
    """What has both comes before what has either."""
    both = meant.say("My dog is a puppy called Rex.", thread="a")
    meant.say("The word dog has three letters.", thread="b")
    meant.say("A puppy was seen.", thread="c")
    meant.memory.tidy()
    first, *rest = meant.memory.recall("my dog Rex", layers=ARCHIVE).envelopes
    assert first.id == both.id and len(rest) == 2
    assert first.score == pytest.approx(sum(first.parts.values()), abs=1e-5)


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_embedder_leaves_the_words(meant: Desk, how: str) -> None:
    """Whatever it gives: no error, what words find, and the report says so."""
    wanted = meant.say("I drank an espresso.")
    meant.remember("This project uses npm.", thread="rules")
    meant.memory.tidy()
    meant.options["embedder"].how = how
    found = meant.memory.recall("espresso", layers=ARCHIVE)
    assert found.degraded == ("embedder_unavailable",)
    assert [e.id for e in found.envelopes] == [wanted.id]
    composed = meant.memory.context("which package manager, npm?", scope=WEB)
    assert composed.degraded == ("embedder_unavailable",) and composed.memory_degraded
    assert "npm" in composed.memory
    assert meant.memory.doctor()["embedder_down"] is True


def test_a_slow_embedder_is_left_behind_in_time(meant: Desk) -> None:
    """After the guard's time, and from then on at once."""
    broken = meant.options["embedder"]
    wanted = meant.say("I drank an espresso.")
    meant.memory.tidy()
    guarded: Any = meant.memory._parts.embedder
    guarded._within_s, broken.how = 0.2, "slow"
    try:
        began = time.monotonic()
        for _ in range(5):
            found = meant.memory.recall("espresso", layers=ARCHIVE)
            assert found.degraded == ("embedder_unavailable",)
            assert [e.id for e in found.envelopes] == [wanted.id]
        assert time.monotonic() - began < 5
    finally:
        broken.released.set()


def test_a_broken_embedder_does_not_disturb_writing(place: Place) -> None:
    """What is written is found by its words; once it works, by its meaning."""
    embedder = Broken(how="nan")
    desk = Desk(place, options={"embedder": embedder})
    wanted = desk.say("I drank an espresso.")
    done = desk.memory.tidy()
    assert (done["embedded"], done["vectors_missing"]) == (0, 1), "a failure is no empty success"
    found = desk.memory.recall("espresso", layers=ARCHIVE)
    assert [e.id for e in found] == [wanted.id]
    assert found.degraded == ("embedder_unavailable",)
    embedder.how = "mended"
    guarded: Any = desk.memory._parts.embedder
    guarded._rests_until = float("-inf")
    assert desk.memory.tidy()["vectors_missing"] == 0
    assert [e.id for e in desk.memory.recall("coffee", layers=ARCHIVE)] == [wanted.id]
    desk.memory.close()


def test_a_changed_embedder_says_so(durable_place: Place) -> None:
    """Words alone meanwhile; when everything has a vector of the new one, nothing is lacking."""
    desk = Desk(durable_place, options={"embedder": Meaning()})
    wanted = desk.say("I drank an espresso.")
    desk.memory.tidy()
    other = _Waiting(name="other")
    desk.options["embedder"] = other
    desk.reopen()
    desk.memory._parts.embedding.close()  # nothing happens in the background here
    found = desk.memory.recall("espresso", layers=ARCHIVE)
    assert found.degraded == ("embedder_changed",)
    assert [e.id for e in found.envelopes] == [wanted.id]
    assert desk.memory.recall("coffee", layers=ARCHIVE).envelopes == ()
    assert desk.memory.tidy()["embedded"] == 1
    found = desk.memory.recall("coffee", layers=ARCHIVE)
    assert found.degraded == () and [e.id for e in found.envelopes] == [wanted.id]
    desk.memory.close()


def test_a_rebuild_shows_its_way_to_the_last_vector(meant: Desk) -> None:
    """Words are the first half of the steps, vectors the second."""
    for number in range(3):
        meant.say(f"Espresso number {number}.", thread=f"t{number}")
    told: list[tuple[int, int]] = []
    assert meant.memory.rebuild_index(progress=lambda *step: told.append(step)) == 3
    assert told[-1] == (6, 6) and (3, 6) in told and told == sorted(told)
    assert len(meant.memory.recall("coffee", layers=ARCHIVE)) == 3


class _Waiting(Meaning):
    """Another one by name."""


def test_a_changed_embedder_is_made_good_in_the_background(durable_place: Place) -> None:
    """By reading alone."""
    desk = Desk(durable_place, options={"embedder": Meaning()})
    desk.say("I drank an espresso.")
    desk.memory.tidy()
    desk.options["embedder"] = Meaning(name="other")
    desk.reopen()
    until = time.monotonic() + 30
    while desk.memory.recall("coffee", layers=ARCHIVE).degraded and time.monotonic() < until:
        time.sleep(0.02)
    assert len(desk.memory.recall("coffee", layers=ARCHIVE)) == 1
    desk.memory.close()


def test_nobody_elses_is_found_by_its_meaning(meant: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's turns, another tenant's, another project's records; the searcher's own are."""
    meant.say("Bob drinks espresso.", user="bob", thread="bobs")
    elsewhere = {"tenant": meant.place.tenant + "-b", "user": "lin"}
    meant.memory.append("Lin of another tenant drinks espresso.", principal=elsewhere)
    there = {"project": "other"}
    event = meant.say("The espresso bar opens at nine.", thread="there", scope=there)
    meant.propose("The espresso bar opens at nine.", event, scope=there)
    meant.memory.tidy()
    meant.memory.tidy(principal=elsewhere)
    looked: list[tuple[str, ...]] = []
    similar = dense.similar

    def watched(
        index: Any, unit: Any, layer: Any, keys: Sequence[str], *rest: Any, **kw: Any
    ) -> Any:
        looked.append(tuple(keys))
        found = similar(index, unit, layer, keys, *rest, **kw)
        assert len(found) <= 1
        return found

    monkeypatch.setattr(dense, "similar", watched)
    mine = meant.memory.recall("coffee", layers=ARCHIVE)
    assert [e.content for e in mine] == ["The espresso bar opens at nine."]
    assert meant.memory.recall("coffee", scope=WEB).envelopes == ()
    theirs = meant.memory.recall("coffee", layers=ARCHIVE, principal=elsewhere)
    assert [e.content for e in theirs] == ["Lin of another tenant drinks espresso."]
    assert len(looked) == 3 and all("owner=bob" not in keys for keys in looked)
    [found] = meant.memory.recall("coffee", scope=there).envelopes
    assert found.content == "The espresso bar opens at nine."


def test_access_is_checked_after_the_search_too(
    meant: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that gave another's turn would still not show it; one's own it shows."""
    theirs = meant.say("Bob drinks espresso.", user="bob", thread="bobs")
    mine = meant.say("I drink espresso.", thread="mine")
    meant.memory.tidy()
    monkeypatch.setattr(dense, "similar", lambda *_, **__: {theirs.id: 1.0, mine.id: 0.9})
    assert [e.id for e in meant.memory.recall("coffee", layers=ARCHIVE)] == [mine.id]


@pytest.mark.parametrize("how", ["erase", "delete", "mute"])
def test_what_is_forgotten_is_not_found_by_its_meaning(meant: Desk, how: str) -> None:
    """At once, whatever the index still holds; before, it was."""
    event = meant.say("The office is an apartment.")
    made = meant.propose("The office is an apartment.", event)
    meant.memory.tidy()
    assert len(meant.memory.recall("a flat", scope=WEB)) == 1
    getattr(meant.memory, how)(record=made.record_id)
    assert meant.memory.recall("a flat", scope=WEB).envelopes == ()
    if how == "erase":
        meant.memory.erase(event=event.id)
        assert meant.memory.recall("a flat", layers=ARCHIVE).envelopes == ()


def test_no_model_is_asked_inside_a_transaction(place: Place) -> None:
    """The embedder writes to the same store while it is asked; nothing holds it up."""
    embedder = _Writing()
    desk = Desk(place, options={"embedder": embedder})
    desk.say("I drank an espresso.")
    desk.memory.tidy()
    embedder.desk = desk
    found = desk.memory.recall("coffee", layers=ARCHIVE)
    assert found.degraded == () and len(found) >= 1
    assert embedder.wrote == 1
    desk.memory.close()


class _Writing(Meaning):
    desk: Desk | None = None
    wrote = 0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        desk, self.desk = self.desk, None
        if desk is not None:
            desk.say("said while the embedder was asked", thread="meanwhile")
            self.wrote += 1
        return super().embed(texts, query=query)


def test_without_an_embedder_nothing_is_lacking(desk: Desk) -> None:
    """Words alone are no degraded service."""
    desk.say("I drank an espresso.")
    desk.memory.tidy()
    found = desk.memory.recall("espresso", layers=ARCHIVE)
    assert (found.degraded, len(found)) == ((), 1)
    assert desk.memory.doctor()["embedder"] is None
