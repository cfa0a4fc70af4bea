"""The table of plans: what the tuning rule sets, and what is paid for."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.tuning import tuned_cases
from redveil.commands.plan import cases_table, shapes_table
from redveil.losses.loss import Loss, Rho
from support.command_line import Command, caller


def seen(view: RenderableType) -> str:
    console = Console(file=StringIO(), width=200, highlight=False)
    console.print(view)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def heads(algorithm: str, loss: Loss) -> list[str]:
    # A given number of pairs leaves the depth to the rule, and no scout.
    wanted = make_algorithm(algorithm, trials=2 if algorithm == "twin" else None)
    cases = tuned_cases(wanted, None, loss.price, most=20_000)
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
        "ε: size",
        *paid,
        "ε: per leaf table",
        "error per cell",
    ]
    assert "ρ: size" in heads(algorithm, Loss(Fraction(1), Fraction(1, 10**6)))


def test_a_table_of_plans_lists_every_case() -> None:
    cases = tuned_cases(make_algorithm("alt-expm"), None, Fraction(1), most=20_000)
    rows = [line.split() for line in seen(cases_table(cases)).splitlines()[1:]]
    assert rows[0] == ["0", "0", "1", "1/100", "99/200", "–", "99/200", "±2.87"]
    prices = ["1/100", "33/200", "33/400", "33/200"]
    assert rows[-1] == ["10,000", "2", "2", *prices, "±8.58"]


def test_where_a_scout_decides_shapes_are_listed_by_how_related_the_views_are() -> None:
    cases = tuned_cases(make_algorithm(), None, Fraction(1), most=10_000)
    lines = seen(shapes_table(cases)).splitlines()
    found = [re.split(r"\s{2,}", line.strip()) for line in lines]
    assert found[0] == [
        *("entities", "ε: size", "ε: scout", "error per cell"),
        *("weakly related", "usually related", "strongly related"),
    ]
    alone = ["1 pair of depth 1"] * 3
    assert found[1] == ["0", "1/100", "–", "±2.87", *alone]
    assert found[2][0] == "450"
    assert found[2][4:] == ["the first choice again", "the first choice again", "1 pair of depth 1"]
    assert found[-1] == [
        *("10,000", "1/100", "0.04", "±71.4"),
        *("8 pairs of depth 1", "8 pairs of depth 2", "11 pairs of depth 2"),
    ]
    in_rho = tuned_cases(make_algorithm(), None, Rho(Fraction(1)), most=1)
    assert "ρ: scout" in seen(shapes_table(in_rho))


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return caller(monkeypatch, capsys)


def test_a_plan_with_a_scout_says_what_is_decided_later(command: Command) -> None:
    out = command("plan", "--epsilon", "1", "--entities", "3000").out
    assert "trial 1, twin trees, level 1" in out
    words = " ".join(out.split())
    assert "Trial 1 is a scout. What it finds decides how the rest is spent" in words
    assert "If weakly related, 4 pairs of depth 1; if usually related, 7 pairs of depth 1;" in words
    assert "if strongly related, 6 pairs of depth 2." in words
    for fewer in (["--entities", "300"], ["--entities", "3000", "--depth", "2"]):
        assert "scout" not in command("plan", "--epsilon", "1", *fewer).out


def test_a_plan_with_a_scout_as_json(command: Command) -> None:
    found = json.loads(command("plan", "--epsilon", "1", "--entities", "3000", "--json").out)
    assert (found["depth"], found["trials"], found["scout"]) == (1, 8, "1/10")
    assert found["by_related"]["usually"] == {
        name: found[name] for name in ("depth", "trials", "root_score", "scout", "again")
    }
    assert found["by_related"]["strongly"]["depth"] == 2
    assert sum(Fraction(step["epsilon"]) for step in found["steps"]) == 1
    cases = json.loads(command("plan", "--epsilon", "1", "--json").out)["cases"]
    assert "by_related" not in cases[0]
    assert [one["entities_from"] for one in cases[:4]] == [0, 450, 500, 1000]
    assert set(cases[1]["by_related"]) == {"weakly", "usually", "strongly"}


def test_without_entities_a_plan_lists_cases(command: Command) -> None:
    out = command("plan", "--epsilon", "1").out
    assert "usually related" in out
    assert "Use --entities to see every step." in " ".join(out.split())
    assert "usually related" not in command("plan", "--epsilon", "1", "-a", "alt-expm").out


def test_what_is_detected_is_shown_drawn_or_written_as_json(
    command: Command, tmp_path: Path
) -> None:
    given = ("plan", "--epsilon", "1", "--entities", "5000")
    detect = command(*given, "--detect").out
    assert "What a run with 5,000 entities would detect" in detect
    assert "A proposal" not in detect
    assert "No data was used." in detect
    study = command(*given, "--study").out
    assert "A proposal for a study" in study
    assert "What a run" not in study
    found = json.loads(command(*given, "--detect", "--json").out)
    assert set(found) == {"entities", "detect"}
    assert set(json.loads(command(*given, "--study", "--json").out)) == {"entities", "study"}


def test_detection_needs_a_number_of_entities(command: Command) -> None:
    for asked in ("--detect", "--study"):
        refused = command("plan", "--epsilon", "1", asked)
        assert refused.code == 2
        assert "give --entities" in refused.err
