"""How to take up a project again: the order of the steps, as data.

Work that goes on for days is resumed from what can be verified, not from what the last session
said of itself.  The steps are always these, in this order; what each concerns here and now is
read from a `Resumption`.  Project state is about a task: it never becomes a record about a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from muniment.threads.resume import Resumption

#: name, what to do (English, Chinese).
ORDER: tuple[tuple[str, str, str], ...] = (
    (
        "read_state",
        "Read the goal, the acceptance criteria, the constraints, what is open, and what was said "
        "since.",
        "读取目标、验收条件、约束、未决事项，以及此后说过的话。",
    ),
    (
        "check_workspace",
        "Set the workspace up; compare version control and each artifact's revision with the "
        "state; find out what became of calls nobody knows the outcome of.",
        "准备工作区；把版本库和每个工件的版本与状态对照；查明结果未知的调用。",
    ),
    (
        "run_smallest_checks",
        "Run the smallest check of each thing that is claimed done, what only its maker verified "
        "first; observe again what was observed before.",
        "对每一项声称已完成的内容运行最小的检查，先查只有自己验证过的；重新观察旧的观察结果。",
    ),
    ("take_one_task", "Take one task.", "只取一个任务。"),
    (
        "update_with_evidence",
        "Checkpoint the state with the evidence: what was done, who verified it, what failed.",
        "带着证据提交检查点：做了什么、谁验证的、什么失败了。",
    ),
    ("write_handoff", "Write a handoff packet.", "写交接包。"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step, and what it concerns now, in words."""

    name: str
    todo: str
    items: tuple[str, ...] = ()


def protocol(resumed: Resumption, language: str = "en") -> tuple[Step, ...]:
    """The steps for a thread that is taken up, in order."""
    concerns = {
        "read_state": resumed.read,
        "check_workspace": tuple(_to_compare(resumed)),
        "run_smallest_checks": tuple(_to_check(resumed)),
        "take_one_task": () if resumed.task is None else (resumed.task.text,),
    }
    return tuple(
        Step(name, chinese if language == "zh" else english, concerns.get(name, ()))
        for name, english, chinese in ORDER
    )


def _to_compare(resumed: Resumption) -> Iterator[str]:
    yield from resumed.setup
    yield from (f"{a.path}: {a.word}" for a in resumed.artifacts)
    yield from (f"{c.key}: {c.observe or c.name}" for c in resumed.unknown)


def _to_check(resumed: Resumption) -> Iterator[str]:
    yield from (f"{c.of}: {c.how}" for c in resumed.checks)
    yield from (f"{o.name}: {o.how or o.again()}" for o in resumed.stale)
