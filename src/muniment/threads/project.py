"""How to take up a project again: the order of the steps, as data.

Work that goes on for days is resumed from what can be verified, not from what the last session
said of itself.  The steps are always these, in this order; what each concerns here and now is
read from the brief of the thread's state.  Project state is about a task: it never becomes a
record about a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from muniment.threads.brief import Brief, Item

#: name, what to do (English, Chinese), the sections of the state it concerns.
ORDER: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "read_state",
        "Read the goal, the acceptance criteria, the constraints, what is open, and the standing "
        "of approvals and tool calls.",
        "读取目标、验收条件、约束、未决事项，以及审批和工具调用的现状。",
        ("goal", "acceptance", "constraints", "open", "approvals", "unknown_calls"),
    ),
    (
        "check_workspace",
        "Set the workspace up, then compare version control and each artifact's revision with "
        "the state.",
        "准备工作区，再把版本库和每个工件的版本与状态对照。",
        ("setup", "artifacts"),
    ),
    (
        "run_smallest_checks",
        "Run the smallest check of each thing that is claimed done, what only its maker verified "
        "first, and look again at what was observed.",
        "对每一项声称已完成的内容运行最小的检查，先查只有自己验证过的；重新观察旧的观察结果。",
        ("acceptance", "observations"),
    ),
    ("take_one_task", "Take one task.", "只取一个任务。", ("next", "plan", "failures")),
    (
        "update_with_evidence",
        "Checkpoint the state with the evidence: what was done, who verified it, what failed.",
        "带着证据提交检查点：做了什么、谁验证的、什么失败了。",
        ("acceptance", "failures", "plan"),
    ),
    ("write_handoff", "Write a handoff packet.", "写交接包。", ()),
)

#: Who verified something, least worth relying on first.
VERIFIERS = ("self", "other", "test")


@dataclass(frozen=True, slots=True)
class Step:
    """One step, and the items of the state it concerns now."""

    name: str
    todo: str
    items: tuple[Item, ...] = ()


def protocol(brief: Brief, language: str = "en") -> tuple[Step, ...]:
    """The steps for this thread, in order."""
    chosen = {"run_smallest_checks": checks(brief), "take_one_task": tasks(brief)[:1]}
    return tuple(
        Step(
            name,
            chinese if language == "zh" else english,
            tuple(chosen.get(name, _items(brief, sections))),
        )
        for name, english, chinese, sections in ORDER
    )


def checks(brief: Brief) -> list[Item]:
    """What is claimed met, worst verified first, then what was observed outside."""
    met = [i for i in brief.of("acceptance") if i.data.get("status") == "met"]
    return [*sorted(met, key=_verified), *brief.of("observations")]


def tasks(brief: Brief) -> list[Item]:
    """What can be taken up, best first: what the state names as next, steps under way, steps
    whose predecessors are done."""
    plan = brief.of("plan")
    done = {i.text for i in plan if i.data.get("status") in ("done", "skipped")}
    running = [i for i in plan if i.data.get("status") == "running"]
    ready = [
        i for i in plan if i.data.get("status") == "todo" and set(i.data.get("after", ())) <= done
    ]
    return [*brief.of("next"), *running, *ready]


def _verified(item: Item) -> int:
    by = item.data.get("verified_by")
    return VERIFIERS.index(by) if by in VERIFIERS else -1


def _items(brief: Brief, sections: Sequence[str]) -> list[Item]:
    return [item for section in sections for item in brief.of(section)]
