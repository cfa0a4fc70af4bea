"""The commands around walks: mining with them, planning them."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.console import Console

import redveil
from redveil.data.synthetic import wide_dataset
from redveil.report.text import result_view
from support.command_line import Clinic, Command


@pytest.mark.parametrize(
    ("options", "guarantee"),
    [
        (("--algorithm", "alt-mcmc", "--sampler", "walk", "--steps", 300), "asymptotic"),
        (("--algorithm", "alt-mcmc", "--depth", 3, "--steps", 300), "asymptotic"),
        (("--algorithm", "tree-pair", "--steps", 300), "asymptotic"),
        (("--algorithm", "alt-mcmc"), "exact"),
        (("--algorithm", "alt-expm"), "exact"),
        ((), "exact"),
    ],
)
def test_walks_are_called_asymptotic_and_nothing_else_is(
    clinic_files: Clinic, command: Command, options: tuple[object, ...], guarantee: str
) -> None:
    done = command(*clinic_files.mine, *options)
    assert done.code == 0
    promise = json.loads(clinic_files.result.read_text())["certificate"]
    assert promise["guarantee"] == guarantee
    assert f"ε = 1, {guarantee}" in done.out.replace(", δ = 0", "")
    walks = guarantee == "asymptotic"
    assert any("converged" in condition for condition in promise["conditions"]) == walks
    assert ("walk" in {step["mechanism"] for step in promise["steps"]}) == walks


def test_an_exact_tree_too_deep_is_refused_with_the_remedy(
    clinic_files: Clinic, command: Command
) -> None:
    options = "--algorithm", "alt-mcmc", "--depth", 3, "--sampler", "exact"
    done = command(*clinic_files.mine, *options)
    assert done.code == 2
    assert "use --sampler walk" in done.err
    assert not clinic_files.result.exists()


def test_the_published_profile_warns(clinic_files: Clinic, command: Command) -> None:
    done = command(*clinic_files.mine, "--profile", "published", "--alternations", 1, "--depth", 2)
    assert done.code == 0
    assert "NOT private in practice" in done.err
    assert "as published; see known limits" in done.out


def test_two_pass_counts_and_pruning(clinic_files: Clinic, command: Command) -> None:
    done = command(*clinic_files.mine, "--counts", "two-pass", "--prune", "auto")
    assert done.code == 0
    pair = json.loads(clinic_files.result.read_text())["tree_pairs"][0]
    assert pair["leaf_table"]["right_margin"] is None


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--profile", "leaky"),
        ("--counts", "guess"),
        ("--pair-score", "beauty"),
        ("--tree-share", "1"),
        ("--tree-share", "half"),
        ("--steps", "0"),
        ("--prune", "some"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_spent(
    clinic_files: Clinic, command: Command, option: str, value: str
) -> None:
    done = command(*clinic_files.mine, option, value)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "Value error" not in done.err
    assert not clinic_files.result.exists()


def test_a_narrow_terminal_gets_one_below_the_other() -> None:
    # A single run finds nothing about once in 150; twenty in a row, never.
    runs = (redveil.mine(wide_dataset(3000, 10, 5), 5) for _ in range(20))
    result = next(run for run in runs if len(run) > 0)
    console = Console(width=70, file=StringIO())
    console.print(result_view(result.document, width=70))
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    first = result.redescriptions[0]
    assert f"left       {first.left.text[:40]}" in shown
    assert shown.lstrip().startswith("1  Jaccard    ")


def test_published_walks_stop_at_the_threshold_that_was_given(
    clinic_files: Clinic, command: Command
) -> None:
    options = "--profile", "published", "--algorithm", "tree-pair", "--depth", 1, "--steps", 600
    done = command(*clinic_files.mine, *options, "--variance-threshold", 0.25)
    assert done.code == 0
    promise = json.loads(clinic_files.result.read_text())["certificate"]
    assert promise["parameters"]["variance_threshold"] == 0.25


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "--variance-threshold does nothing for the hardened profile"),
        (("--profile", "published"), "--variance-threshold does nothing for alt-expm; it is for"),
        (
            ("--profile", "published", "--algorithm", "tree-pair", "--variance-threshold", -1),
            "--variance-threshold must be a number that is not negative",
        ),
    ],
)
@pytest.mark.parametrize("what", ["mine", "plan"])
def test_a_threshold_that_does_nothing_is_refused(
    clinic_files: Clinic,
    command: Command,
    what: str,
    options: tuple[object, ...],
    complaint: str,
) -> None:
    first = clinic_files.mine if what == "mine" else ("plan", "-e", 1)
    done = command(*first, "--variance-threshold", 0.1, *options)
    assert done.code == 2
    assert complaint in done.err


def test_a_plan_takes_the_options_of_a_run(command: Command) -> None:
    options = "--algorithm", "tree-pair", "--profile", "published", "--variance-threshold", 0.1
    done = command("plan", "-e", 1, *options, "--steps", 500, "--pair-score", "purity")
    assert done.code == 0
    assert "tree pair" in done.out
    # A walk of a given length is not drawn exactly.
    exact, walked = ("plan", "-e", 1, "--algorithm", "alt-mcmc", "--depth", 2), ("--steps", 500)
    assert "walk" not in command(*exact).out
    assert "walk" in command(*exact, *walked).out
