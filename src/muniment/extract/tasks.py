"""Task types, stages and conditions in words, by the data of `tasks.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from muniment.extract.lexicon import compiled, data
from muniment.extract.sentences import Piece
from muniment.extract.words import Folded, Words
from muniment.records.condition import Condition
from muniment.text import normalise


@cache
def spec() -> Mapping[str, Any]:
    """The data as it stands in the file."""
    return dict(data("tasks.yaml"))


@cache
def words_of(section: str) -> Mapping[str, Words]:
    """The pattern of each task, or of each stage."""
    return {name: compiled(words) for name, words in spec()[section].items()}


def tasks_in(folded: str) -> tuple[str, ...]:
    """The task types the words name, most special first."""
    return tuple(name for name, words in words_of("tasks").items() if words.search(folded))


def stages_in(folded: str) -> tuple[str, ...]:
    """The stages the words name ("写完后", "before each commit")."""
    return tuple(name for name, words in words_of("stages").items() if words.search(folded))


def names_task(task: str, folded: str) -> bool:
    """Whether the words name that task type: by its words, or by the id itself."""
    words = words_of("tasks").get(task)
    return bool(words and words.search(folded)) or task.casefold() in folded.casefold()


def condition_in(
    words: Piece, *, subjects: bool = True, stated: tuple[int, int] | None = None
) -> Condition:
    """The condition a clause states, as far as it can be told by words.

    With ``subjects`` a task that the clause is about counts as one ("架构文章仍然详细"): that is
    how preferences are said, and not how rules are.  A qualifier that cannot be classified is a
    `when` in its own words: the record then applies more often and says the qualifier itself,
    where a condition nobody can meet would silence it.  ``stated`` is where what is wished
    itself stands.
    """
    folded = words.folded
    excepted = [hit.span() for hit in _turns_of("excepts").finditer(folded)]
    entities, around = _entities(folded.without(excepted), words.text)
    tasks = tuple(_condition_tasks(around, subjects=subjects))
    stages = tuple(s for s in stages_in(around) if s not in tasks)
    found = Condition(entities=entities, paths=_paths(around), stages=stages, tasks=tasks)
    spans = excepted + ([] if found.testable else _whens(around, stated))
    when = dict.fromkeys(normalise(words.text[start:end]) for start, end in spans)
    return replace(found, when=tuple(when)[:8])


@cache
def _task_turns(section: str) -> Mapping[str, Words]:
    turns = spec()[section]
    made = {}
    for name, words in spec()["tasks"].items():
        zh = [t.replace("{task}", f"(?:{w})") for t in turns["zh"] for w in words["zh"]]
        en = [t.replace("{task}", f"(?:{w})") for t in turns["en"] for w in words["en"]]
        made[name] = compiled({"zh": zh, "en": en})
    return made


def _condition_tasks(folded: str, *, subjects: bool) -> Iterator[str]:
    sections = ("task_conditions", "task_subjects") if subjects else ("task_conditions",)
    for name, words in words_of("tasks").items():
        if words.search(folded) and any(
            _task_turns(section)[name].search(folded) for section in sections
        ):
            yield name
            if name == "architecture_article":
                return  # its words hold those of the wider type


@cache
def _entity_words() -> Words:
    entities = spec()["entities"]
    # Each alternative has its own group; Python wants their names to differ.
    parts = [
        p.replace("(?P<e>", f"(?P<e{i}>") for i, p in enumerate(entities["zh"] + entities["en"])
    ]
    return Words("|".join(f"(?:{p})" for p in parts))


def _entities(folded: Folded, said: str) -> tuple[tuple[str, ...], Folded]:
    """What is touched, and the words without it: "deploy configuration" is no deployment."""
    found: dict[str, None] = {}
    spans = []
    for hit in _entity_words().finditer(folded):
        start, end = hit.span(hit.lastindex or 0)
        spans.append((start, end))
        if entity := said[start:end].strip():
            found[entity] = None
    return tuple(found)[:8], folded.without(spans)


@cache
def _turns_of(section: str) -> Words:
    return compiled(spec()[section])


def _whens(folded: str, stated: tuple[int, int] | None) -> list[tuple[int, int]]:
    """The clauses that say when."""
    first, last = stated or (len(folded), len(folded))
    found = []
    for hit in _turns_of("whens").finditer(folded):
        start, end = hit.span()
        if start < first < end and hit.group("open"):
            found.append((start, first))
        elif end <= first or start >= last:  # what stands within is itself what is wished
            found.append((start, end))
    return found


@cache
def _path_words() -> Words:
    return Words("|".join(spec()["paths"]))


def _paths(folded: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.group("p") for hit in _path_words().finditer(folded)))[:8]
