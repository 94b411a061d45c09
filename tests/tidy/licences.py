"""The licence of each package that muniment needs at run time.

python -m tests.tidy.licences        # prints the list
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tidy.project import PYPROJECT

UNKNOWN = "unknown"

# As the packages write them: SPDX expressions, and the older free text.
PERMISSIVE = {
    "0BSD",
    "Apache Software License",
    "Apache-2.0",
    "BSD License",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "ISC License",
    "MIT",
    "MIT License",
    "PSF-2.0",
    "Python Software Foundation License",
    "Unlicense",
}

Find = Callable[[str], metadata.Distribution]


@dataclass(frozen=True, slots=True)
class Package:
    """A package, its licence in its own words, and whether every part of that is permissive."""

    name: str
    licence: str

    @property
    def permissive(self) -> bool:
        parts = re.split(r"\s+(?:AND|OR|WITH)\s+|[()]", self.licence)
        return all(part.strip() in PERMISSIVE for part in parts if part.strip())


def declared_requirements(extra: str | None = None) -> list[str]:
    """What `pyproject.toml` asks for: the core, or one extra."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    found: list[str] = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return found


def runtime_packages(
    requirements: Iterable[str], find: Find = metadata.distribution
) -> list[Package]:
    """Everything some requirements bring along on this machine, each package once."""
    found: dict[str, Package] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if (name, frozenset(wanted.extras)) in seen:
            continue
        seen.add((name, frozenset(wanted.extras)))
        distribution = find(name)
        found[name] = Package(name, licence_of(distribution))
        waiting += _needed_by(distribution, wanted.extras)
    return [found[name] for name in sorted(found)]


def _needed_by(distribution: metadata.Distribution, extras: set[str]) -> list[Requirement]:
    needed = [Requirement(text) for text in distribution.requires or ()]
    return [
        requirement
        for requirement in needed
        if requirement.marker is None
        or any(requirement.marker.evaluate({"extra": extra}) for extra in {"", *extras})
    ]


def licence_of(distribution: metadata.Distribution) -> str:
    """The SPDX expression, else the short field, else the classifier."""
    fields = distribution.metadata
    short = "".join(fields.get_all("License") or ()).strip()
    classifiers = [
        re.sub(r" \([A-Z]+\)$", "", line.rpartition(" :: ")[2])
        for line in fields.get_all("Classifier") or ()
        if line.startswith("License :: ")
    ]
    stated = "".join(fields.get_all("License-Expression") or ()) or (
        short if "\n" not in short else ""
    )
    return stated or " AND ".join(classifiers) or UNKNOWN


def main() -> None:
    """Print the packages of the core, then those of the extra `postgres`."""
    core = runtime_packages(declared_requirements())
    for package in core:
        print(f"{package.name:24}{package.licence}")
    for package in runtime_packages(declared_requirements("postgres")):
        if package not in core:
            print(f"{package.name:24}{package.licence}   (extra postgres)")


if __name__ == "__main__":
    main()
