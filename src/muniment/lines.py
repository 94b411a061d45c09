"""YAML that remembers its lines, so that every complaint about a file names one."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml


class NotYaml(ValueError):
    """The text is no YAML of this form; ``line`` is where, if it can be told."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class Map(dict[str, Any]):
    """A mapping that knows the line it starts on and the line of each of its keys."""

    line: int
    lines: dict[str, int]

    def line_of(self, key: str) -> int:
        """The line of a key, or that of the whole where the key is not in the text."""
        return self.lines.get(key, self.line)


class _Loader(yaml.SafeLoader):
    """YAML as people mean it: an instant stays the text that was written, only `true`
    and `false` are truth values (`yes` and `on` are words), and a key is there once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        self._check_keys(node)
        return super().construct_mapping(node, deep=True)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        seen: set[str] = set()
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise NotYaml("a key has to be a word", line)
            if key.value in seen:
                raise NotYaml(f"`{key.value}` is there twice", line)
            seen.add(key.value)


def _construct_map(loader: _Loader, node: yaml.MappingNode) -> Map:
    found = Map({str(k): v for k, v in loader.construct_mapping(node).items()})
    found.line = node.start_mark.line + 1
    found.lines = {str(key.value): key.start_mark.line + 1 for key, _ in node.value}
    return found


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """Those of YAML 1.1 without timestamps, and with the truth values of 1.2."""
    left_out = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool")
    found = {
        first: [(tag, regexp) for tag, regexp in rules if tag not in left_out]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    truth = re.compile("(?:true|True|TRUE|false|False|FALSE)$")
    for first in "tTfF":
        found.setdefault(first, []).append(("tag:yaml.org,2002:bool", truth))
    return found


_Loader.yaml_implicit_resolvers = _resolvers()
_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_map)


def parse(text: str) -> Any:
    """The one document in a text, every mapping a `Map`; `NotYaml` for what is none."""
    try:
        return yaml.load(text, _Loader)
    except NotYaml:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise NotYaml(f"not YAML: {error.problem or error.context}", line) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NotYaml(f"not YAML: {str(error).splitlines()[0]}") from None
