"""eval: how good the retrieval is, on public data sets; and two runs compared."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import muniment
from muniment.cli.evidence import progress
from muniment.cli.exits import code_of
from muniment.cli.session import Session, session_of, shown_url
from muniment.errors import Unavailable
from muniment.memory import Memory

evaluation = typer.Typer(help="Measure retrieval on public data sets, and compare two runs.")
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
    target = _target(out, dataset)
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


def _target(out: Path | None, dataset: str) -> Path:
    """Where the result goes; said before a long run, not after it."""
    target = out or Path(f"eval-{dataset}.json")
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
