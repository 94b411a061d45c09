"""The documentation is executed, and compared with the code it speaks of."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from muniment.cli import app
from muniment.config import Settings
from muniment.gate.reasons import TEXTS, Reason
from muniment.store import index, schema
from tests.docs import pages as docs

REFERENCE = docs.DOCS / "reference"
RUN = [p for p in docs.pages() if any(b.runs for b in docs.blocks(p.read_text("utf-8")))]
_EXPECTED = re.compile(r"# → (.+)$", re.MULTILINE)
_CHANGING = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?|\b(rec|cand|evt|thr|dec|era|key)_[0-9a-z]+"
)
_WORDS = r"muniment (?:--[a-z-]+ \S+ )*([a-z][a-z-]*(?: [a-z][a-z-]*)?)"
_IN_SHELL = re.compile(rf"^(?:\$ )?(?:[A-Z_]+=\S+ )*{_WORDS}", re.MULTILINE)
_INLINE = re.compile(rf"`{_WORDS}[^`]*`")
TIMEOUT_S = 120


# ---------------------------------------------------------------- the blocks run


class Page:
    """A page being executed: one directory, one set of names, blocks in their order."""

    def __init__(self, folder: Path, pg_url: str | None) -> None:
        self.folder, self.pg_url = folder, pg_url
        self.names: dict[str, object] = {"__name__": "page"}
        self.printed = ""

    def play(self, text: str) -> None:
        """Run what runs, and compare what is said to be printed."""
        for block in docs.blocks(text):
            if block.runs:
                out = self._run(block)
                self.printed += out
                for expected in _EXPECTED.findall(block.code):
                    assert expected.strip() in out, f"{expected!r} is not in:\n{out}"
            elif block.mark == "output":
                assert masked(block.code) in masked(self.printed), self.printed

    def _run(self, block: docs.Block) -> str:
        code = block.code.replace(docs.POSTGRES, self.pg_url or docs.POSTGRES)
        return self._python(code) if block.language == "python" else self._shell(code)

    def _python(self, code: str) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "<page>", "exec"), self.names)
        return out.getvalue()

    def _shell(self, code: str) -> str:
        """In bash with errors on, as at a terminal: people have one, and some verbs ask for it."""
        master, slave = pty.openpty()
        try:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", code],
                stdin=slave,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                timeout=TIMEOUT_S,
                check=False,
            )
        finally:
            os.close(master)
            os.close(slave)
        out = done.stdout.decode()
        assert done.returncode == 0, f"{code}\nended with {done.returncode}:\n{out}"
        return out


def masked(text: str) -> str:
    """A text without dates and ids, which are new every time, and without blanks at line ends."""
    return "\n".join(line.rstrip() for line in _CHANGING.sub("…", text).strip().splitlines())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of the page's own, with `muniment` on the path and nobody's settings."""
    for name in [n for n in os.environ if n.startswith("MUNIMENT_")]:
        monkeypatch.delenv(name)
    commands = tmp_path / "bin"
    commands.mkdir()
    script = commands / "muniment"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m muniment "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(docs.SOURCE.parent))
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    monkeypatch.setenv("MUNIMENT_DATA_HOME", str(tmp_path / "data-home"))
    monkeypatch.setenv("MUNIMENT_USER", "ana")
    monkeypatch.setenv("MUNIMENT_EMBEDDER", "none")
    work = tmp_path / "page"
    work.mkdir()
    monkeypatch.chdir(work)
    yield work


def _param(page: Path) -> object:
    server = docs.POSTGRES in "".join(
        b.code for b in docs.blocks(page.read_text("utf-8")) if b.runs
    )
    return pytest.param(page, id=docs.name_of(page), marks=[pytest.mark.postgres] * server)


@pytest.mark.parametrize("page", [_param(p) for p in RUN])
def test_every_block_runs(page: Path, folder: Path, request: pytest.FixtureRequest) -> None:
    """On SQLite, and on a PostgreSQL where the page names one."""
    text = page.read_text("utf-8")
    url = request.getfixturevalue("pg_url") if docs.POSTGRES in text else None
    Page(folder, url).play(text)


def test_the_readme_shows_the_same_program_on_two_stores() -> None:
    """One line differs: the one with the URL.  And it is ten lines long."""
    for readme in docs.READMES:
        first, second = (
            b.code for b in docs.blocks(readme.read_text("utf-8")) if b.language == "python"
        )
        pairs = list(zip(first.splitlines(), second.splitlines(), strict=True))
        differing = [a for a, b in pairs if a != b]
        assert len(differing) == 1
        assert "muniment.open(" in differing[0]
        assert sum(bool(a.strip()) for a, _ in pairs) <= 10


@pytest.mark.parametrize(
    "text",
    [
        "```python\nimport muniment.nothing_of_that_name\n```\n",
        "```python\nprint('a')  # → b\n```\n",
        "<!-- run -->\n```sh\nmuniment recall\n```\n",
        "<!-- run -->\n```sh\nfalse | true\n```\n",
        "```python\nprint('a')\n```\n\n<!-- output -->\n```text\nb\n```\n",
    ],
)
def test_a_block_that_fails_is_caught(text: str, folder: Path) -> None:
    """An error, another output, an exit code that is not 0."""
    with pytest.raises((Exception, AssertionError)):
        Page(folder, None).play(text)


def test_a_block_that_holds_passes(folder: Path) -> None:
    """The same forms, right."""
    Page(folder, None).play(
        "```python\nx = 'rec_0 of 2026-01-01'\nprint(x)  # → rec_0\n```\n"
        "<!-- output -->\n```text\nrec_1 of 2027-02-02\n```\n"
        "<!-- run -->\n```sh\nmuniment --version\n```\n```sh\nfalse\n```\n"
    )


# ---------------------------------------------------------------- links


def test_every_relative_link_resolves() -> None:
    """To a file, and to a heading where it names one."""
    assert docs.broken_links(docs.ROOT) == []


def test_every_page_is_reachable() -> None:
    """From the README, by links."""
    assert docs.unreachable(docs.ROOT) == []


def test_a_broken_link_is_caught(tmp_path: Path) -> None:
    """A file that is not there, a heading that is not there; addresses are not looked at."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A b, c\n[x](#a-b-c) [y](../README.md#none)\n")
    (tmp_path / "docs" / "b.md").write_text("alone\n")
    (tmp_path / "README.md").write_text("[a](docs/a.md) [c](docs/c.md) [w](https://x.example/)\n")
    assert docs.broken_links(tmp_path) == ["README.md: docs/c.md", "docs/a.md: ../README.md#none"]
    assert docs.unreachable(tmp_path) == ["docs/b.md"]


# ---------------------------------------------------------------- the references are complete


def test_every_error_code_is_documented() -> None:
    """With its kind; and no code is documented that nothing raises."""
    made = docs.raised()
    assert len(made) > 100
    assert docs.code_faults((REFERENCE / "errors.md").read_text("utf-8"), made) == []


def test_an_undocumented_error_code_is_caught(tmp_path: Path) -> None:
    """Also one put together from a name, one of another kind, and one that is gone."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "a.py").write_text(
        'raise InvalidInput("a.one", "")\nraise NotFound("a.two", "")\n'
        'raise InvalidInput(f"{name}.three", "")\nT = (("x", "a.four", "y"),)\n'
    )
    made = docs.raised(tmp_path)
    text = "| `a.one` | `invalid_input` | x |\n| `a.two` | `conflict` | x |\n| `a.gone` | `x` | y |"
    assert docs.code_faults(text, made) == [
        "a.two is ['not_found'], not conflict",
        "{…}.three is not documented",
        "a.four is not documented",
        "a.gone is documented and nowhere raised",
    ]


def reason_faults(text: str) -> list[str]:
    """Reasons whose row is missing or says something else, and rows of no reason."""
    documented = {row[0]: row[1:3] for row in docs.rows(text)}
    expected = {r.value: list(TEXTS[r]) for r in Reason}
    return sorted(
        code
        for code in documented.keys() | expected.keys()
        if documented.get(code) != expected.get(code)
    )


def test_every_reason_is_documented_in_both_languages() -> None:
    """In the very words in which it is shown."""
    assert reason_faults((REFERENCE / "reasons.md").read_text("utf-8")) == []


def test_a_missing_reason_is_caught() -> None:
    """Or one whose words have changed."""
    text = (REFERENCE / "reasons.md").read_text("utf-8")
    assert reason_faults(text.replace("`tombstone`", "`gravestone`")) == ["gravestone", "tombstone"]
    assert reason_faults(text.replace("memory is paused", "paused")) == ["switch.off"]


def setting_faults(text: str) -> set[str]:
    """Settings that are not documented, and documented ones that do not exist."""
    documented = {row[0] for row in docs.rows(text) if row[0].startswith("MUNIMENT_")}
    return documented ^ {f"MUNIMENT_{name.upper()}" for name in Settings.model_fields}


def test_every_setting_is_documented() -> None:
    """And none that does not exist."""
    assert setting_faults((REFERENCE / "settings.md").read_text("utf-8")) == set()


def test_a_missing_setting_is_caught() -> None:
    """A renamed one is missing once and superfluous once."""
    text = (
        (REFERENCE / "settings.md").read_text("utf-8").replace("| `MUNIMENT_URL`", "| `MUNIMENT_X`")
    )
    assert setting_faults(text) == {"MUNIMENT_URL", "MUNIMENT_X"}


def command_faults(text: str) -> set[str]:
    """Commands that a page shows, in shell blocks or as inline code, and that do not exist."""
    shell = "".join(b.code for b in docs.blocks(text) if b.language in ("sh", "console"))
    used = _IN_SHELL.findall(shell) + _INLINE.findall(text)
    return {words for words in used if not _known(words.split())}


def _known(words: list[str]) -> bool:
    node = typer.main.get_command(app)
    for word in words:
        if not hasattr(node, "commands"):
            return True  # a command; what follows are its arguments
        if word not in node.commands:
            return False
        node = node.commands[word]
    return True


def test_commands_shown_exist() -> None:
    """Also where a block is not executed."""
    assert {c for p in docs.pages() for c in command_faults(p.read_text("utf-8"))} == set()


def test_a_command_that_does_not_exist_is_caught() -> None:
    """With settings in front, a prompt, as inline code, or below another."""
    assert command_faults("```sh\nX=1 muniment remembr x\nmuniment list\n```") == {"remembr x"}
    assert command_faults("```sh\nmuniment --url sqlite:///x.db lst\n```") == {"lst"}
    assert command_faults("```console\n$ muniment lst\n```") == {"lst"}
    assert command_faults("`muniment db role` and `muniment db rol`") == {"db rol"}


def table_faults(text: str) -> set[str]:
    """Tables without a section of their own, and sections of tables that do not exist."""
    real = {t.name for t in schema.metadata.sorted_tables}
    real |= {f"index: {t.name}" for t in index.metadata.sorted_tables}
    return set(re.findall(r"^### `([^`]+)`$", text, re.MULTILINE)) ^ real


def test_every_table_is_described() -> None:
    """Those of the truth and those of the index; each says who deletes its rows."""
    text = (docs.DOCS / "internals" / "data.md").read_text("utf-8")
    assert table_faults(text) == set()
    sections = re.split(r"^### ", text.partition("\n## Planned")[0], flags=re.MULTILINE)[1:]
    for section in sections:
        for what in ("Holds", "Why", "Deleted by", "Trail", "Erasure"):
            assert f"- **{what}**: " in section, f"{section.splitlines()[0]}: {what}"


def test_a_table_that_is_not_described_is_caught() -> None:
    """Or one that is gone."""
    text = (docs.DOCS / "internals" / "data.md").read_text("utf-8")
    assert table_faults(text.replace("### `uses`", "### `usages`")) == {"uses", "usages"}


# ---------------------------------------------------------------- questions


def test_every_test_named_in_the_questions_exists() -> None:
    """By its file and its name; and most questions name one."""
    text = (docs.DOCS / "questions.md").read_text("utf-8")
    assert docs.missing_tests(text) == []
    assert docs.named_tests(text) > 40


def test_a_test_that_does_not_exist_is_caught() -> None:
    """No such file, no such function, no such golden case."""
    here = "tests/docs/test_docs.py"
    text = (
        f"`{here}::test_every_block_runs` `{here}::test_none` `tests/none.py::test_x` "
        "`tests/golden/articles.yaml::no such case`"
    )
    assert docs.missing_tests(text) == [
        f"{here}::test_none",
        "tests/none.py::test_x",
        "tests/golden/articles.yaml::no such case",
    ]
