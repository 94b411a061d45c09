"""Any endpoint that speaks OpenAI's embeddings API: OpenAI, Ollama, vLLM, TEI, LM Studio, …

The HTTP client is injected, so that tests need no network and an application can bring its own.
"""

from __future__ import annotations

import base64
import json
import struct
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from muniment.errors import Unavailable

OPENAI, OLLAMA = "https://api.openai.com/v1", "http://localhost:11434/v1"
TRIES = 3
FIRST_PAUSE_S = 0.25
CHARS_MAX = 8_000
REPLY_BYTES_MAX = 64 * 1024 * 1024
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})


class Http(Protocol):
    """What is asked of an HTTP client."""

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], timeout_s: float
    ) -> tuple[int, bytes]:
        """The status and body of the reply; `OSError` where there is none in time."""
        ...


class UrlHttp:
    """The standard library's client.  It follows no redirection: a key goes to one host."""

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], timeout_s: float
    ) -> tuple[int, bytes]:
        """See `Http`."""
        request = urllib.request.Request(url, data=body, headers=dict(headers), method="POST")
        opener = urllib.request.build_opener(_NoRedirect)
        try:
            with opener.open(request, timeout=timeout_s) as reply:
                return reply.status, reply.read(REPLY_BYTES_MAX)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read(4096)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class HttpEmbedder:
    """Batches, bounded retries, a limit of time for all of them together.

    Raises `Unavailable`: ``embedder.unreachable`` (no reply in time), ``embedder.refused`` (a
    reply that a retry does not change), ``embedder.bad_vectors`` (a reply without vectors).
    """

    model: str
    dimension: int
    url: str = OPENAI
    key: str | None = field(default=None, repr=False)
    http: Http = field(default_factory=UrlHttp)
    batch: int = 64
    timeout_s: float = 30.0
    query_prefix: str = ""
    document_prefix: str = ""
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic

    @property
    def name(self) -> str:
        """The model with its prefixes: whatever changes the vectors."""
        prefixes = f"|{self.query_prefix}|{self.document_prefix}" if self._prefixed else ""
        return f"http:{self.model}{prefixes}"

    @property
    def _prefixed(self) -> bool:
        return bool(self.query_prefix or self.document_prefix)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """See `muniment.recall.embed.Embedder`."""
        prefix = self.query_prefix if query else self.document_prefix
        until = self.monotonic() + self.timeout_s
        out: list[list[float]] = []
        for start in range(0, len(texts), self.batch):
            part = [prefix + text[:CHARS_MAX] for text in texts[start : start + self.batch]]
            out += _vectors(self._reply(part, until), len(part))
        return out

    def _reply(self, texts: Sequence[str], until: float) -> bytes:
        body = json.dumps({"model": self.model, "input": texts}).encode()
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        pause, why = FIRST_PAUSE_S, "no reply"
        for tried in range(TRIES):
            left = until - self.monotonic()
            if left <= 0:
                break
            try:
                status, reply = self.http.post(
                    f"{self.url.rstrip('/')}/embeddings", body, headers, left
                )
            except OSError as error:
                why = type(error).__name__
            else:
                if status == 200:
                    return reply
                why = f"status {status}"
                if status not in _AGAIN:
                    raise Unavailable("embedder.refused", f"the embedder refused: {why}")
            if tried + 1 < TRIES:
                self.sleep(min(pause, max(until - self.monotonic(), 0.0)))
                pause *= 2
        raise Unavailable("embedder.unreachable", f"the embedder did not answer: {why}")


def _vectors(reply: bytes, count: int) -> list[list[float]]:
    try:
        rows = sorted(json.loads(reply)["data"], key=lambda row: row["index"])
        found = [_numbers(row["embedding"]) for row in rows]
        if [row["index"] for row in rows] == list(range(count)):
            return found
    except (ValueError, TypeError, KeyError, struct.error):
        pass
    raise Unavailable("embedder.bad_vectors", f"the reply does not hold {count} vectors")


def _numbers(given: str | list[float]) -> list[float]:
    """A list, or float32 in base64."""
    if isinstance(given, str):
        raw = base64.b64decode(given, validate=True)
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))
    return [float(number) for number in given]
