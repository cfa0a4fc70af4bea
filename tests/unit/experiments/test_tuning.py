from __future__ import annotations

import math
from pathlib import Path

import pytest

from redveil.errors import InputError
from redveil.experiments.runs import Run, read
from redveil.experiments.tuning import SEEDS, STRENGTHS, main, markdown, rows_of, summary, tasks_of


def done(algorithm: str, number: int, worth: float, shape: str = "2×4", **rest: float) -> Run:
    """A run whose list has one entry of this worth, none if it is 0."""
    entry: dict[str, tuple[float, ...]] = {
        "jaccard": (0.9,),
        "corrected": (worth / 0.99**2,),
        "p_value": (0.0,),
        "novelty": (1.0,),
        "literals": (2,),
        "share": (0.3,),
    }
    lists = entry if worth else {}
    return Run("a", algorithm, "1", number, "s", 1.0, 1.0, shape, **lists, **rest)  # type: ignore[arg-type]


RUNS = [
    done("twin", 1, 0.5, strength=900.0, related=0.1),
    done("twin", 2, 0.3, strength=1100.0, related=0.2),
    done("twin", 3, 0.0, "1×2", strength=1000.0, related=0.3),
    done("twin@1x1", 1, 0.4),
    done("twin@1x1", 2, 0.2),
    done("twin@2x3", 1, 0.8),
    done("twin@2x3", 2, 0.0),
    done("alt-expm:hardened", 1, 0.9),
]


def test_a_row_has_the_rule_and_every_shape() -> None:
    (row,) = rows_of(RUNS, "twin", ["1x1", "2x3"])
    assert (row.runs, row.strength, row.decided) == (3, 1000.0, ("2×4", "1×2"))
    assert row.related == pytest.approx(0.2)
    assert {shape: worth for shape, (worth, _) in row.worths.items()} == pytest.approx(
        {"1x1": 0.3, "2x3": 0.4, "rule": 0.8 / 3}
    )
    assert row.empty == pytest.approx({"1x1": 0.0, "2x3": 0.5, "rule": 1 / 3})
    assert row.best == "2x3"
    assert "| 0.27 (33 %) | 0.30 | 0.40 (50 %) | 2x3 |" in markdown([row], ["1x1", "2x3"])


def test_only_the_last_run_of_a_number_counts() -> None:
    (row,) = rows_of([done("twin", 1, 0.1), done("twin", 1, 0.7)], "twin", [])
    assert row.worths["rule"][0] == pytest.approx(0.7)


def test_without_a_scout_there_is_nothing_that_it_saw() -> None:
    (row,) = rows_of([done("twin", 1, 0.1, "1×1", related=0.2)], "twin", [])
    assert math.isnan(row.related)
    assert summary([row]) == "No world was mined both by the rule and with a fixed shape."


def test_seeds_have_runs_of_their_own(tmp_path: Path) -> None:
    tasks = tasks_of("twin", ["1x1"], [300, 700], ("1",), 3, tmp_path / "a.jsonl")
    kinds = sum(len(strengths) for strengths in STRENGTHS.values())
    assert len(tasks) == kinds * 2 * len(SEEDS) * 2
    rows: dict[tuple[str, str], list[int]] = {}
    for task in tasks:
        numbers = range(task.first, task.first + task.runs)
        rows.setdefault((task.subject.title, task.algorithm), []).extend(numbers)
    assert all(sorted(numbers) == [1, 2, 3, 4, 5, 6] for numbers in rows.values())


def test_the_table_is_written_and_work_is_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def everything() -> None:
        main(
            runs=1,
            sizes=["120"],
            epsilon=["1"],
            shapes=["1x1"],
            out=tmp_path / "new",
            table=tmp_path / "a.md",
        )

    everything()
    journal = tmp_path / "new" / "twin.jsonl"
    kinds = sum(len(strengths) for strengths in STRENGTHS.values())
    assert len(read(journal)) == kinds * len(SEEDS) * 2
    first = journal.read_text()
    everything()
    assert journal.read_text() == first
    assert f"Mean over {kinds} worlds: the rule" in capsys.readouterr().out
    page = (tmp_path / "a.md").read_text()
    assert page.count("\n| ") == 2 + kinds
    assert "| survey 0.35, 120 | 1 | 2 |" in page


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"algorithm": "tree-pair"}, "no shapes for this algorithm"),
        ({"shapes": ["2x"]}, "no shape; write depth x repetitions"),
        ({"shapes": ["9x1"]}, "depth"),
        ({"sizes": ["0"]}, "0: not a positive whole number"),
    ],
)
def test_mistakes_are_refused_before_anything_runs(
    tmp_path: Path, given: dict[str, object], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        main(out=tmp_path / "out", **given)  # type: ignore[arg-type]
