"""Output that can be read again: where it lies, how it ended, and the lines that say why."""

from __future__ import annotations

import re
from dataclasses import dataclass

from muniment.events.event import Event, EventKind

LINES_MIN = 8  # shorter output is kept as it is
CHARS_MIN = 600
ERRORS_MAX = 8
LINE_CHARS_MAX = 200

LOGGED = frozenset({EventKind.TOOL_RESULT, EventKind.FILE, EventKind.SIDE_EFFECT})
_EXIT_NAMES = ("exit_code", "exit", "returncode", "return_code")
_PATH_NAMES = ("path", "log", "log_path", "file")
_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|return ?code|退出码|返回码)"
    r"\s*[:：=]?\s*(-?\d{1,3})\b",
    re.IGNORECASE,
)
_OUTPUT = re.compile(
    r"^(?:\$ |> \S+@\S+ |=+ .* =+$|(?:PASS|FAIL|FAILED|ok|not ok|---|\[\d+/\d+\])\b"
    r"|npm (?:ERR!|WARN)|Traceback \(most recent|(?:error|warning)(?:\[\w+\])?:|\S+:\d+(?::\d+)?:)"
    r"|\b\d+ (?:tests? )?(?:passed|failed|errors?)\b|\bBUILD (?:SUCCESS|FAIL)"
    r"|(?:测试|构建|编译).{0,12}(?:通过|失败|成功|完成)",
    re.MULTILINE | re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(?:error|err!|fail(?:ed|ure|s)?|exception|traceback|fatal|panic(?:ked)?|denied|refused"
    r"|undefined|cannot|not found|timed? ?out)\b|\w(?:Error|Exception)\b|^E\s{2,}|✗|✘|❌"
    r"|错误|失败|异常|无法|拒绝|超时|未找到",
    re.MULTILINE | re.IGNORECASE,
)
_NO_ERROR = re.compile(
    r"\b(?:0|no) (?:errors?|fail(?:ed|ures?|s)?|exceptions?)\b"
    r"|(?:没有|无|0 ?个?)(?:错误|失败|异常)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Log:
    """What is kept of output that can be read again.

    ``where`` is a path, a URL, or the id of the event that holds the whole of it; ``errors``
    pairs of line number (from 1) and line, the first and the last of them; ``more_errors`` how
    many lie between.
    """

    where: str
    exit_code: int | None
    lines: int
    errors: tuple[tuple[int, str], ...]
    more_errors: int = 0

    def render(self, language: str) -> str:
        """A head line, then the error lines with their numbers."""
        zh = language == "zh"
        head = [f"日志 {self.where}" if zh else f"log {self.where}"]
        if self.exit_code is not None:
            head.append(f"退出码 {self.exit_code}" if zh else f"exit code {self.exit_code}")
        head.append(f"共 {self.lines} 行" if zh else f"{self.lines} lines")
        if self.more_errors:
            more = self.more_errors
            head.append(f"另有 {more} 行错误" if zh else f"{more} more error lines")
        return "\n".join((", ".join(head), *(f"{n}: {line}" for n, line in self.errors)))


def log_of(event: Event) -> Log | None:
    """The event as a log, or ``None`` if it is no long output that can be read again.

    It is one when it came from a tool or a file, is long, and carries a path or an exit code or
    looks like the output of a build or a test.
    """
    text = event.text
    if event.kind not in LOGGED or not text:
        return None
    lines = text.splitlines()
    if len(lines) < LINES_MIN and len(text) < CHARS_MIN:
        return None
    path, code = _path(event), _exit_code(event)
    if path is None and code is None and not _OUTPUT.search(text):
        return None
    found = [
        (number, line.strip()[:LINE_CHARS_MAX])
        for number, line in enumerate(lines, 1)
        if _ERROR.search(line) and _ERROR.search(_NO_ERROR.sub("", line))
    ]
    half = ERRORS_MAX // 2
    kept = found if len(found) <= ERRORS_MAX else [*found[:half], *found[-half:]]
    return Log(path or event.id, code, len(lines), tuple(kept), len(found) - len(kept))


def _path(event: Event) -> str | None:
    for value in (event.path, *(event.metadata.get(n) for n in _PATH_NAMES), event.url):
        if isinstance(value, str) and value:
            return value
    return None


def _exit_code(event: Event) -> int | None:
    for name in _EXIT_NAMES:
        value = event.metadata.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    found = _EXIT.findall(event.text or "")
    return int(found[-1]) if found else None
