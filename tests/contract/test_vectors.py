"""Vectors beside the words: filled after the write, gone with what they were made of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from muniment import Memory
from muniment.recall.index import Embedded, Layer
from tests.contract.kit import WEB, Desk, Place
from tests.support.embedders import Broken, Meaning

MARK = "puppy"


@pytest.fixture
def meant(place: Place) -> Iterator[Desk]:
    """An open memory on each of the stores, with an embedder."""
    desk = Desk(place, options={"embedder": Meaning()})
    yield desk
    desk.memory.close()


@pytest.fixture
def durable(durable_place: Place) -> Iterator[Desk]:
    """The same on the stores that outlive it."""
    desk = Desk(durable_place, options={"embedder": Meaning()})
    yield desk
    desk.memory.close()


def vectors(memory: Memory, tenant: str) -> list[tuple[Any, ...]]:
    """Every vector of a tenant, as rows of document, embedder, bytes."""
    index: Any = memory._parts.index
    schema = "muniment_index." if index._engine.dialect.name == "postgresql" else ""
    with index._reading(tenant) as conn:
        rows = conn.exec_driver_sql(
            f"SELECT d.id, v.embedder, v.vector FROM {schema}vectors v "
            f"LEFT JOIN {schema}docs d ON d.tenant_id = v.tenant_id AND d.doc = v.doc "
            f"WHERE v.tenant_id = '{tenant}' ORDER BY d.id"
        ).all()
    return [(r[0], r[1], bytes(r[2])) for r in rows]


def _held(desk: Desk) -> list[tuple[Any, ...]]:
    return vectors(desk.memory, desk.place.tenant)


def test_turns_and_records_get_vectors(meant: Desk) -> None:
    """Of the embedder by name and dimension, once each; doing it again changes nothing."""
    event = meant.say("I drank an espresso.")
    record = meant.remember("This project uses npm.").record_id
    assert _held(meant) == []
    meant.memory.tidy()
    held = _held(meant)
    assert {event.id, record} <= {i for i, _, _ in held}
    assert {(e, len(v)) for _, e, v in held} == {("meaning/68", 136)}
    assert meant.memory.tidy()["embedded"] == 0
    found = meant.memory.doctor()
    assert (found["vectors_of"], found["vectors_missing"]) == (["meaning/68"], False)


def test_no_write_waits_for_an_embedder(place: Place) -> None:
    """One that hangs holds up neither the writes nor what is indexed after them."""
    slow = Broken(how="slow")
    desk = Desk(place, options={"embedder": slow})
    try:
        began = time.monotonic()
        for number in range(70):  # enough that the index is brought up to date meanwhile
            desk.say(f"number {number}")
        assert time.monotonic() - began < 20
        assert desk.memory._parts.lag(desk.who()) < 70
    finally:
        slow.released.set()
        desk.memory.close()


def test_the_index_is_filled_with_vectors_in_the_background(meant: Desk) -> None:
    """Without anybody asking for it."""
    for number in range(70):
        meant.say(f"number {number}, with coffee")
    until = time.monotonic() + 30
    while len(_held(meant)) < 64 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(_held(meant)) >= 64


def test_what_has_not_changed_keeps_its_vector(meant: Desk) -> None:
    """A record is indexed anew whenever it is touched; its words are not embedded anew."""
    record = meant.remember("This project uses npm.").record_id
    meant.memory.tidy()
    before, asked = _held(meant), len(_embedder(meant).asked)
    meant.memory.mute(record)
    meant.memory.unmute(record)
    meant.memory.tidy()
    assert _held(meant) == before
    assert len(_embedder(meant).asked) == asked


def test_a_revised_record_gets_another_vector(meant: Desk) -> None:
    """The control: other words, another vector."""
    record = meant.remember("I prefer espresso over tea.").record_id
    assert record is not None
    meant.memory.tidy()
    before = dict((i, v) for i, _, v in _held(meant))
    meant.memory.revise(record, if_version=1, content="I prefer tea over a puppy.")
    meant.memory.tidy()
    after = dict((i, v) for i, _, v in _held(meant))
    assert before[record] != after[record]


def test_a_changed_embedder_embeds_all_anew(durable: Desk) -> None:
    """Nothing of the old one is left, and nothing of it was ever compared."""
    durable.say("I drank an espresso.")
    durable.memory.tidy()
    durable.options["embedder"] = Meaning(name="other")
    durable.reopen()
    found = durable.memory.doctor()
    assert (found["vectors_of"], found["vectors_missing"]) == (["meaning/68"], True)
    durable.memory.tidy()
    assert {e for _, e, _ in _held(durable)} == {"other/68"}
    assert durable.memory.doctor()["vectors_missing"] is False


def test_rebuilding_the_index_rebuilds_the_vectors(meant: Desk) -> None:
    """From the truth alone."""
    meant.say("I drank an espresso.")
    meant.memory.tidy()
    before = _held(meant)
    index: Any = meant.memory._parts.index
    index.clear(meant.place.tenant)
    assert _held(meant) == []
    meant.memory.rebuild_index()
    assert _held(meant) == before


@pytest.mark.parametrize("target", ["record", "event"])
def test_erasing_takes_the_vectors(meant: Desk, target: str) -> None:
    """In the tables and in what the process keeps of them."""
    event = meant.say("My puppy sleeps in the flat.")
    made = meant.propose("The user has a puppy.", event, kind="fact")
    kept = meant.say("I drank an espresso.")
    assert made.record_id is not None
    meant.memory.tidy()
    assert {event.id, made.record_id} <= {i for i, _, _ in _held(meant)}
    index: Any = meant.memory._parts.index
    meant.memory.recall("dog", layers=("archive",))
    gone = {made.record_id} if target == "record" else {event.id, made.record_id}
    if target == "record":
        meant.memory.erase(record=made.record_id)
    else:
        meant.memory.erase(event=event.id)
    ids = {i for i, _, _ in _held(meant)}
    assert kept.id in ids and not ids & gone and None not in ids
    assert index._cache._held == {}


def test_erased_while_being_embedded_gets_no_vector(place: Place) -> None:
    """The embedder has the words in hand while they are erased: nothing is kept of them."""
    embedder = _Meanwhile()
    desk = Desk(place, options={"embedder": embedder})
    event = desk.say("My puppy sleeps.")
    kept = desk.say("I drank an espresso.")
    embedder.then = lambda: desk.memory.erase(event=event.id)
    desk.memory._parts.catch_up(place.tenant)
    desk.memory.tidy()
    assert embedder.done
    assert [i for i, _, _ in _held(desk)] == [kept.id]
    desk.memory.close()


class _Meanwhile(Meaning):
    """Something happens while it works, once."""

    then: Callable[[], object] | None = None
    done = False

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        then, self.then = self.then, None
        if then is not None:
            worker = threading.Thread(target=then)
            worker.start()
            worker.join(30)
            self.done = not worker.is_alive()
        return super().embed(texts, query=query)


def test_a_vector_of_other_words_is_not_kept(meant: Desk) -> None:
    """A stamp that is no longer the document's is no claim to it; its own is."""
    meant.say("I drank an espresso.")
    meant.memory._parts.catch_up(meant.place.tenant)
    meant.memory._parts.embedding.close()
    index, tenant = meant.memory._parts.index, meant.place.tenant
    [waiting] = index.unembedded(tenant, "by hand/1", 5)
    assert waiting.layer is Layer.TURN
    stale = Embedded(waiting.number, b"\0" * 16, b"\0\x3c")
    assert index.embed(tenant, "by hand/1", [stale]) == 0
    assert index.embed(tenant, "by hand/1", [stale._replace(stamp=waiting.stamp)]) == 1
    assert index.unembedded(tenant, "by hand/1", 5) == []


def test_nobody_elses_vectors_are_seen(meant: Desk) -> None:
    """A tenant's index knows the tenant's alone."""
    meant.say("I drank an espresso.")
    meant.memory.tidy()
    other = meant.place.tenant + "-b"
    assert meant.memory._parts.index.embedders(other) == frozenset()
    assert vectors(meant.memory, other) == []
    assert meant.memory._parts.index.embedders(meant.place.tenant) == {"meaning/68"}


def _embedder(desk: Desk) -> Meaning:
    found: Meaning = desk.options["embedder"]
    return found


def test_scopes_are_searched_apart(meant: Desk) -> None:
    """Vectors lie by partition, as words do."""
    meant.say("I drank an espresso.", scope=WEB)
    meant.say("I drank an espresso.", user="bob", thread="bobs", scope=WEB)
    meant.memory.tidy()
    assert len(_held(meant)) == 2


def test_erasing_leaves_no_byte_of_a_vector(file_place: Place) -> None:
    """In the files themselves; before, it was there, and another's still is."""
    desk = Desk(file_place, options={"embedder": Meaning()})
    event = desk.say("My puppy sleeps in the flat.")
    kept = desk.say("I drank an espresso.")
    desk.memory.tidy()
    held = {i: v for i, _, v in _held(desk)}

    def in_files(vector: bytes) -> bool:
        return any(vector in f.read_bytes() for f in file_place.folder.iterdir() if f.is_file())

    assert in_files(held[event.id]) and in_files(held[kept.id])
    assert desk.memory.erase(event=event.id).complete
    assert not in_files(held[event.id])
    assert in_files(held[kept.id])
    desk.memory.close()
    assert not in_files(held[event.id])
