from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

import redveil
from redveil.errors import InputError
from redveil_research.experiments import datasets
from redveil_research.experiments.generators import generate
from redveil_research.experiments.runs import Run, append, newest, read, settings_name, settings_of
from redveil_research.experiments.series import Task, do_all, work
from redveil_research.experiments.subjects import World
from redveil_research.experiments.worth import (
    HEADS,
    main,
    markdown,
    ordered,
    subjects_of,
    summarise,
    summarise_all,
    target_of,
    targets,
)

OURS = "alt-expm:hardened"


def run(number: int = 1, settings: str = "s", epsilon: str = "1", **rest: object) -> Run:
    return Run("a", OURS, epsilon, number, settings, 2.0, 1.0, **rest)  # type: ignore[arg-type]


def found(
    number: int, true: float, p: float, *, share: float = 0.3, confirmed: bool | None = True
) -> Run:
    """A run with one redescription, 0.05 off."""
    return run(
        number,
        jaccard=(true,),
        corrected=(true - 0.1,),
        p_value=(p,),
        novelty=(1.0,),
        literals=(2,),
        share=(share,),
        low=(true - 0.05,),
        high=(true + 0.15,),
        p_bound=(0.01,),
        confirmed=(confirmed,),
    )


def everything(out: Path, runs: int, algorithms: str = OURS, limit: float | None = None) -> None:
    main(
        runs=runs,
        epsilon=["5,0.01"],
        only=["survey"],
        algorithms=algorithms,
        out=out,
        limit_seconds=limit,
        generated=True,
        rows=["300"],
    )


def test_an_experiment_is_resumed_and_ends_in_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything(tmp_path / "new", runs=1)
    journal = tmp_path / "new" / "generated.jsonl"
    first = journal.read_text()
    assert len(first.splitlines()) == 2
    everything(tmp_path / "new", runs=2, algorithms=f"{OURS},alt-expm")
    # Finished runs stay; only missing ones are done.
    assert journal.read_text().startswith(first)
    done = read(journal)
    assert len(done) == len({(*one.row, one.number) for one in done}) == 2 * 2 * 2
    capsys.readouterr()
    everything(tmp_path / "new", runs=2)
    assert len(read(journal)) == 8
    assert "run" not in capsys.readouterr().err.replace("runs", "")
    rows = [
        [text.strip() for text in line.split("|")[1:-1]]
        for line in (tmp_path / "new" / "generated.md").read_text().splitlines()
        if line.startswith("|")
    ]
    assert rows[0] == list(HEADS)
    assert [row[:4] for row in rows[2:]] == [
        ["survey, 300", "5", OURS, "2"],
        ["survey, 300", "5", "alt-expm", "2"],
        ["survey, 300", "0.01", OURS, "2"],
        ["survey, 300", "0.01", "alt-expm", "2"],
    ]


def test_a_row_beyond_its_time_limit_gets_no_further_run(tmp_path: Path) -> None:
    everything(tmp_path, runs=5, limit=0.0)
    assert [one.number for one in read(tmp_path / "generated.jsonl")] == [1] * 2
    assert all(one.runs == 1 for one in summarise_all(read(tmp_path / "generated.jsonl")))


def test_other_settings_are_run_again(tmp_path: Path) -> None:
    task = Task(World("noise", 100), OURS, ("1",), 1, None, tmp_path / "runs.jsonl")
    append(task.journal, Run("noise, 100", OURS, "1", 1, "another version", 1.0, 1.0))
    work(task)
    assert len(read(task.journal)) == 2
    assert summarise_all(read(task.journal))[0].cpu != 1.0


def test_parallel_processes(tmp_path: Path) -> None:
    journal = tmp_path / "runs.jsonl"
    subjects = [World(name, 100) for name in ("noise", "wide")]
    do_all([Task(one, OURS, ("1",), 2, None, journal) for one in subjects], workers=2)
    assert sorted((one.data, one.number) for one in read(journal)) == [
        (name, number) for name in ("noise, 100", "wide, 100") for number in (1, 2)
    ]


def test_an_incomplete_line_costs_that_run_only(tmp_path: Path) -> None:
    journal = tmp_path / "runs.jsonl"
    append(journal, run(1))
    append(journal, run(2))
    journal.write_bytes(journal.read_bytes()[:-20])
    append(journal, run(3))
    with journal.open("a") as file:
        file.write('{"data": "of another kind"}\n[1]\n')
    assert [one.number for one in read(journal)] == [1, 3]
    assert read(journal)[0] == run(1)


def test_a_journal_needs_its_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does its folder exist"):
        append(tmp_path / "nowhere" / "runs.jsonl", run())


def test_a_summary_pools_redescriptions_and_counts_empty_runs() -> None:
    runs = [
        found(1, 0.5, 1e-5),
        found(2, 0.7, 0.5, share=0.6, confirmed=False),
        found(3, 0.6, 1e-9),
        run(4),
    ]
    one = summarise(runs)
    assert (one.runs, one.empty, one.found) == (4, 1, 0.75)
    worths = [0.4 * 0.99**2, -1.0, 0.5 * 0.99**2, 0.0]
    assert [each.worth for each in runs] == pytest.approx(worths)
    assert one.worth[0] == pytest.approx(sum(worths) / 4)
    assert one.significant == pytest.approx(2 / 3)
    assert one.confirmed == pytest.approx(2 / 3)
    assert one.larger == pytest.approx(1 / 3)
    assert one.inside == 1.0
    assert one.p_within_bound == pytest.approx(2 / 3)
    assert (one.width, one.jaccard, one.corrected) == pytest.approx((0.2, 0.6, 0.5))
    assert (one.literals, one.cpu) == (2, 1.0)


def test_a_true_index_outside_its_interval_is_counted() -> None:
    outside = replace(found(1, 0.5, 0.0), low=(0.51,))
    assert summarise([outside, found(2, 0.5, 0.0)]).inside == 0.5


def test_profiles_that_confirm_nothing_have_a_dash() -> None:
    one = summarise([found(1, 0.5, 0.0, confirmed=None)])
    assert math.isnan(one.confirmed)


def test_the_first_release_and_the_target_stand_beside_the_default() -> None:
    ours, other = (
        markdown([summarise([Run("MAMMAL", name, "1", 1, "s", 1.0, 1.0)])]).splitlines()[-1]
        for name in ("twin", "alt-expm")
    )
    assert "| 0.00 | 1.24 | 3.10 |" in ours
    assert "| 0.00 | – | – |" in other


def test_every_target_is_about_a_data_set_and_above_the_first_release() -> None:
    rows = [(one.data, one.epsilon) for one in targets()]
    assert len(set(rows)) == len(rows) == 9
    for one in targets():
        assert datasets.find(one.data).name == one.data
        assert one.first <= one.best < one.target
        assert target_of(one.data, "twin", one.epsilon) is one


def test_nothing_found_is_a_dash_not_a_number() -> None:
    one = summarise([run(1), run(2)])
    assert math.isnan(one.significant)
    assert "nan" not in markdown([one])


def test_epsilons_are_sorted_as_numbers() -> None:
    runs = [run(epsilon=price) for price in ("0.1", "10", "1/3", "2")]
    assert [one.epsilon for one in ordered(summarise_all(runs), [], [])] == [
        "10",
        "2",
        "1/3",
        "0.1",
    ]


def test_the_papers_parameters_for_large_data() -> None:
    small, large = (settings_of("alt-mcmc", large=large) for large in (False, True))
    steps = [len(redveil.plan(1, **one).steps) for one in (small, large)]
    # A tree, then a tree and two counts for each alternation.
    assert steps == [1 + 3 * 4, 1 + 3 * 20]


def test_different_settings_have_different_names() -> None:
    dataset, other = generate("noise", 30).load(), generate("survey", 30).load()
    names = {
        settings_name(one, settings_of(algorithm, large=large))
        for one in (dataset, other)
        for algorithm in (OURS, "alt-expm")
        for large in (False, True)
    }
    # The hardened profile has no parameters that depend on the size.
    assert len(names) == 2 * 3


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"algorithms": "alt-expm,nonsense"}, "unknown algorithm"),
        ({"epsilon": ["none"], "algorithms": OURS}, "psilon"),
        ({"data": Path(), "only": ["nonsense"], "algorithms": OURS}, "no such data set"),
        ({"algorithms": OURS}, "no data; name the folder of the data sets, or use --generated"),
        ({"data": Path("nowhere"), "algorithms": OURS}, "nowhere: no such folder"),
        ({"only": ["nonsense"], "algorithms": OURS, "generated": True}, "no such generator"),
        ({"rows": ["many"], "algorithms": OURS, "generated": True}, "many: not a positive whole"),
    ],
)
def test_mistakes_are_refused_before_anything_runs(
    tmp_path: Path, given: dict[str, object], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        main(out=tmp_path / "out", **given)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_missing_data_sets_are_skipped_with_a_message_and_no_table_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(data=tmp_path, only=["MAMMAL"], algorithms=OURS, out=tmp_path / "out")
    printed = capsys.readouterr().err
    assert "MAMMAL: skipped" in printed
    assert "nothing to report" in printed
    assert not (tmp_path / "out" / "worth.md").exists()


def test_data_sets_that_are_not_in_the_folder_are_left_out(tmp_path: Path) -> None:
    assert subjects_of(tmp_path, ["CMS2"], [], "draft") == []


def test_numbers_stand_for_data_where_settings_differ() -> None:
    runs = [run(1, "old"), run(2, "one"), run(1, "new")]
    assert [(one.number, one.settings) for one in newest(runs)] == [(1, "new"), (2, "one")]


@pytest.mark.parametrize("text", ["x3", "2x", "axb", "2x-1", "2x3x4"])
def test_a_shape_is_a_depth_and_a_number(text: str) -> None:
    with pytest.raises(InputError, match="no shape; write depth x repetitions"):
        settings_of(f"twin@{text}", large=False)


def test_a_shape_goes_with_a_profile_and_a_delta() -> None:
    assert settings_of("alt-expm:hardened@2x1", large=True) == {
        "algorithm": "alt-expm",
        "profile": "hardened",
        "depth": 2,
        "alternations": 1,
    }
    assert settings_of("twin+1e-6@2x3", large=False)["delta"] == "1e-6"


def test_a_shape_may_leave_the_number_open() -> None:
    assert settings_of("twin@2", large=False) == {"algorithm": "twin", "depth": 2}
