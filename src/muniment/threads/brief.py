"""The brief of a thread: what its state says that nobody who goes on with it may lack.

A projection, computed whenever it is wanted.  A compaction shows part of it in every view, a
handoff packet carries the whole of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from muniment.text import inert
from muniment.threads.observations import Observation

VALUE_CHARS_MAX = 80  # what is shown of one value beside an item's words

#: The sections of a brief, in the order they are shown.
SECTIONS = (
    *("goal", "constraints", "acceptance", "open", "approvals", "unknown_calls", "next"),
    *("decisions", "failures", "completed", "artifacts", "observations", "setup"),
)

#: Those no view may lack, however small its budget.
ALWAYS = ("goal", "constraints", "open", "approvals", "unknown_calls", "observations", "next")

_LABELS = {
    "goal": ("goal", "目标"),
    "constraints": ("constraint", "约束"),
    "acceptance": ("acceptance", "验收"),
    "open": ("open", "未决"),
    "approvals": ("approval", "审批"),
    "unknown_calls": ("call without outcome", "没有结果的调用"),
    "next": ("next", "下一步"),
    "decisions": ("decision", "决定"),
    "failures": ("known failure", "已知失败"),
    "completed": ("done", "已完成"),
    "artifacts": ("artifact", "工件"),
    "observations": ("observed", "观察"),
    "setup": ("setup", "准备"),
}


@dataclass(frozen=True, slots=True)
class Item:
    """One thing the state says, in words, with the events it stands on.

    ``data`` holds what else is known of it (an approval's status, an artifact's revision, who
    verified an acceptance): JSON values, part of what a packet seals.
    """

    text: str
    evidence: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Brief:
    """Sections of items at one version of a thread's state."""

    version: int = 0
    sections: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)

    def of(self, section: str) -> tuple[Item, ...]:
        """The items of a section; none where the state says nothing."""
        return self.sections.get(section, ())

    def always(self, language: str) -> list[str]:
        """The lines no view may lack."""
        return [line(s, item, language) for s in ALWAYS for item in self.of(s)]


#: Sections of a state whose items are carried over, with the field that names each.
_LISTED = {
    "constraints": "text",
    "acceptance": "name",
    "artifacts": "path",
    "observations": "name",
    "decisions": "text",
    "open": "text",
    "failures": "text",
    "setup": "text",
}


def brief_of(
    state: Mapping[str, Any],
    version: int,
    *,
    approvals: Iterable[Item] = (),
    unknown_calls: Iterable[Item] = (),
    fresh: Collection[str] = (),
) -> Brief:
    """The brief of a state (JSON data by sections) with the approvals as they stand now and the
    calls whose outcome nobody knows; ``fresh`` names the observations that may be told as fact."""
    texts = {name: (Item(state[name]),) for name in ("goal", "next") if state.get(name)}
    lists = {name: _items(state, name, key) for name, key in _LISTED.items()}
    lists["observations"] = tuple(
        replace(i, data={**i.data, "fresh": i.text in fresh})
        for i in _items(state, "observations", "name")
    )
    done = (i for i in _items(state, "plan", "step") if i.data.get("status") == "done")
    completed = (*done, *_items(state, "progress", "text"))
    standing = {"approvals": tuple(approvals), "unknown_calls": tuple(unknown_calls)}
    return Brief(version, {**texts, **lists, **standing, "completed": completed})


def _items(state: Mapping[str, Any], section: str, key: str) -> tuple[Item, ...]:
    return tuple(
        Item(
            str(item[key]),
            tuple(item.get("evidence") or ()),
            {n: v for n, v in item.items() if n not in (key, "evidence")},
        )
        for item in state.get(section) or ()
    )


def label(section: str, language: str) -> str:
    """What a section's lines begin with."""
    return _LABELS[section][1 if language == "zh" else 0]


def line(section: str, item: Item, language: str) -> str:
    """One item on one line that cannot pass for anything else, with its standing."""
    if section == "observations":
        seen = Observation.of({"name": item.text, **item.data})
        told = seen.told(language, fresh=item.data.get("fresh") is True)
        return f"{label(section, language)}: {inert(told)}"
    shown = f"{label(section, language)}: {inert(item.text)}"
    known = ", ".join(f"{k} {_brief(v)}" for k, v in item.data.items() if _plain(v))
    return f"{shown} ({known})" if known else shown


def _brief(value: object) -> str:
    text = inert(str(value))
    return text if len(text) <= VALUE_CHARS_MAX else text[: VALUE_CHARS_MAX - 1] + "…"


def _plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
