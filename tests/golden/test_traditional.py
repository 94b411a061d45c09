"""The Chinese golden cases once more, in traditional characters: the same decisions.

The table here is the test's own, made from the characters of the cases, so that a character that
extraction does not know is found missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import muniment
from muniment.clock import ManualClock
from tests.golden import runner

# Simplified, and what is written for it in Hong Kong or Taiwan.
_PAIRS = (
    "万萬业業两兩个個临臨为爲么麼习習于於产產从從仓倉们們优優会會体體倾傾内內写寫准準划劃删刪别別务務动動单單压壓双雙发發号號叹嘆后後吗嗎启啟周週咸鹹响響团團图圖块塊坚堅复復实實审審宽寬"
    "对對导導将將尝嘗尽盡属屬布佈帮幫并並库庫应應当當录錄忆憶志誌态態惯慣户戶执執报報择擇换換据據数數断斷无無旧舊时時暂暫术術权權条條来來构構标標样樣档檔检檢欢歡没沒洁潔测測滚滾点點烦煩"
    "状狀环環现現盖蓋码碼确確简簡约約级級线線练練细細终終经經结結给給统統继繼续續编編缩縮节節装裝见見览覽计計认認让讓记記许許论論访訪证證评評试試话話询詢该該详詳语語误誤说說请請调調败敗"
    "贷貸赖賴轮輪输輸达達迁遷过過运運还還这這进進适適选選采採释釋里裡钟鍾银銀错錯长長问問队隊险險随隨霉黴页頁项項须須预預题題风風驱驅验驗"
)
TRADITIONAL = str.maketrans(_PAIRS[::2], _PAIRS[1::2])
SIMPLIFIED = str.maketrans(_PAIRS[1::2], _PAIRS[::2])
FILES = sorted(runner.HERE.glob("*.yaml"))
SAME = ("action", "reconcile", "kind", "origin", "scope", "predicate", "value", "reasons")


def written(value: Any, change: Callable[[str], str]) -> Any:
    """The same data with every text in it changed, keys apart."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {k: written(v, change) for k, v in value.items()}
    return [written(v, change) for v in value] if isinstance(value, list | tuple) else value


def traditional(case: Mapping[str, Any]) -> dict[str, Any]:
    """The case as somebody in Taipei would have said it."""
    said = ("before", "say", "propose")
    return {
        k: written(v, lambda t: t.translate(TRADITIONAL)) if k in said else v
        for k, v in case.items()
    }


def seen_in(path: Path, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> dict[str, Any]:
    """Each Chinese case's decisions, in simplified characters."""
    clock = ManualClock(runner.START)
    found = {}
    with muniment.open("sqlite://", clock=clock) as memory:
        for n, case in enumerate(runner.cases_of(path)):
            if case.get("lang") != "zh":
                continue
            result = runner.play(change(case), memory, clock, f"{path.stem}-{n}")
            simple = written(result.seen, lambda t: t.translate(SIMPLIFIED))
            found[case["name"]] = [{k: one[k] for k in SAME} for one in simple]
    return found


@cache
def simplified_of(path: Path) -> dict[str, Any]:
    """What is decided for the cases as they stand."""
    return seen_in(path, lambda case: case)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_traditional_characters_are_decided_alike(path: Path) -> None:
    expected = simplified_of(path)
    assert len(expected) >= 20
    seen = seen_in(path, traditional)
    assert {n: seen[n] for n in seen if seen[n] != expected[n]} == {}


def test_the_cases_are_changed() -> None:
    """The control: most Chinese cases hold a character that is written otherwise."""
    cases = [c for path in FILES for c in runner.cases_of(path) if c.get("lang") == "zh"]
    assert sum(traditional(c) != dict(c) for c in cases) > len(cases) * 0.9


def test_without_its_table_extraction_would_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: with nothing simplified, the comparison finds it."""
    monkeypatch.setattr("muniment.extract.lexicon._TABLE", {})
    path = next(p for p in FILES if p.stem == "blind")
    assert seen_in(path, traditional) != simplified_of(path)
