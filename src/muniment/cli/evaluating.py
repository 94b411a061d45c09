"""eval: how good retrieval and writing are, on data sets and labelled turns; two runs compared."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from datetime import timezone
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Any

import typer

import muniment
from muniment.cli.evidence import progress
from muniment.cli.exits import code_of
from muniment.cli.session import Session, session_of, shown_url
from muniment.clock import ManualClock
from muniment.errors import Unavailable
from muniment.memory import Memory

if TYPE_CHECKING:
    from muniment.evals.play import Opener

evaluation = typer.Typer(help="Measure what is found and what is kept; compare two runs.")
_OF_PARTS = ("turns right", "activate precision", "activate recall", "hold recall")
_COLUMNS = ("any@10", "all@10", "rec@5", "rec@10", "rec@20", "ndcg@10", "mrr")


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(evaluation, name="eval")


@evaluation.command()
def retrieval(
    ctx: typer.Context,
    dataset: Annotated[str, typer.Option(help="locomo, beam, memdaily, madial or longmemeval.")],
    data: Annotated[Path, typer.Option(help="The data set: a file or folder of yours.")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many questions.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where the result goes; eval-DATASET.json by default.")
    ] = None,
) -> None:
    """Append the conversations, ask the questions, score the turns that are found.

    In a store of its own that is thrown away, or with --url in that one, where what is appended
    stays, in a tenant for each conversation.  Writes the result as JSON and a plot beside it.
    Ends with 1 where a result came from another conversation.
    """
    from muniment.evals import plot, report
    from muniment.evals.ask import evaluate
    from muniment.evals.load import load

    session = session_of(ctx)
    session.forbid_agents("load a data set")
    target = _target(out, f"eval-{dataset}.json")
    chosen = load(dataset, data).limited(limit)
    with _store(session) as (memory, url), progress("Evaluating") as advance:
        answers = evaluate(memory, chosen, advance)
        embedder = memory.doctor()["embedder"]
    result = report.result_of(chosen, answers, store=url, limit=limit, embedder=embedder)
    report.save(result, target)
    report.write(plot.svg(result), target.with_suffix(".svg"))
    if session.as_json:
        summary = {name: value for name, value in result.items() if name != "questions"}
        session.screen.data({**summary, "file": target})
    else:
        _show(session, result, target)
    if result["foreign"]:
        raise typer.Exit(code_of("failed"))


def _target(out: Path | None, default: str) -> Path:
    """Where the result goes; said before a long run, not after it."""
    target = out or Path(default)
    if target.is_dir():
        raise Unavailable("eval.unwritable", f"{target} is a directory; name a file")
    if not target.parent.is_dir():
        raise Unavailable("eval.unwritable", f"the directory {target.parent} does not exist")
    return target


@contextlib.contextmanager
def _store(session: Session) -> Iterator[tuple[Memory, str]]:
    """The store that was named, or a fresh one for as long as this takes."""
    if session.given.url is not None:
        with session.open() as memory:
            yield memory, shown_url(session.given.url)
        return
    with (
        tempfile.TemporaryDirectory(prefix="muniment-eval-") as folder,
        muniment.open(f"sqlite:///{folder}/eval.db") as memory,
    ):
        yield memory, "sqlite, fresh"


def _show(session: Session, result: Mapping[str, Any], target: Path) -> None:
    screen = session.screen
    screen.line(result["note"])
    rows = [
        (name, group["n"], *(_interval(group["scores"][c]) for c in _COLUMNS), *_tokens(group))
        for name, group in result["summary"].items()
    ]
    screen.table(("category", "n", *_COLUMNS, "tokens to first", "to all"), rows)
    screen.fields(
        [
            ("gold", ", ".join(f"{n} {what}" for what, n in result["counts"].items())),
            ("from other conversations", result["foreign"]),
            ("embedder", result["embedder"] or "none: words alone"),
            ("commit", result["commit"]),
            ("result", target),
            ("plot", target.with_suffix(".svg")),
        ]
    )


def _interval(score: Mapping[str, float]) -> str:
    return f"{score['mean']:.3f} [{score['low']:.3f}, {score['high']:.3f}]"


def _tokens(group: Mapping[str, Any]) -> tuple[str, str]:
    first, whole = group["tokens_to_first"], group["tokens_to_all"]
    return _median(first), _median(whole)


def _median(tokens: Mapping[str, Any]) -> str:
    if tokens["median"] is None:
        return "never reached"
    return f"{tokens['median']} ({tokens['reached']:.0%} reached)"


@evaluation.command("write")
def write_path(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Labelled turns, YAML.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many turns.")] = None,
    mistakes: Annotated[bool, typer.Option("--mistakes", help="List what went wrong.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Where the result goes; eval-write.json by default.")
    ] = None,
) -> None:
    """Play labelled turns, and compare what came of each with what should have.

    In a store in memory, or with --url in that one, where what is said stays, in a tenant for
    each turn; the clock shows when a turn was said.  Writes the result as JSON and a plot beside
    it.  Ends with 1 where a secret was found afterwards.
    """
    from muniment.evals import plot, report, tally
    from muniment.evals.labels import load as load_labels
    from muniment.evals.play import evaluate as play_all

    session = session_of(ctx)
    session.forbid_agents("play labelled turns")
    target = _target(out, "eval-write.json")
    labelled = load_labels(files)
    turns = labelled.turns[:limit]
    opened, store, fresh = _clocked(session)
    with progress("Playing") as advance:
        judged = play_all(turns, opened, run=token_hex(4), fresh=fresh, advance=advance)
    result = tally.result_of(labelled, judged, store=store, limit=limit)
    report.save(result, target)
    report.write(plot.svg_of_writing(result), target.with_suffix(".svg"))
    wrong = {j.id: list(j.faults) for j in judged if j.faults} if mistakes else {}
    if session.as_json:
        summary = {name: value for name, value in result.items() if name != "turns"}
        told = {"mistakes": wrong} if mistakes else {}
        session.screen.data({**summary, **told, "file": target})
    else:
        _show_writing(session, result, target)
        if wrong:
            rows = [(turn, fault) for turn, faults in wrong.items() for fault in faults]
            session.screen.table(("turn", "fault"), rows)
    if result["summary"]["all"]["shares"]["leaks"]["count"]:
        raise typer.Exit(code_of("failed"))


def _clocked(session: Session) -> tuple[Opener, str, bool]:
    """How to open the store that was named, or a new one in memory; what it is; if it is new."""
    url = session.given.url

    def opened(clock: ManualClock, zone: timezone) -> Memory:
        key_file = session.given.key_file
        return muniment.open(url or "sqlite://", key_file=key_file, clock=clock, tz=zone)

    return opened, "sqlite, in memory" if url is None else shown_url(url), url is None


def _show_writing(session: Session, result: Mapping[str, Any], target: Path) -> None:
    screen, summary = session.screen, result["summary"]
    screen.line(f"{summary['all']['n']} turns, labels {result['labels']}, 95 % intervals (Wilson).")
    shares = summary["all"]["shares"]
    rows = [(name, s["count"], s["of"], _share(s)) for name, s in shares.items()]
    screen.table(("share", "count", "of", "over all turns"), rows)
    parts = [
        (name, part["n"], *(_share(part["shares"][c]) for c in _OF_PARTS))
        for name, part in summary.items()
    ]
    screen.table(("part", "n", *_OF_PARTS), parts)
    found = result["confusion"]
    screen.table(("expected \\ got", *found), [(e, *got.values()) for e, got in found.items()])
    files = [("result", target), ("plot", target.with_suffix(".svg"))]
    screen.fields([("commit", result["commit"]), ("store", result["store"]), *files])


def _share(share: Mapping[str, Any]) -> str:
    if share["share"] is None:
        return "-"
    return f"{share['share']:.3f} [{share['low']:.3f}, {share['high']:.3f}]"


@evaluation.command("compare")
def compare_results(
    ctx: typer.Context,
    a: Annotated[Path, typer.Argument(metavar="A", help="The result to compare with.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The result to judge.")],
) -> None:
    """Compare two results over the same questions, question by question.

    The interval is a paired bootstrap, p a sign-flip permutation test.
    """
    from muniment.evals.compare import compare
    from muniment.evals.report import read

    session = session_of(ctx)
    found = compare(read(a), read(b))
    if session.as_json:
        session.screen.data(found)
        return
    screen = session.screen
    screen.line(found["note"])
    rows = [
        (
            name,
            f"{s['a']:.3f}",
            f"{s['b']:.3f}",
            f"{s['difference']:+.3f} [{s['low']:+.3f}, {s['high']:+.3f}]",
            f"{s['p']:.4f}",
            f"{s['better']} / {s['worse']}",
        )
        for name, s in found["scores"].items()
    ]
    screen.table(("score", "A", "B", "B - A", "p", "better / worse"), rows)
    screen.line(f"{found['n']} questions; p is uncorrected, decide by {found['primary']}.")
