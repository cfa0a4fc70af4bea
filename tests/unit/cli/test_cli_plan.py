"""The table of plans: what the tuning rule sets, and what is paid for."""

from __future__ import annotations

import re
from fractions import Fraction
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.tuning import tuned_cases
from redveil.cli.plan import cases_table
from redveil.privacy.loss import Loss


def seen(view: RenderableType) -> str:
    console = Console(file=StringIO(), width=200, highlight=False)
    console.print(view)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def heads(algorithm: str, loss: Loss) -> list[str]:
    cases = tuned_cases(make_algorithm(algorithm), None, loss.price, most=20_000)
    text = seen(cases_table(cases))
    assert len(text.splitlines()) == 1 + len(cases)
    return re.split(r"\s{2,}", text.splitlines()[0].strip())


@pytest.mark.parametrize(
    ("algorithm", "shape", "paid"),
    [
        ("twin", ["pairs of trees"], ["ε: per level"]),
        ("alt-expm", ["alternations"], ["ε: start", "ε: per level"]),
        ("alt-mcmc", ["alternations"], ["ε: start", "ε: per tree"]),
    ],
)
def test_a_table_of_plans_shows_what_the_rule_sets_and_what_is_paid_for(
    algorithm: str, shape: list[str], paid: list[str]
) -> None:
    assert heads(algorithm, Loss(Fraction(1))) == [
        "entities from",
        *shape,
        "depth",
        "root score",
        "ε: size",
        *paid,
        "ε: per leaf table",
        "error per cell",
    ]
    assert "ρ: size" in heads(algorithm, Loss(Fraction(1), Fraction(1, 10**6)))


def test_a_table_of_plans_lists_every_case() -> None:
    cases = tuned_cases(make_algorithm("alt-expm"), None, Fraction(1), most=20_000)
    rows = [line.split() for line in seen(cases_table(cases)).splitlines()[1:]]
    assert rows[0] == ["0", "0", "1", "agreement", "1/100", "99/200", "–", "99/200", "±2.87"]
    prices = ["1/100", "33/200", "33/400", "33/200"]
    assert rows[-1] == ["10,000", "2", "2", "leverage", *prices, "±8.58"]
