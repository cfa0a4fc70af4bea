from __future__ import annotations

from pathlib import Path

import pytest

from redveil.errors import InputError
from redveil_research.experiments.runs import Run, read
from redveil_research.experiments.unrelated import counted, main, markdown


def done(number: int, listed: str = "", settings: str = "s", epsilon: str = "1") -> Run:
    """A run whose list has a letter for each entry: c if it is confirmed."""
    confirmed = tuple(one == "c" for one in listed)
    p_values = tuple(0.001 if one else 0.02 for one in confirmed)
    return Run(
        "noise, 700",
        "twin",
        epsilon,
        number,
        settings,
        1.0,
        1.0,
        jaccard=tuple(0.5 for _ in confirmed),
        p_value=p_values,
        confirmed=confirmed,
    )


def test_runs_that_list_and_runs_that_confirm_are_counted() -> None:
    (row,) = counted([done(1), done(2, "nn"), done(3, "nc")]).values()
    assert row == (3, 2, 1, 4, 1)


def test_every_run_has_data_of_its_own_so_settings_may_differ() -> None:
    runs = [done(1, settings="a"), done(2, "c", settings="b"), done(1, settings="c")]
    (row,) = counted(runs).values()
    assert row[:3] == (2, 1, 1)


def test_the_last_line_is_the_sum() -> None:
    rows = counted([done(1), done(1, "c", epsilon="10"), done(2, "n", epsilon="10")])
    assert markdown(rows).splitlines()[-1] == "| all |  | 3 | 2 | 1 | 2 | 1 |"


def test_every_run_mines_new_data_and_work_is_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def everything(runs: int) -> None:
        main(
            runs=runs,
            epsilon=["10,0.01"],
            only=["noise", "survey"],
            sizes=["200"],
            out=tmp_path / "new",
            table=tmp_path / "a.md",
        )

    everything(1)
    journal = tmp_path / "new" / "unrelated.jsonl"
    first = journal.read_text()
    everything(2)
    assert journal.read_text().startswith(first)
    runs = read(journal)
    assert len(runs) == len({(one.row, one.number) for one in runs}) == 2 * 2 * 2
    assert {one.data for one in runs} == {"noise, 200", "survey shuffled, 200"}
    # Another seed draws other categories, so the schemas differ.
    assert len({one.settings for one in runs if one.data.startswith("survey")}) == 2
    assert (tmp_path / "a.md").read_text().count("\n| ") == 2 + 4 + 1
    assert "| all |  | 8 |" in capsys.readouterr().out


def test_a_misspelt_algorithm_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown algorithm"):
        main(algorithm="nonsense", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
