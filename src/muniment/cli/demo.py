"""demo: the worked case, told on a store that stays for you to look at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

import muniment
from muniment.cli import cards, recalling
from muniment.cli.session import Given, Session, session_of, shown_url
from muniment.cli.story import BLOG, STORY, TASK, TENANT, USER, Step
from muniment.errors import Conflict, InvalidInput, Unavailable
from muniment.memory import Memory
from muniment.scope import Principal

DEFAULT_STORE = Path("demo-store/memory.db")
_WORK = ("checkpoint", "begin", "crash", "resume")
_MARK = ".demo"  # a file beside a store that the demo made
_PARTS = ("", "-wal", "-shm", ".index", ".index-wal", ".index-shm", ".key")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(demo)


def demo(
    ctx: typer.Context,
    store: Annotated[
        Path | None, typer.Option(help=f"The file of the store; {DEFAULT_STORE} by default.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget an earlier demo first.")] = False,
) -> None:
    """Tell the story of a blog agent: what was said, what was decided and why, what comes back.

    With --url it is told on that store, in the tenant "demo", instead of a file of its own.
    """
    session = session_of(ctx)
    if session.given.url is not None and (store is not None or fresh):
        raise InvalidInput("demo.store", "--store and --fresh are for a file; leave --url out")
    path = None if session.given.url is not None else store or DEFAULT_STORE
    again = path is not None and _prepare(path, fresh)
    url = session.given.url or f"sqlite:///{path}"
    told = Session(
        Given(
            url=url,
            tenant=TENANT,
            user=USER,
            key_file=session.given.key_file,
            language=session.given.language,
        )
    )

    with contextlib.ExitStack() as opened:

        def reopen() -> Memory:
            key_file = session.given.key_file
            return opened.enter_context(muniment.open(url, principal=_who(USER), key_file=key_file))

        teller = Teller(reopen(), told, reopen)
        if session.as_json:
            session.screen.data(
                {"url": shown_url(url), "steps": [teller.seen(step) for step in STORY]}
            )
            return
        teller.opening(again)
        for step in STORY:
            teller.tell(step)
    teller.ending()


def _prepare(path: Path, fresh: bool) -> bool:
    """Make room for the store; whether it tells the story again on one that is there.

    Only a store that an earlier demo left is used again or started anew.
    """
    if path.is_dir():
        raise InvalidInput("demo.store", f"{path} is a directory; name a file in it")
    mark = path.with_name(path.name + _MARK)
    if path.exists() and not mark.exists():
        raise Conflict(
            "demo.not_a_demo",
            f"{path} was not made by the demo; name another, or use --url to tell it there",
        )
    try:
        if path.exists() and fresh:
            for part in _PARTS:
                path.with_name(path.name + part).unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as error:
        raise Unavailable("demo.store", f"{path}: {error.strerror}") from None
    return path.exists()


def _who(user: str) -> Principal:
    return Principal(tenant=TENANT, user=user)


class Teller:
    """Runs the steps and shows what each one gave."""

    def __init__(self, memory: Memory, session: Session, reopen: Callable[[], Memory]) -> None:
        self.memory, self.session, self._reopen = memory, session, reopen
        self.screen, self.zh = session.screen, session.language == "zh"
        self._now = datetime.now(UTC)
        self._telling = f"{self._now:%Y%m%dT%H%M%S%f}"

    def run(self, step: Step) -> Any:
        """The verb of a step."""
        scope = {"project": step.project, "task": TASK}
        if step.verb in _WORK:
            return self._work(step, scope)
        if step.verb == "say":
            at = self._now - timedelta(days=step.days_ago) if step.days_ago else None
            return self.memory.remember(
                step.text,
                by=step.by,
                at=at,
                thread=f"{step.thread}-{self._telling}",
                scope=scope,
                principal=_who(step.user),
                **step.more,
            )
        verb = getattr(self.memory, step.verb)
        return verb(step.text, scope=scope, principal=_who(step.user), **step.more)

    def _work(self, step: Step, scope: dict[str, str]) -> Any:
        """A step of the task itself: state, a call with effects, a crash, going on."""
        thread, who = f"{step.thread}-{self._telling}", _who(step.user)
        threads = self.memory.threads
        if step.verb == "checkpoint":
            return threads.checkpoint(thread, step.more, scope=scope, principal=who)
        if step.verb == "begin":
            given = {**step.more, "worker": "demo"}
            return threads.begin(thread, step.text, **given, scope=scope, principal=who)
        if step.verb == "resume":
            return threads.resume(thread, worker="demo", scope=scope, principal=who)
        self.memory = self._reopen()  # what was open stays as it was, as after a kill
        return None

    def seen(self, step: Step) -> dict[str, Any]:
        """A step as data."""
        if step.verb == "chapter":
            return {"chapter": step.note[self.zh]}
        return {
            "verb": step.verb,
            "user": step.user,
            "project": step.project,
            "text": step.text,
            "note": step.note[self.zh],
            "seen": self.run(step),
        }

    def tell(self, step: Step) -> None:
        """A step for people."""
        if step.verb == "chapter":
            self.screen.heading(f"== {step.note[self.zh]} ==")
            return
        self.screen.line()
        self.screen.line(step.note[self.zh], style="dim")
        speaker = step.user if step.by == "user" else step.by
        arrow = "" if step.verb == "say" else f" [{step.verb}, {step.project}]"
        if step.text:
            self.screen.line(f"{speaker}{arrow}: {step.text}", style="bold")
        seen = self.run(step)
        if step.verb in _WORK:
            self._worked(step, seen)
        elif step.verb == "say":
            self._decisions(seen)
        elif step.verb == "recall":
            self._recalled(seen)
        else:
            recalling.block(self.screen, seen)
            recalling.account(self.screen, seen)

    def _worked(self, step: Step, seen: Any) -> None:
        if step.verb == "checkpoint":
            told = self._("committed as version", "已提交为版本")
            self.screen.line(f"{told} {seen.version} ({seen.size} bytes)", indent=2)
        elif step.verb == "begin":
            told = self._("yours to run", "由你执行")
            self.screen.line(f"{seen.name} {seen.key}: {seen.status.value}, {told}", indent=2)
        elif step.verb == "resume":
            for line in str(seen).splitlines():
                self.screen.line(line, indent=2)

    def _decisions(self, made: Any) -> None:
        if not made:
            self.screen.line(self._("nothing to decide", "没有需要决定的内容"), indent=2)
        for one in made:
            cards.decision(self.screen, one, self.session.language, indent=2)

    def _recalled(self, found: Any) -> None:
        if not len(found):
            self.screen.line(self._("(nothing comes back)", "（没有召回任何内容）"), indent=2)
        for e in found:
            note = self._("  <- overridden here", "  ← 在此被覆盖") if e.overridden_by else ""
            said = self._("said", "说于")
            self.screen.line(f"- [{e.kind}] {e.content}{note}", indent=2)
            self.screen.line(f"{said} {cards.when(e.said_at)}; {e.id}", style="dim", indent=4)

    def _(self, en: str, zh: str) -> str:
        return zh if self.zh else en

    def opening(self, again: bool) -> None:
        """What is about to happen, and where."""
        self.screen.line(
            self._("A blog agent and its memory", "一个博客代理和它的记忆"), style="bold"
        )
        self.screen.line(f"{self._('Store', '存储')}: {shown_url(self.session.url)}")
        if again:
            self.screen.line(
                self._(
                    "It is there from an earlier telling, so the story is told again in new "
                    "conversations: what is known already is recognised. --fresh starts anew.",
                    "上一次的存储还在，故事在新的会话里再讲一遍：已经知道的会被认出。"
                    "--fresh 从头开始。",
                )
            )

    def ending(self) -> None:
        """Commands that work on the store that is left."""
        first = next(iter(self._newest()), None)
        self.screen.heading(self._("The store stays. Try on it:", "存储留下了，可以接着试："))
        here = ("--project", BLOG, "--scope", f"task={TASK}")
        command, show = self.session.command, self.screen.command
        show(
            command("recall", "继续下一篇", "--stage", "wrap_up", "--explain", *here),
            self._("what comes back, and why in this order", "召回了什么，为何这样排序"),
        )
        if first is not None:
            show(
                command("why", first),
                self._("from a memory to the very words", "从一条记忆回到原话"),
            )
        show(command("list"), self._("everything remembered", "记住的一切"))
        show(
            command("review"),
            self._("what waits for you, and how to answer", "等你确认的，和怎样回答"),
        )
        show(
            command("recall", "--archive", "外链检查"),
            self._("search what was said", "搜索说过的话"),
        )
        show(command("doctor"), self._("how the store is", "存储的状况"))

    def _newest(self) -> list[str]:
        s = self.session
        with muniment.open(s.url, principal=_who(USER), key_file=s.given.key_file) as memory:
            found = memory.list(where={"status": "active", "project": BLOG}, limit=1000)
        return [r.id for r in reversed(found)]
