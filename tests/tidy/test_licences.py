"""Nobody who installs muniment takes on a duty to publish their own source."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from tests.tidy.licences import UNKNOWN, Package, declared_requirements, runtime_packages

# Used unmodified and only by choice, which LGPL-3.0 allows to software of any licence.
LGPL_IN_THE_EXTRA = {"psycopg", "psycopg-binary", "psycopg-pool"}


def test_the_core_needs_only_permissive_packages() -> None:
    """Each package, direct or not, states a permissive licence."""
    packages = runtime_packages(declared_requirements())
    assert {"sqlalchemy", "mako"} <= {package.name for package in packages}
    assert [package for package in packages if not package.permissive] == []


def test_the_extra_postgres_adds_only_psycopg_under_the_lgpl() -> None:
    """LGPL stays within the extra, and within the packages known to have it."""
    packages = runtime_packages(declared_requirements("postgres"))
    others = {package for package in packages if not package.permissive}
    assert {package.name for package in others} == LGPL_IN_THE_EXTRA
    assert {package.licence for package in others} == {"LGPL-3.0-only"}


@pytest.mark.parametrize(
    "lines",
    [
        "License-Expression: GPL-3.0-or-later",
        "License-Expression: MIT AND AGPL-3.0-only",
        "License: GPLv2",
        "Classifier: License :: OSI Approved :: GNU Affero General Public License v3",
        "Keywords: says-nothing",
    ],
)
def test_a_package_that_is_not_permissive_is_caught(tmp_path: Path, lines: str) -> None:
    """However it states its licence, and also when only a dependency needs it."""
    _write_package(tmp_path, "front", "License-Expression: MIT\nRequires-Dist: hidden[x]>=1")
    _write_package(tmp_path, "hidden", lines)
    packages = runtime_packages(["front"], find=lambda name: _find(tmp_path, name))
    assert [package.name for package in packages if not package.permissive] == ["hidden"]


@pytest.mark.parametrize(
    ("licence", "permissive"),
    [("MIT", True), ("(MIT OR Apache-2.0)", True), ("LGPL-3.0-only", False), (UNKNOWN, False)],
)
def test_what_counts_as_permissive(licence: str, permissive: bool) -> None:
    """Every part has to be; what is unknown is not."""
    assert Package("any", licence).permissive is permissive


def _write_package(site: Path, name: str, lines: str) -> None:
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{lines}\n")


def _find(site: Path, name: str) -> metadata.Distribution:
    (found,) = metadata.distributions(name=name, path=[str(site)])
    return found
