"""Made-up threads for tests of compaction: long talks with nested and parallel tool calls."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from muniment.events.event import Event, EventKind
from muniment.ids import EventId, ThreadId
from muniment.scope import Channel, Scope
from muniment.threads.brief import Brief, Item
from muniment.threads.compact import View

START = datetime(2026, 9, 1, 12, tzinfo=UTC)
THREAD = ThreadId("thr_test")

WORDS = {
    "en": (
        "Let us write the next section of the article about state.",
        "Please check the links again before you go on.",
        "I looked at the draft; the second paragraph repeats the first.",
        "The build needs the environment of the preview server.",
        "Use the shorter title, and keep the figure where it is.",
    ),
    "zh": (
        "接着写这篇文章里关于状态的下一节。",
        "继续之前，请再检查一遍链接。",
        "我看了草稿，第二段和第一段重复了。",
        "构建需要预览服务器的环境变量。",
        "标题用短的那个，图的位置不动。",
    ),
}


def event(seq: int, kind: str, text: str | None, **more: Any) -> Event:
    """An event of the test's thread, said by the application's user where a person speaks."""
    at = START + timedelta(minutes=seq)
    fields: dict[str, Any] = {"channel": Channel.RUNTIME, "scope": Scope(project="blog"), **more}
    return Event(
        id=EventId(f"evt_{seq:04d}"),
        tenant="local",
        thread=THREAD,
        seq=seq,
        kind=EventKind(kind),
        said_at=at,
        recorded_at=at,
        text=text,
        **fields,
    )


def build_log(lines: int = 40, *, failed: bool = True) -> str:
    """What a build prints: long, with one line that matters."""
    out = [f"[{n}/{lines}] compiling module_{n}.ts" for n in range(1, lines + 1)]
    if failed:
        out[lines // 2] = "src/pages/06.astro:12:3 error: cannot find name 'frontmatter'"
    return "\n".join((*out, f"exit code {int(failed)}"))


@dataclass
class Talk:
    """Events, and which call (by number) has which result: known from making them, not read
    back by the rule under test."""

    language: str = "en"
    events: list[Event] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)

    def add(self, kind: str, text: str | None, **more: Any) -> int:
        seq = len(self.events) + 1
        self.events.append(event(seq, kind, text, **more))
        return seq

    def said(self, rng: random.Random, by: str) -> None:
        self.add(by, rng.choice(WORDS[self.language]) + f" ({len(self.events)})")

    def calls(self, rng: random.Random, depth: int) -> None:
        """One call, or two in parallel, with things nested inside."""
        named = rng.random() < 0.7
        opened = [self._call(rng, named) for _ in range(rng.choice((1, 1, 1, 2)))]
        for _ in range(rng.randrange(0, 3)):
            if depth and rng.random() < 0.6:
                self.calls(rng, depth - 1)
            else:
                self.said(rng, rng.choice(("assistant", "assistant", "user")))
        if not named:
            opened.reverse()  # without ids the latest call is answered first
        elif rng.random() < 0.5:
            rng.shuffle(opened)
        for call, more in opened:
            text = build_log(rng.randrange(10, 60)) if rng.random() < 0.4 else "ok"
            self.pairs.append((call, self.add("tool_result", text, **more)))

    def _call(self, rng: random.Random, named: bool) -> tuple[int, dict[str, Any]]:
        key = rng.choice(("call_id", "tool_call_id", "tool_use_id"))
        more: dict[str, Any] = {"name": rng.choice(("run_build", "delegate", "fetch"))}
        if named:
            more["metadata"] = {key: f"call-{len(self.events)}"}
        return self.add("tool_call", '{"args": []}', **more), more

    def until(self, seq: int) -> Talk:
        """The talk as it was after that many events."""
        pairs = [p for p in self.pairs if p[1] <= seq]
        return Talk(self.language, self.events[:seq], pairs)


def talk(length: int, *, seed: int = 1, language: str = "en", depth: int = 3) -> Talk:
    """A talk of about that many events, cut to exactly that many."""
    rng, made = random.Random(seed), Talk(language)
    while len(made.events) < length:
        made.said(rng, "user")
        if rng.random() < 0.6:
            made.calls(rng, depth)
        made.said(rng, "assistant")
    return made.until(length)


def brief(language: str = "en", decided: Iterable[str] = ()) -> Brief:
    """A state with a goal, a constraint, three open items, an approval and an unknown call."""
    zh = language == "zh"
    items = {
        "goal": ["写完第六篇" if zh else "Finish the sixth article"],
        "constraints": ["不要改数据库 schema" if zh else "Do not touch the database schema"],
        "open": ["外链", "封面图", "标题"] if zh else ["external links", "the cover", "the title"],
        "next": ["先修构建" if zh else "Mend the build first"],
    }
    sections = {name: tuple(Item(text) for text in texts) for name, texts in items.items()}
    sections["approvals"] = (Item("deploy", (), {"status": "valid", "until": "2026-09-30"}),)
    sections["unknown_calls"] = (Item("push-1", (), {"name": "git_push"}),)
    evidence = tuple(decided)
    text = "标题用短的那个" if zh else "Use the shorter title"
    sections["decisions"] = (Item(text, evidence),) if evidence else ()
    return Brief(7, sections)


def faults(view: View, made: Talk, stated: Brief, language: str) -> list[str]:
    """What is wrong with a view of a talk; the harness of the tests, without the code's own
    idea of a pair."""
    shown = [p.seq for p in view.parts if p.kind in ("event", "log")]
    ids = [i for p in view.parts for i in p.events]
    found = [
        f"{call} without {result}"
        for call, result in made.pairs
        if (call in shown) != (result in shown)
    ]
    if ids != [e.id for e in made.events]:
        found.append("an event is missing, twice or out of order")
    if view.tokens > view.budget_tokens:
        found.append(f"{view.tokens} tokens of {view.budget_tokens}")
    found += [f"lacks {line}" for line in stated.always(language) if line not in view.text]
    for summary in view.summaries:
        seqs = [int(i.removeprefix("evt_")) for i in summary.events]
        if seqs != list(range(summary.first_seq, summary.last_seq + 1)):
            found.append("a summary's range is not its events")
    return found


def verbatim(view: View, events: Sequence[Event]) -> set[int]:
    """Numbers of the events whose words the view holds unchanged."""
    words = {e.seq: e.text for e in events}
    return {
        p.seq
        for p in view.parts
        if p.kind == "event" and p.seq is not None and p.text == words[p.seq]
    }
