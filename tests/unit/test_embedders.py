"""Embedders: what is checked, what an endpoint may answer, and the settings that name one."""

from __future__ import annotations

import base64
import http.server
import json
import struct
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from muniment.errors import InvalidInput, Unavailable
from muniment.providers.embedders import embedder_of
from muniment.providers.http_embedder import HttpEmbedder
from muniment.recall.embed import Guarded
from tests.support.embedders import BROKEN, Broken, Meaning


class Clock:
    """A monotonic clock one moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


# ---------------------------------------------------------------- the guard


def test_a_guarded_embedder_gives_unit_vectors() -> None:
    """The control of what is refused below."""
    guarded = Guarded(Meaning())
    rows = guarded.documents(["coffee", "a puppy in Paris"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert guarded.query("espresso") @ rows[0] > 0.99
    assert (guarded.name, guarded.down) == ("meaning/68", False)


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_no_vector_is_refused(how: str) -> None:
    """Whatever comes back, the caller sees one kind of error."""
    guarded = Guarded(Broken(how=how))
    with pytest.raises(Unavailable) as caught:
        guarded.documents(["coffee", "tea"])
    assert caught.value.code in ("embedder.failed", "embedder.bad_vectors")
    assert guarded.down
    guarded = Guarded(Broken(how=how))
    with pytest.raises(Unavailable):
        guarded.query("coffee")


def test_a_slow_embedder_is_not_waited_for() -> None:
    """The time is the guard's, whatever the embedder does."""
    slow = Broken(how="slow")
    guarded = Guarded(slow, within_s=0.05)
    try:
        with pytest.raises(Unavailable) as caught:
            guarded.query("coffee")
    finally:
        slow.released.set()
    assert caught.value.code == "embedder.slow"


def test_one_that_is_slow_to_begin_with_is_asked_as_soon_as_it_answers() -> None:
    """Its first answer is too late for whoever asked, and ends its rest; a later one does not."""
    slow = Broken(how="slow")
    guarded = Guarded(slow, within_s=0.05)
    with pytest.raises(Unavailable):
        guarded.query("coffee")
    assert guarded.down
    slow.released.set()
    _wait(lambda: not guarded.down)
    assert guarded.query("coffee").shape == (68,)
    slow.released.clear()
    with pytest.raises(Unavailable):
        guarded.query("coffee")
    slow.released.set()
    _wait(lambda: "muniment-embed-query" not in {t.name for t in threading.enumerate()})
    assert guarded.down


def _wait(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not done() and time.monotonic() < until:
        time.sleep(0.005)
    assert done()


def test_one_that_failed_rests_and_is_asked_again() -> None:
    """A broken embedder costs its time once, not with every recall."""
    clock, broken = Clock(), Broken(how="raises")
    guarded = Guarded(broken, rest_s=30, monotonic=clock)
    for _ in range(3):
        with pytest.raises(Unavailable):
            guarded.query("coffee")
    assert len(broken.asked) == 1
    broken.how = "mended"
    clock.now = 30
    assert not guarded.down and guarded.query("coffee").shape == (68,)


# ---------------------------------------------------------------- an endpoint


class Server:
    """An endpoint that answers with the given replies, one after the other."""

    def __init__(self, *replies: tuple[int, Any] | OSError) -> None:
        self.replies, self.asked = list(replies), list[tuple[str, Any, Mapping[str, str], float]]()

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], timeout_s: float
    ) -> tuple[int, bytes]:
        self.asked.append((url, json.loads(body), headers, timeout_s))
        reply = self.replies.pop(0) if self.replies else (200, _vectors(len(self.asked[-1][1])))
        if isinstance(reply, OSError):
            raise reply
        status, data = reply
        return status, data if isinstance(data, bytes) else json.dumps(data).encode()


def _vectors(count: int, *, at: int = 0) -> dict[str, Any]:
    return {"data": [{"index": i, "embedding": [i + at, 1.0]} for i in range(count)]}


def _endpoint(server: Server, clock: Clock | None = None, **options: Any) -> HttpEmbedder:
    clock = clock or Clock()
    return HttpEmbedder("m", 2, http=server, sleep=clock.sleep, monotonic=clock, key="k", **options)


def test_texts_go_in_batches_with_their_prefix() -> None:
    """Order is kept, also where the endpoint changes it; queries and documents differ."""
    turned = _vectors(2)
    turned["data"].reverse()
    server = Server((200, turned), (200, _vectors(1, at=7)))
    endpoint = _endpoint(server, batch=2, document_prefix="doc: ", query_prefix="ask: ")
    assert endpoint.embed(["a", "b", "c"]) == [[0, 1], [1, 1], [7, 1]]
    assert [body["input"] for _, body, _, _ in server.asked] == [["doc: a", "doc: b"], ["doc: c"]]
    server.replies = [(200, _vectors(1))]
    endpoint.embed(["a"], query=True)
    url, body, headers, _ = server.asked[-1]
    assert (url, body) == (
        "https://api.openai.com/v1/embeddings",
        {"model": "m", "input": ["ask: a"]},
    )
    assert headers["Authorization"] == "Bearer k"
    assert endpoint.name != _endpoint(server).name


def test_vectors_may_come_in_base64() -> None:
    """As OpenAI's own client asks for them."""
    packed = base64.b64encode(struct.pack("<2f", 0.5, -2)).decode()
    server = Server((200, {"data": [{"index": 0, "embedding": packed}]}))
    assert _endpoint(server).embed(["a"]) == [[0.5, -2.0]]


@pytest.mark.parametrize("first", [(429, {}), (503, {}), TimeoutError(), ConnectionError()])
def test_what_may_pass_is_tried_again(first: Any) -> None:
    """Boundedly: three times, with pauses."""
    server = Server(first, (200, _vectors(1)))
    assert _endpoint(server).embed(["a"]) == [[0, 1]]
    server = Server(first, first, first, (200, _vectors(1)))
    with pytest.raises(Unavailable) as caught:
        _endpoint(server).embed(["a"])
    assert (caught.value.code, len(server.asked)) == ("embedder.unreachable", 3)


def test_a_refusal_is_not_tried_again() -> None:
    """And the key is not in the message."""
    server = Server((401, b"key k is unknown"))
    with pytest.raises(Unavailable) as caught:
        _endpoint(server).embed(["a"])
    assert (caught.value.code, len(server.asked)) == ("embedder.refused", 1)
    assert "key k" not in str(caught.value)


def test_the_time_is_for_all_tries_together() -> None:
    """What is left of it is the time limit of the next try."""
    clock = Clock()
    server = Server((503, {}), (503, {}), (200, _vectors(1)))
    with pytest.raises(Unavailable):
        _endpoint(server, clock, timeout_s=0.3).embed(["a"])
    assert [t for *_, t in server.asked] == [0.3, pytest.approx(0.05)]


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>",
        {},
        {"data": []},
        {"data": [{"index": 1, "embedding": [1, 2]}]},
        {"data": [{"index": 0, "embedding": ["x", 2]}]},
        {"data": [{"index": 0, "embedding": "AAA"}]},
        {"data": [{"index": 0}]},
        [1],
    ],
)
def test_a_reply_without_vectors_is_refused(reply: Any) -> None:
    """Whatever else it holds."""
    with pytest.raises(Unavailable) as caught:
        _endpoint(Server((200, reply))).embed(["a"])
    assert caught.value.code == "embedder.bad_vectors"


class _Endpoint(http.server.BaseHTTPRequestHandler):
    """Vectors at one path, a redirection at another."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        good = self.path == "/v1/embeddings"
        body = json.dumps(_vectors(len(asked["input"]))).encode() if good else b""
        self.send_response(200 if good else 307)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "/v1/embeddings")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def test_a_real_endpoint_is_asked_and_a_redirection_is_not_followed() -> None:
    """With the client that is used where none is given; whoever is not there is unreachable."""
    server = http.server.HTTPServer(("127.0.0.1", 0), _Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"http://127.0.0.1:{server.server_port}"
    try:
        good = HttpEmbedder("m", 2, url=f"{place}/v1", key="secret")
        assert good.embed(["a", "b"]) == [[0, 1], [1, 1]]
        assert "secret" not in repr(good)
        with pytest.raises(Unavailable) as caught:
            HttpEmbedder("m", 2, url=f"{place}/v2").embed(["a"])
        assert caught.value.code == "embedder.refused"
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(Unavailable) as caught:
        HttpEmbedder("m", 2, url=f"{place}/v1", sleep=lambda _: None).embed(["a"])
    assert caught.value.code == "embedder.unreachable"


# ---------------------------------------------------------------- settings


def test_settings_name_an_embedder() -> None:
    """Each kind, with what it is asked."""
    assert embedder_of("none") is None
    openai = embedder_of("openai:text-embedding-3-small@1536", key="k")
    assert isinstance(openai, HttpEmbedder)
    assert (openai.dimension, openai.url) == (1536, "https://api.openai.com/v1")
    ollama = embedder_of("ollama:bge-m3:latest@1024")
    assert isinstance(ollama, HttpEmbedder)
    assert (ollama.model, ollama.url) == ("bge-m3:latest", "http://localhost:11434/v1")
    local = embedder_of("openai:m@8", url="https://models.test/v1")
    assert isinstance(local, HttpEmbedder) and local.url == "https://models.test/v1"
    assert embedder_of("e5") is not None


@pytest.mark.parametrize(
    "setting", ["", "word2vec", "openai:", "openai:m", "openai:m@0", "openai:m@x", "fastembed:"]
)
def test_other_settings_are_refused(setting: str) -> None:
    """With what one can write instead."""
    with pytest.raises(InvalidInput) as caught:
        embedder_of(setting)
    assert caught.value.code == "embedder.setting"
    with pytest.raises(InvalidInput):
        embedder_of("openai:m@8", url="file:///etc/passwd")


_WITHOUT_NUMPY = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "numpy":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "numpy" else find(name, *a)
import muniment
from muniment.errors import InvalidInput

with muniment.open("sqlite://", embedder="auto") as memory:
    memory.append("I drank an espresso.", thread="t")
    memory.tidy()
    found = memory.recall("espresso", layers=("archive",))
    print(len(found), found.degraded, memory.doctor()["embedder"])
try:
    muniment.open("sqlite://", embedder="openai:m@8")
except InvalidInput as error:
    print(error)
"""


def test_without_numpy_everything_goes_by_words() -> None:
    """Nothing needs it, and naming an embedder says what to install."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_NUMPY], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    words, refused = done.stdout.splitlines()
    assert words == "1 () None"
    assert "pip install 'muniment[dense]'" in refused


class _Model:
    """What both libraries give, as far as it is used."""

    prompts: Mapping[str, str] = {"query": "q: ", "document": ""}

    def __init__(self, name: str) -> None:
        self.asked: list[str] = []

    def query_embed(self, texts: list[str]) -> Any:
        self.asked.append("query")
        return (np.ones(3) for _ in texts)

    def passage_embed(self, texts: list[str]) -> Any:
        self.asked.append("passage")
        return (np.ones(3) for _ in texts)

    def encode(self, texts: list[str], *, prompt_name: str | None, convert_to_numpy: bool) -> Any:
        self.asked.append(str(prompt_name))
        return np.ones((len(texts), 3))


@pytest.mark.parametrize(
    ("setting", "package", "model", "asked"),
    [
        ("fastembed:m", "fastembed", "TextEmbedding", ["passage", "query"]),
        (
            "sentence-transformers:m",
            "sentence_transformers",
            "SentenceTransformer",
            ["None", "query"],
        ),
    ],
)
def test_libraries_are_asked_for_documents_and_queries(
    setting: str,
    package: str,
    model: str,
    asked: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By their own words for it; without the package the error says what to install."""
    monkeypatch.setitem(sys.modules, package, None)
    missing = embedder_of(setting)
    assert missing is not None
    with pytest.raises(Unavailable) as caught:
        missing.embed(["a"])
    assert caught.value.code == "embedder.missing"
    library: Any = types.ModuleType(package)
    made: list[_Model] = []
    setattr(library, model, lambda name: made.append(_Model(name)) or made[-1])
    monkeypatch.setitem(sys.modules, package, library)
    found = embedder_of(setting)
    assert found is not None
    guarded = Guarded(found)
    assert guarded.documents(["a", "b"]).shape == (2, 3)
    assert guarded.query("a").shape == (3,)
    assert [a for a in made[0].asked if a][-2:] == asked
