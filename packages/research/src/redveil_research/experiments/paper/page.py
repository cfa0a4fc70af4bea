"""The page of the documentation with ours beside the paper's: words, tables and figures.

The words are in words.toml. Numbers in them are computed from the runs.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from redveil_research.experiments.console import Table
from redveil_research.experiments.paper.catalogue import EXPERIMENTS, Experiment
from redveil_research.experiments.paper.conduct import Conducted
from redveil_research.experiments.paper.in_short import facts, significance_facts
from redveil_research.experiments.paper.pooled import Pool

EVIDENCE: Final = "evidence"
PREFIX: Final = "paper-"


def write_page(done: Conducted, path: Path) -> None:
    """Write the page, and its figures into a folder beside it."""
    evidence = path.parent / EVIDENCE
    evidence.mkdir(parents=True, exist_ok=True)
    for one in EXPERIMENTS:
        for name, _ in one.draws:
            shutil.copyfile(done.folder / f"{name}.svg", evidence / f"{PREFIX}{name}.svg")
    path.write_text("\n\n".join(sections(done)) + "\n", encoding="utf-8")


def sections(done: Conducted) -> Iterator[str]:
    """Yield the parts of the page."""
    pool = done.pool
    yield "# The paper's experiments, made again"
    yield _opening(done)
    yield "## In short"
    yield _said("before")
    yield in_short(pool)
    for one in EXPERIMENTS:
        yield f"## {one.title[0].upper()}{one.title[1:]}"
        yield f"*{_place(one)}; `redveil experiment {one.name}`*"
        if said := words()["sections"].get(one.name, "").strip():
            yield said.format(**significance_facts(pool)) if one.name == "significance" else said
        if one.table is not None:
            yield one.table(pool).markdown()
        for name, _ in one.draws:
            yield f"![{one.title}]({EVIDENCE}/{PREFIX}{name}.svg)"
    yield _said("closing")


def _place(one: Experiment) -> str:
    inside = one.place.startswith(("Table", "Figure"))
    return f"{one.place} of the paper" if inside else one.place.capitalize()


def _opening(done: Conducted) -> str:
    runs = [run for run in done.pool.runs if not run.histogram]
    return _said("opening").format(
        quick=" --quick" if done.quick else "",
        few=_said("quick" if done.quick else "full"),
        runs=len(runs),
        cpu=sum(run.cpu for run in done.pool.runs) / 60,
        codes=", ".join(f"`{code}`" for code in sorted({run.code for run in done.pool.runs})),
    )


@cache
def words() -> dict[str, Any]:
    """Return the words of the page.

    >>> "opening" in words()
    True
    """
    text = files("redveil_research.experiments.paper").joinpath("words.toml").read_text("utf-8")
    return tomllib.loads(text)


def _said(name: str) -> str:
    return str(words()[name]).strip()


def in_short(pool: Pool) -> str:
    """Return one line for each table and figure: what the runs say, in numbers."""
    found = facts(pool)
    lines = [(place, said.format(**found)) for place, said in words()["in_short"].items()]
    return Table(("table or figure", "what the runs say"), lines, texts=2).markdown()
