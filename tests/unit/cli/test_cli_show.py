from __future__ import annotations

import csv
import io
import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from redveil.cli.console import write
from redveil.report.html import fragment
from redveil.report.result import Result
from support.clinic import NOTHING, mined_clinic
from support.command_line import Clinic, Command
from support.console import is_one_line
from support.results import document, redescription


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    Result(document(redescription("[bold]a[/bold]"), redescription("gout"))).save(path)
    return path


def test_the_table_shows_queries_and_certificate(file: Path, command: Command) -> None:
    done = command("show", file)
    assert (done.code, done.err) == (0, "")
    assert '["[bold]a[/bold]"]' in done.out
    assert "Privacy certificate" in done.out
    assert "2/3" not in done.out


def test_the_plan_is_shown_on_request(file: Path, command: Command) -> None:
    assert "2/3" in command("show", file, "--plan").out


def test_csv_is_the_frame(file: Path, command: Command) -> None:
    done = command("show", file, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["left"] for row in rows] == ['["[bold]a[/bold]"]', "[gout]"]
    assert [float(row["jaccard"]) for row in rows] == [0.5, 0.5]


def test_html_is_printed_as_it_is(file: Path, command: Command) -> None:
    done = command("show", file, "--format", "html")
    assert done.out == fragment(Result.read(file).document) + "\n"


def test_an_empty_result_says_why(tmp_path: Path, command: Command) -> None:
    mined_clinic(NOTHING).save(tmp_path / "result.json")
    done = command("show", tmp_path / "result.json")
    assert done.code == 0
    assert done.out.startswith("The noise is too large to show that any redescription meets")
    csv_text = command("show", tmp_path / "result.json", "-f", "csv").out
    assert csv_text.count("\n") == 1
    assert csv_text.startswith("left,right,jaccard")


@pytest.mark.parametrize("content", ["", "{}", '{"version": 2}', "[" * 2000, "left,right\n1,2\n"])
def test_a_damaged_result_is_one_line(content: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "result.json"
    path.write_text(content)
    refused = command("show", path)
    assert (refused.code, refused.out) == (2, "")
    assert is_one_line(refused.err)
    assert str(path) in refused.err


def test_prices_that_are_no_numbers_are_one_line(file: Path, command: Command) -> None:
    file.write_text(file.read_text().replace('"1/3"', '"a third"'))
    refused = command("show", file)
    assert refused.code == 2
    assert is_one_line(refused.err)


def test_the_plan_is_listed_with_its_sum(command: Command) -> None:
    done = command("plan", "--epsilon", "1", "--entities", "5000")
    lines = [line.split() for line in done.out.splitlines()]
    assert done.code == 0
    end = lines.index(["sum", "1"])
    assert sum(Fraction(line[-1]) for line in lines[1:end]) == 1


@pytest.mark.parametrize("epsilon", ["1", "0.1", "1/3", "2.5e-3"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 7, 3), (6, 2, 11)])
def test_a_plan_in_json_adds_up_exactly(
    epsilon: str, shape: tuple[int, int, int], command: Command
) -> None:
    depth, trials, alternations = shape
    options = "--depth", depth, "--trials", trials, "--alternations", alternations, "--json"
    done = command("plan", "--epsilon", epsilon, "--algorithm", "alt-expm", *options)
    made = json.loads(done.out)
    assert Fraction(made["epsilon"]) == Fraction(epsilon)
    assert sum(Fraction(step["epsilon"]) for step in made["steps"]) == Fraction(epsilon)
    assert len(made["steps"]) == trials * (1 + depth * (alternations + 1) + alternations)


def test_without_a_size_all_cases_are_listed(command: Command) -> None:
    done = command("plan", "--epsilon", "1")
    assert done.code == 0
    assert "strongly related" in done.out
    listed = json.loads(command("plan", "--epsilon", "1/7", "--json").out)
    sizes = [case["entities_from"] for case in listed["cases"]]
    assert sizes == sorted(set(sizes))
    assert len({(case["depth"], case["trials"]) for case in listed["cases"]}) > 2
    for case in listed["cases"]:
        assert case["steps"][0]["name"] == "size"
        assert sum(Fraction(step["epsilon"]) for step in case["steps"]) == Fraction(1, 7)


@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize("algorithm", ["alt-expm", "alt-mcmc"])
def test_all_cases_of_an_alternation_are_listed(
    algorithm: str, trials: int, command: Command
) -> None:
    done = command("plan", "--epsilon", "1", "--algorithm", algorithm, "--trials", trials)
    assert done.code == 0
    assert done.err == ""
    rows = [line.split() for line in done.out.splitlines() if "±" in line]
    # A start alone has no trees to pay for; every other start costs what a table costs.
    assert [row[1] for row in rows] == ["0", "1", "2"]
    assert [row[5] == "–" for row in rows] == [True, False, False]
    assert all(row[4] == row[6] for row in rows)


def test_a_schema_with_more_splits_asks_for_more_entities(
    clinic_files: Clinic, command: Command
) -> None:
    def first(*options: object) -> int:
        cases = json.loads(command("plan", "-e", "1", "--json", *options).out)["cases"]
        return int(next(case["entities_from"] for case in cases if case["depth"] == 2))

    assert first("--schema", clinic_files.schema) <= first()


def test_what_would_do_nothing_is_refused(command: Command) -> None:
    refused = command("plan", "--epsilon", "1", "--alternations", "3")
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "alternations does nothing for twin" in refused.err


def test_a_plan_with_a_delta_is_priced_in_rho(command: Command) -> None:
    options = "--epsilon", "1", "--delta", "1e-6"
    listed = json.loads(command("plan", *options, "--entities", "50000", "--json").out)
    assert (listed["epsilon"], listed["delta"]) == ("1", "1/1000000")
    assert sum(Fraction(step["rho"]) for step in listed["steps"]) == Fraction(listed["rho"])
    shown = command("plan", *options, "--entities", "50000").out.splitlines()
    assert shown[0].split() == ["step", "mechanism", "ρ"]
    assert ["sum", listed["rho"]] in [line.split() for line in shown]
    assert "ρ: size" in command("plan", *options).out
    assert "ε: size" in command("plan", "--epsilon", "1").out
    refused = command("plan", *options, "--profile", "published")
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "does not support δ" in refused.err


@pytest.mark.parametrize("form", ["csv", "html"])
def test_a_name_cannot_steer_the_terminal(form: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "result.json"
    Result(document(redescription("a\x1b[31m"))).save(path)
    shown = command("show", path, "--format", form)
    assert shown.code == 0
    assert "\x1b" not in shown.out


@pytest.mark.parametrize("terminal", [True, False])
def test_what_is_written_is_printable_on_a_terminal_and_untouched_elsewhere(
    terminal: bool,  # noqa: FBT001 - a case of the test
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    write("a\x1b[31mb\nc")
    assert capsys.readouterr().out == ("a [31mb\nc\n" if terminal else "a\x1b[31mb\nc\n")
