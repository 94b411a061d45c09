"""The screen for secrets: what an ordinary text costs, and the worst of 64 KB made to be slow."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Iterator

from bench.figures import Check, Row, figure, require
from bench.measure import Timings, quiet
from bench.places import Place
from bench.texts import Writer
from muniment.secrets import scan

SIZE = 65_536
# Each begins what a rule looks for, over and over, and never ends it.
UNITS = (
    *("a", "A", "1", "-", "1 2 3 4 ", "4111 ", "DE89 3704 0044 ", "abcdef0123456789-"),
    *(
        "password:",
        "password for a b ",
        "密码是",
        "密码(a",
        "key=key=secret=",
        "token=aaaa ",
        "pin ",
    ),
    *(
        "a://b:",
        "a@a.",
        "sk-",
        "sk-a",
        "-eyJaaaaaaaaaa",
        "a1Q~",
        "1/1234567890123456/",
        "cookie: a=b; ",
    ),
    *(
        "-----BEGIN " + "PRIVATE KEY-----",
        "Private-Lines: 1 ",
        "abandon ability ",
        "人 不 在 ",
        "[secret:",
    ),
)


def adversarial() -> dict[str, str]:
    """The texts by what they are made of."""
    texts = {unit: (unit * (SIZE // len(unit) + 1))[:SIZE] for unit in UNITS}
    alphabet = string.ascii_letters + string.digits + "+/"
    texts["random base64"] = "".join(random.Random(1).choices(alphabet, k=SIZE))
    said = "hello password: world " * (SIZE // 20)
    texts["base64 of talk"] = base64.b64encode(said.encode()).decode()[:SIZE]
    one = base64.b64encode(b"hello, this is some talk").decode() + " "
    texts["many pieces of base64"] = (one * (SIZE // len(one) + 1))[:SIZE]
    return texts


@figure(
    "screen",
    "the screen for secrets on ordinary messages, and on 64 KB made to be slow",
    full={"messages": 5000, "rounds": 3},
    quick={"messages": 500, "rounds": 1},
    stores=("sqlite",),
)
def screen(_place: Place, messages: int, rounds: int) -> Iterator[Row]:
    """Both languages; of a slow text the least time of its rounds counts, of those the worst."""
    require(bool(scan("password: " + "Tr0ub4dor&3")), "the screen finds nothing")
    timings, writer = Timings(), Writer()
    with quiet():
        for statement in writer.statements(messages):
            with timings.one():
                scan(statement.text)
    p50 = Check("p50", timings.wall_ms(0.5) * 1e3, 100.0, "µs")
    yield Row.of(f"{messages:,} messages", timings, [p50])
    least = {name: _least_ms(text, rounds) for name, text in adversarial().items()}
    worst = max(least, key=lambda name: least[name])
    checks = (Check("worst", least[worst], 50.0, "ms"),)
    yield Row(f"{len(least)} texts of 64 KB", checks, notes=f"the worst is of {worst!r}")


def _least_ms(text: str, rounds: int) -> float:
    timings = Timings()
    for _ in range(rounds):
        with timings.one():
            scan(text)
    return min(timings.wall) * 1e3
