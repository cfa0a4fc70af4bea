"""What several places state about versions is the same everywhere."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.source import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
BUILD = [Requirement(text) for text in PROJECT["build-system"]["requires"]]
EXTRAS = PROJECT["project"]["optional-dependencies"]
DIRECT = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
URL = re.compile(r"\w+://|--(?:extra-)?index-url|--find-links")


def pins(name: str) -> dict[str, set[str]]:
    """Return the versions that a file of requirements pins, by package."""
    found: dict[str, set[str]] = {}
    for line in (REPOSITORY / "requirements" / name).read_text(encoding="utf-8").splitlines():
        if "==" in line:
            package, version = line.partition(";")[0].strip().split("==")
            found.setdefault(canonicalize_name(package), set()).add(version)
    return found


def required(*extras: str) -> list[Requirement]:
    return [*DIRECT, *BUILD, *(Requirement(text) for extra in extras for text in EXTRAS[extra])]


def test_every_dependency_is_pinned_to_a_version_that_is_allowed() -> None:
    locked = pins("locked.txt")
    for one in required(*EXTRAS):
        versions = locked[canonicalize_name(one.name)]
        assert versions, f"{one.name}: run ./scripts/lock"
        assert all(one.specifier.contains(version) for version in versions), one.name


def test_the_lowest_dependencies_are_the_lower_bounds() -> None:
    lowest = pins("lowest.txt")
    for one in required("dev", "pandas", "polars"):
        (bound,) = one.specifier
        assert bound.operator == ">="
        (version,) = lowest[canonicalize_name(one.name)]
        # The first release of 2.11 is 2.11.0, or a later one if that was withdrawn.
        assert f"{version}.".startswith(f"{bound.version}."), f"{one.name}: run ./scripts/lock"


def test_what_builds_the_package_is_pinned_too() -> None:
    text = (REPOSITORY / "requirements" / "build.in").read_text(encoding="utf-8")
    assert {str(one) for one in BUILD} <= set(text.splitlines())


@pytest.mark.parametrize("name", ["locked.txt", "lowest.txt", "build.in"])
def test_pins_name_no_place_to_download_from(name: str) -> None:
    assert not URL.search((REPOSITORY / "requirements" / name).read_text(encoding="utf-8"))


def test_the_supported_pythons_are_those_that_are_tested() -> None:
    script = (REPOSITORY / "scripts" / "environment").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^tested_versions=\((.*)\)$", script, re.MULTILINE)
    prefix = "Programming Language :: Python :: 3."
    claimed = [text for text in PROJECT["project"]["classifiers"] if text.startswith(prefix)]
    assert sorted(listed.split()) == [text.rpartition(" ")[2] for text in claimed]
    (lowest,) = re.findall(r"^lowest_version=(.*)$", script, re.MULTILINE)
    assert PROJECT["project"]["requires-python"] == f">={lowest}"
    assert min(listed.split()) == lowest


def test_citations_name_this_version() -> None:
    citation = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['project']['version']}\n" in citation


def test_redveil_research_fits_this_version() -> None:
    path = REPOSITORY / "packages" / "research" / "pyproject.toml"
    research = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    version = PROJECT["project"]["version"]
    assert research["version"] == version
    # What it needs is what this project is tested with, and so it is pinned with that.
    known = {*PROJECT["project"]["dependencies"], *EXTRAS["dev"], f"redveil=={version}"}
    assert set(research["dependencies"]) <= known
