from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import openpyxl
import pytest

from redveil.base.csv_text import csv_text
from redveil.cli.listing import SortBy
from redveil.findings.reporting import Constraints
from redveil.owner import truth
from redveil.report.full import full_fragment
from redveil.report.html import fragment
from redveil.report.listing import SortKey
from redveil.report.result import Result
from support.clinic import clinic, mined_clinic
from support.command_line import Command
from support.console import is_one_line
from support.named import HOSTILE_NAMES, mined_with

MINED = mined_clinic(Constraints())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    MINED.save(path)
    return path


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--max-support", "0.5"], lambda r: r.filter(max_support=0.5)),
        (["--min-corrected", "0.6"], lambda r: r.filter(min_corrected=0.6)),
        (["--min-jaccard", "0.7"], lambda r: r.filter(min_jaccard=0.7)),
        (["--min-support", "300"], lambda r: r.filter(min_support=300)),
        (["--max-p-value", "1e-60"], lambda r: r.filter(max_p_value=1e-60)),
        (["--max-literals", "1"], lambda r: r.filter(max_literals=1)),
        (["--max-disjuncts", "1"], lambda r: r.filter(max_disjuncts=1)),
        (["--confirmed"], lambda r: r.filter(confirmed=True)),
        (["--prune", "300"], lambda r: r.filter(prune=300)),
        (["--complement"], Result.complement),
        (["--sort", "p", "--top", "2"], lambda r: r.sort("p").top(2)),
        (
            ["--top", "1", "--sort", "jaccard", "--complement", "--max-support", "0.5"],
            lambda r: r.filter(max_support=0.5).complement().sort("jaccard").top(1),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_are_the_methods(
    options: list[str], expected: Callable[[Result], Result], file: Path, command: Command
) -> None:
    done = command("show", file, "--format", "csv", *options)
    assert (done.code, done.err) == (0, "")
    assert done.out == csv_text(expected(MINED).to_arrow())


def test_orders_are_those_of_results() -> None:
    assert [one.value for one in SortBy] == list(get_args(SortKey))


def test_the_table_says_how_it_was_made(file: Path, command: Command) -> None:
    done = command("show", file, "--max-support", "0.5", "--sort", "corrected", "--top", "2")
    assert "at no cost: support at most 0.5; sorted by corrected; the first 2" in done.out
    assert "Listed again" not in command("show", file).out


@pytest.mark.parametrize("name", ["few.json", "-"])
def test_a_filtered_list_is_a_result_again(name: str, file: Path, command: Command) -> None:
    target = file.parent / name if name != "-" else name
    done = command("show", file, "--max-support", "0.5", "--top", "2", "-o", target)
    assert done.code == 0
    expected = MINED.filter(max_support=0.5).top(2)
    if name == "-":
        assert (done.out, done.err) == (expected.to_json(), "")
        return
    assert done.err == f"written to {target}\n"
    assert Result.read(target) == expected
    again = json.loads(command("show", target, "--format", "json").out)
    assert again["listing"]["top"] == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.csv", lambda r: csv_text(r.to_arrow())),
        ("list.html", lambda r: fragment(r.document) + "\n"),
    ],
)
def test_the_name_of_the_output_says_the_format(
    name: str, text: Callable[[Result], str], file: Path, command: Command
) -> None:
    target = file.parent / name
    for count in (1, 2):
        done = command("show", file, "--top", count, "-o", target)
        assert done.code == 0
        assert target.read_text(encoding="utf-8") == text(MINED.top(count))
    kept = target.with_name(f"{name}.1")
    assert f"previous list kept as {kept}" in done.err
    assert kept.read_text(encoding="utf-8") == text(MINED.top(1))
    assert sorted(path.name for path in file.parent.iterdir()) == [name, kept.name, "result.json"]


def test_a_table_that_begins_like_a_list_is_kept(file: Path, command: Command) -> None:
    target = file.parent / "list.csv"
    target.write_text("left,right,jaccard,mine\n1,2,3,4\n")
    assert command("show", file, "-o", target).code == 0
    assert target.with_name("list.csv.1").read_text() == "left,right,jaccard,mine\n1,2,3,4\n"


def test_a_workbook_is_written(file: Path, command: Command) -> None:
    target = file.parent / "list.xlsx"
    done = command("show", file, "--format", "excel", "--max-literals", "1", "-o", target)
    assert (done.code, done.err) == (0, f"written to {target}\n")
    rows = list(openpyxl.load_workbook(target)["redescriptions"].iter_rows(values_only=True))
    assert [row[0] for row in rows[1:]] == [o.left.text for o in MINED.filter(max_literals=1)]
    # Nobody can tell it from a table of somebody's data.
    refused = command("show", file, "-o", target)
    assert refused.code == 2
    assert "not replaced, because it is an Excel file" in refused.err


def test_a_table_on_standard_output_is_the_table(file: Path, command: Command) -> None:
    options = "--top", "1", "--format", "table"
    assert command("show", file, *options, "-o", "-").out == command("show", file, *options).out


@pytest.mark.parametrize("name", ["diagnoses.csv"])
def test_a_list_never_takes_the_place_of_a_table(name: str, file: Path, command: Command) -> None:
    target = file.parent / name
    before = "id,gout\n1,true\n"
    target.write_text(before)
    refused = command("show", file, "-o", target)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert target.read_text() == before


def test_an_earlier_result_is_kept(file: Path, command: Command) -> None:
    target = file.parent / "few.json"
    for count in (1, 2):
        done = command("show", file, "--top", count, "-o", target)
    assert "previous result kept as" in done.err
    assert len(Result.read(target.with_name("few.json.1"))) == 1


def test_everything_is_shown_on_request(file: Path, command: Command) -> None:
    shown = command("show", file, "--full", "--plan").out
    for label in ("corrected [95 %]", "leaf table", "patients in both", "Privacy certificate"):
        assert label in shown
    assert command("show", file, "--full", "-f", "html").out == (
        full_fragment(MINED.document) + "\n"
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--max-support", "3"], "--max-support must lie between 0 and 1"),
        (["--min-corrected", "2"], "--min-corrected must lie between 0 and 1"),
        (["--max-literals", "0"], "--max-literals must lie between 1 and 1000"),
        (["--prune", "some"], "--prune must be a number of entities, or auto"),
        (["--top", "0"], "'--top'"),
        (["--sort", "beauty"], "'--sort'"),
        (["--format", "excel"], "name a file with --output, such as list.xlsx"),
        (["--format", "excel", "-o", "-"], "name a file with --output, such as list.xlsx"),
        (["-o", "list.pdf"], "list.pdf: say what to write with --format: json, csv, excel"),
        (["--format", "table", "-o", "list.txt"], "list.txt: say what to write with --format"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_one_line(
    options: list[str], problem: str, file: Path, command: Command
) -> None:
    refused = command("show", file, *options)
    assert (refused.code, refused.out) == (2, "")
    assert is_one_line(refused.err)
    assert problem in refused.err


def test_the_input_is_never_written_over(file: Path, command: Command) -> None:
    refused = command("show", file, "--top", "1", "-o", file)
    assert refused.code == 2
    assert "this command needs that file itself" in refused.err
    assert Result.read(file) == MINED


def test_a_published_list_is_filtered_as_the_paper_would(tmp_path: Path, command: Command) -> None:
    published = mined_clinic(Constraints(), profile="published")
    published.save(tmp_path / "result.json")
    done = command("show", tmp_path / "result.json", "-f", "csv", "--min-corrected", "0.3")
    lefts = [row["left"] for row in csv.DictReader(io.StringIO(done.out))]
    assert lefts == [one.left.text for one in published.filter(min_corrected=0.3)]
    refused = command("show", tmp_path / "result.json", "--confirmed")
    assert refused.code == 2
    assert "the published profile confirms nothing" in refused.err


def test_true_values_are_announced(tmp_path: Path, command: Command) -> None:
    truth(MINED, clinic()).save(tmp_path / "result.json")
    done = command("show", tmp_path / "result.json", "--top", "1", "-o", tmp_path / "few.json")
    assert done.err.startswith("NOT PRIVATE")
    assert Result.read(tmp_path / "few.json").document.warning
    assert "NOT PRIVATE" in command("show", tmp_path / "result.json", "--full").err


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_cannot_steer_the_terminal(name: str, tmp_path: Path, command: Command) -> None:
    mined_with(name).save(tmp_path / "result.json")
    for options in (["--full"], ["--complement"], ["--full", "-f", "html"]):
        shown = command("show", tmp_path / "result.json", *options)
        assert shown.code == 0
        assert "\x1b" not in shown.out


def test_the_help_has_panels(command: Command) -> None:
    shown = command("show", "--help").out
    assert shown.index("What to list, at no privacy cost:") < shown.index("In which order:")
    assert "rank|corrected|jaccard|support|p" in shown
