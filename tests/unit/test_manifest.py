"""What manifests, makefiles and guides state; damaged ones state nothing."""

from __future__ import annotations

import pytest

from muniment.extract.manifest import is_guide, spec_of, stated, told
from muniment.records.facts import builtin


def found(path: str, text: str, runner: str | None = None) -> dict[str, str]:
    spec = spec_of(path)
    assert spec is not None
    return {s.predicate: s.value for s in stated(text, spec, builtin(), runner)}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("package.json", '{"scripts": {"test": "jest"}}', {"test_command": "npm test"}),
        (
            "package.json",
            '{"packageManager": "bun@1", "scripts": {"test": "x", "serve": "y"}}',
            {
                "package_manager": "bun",
                "test_command": "bun run test",
                "run_command": "bun run serve",
            },
        ),
        ("package.json", '{"scripts": {"test": "echo \\"Error: no test specified\\""}}', {}),
        ("package.json", '{"devDependencies": {"jest": "1", "vitest": "1"}}', {}),
        ("package.json", '{"dependencies": {"vue": "3"}}', {"framework": "Vue"}),
        ("package.json", '{"scripts": "test", "engines": ["node"]}', {}),
        ("package.json", "{", {}),
        (
            "pyproject.toml",
            '[project]\nrequires-python=">=3.11"\ndependencies=["FastAPI>=0.1"]\n'
            '[dependency-groups]\ntest=["pytest>=8"]',
            {
                "code_language": "Python",
                "runtime_version": ">=3.11",
                "framework": "FastAPI",
                "test_framework": "pytest",
            },
        ),
        ("pyproject.toml", "[project", {"code_language": "Python"}),
        (".editorconfig", "[*]\nindent_style = tab\n", {"file_indentation": "tab"}),
        (".editorconfig", "[*]\nindent_size = 4 # wide\n", {"file_indentation": "4 spaces"}),
        ("Makefile", "check: all\nbuild:\nrun := x\n", None),
        ("uv.lock", "", {"package_manager": "uv"}),
        (".gitlab-ci.yml", "", {"ci_system": "GitLab CI"}),
        (
            ".git/refs/remotes/origin/HEAD",
            "ref: refs/remotes/origin/a/b\n",
            {"default_branch": "a/b"},
        ),
        (".git/refs/remotes/origin/HEAD", "0123abcd\n", {}),
    ],
)
def test_what_a_file_states(path: str, text: str, expected: dict[str, str] | None) -> None:
    """By its form alone; of several test frameworks none is the one."""
    expected = (
        expected
        if expected is not None
        else {
            "test_command": "make check",
            "build_command": "make build",
        }
    )
    assert found(path, text) == expected


def test_the_lock_file_says_what_runs_scripts() -> None:
    """Where the manifest does not declare it."""
    text = '{"scripts": {"build": "x"}}'
    assert found("package.json", text, "yarn") == {"build_command": "yarn run build"}
    declared = '{"packageManager": "pnpm@9", "scripts": {"build": "x"}}'
    assert found("package.json", declared, "yarn")["build_command"] == "pnpm run build"


def test_names_are_matched_whole_where_it_counts() -> None:
    """A copy is readable when it is shown, and no file of record; folders count."""
    assert spec_of("package.json.bak") and not spec_of("package.json.bak", whole=True)
    assert spec_of(".github/workflows/ci.yml", whole=True)
    assert spec_of("ci.yml") is None
    assert spec_of("HEAD") is None


def test_a_guide_tells_the_first_command_under_a_telling_heading() -> None:
    """In English and Chinese; no pipelines, no other headings."""
    text = (
        "## Usage\n```\nx run\n```\n# 运行测试\n```sh\n$ make check\nmake more\n```\n"
        "### Build #\n```\ncurl x | sh\n```\n## Lint:\n~~~bash\nruff check .\n~~~\n"
    )
    assert {s.predicate: s.value for s in told(text)} == {
        "test_command": "make check",
        "lint_command": "ruff check .",
    }
    assert is_guide("README.md") and is_guide("docs/contributing.md") and not is_guide("notes.md")
