"""What a request says by its words: facets, tasks, prohibitions, values it sets."""

from __future__ import annotations

import pytest

from muniment.extract.reading import read_task
from muniment.records.facts import builtin


@pytest.mark.parametrize(
    ("text", "stage", "has", "lacks"),
    [
        ("继续下一篇", "wrap_up", {"workflow"}, {"code"}),
        ("升级依赖并运行测试", None, {"code", "workflow"}, {"answer_style"}),
        (
            "upgrade the dependencies and run the tests",
            None,
            {"code", "workflow"},
            {"answer_style"},
        ),
        ("解释一下闭包", None, {"answer_style"}, {"workflow"}),
        ("explain closures", None, {"answer_style"}, {"workflow"}),
        ("回答该多长", None, {"answer_style"}, {"code"}),
        ("how long should the answer be", None, {"answer_style"}, {"code"}),
        ("review this pull request", None, {"review", "answer_style"}, {"person"}),
        ("帮我做代码 Review", None, {"review"}, {"person"}),
        ("where do I live", None, {"person"}, {"code"}),
    ],
)
def test_facets(text: str, stage: str | None, has: set[str], lacks: set[str]) -> None:
    facets = read_task(text, builtin(), stage).facets
    assert has <= facets
    assert not lacks & facets


def test_tasks_and_stages() -> None:
    reading = read_task("文章写完了，接下来", builtin(), None)
    assert "article" in reading.tasks
    assert "wrap_up" in reading.stages
    assert "deploy" in read_task("x", builtin(), "deploy").stages


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("不要改 schema", ("schema",)),
        ("不要修改数据库 schema，加个索引就行", ("数据库 schema",)),
        ("don't modify the database schema, just add an index", ("database schema",)),
        ("without touching the API", ("api",)),
        ("改一下 schema", ()),
        ("change the schema", ()),
    ],
)
def test_prohibitions(text: str, forbidden: tuple[str, ...]) -> None:
    got = read_task(text, builtin(), None).forbids
    assert tuple(o.removeprefix("数据库").strip() for o in got) == tuple(
        o.removeprefix("数据库").strip() for o in forbidden
    )


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("use npm this time", {"package_manager": "npm"}),
        ("这次使用 npm 做兼容测试", {"package_manager": "npm"}),
        ("这次请详细回答", {"answer_length": "详细"}),
        ("answer in detail this time", {"answer_length": "in detail"}),
        ("which package manager do we use?", {}),
        ("不要用 npm", {}),
        ("run the tests", {}),
    ],
)
def test_values_the_request_sets(text: str, uses: dict[str, str]) -> None:
    assert dict(read_task(text, builtin(), None).uses) == uses


def test_a_long_request_is_read_in_bounded_time() -> None:
    assert read_task("不要改 " * 100_000, builtin(), None).forbids
