"""The experiments that make the paper's tables and figures again."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import redveil
from redveil.cli.app import app
from redveil_research.experiments import runs, series
from redveil_research.experiments.judging import binomial_tail, mann_whitney, spearman
from redveil_research.experiments.paper import figures, numbers, page, tables
from redveil_research.experiments.paper.agenda import (
    ALL,
    BASELINES,
    FULL,
    QUICK,
    TWIN,
    VARIANTS,
    by_name,
    missing,
)
from redveil_research.experiments.paper.conduct import (
    EXPERIMENTS,
    JOURNAL,
    Conducted,
    chosen,
    conduct,
    leave,
)
from redveil_research.experiments.paper.pooled import Known, Pool
from redveil_research.experiments.runs import Finding, Run, append, code_name, read
from redveil_research.experiments.series import Task, work
from redveil_research.experiments.subjects import PublicSubject, World

GOOD = Finding(0.6, 900.0, 0.5, 1e-9)
BAD = Finding(0.4, 700.0, 0.05, 0.5)
SMALL = Finding(1.0, 20.0, 0.0, 1.0)
KNOWN = {"MAMMAL": Known(2575, 194, 48, large=False, prune=500)}


def made(algorithm: str, epsilon: str, number: int, *findings: Finding, cpu: float = 1.0) -> Run:
    return Run("MAMMAL", algorithm, epsilon, number, "s", cpu, cpu, code="here", findings=findings)


@pytest.fixture
def pool() -> Pool:
    """Two runs of every variant at every ε: of four findings one is pruned and one is no match."""
    rng = np.random.default_rng(1)

    def lines() -> Iterator[Run]:
        for variant in ALL:
            for epsilon in ("1", "0.1", "0.01"):
                for number in (1, 2):
                    true = rng.uniform(0.3, 0.9, 4)
                    some = [Finding(float(x) + 0.05, 600.0, float(x), 1e-6) for x in true]
                    yield made(variant.at(3), epsilon, number, *some, BAD, SMALL)
        for method in BASELINES:
            yield made(method, "", 1, GOOD, BAD, SMALL)
        for epsilon in ("10", "0.0001"):
            scores = tuple(np.linspace(0.5, 0.7, 3000).tolist())
            walk = made("walk:Arctic Fox@3", epsilon, 1)
            yield replace(walk, scores=scores, histogram=(0,) * 120 + (5,) * 10 + (0,) * 70)

    return Pool(list(lines()), KNOWN, {"MAMMAL": 2575})


def test_every_table_and_figure_of_the_paper_has_a_name() -> None:
    places = " ".join(one.place for one in EXPERIMENTS)
    found = {"Table": set[int](), "Figure": set[int]()}
    for word, first, second in re.findall(r"(Table|Figure)s? (\d+)(?: and (\d+))?", places):
        found[word] |= {int(first)} | ({int(second)} if second else set())
    assert found["Table"] == set(range(1, 9))
    # Figure 1 explains what a pair of trees is.
    assert found["Figure"] == set(range(2, 16))
    assert len({one.name for one in EXPERIMENTS}) == len(EXPERIMENTS)
    assert all(one.table or one.draws for one in EXPERIMENTS)


def test_the_paper_s_parameters() -> None:
    arguments = {v.name: runs.settings_of(v.at(4), large=False) for v in VARIANTS}
    assert {one["depth"] for one in arguments.values()} == {4}
    assert {one["prune"] for one in arguments.values()} == {0}
    assert arguments["AltMCMC S"]["trials"] == 4
    assert arguments["AltMCMC S"]["alternations"] == 1
    assert arguments["MCMCTreePair b"]["tree_share"] == "0.5"
    large = {v.name: runs.settings_of(v.at(3), large=True) for v in VARIANTS}
    assert large["AltExpM"]["alternations"] == 20
    assert (large["AltExpM S"]["trials"], large["AltExpM S"]["alternations"]) == (20, 1)
    assert large["MCMCTreePair"]["trials"] == 20
    assert {one["min_support"] for one in large.values()} == {100}
    for given in (*arguments.values(), *large.values()):
        assert redveil.plan(1, **given).steps


def test_full_agendas_have_as_many_runs_as_the_paper(tmp_path: Path) -> None:
    tasks = FULL.tasks(["variants"], tmp_path, tmp_path / JOURNAL)
    for task in tasks:
        assert task.runs == (100 if task.epsilons == ("0.01",) else 10)
        assert task.same_code
    names = {task.algorithm for task in tasks}
    assert names == {v.at(d) for v in VARIANTS for d in (3, 4)} | {TWIN.base}
    assert len(FULL.tasks(["runtime"], tmp_path, tmp_path / JOURNAL)) == 5 * 6


def test_runs_of_other_versions_count_if_they_are_kept(tmp_path: Path) -> None:
    (task, *_) = QUICK.tasks(["walks"], tmp_path, tmp_path / JOURNAL, same_code=False)
    assert not task.same_code
    journal = tmp_path / JOURNAL
    append(journal, replace(made("twin", "1", 1, GOOD), code="another"))
    some = [one for one in EXPERIMENTS if one.name == "parameters"]
    free = [replace(one, needs=()) for one in some]
    for same_code, runs_left in ((True, 0), (False, 1)):
        done = conduct(free, tmp_path, tmp_path, quick=True, workers=1, same_code=same_code)
        assert len(done.pool.runs) == runs_left


def test_no_task_is_done_twice(tmp_path: Path) -> None:
    every = [name for one in EXPERIMENTS for name in one.needs]
    tasks = QUICK.tasks(every, tmp_path, tmp_path / JOURNAL)
    assert len(tasks) == len(set(tasks))
    assert {task.subject.title for task in tasks} >= {"MAMMAL", "NPAS-2016", "CMS2", "CMS2/16"}
    # What is quick comes first.
    larges = [task.subject.large for task in tasks]
    assert larges == sorted(larges)


# The journal


def test_a_kill_loses_at_most_the_run_in_progress(tmp_path: Path) -> None:
    journal, world = tmp_path / JOURNAL, World("survey", 60)
    task = Task(world, "alt-expm@1x1", ("1",), 3, None, journal, same_code=True)
    work(task)
    first = read(journal)
    assert [run.number for run in first] == [1, 2, 3]
    assert {run.code for run in first} == {code_name()}
    whole = journal.read_bytes()
    # Killed in the middle of a line.
    journal.write_bytes(whole[: len(whole) - 40])
    assert [run.number for run in read(journal)] == [1, 2]
    work(task)
    again = read(journal)
    assert [run.number for run in again] == [1, 2, 3]
    assert again[:2] == first[:2]


def test_runs_of_other_code_are_done_again(tmp_path: Path) -> None:
    journal, world = tmp_path / JOURNAL, World("survey", 60)
    task = Task(world, "alt-expm@1x1", ("1",), 1, None, journal, same_code=True)
    work(task)
    (run,) = read(journal)
    journal.unlink()
    append(journal, replace(run, code="another"))
    work(task)
    assert [one.code for one in read(journal)] == ["another", code_name()]
    # Who does not ask for it keeps them.
    work(replace(task, same_code=False))
    assert len(read(journal)) == 2


def test_earlier_journals_can_be_read(tmp_path: Path) -> None:
    journal = tmp_path / JOURNAL
    append(journal, made("twin", "1", 1, GOOD))
    line = json.loads(journal.read_text())
    for name in ("code", "findings", "scores", "histogram"):
        del line[name]
    journal.write_text(json.dumps(line) + "\n")
    assert read(journal)[0].findings == ()
    del line["settings"]
    journal.write_text(json.dumps(line) + "\n")
    assert read(journal) == []


def test_findings_are_recorded_before_pruning_and_lists_after() -> None:
    # At this ε hardly any noise is left, and gradients are strongly related.
    loaded = World("gradients", 400).load()
    few = runs.perform(loaded, "gradients", "alt-expm@2x3", "100", 1, large=False, prune=100)
    assert few.findings
    assert few.found == sum(one.noisy_support >= 100 for one in few.findings)
    none = runs.perform(loaded, "gradients", "alt-expm@2x3", "100", 1, large=False, prune=10**6)
    assert none.findings
    assert none.found == 0
    assert none.settings != few.settings


def test_experiments_of_the_paper_compute_no_intervals() -> None:
    loaded = World("gradients", 400).load()
    row = loaded, "gradients", "alt-expm@2x3", "100", 1
    plain = runs.perform(*row, large=False, prune=100, intervals=False)
    assert plain.found
    assert (plain.low, plain.high, plain.p_bound) == ((), (), ())
    whole = runs.perform(*row, large=False, prune=100)
    assert len(whole.low) == whole.found
    ours = runs.perform(loaded, "gradients", "twin", "100", 1, large=False, intervals=False)
    assert len(ours.low) == ours.found > 0


def test_findings_have_the_true_values() -> None:
    loaded = World("gradients", 400).load()
    given = runs.settings_of("alt-expm@2x3", large=False)
    result = redveil.mine(loaded.dataset, 100, **given)
    compared = redveil.truth(result, loaded.dataset)
    found = list(runs.compared(result, loaded))
    assert found
    for finding, one in zip(found, compared, strict=True):
        assert one.true is not None
        assert finding.true == pytest.approx(one.true.jaccard, abs=1e-6)
        # The published profile's own test is the binomial tail.
        assert finding.p_value == pytest.approx(one.true.p_value, rel=1e-3, abs=1e-12)


def test_baselines_and_walks_are_lines_of_the_same_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "WALK_STEPS", 4000)
    journal, world = tmp_path / JOURNAL, World("survey", 300)
    target = world.load().dataset.schema.left.attributes[0].name
    for algorithm in ("layered-trees", f"walk:{target}@2"):
        work(Task(world, algorithm, ("1",), 1, None, journal, same_code=True))
    trees, walk = read(journal)
    assert all(one.noisy == one.true for one in trees.findings)
    assert len(walk.scores) == 3 * series.SHOWN
    assert sum(walk.histogram) == 4000
    work(Task(world, "layered-trees", ("1",), 1, None, journal, same_code=True))
    assert len(read(journal)) == 2


def test_a_subject_is_loaded_once_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    load = World.load

    def noting(self: World) -> object:
        loads.append(self.title)
        return load(self)

    monkeypatch.setattr(World, "load", noting)
    series.load.cache_clear()
    for world in (World("noise", 50), World("noise", 50), World("noise", 60)):
        series.load(world)
    assert loads == ["noise, 50", "noise, 60"]


# Segments


def test_segments_are_those_of_the_first_digits(tmp_path: Path) -> None:
    folder = tmp_path / "cms_desynpuf"
    folder.mkdir()
    keys = [f"02_{digit}{number:02d}" for number in range(4) for digit in "0123456789ABCDEF"]
    for side, column in (("left", "female"), ("right", "MEDREIMB_IP_2008")):
        with (folder / f"sample02_{side}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", column])
            writer.writerows([key, place % 2] for place, key in enumerate(keys))
    four = PublicSubject("CMS2", tmp_path, segments=4, cache=tmp_path / "cache")
    loaded = four.load()
    assert loaded.views[0].count == 4 * 4
    # Of 2,500 beneficiaries, where the paper's smallest CMS has 7,200 and a threshold of 1,000.
    assert four.prune == 347
    assert PublicSubject("CMS-ALL", tmp_path, segments=1).prune == 1000
    left, _ = four.files()
    written = left.stat().st_mtime_ns
    four.load()
    assert left.stat().st_mtime_ns == written


# Tables


def test_shares_are_of_what_is_kept(pool: Pool) -> None:
    pooled = pool.take("MAMMAL", by_name("AltMCMC"), "1")
    assert len(pooled.findings) == 12
    assert len(pooled.kept) == 10
    assert pooled.significant() == pytest.approx(0.8)
    # The one that is not significant has a true index below 0.1.
    assert pooled.significant(0.1) == 1.0
    assert pooled.successes == 2


def test_ours_is_not_pruned(pool: Pool) -> None:
    assert len(pool.take("MAMMAL", TWIN, "1").kept) == 12


def test_the_paper_s_numbers_stand_beside_ours(pool: Pool) -> None:
    made = tables.significance(pool)
    row = next(line for line in made.rows if line[:2] == ["1", "AltMCMC"])
    assert row[2:] == ["80.0 (10)", "–", "100.0 (8)", "91.1"]
    assert tables.successes(pool).rows[0][2:4] == ["2/2", "10/10"]
    assert "0.82 (p <0.01)" in tables.correlations(pool).rows[0]
    assert any("5.9e-8" in cell for cell in tables.tests_of_index(pool).rows[0])
    assert numbers.significant("CMS2", "AltExpM S", "0.01") == 23.8


def test_all_tables_can_be_made(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "DRAWS", 100)
    for one in EXPERIMENTS:
        if one.table is not None:
            made = one.table(pool)
            assert made.rows, one.name
            assert {len(row) for row in made.rows} == {len(made.heads)}, one.name


def test_sums_of_laplace_noise_are_as_rare_as_in_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "DRAWS", 100_000)
    beyond = int(tables.laplace_sums(Pool([], {})).rows[0][2].replace(",", ""))
    # 4.07 % in the paper; six standard errors.
    assert beyond == pytest.approx(4074, abs=6 * 63)


def test_walks_are_summed_up_by_their_histograms(pool: Pool) -> None:
    high, low = tables.walks(pool)
    assert (high.epsilon, low.epsilon) == ("10", "0.0001")
    mean, deviation = tables.moments(high)
    assert mean == pytest.approx(0.625)
    assert deviation == pytest.approx(0.0144, abs=1e-3)


def test_tests_agree_with_scipy() -> None:
    from scipy import stats

    rng = np.random.default_rng(3)
    for size in (4, 12, 60):
        first, second = (rng.integers(0, 9, n).astype(np.float64) for n in (size, size + 3))
        expected = stats.spearmanr(first, second[:size])
        assert spearman(first, second[:size]) == pytest.approx(tuple(expected), abs=1e-9)
        for larger, side in ((True, "greater"), (False, "less")):
            p = stats.mannwhitneyu(first, second, alternative=side, method="asymptotic").pvalue
            assert mann_whitney(first, second, larger=larger) == pytest.approx(float(p))
    for both, left, right, entities in ((0, 3, 4, 10), (3, 5, 4, 10), (40, 50, 60, 1000)):
        tail = stats.binom.sf(both - 1, entities, left * right / entities**2)
        assert binomial_tail(both, left, right, entities) == pytest.approx(float(tail))
    same = np.ones(5)
    assert spearman(same, same) is None
    assert mann_whitney(same, same, larger=True) == 1.0


def test_baselines_are_held_against_the_smallest_support_that_is_kept(
    pool: Pool, tmp_path: Path
) -> None:
    pair = by_name("MCMCTreePair")
    assert figures.smallest_kept(pool.take("MAMMAL", pair, "1")) == 600
    assert figures.smallest_kept(replace(pool, runs=[]).take("MAMMAL", pair, "1")) == 500
    path = tmp_path / "histograms.svg"
    with figures.style():
        figures.histograms(pool, path)
    # Of each baseline one is significant, one is not, and one is too small.
    assert "1 + 1 / 1 + 1" in path.read_text(encoding="utf-8")


# What is left behind


def test_parquet_says_where_it_is_from(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "DRAWS", 100)
    some = [one for one in EXPERIMENTS if one.name in ("successes", "convergence", "accuracy-1")]
    written = leave(Conducted(pool, tmp_path, quick=True), some, "redveil experiment x")
    assert {path.suffix for path in written} == {".md", ".svg", ".parquet"}
    found = pq.read_table(tmp_path / "findings.parquet")
    assert found.num_rows == sum(len(run.findings) for run in pool.runs)
    told = found.schema.metadata
    assert told[b"command"] == b"redveil experiment x"
    assert told[b"code"].decode() == code_name()
    assert b"NOT PRIVATE" in told[b"warning"]
    assert pq.read_table(tmp_path / "runs.parquet").num_rows == len(pool.runs) - 2


@pytest.mark.parametrize(
    "name", ["scatter", "histograms", "convergence", "runtime", "laplace", "epsilons"]
)
def test_figures_are_drawn(pool: Pool, tmp_path: Path, name: str) -> None:
    (one,) = chosen(name)
    for figure, draw in one.draws:
        path = tmp_path / f"{figure}.svg"
        with figures.style():
            draw(pool, path)
        text = path.read_text(encoding="utf-8")
        assert text.count("<text") > 3
        with figures.style():
            draw(pool, path)
        assert path.read_text(encoding="utf-8") == text


def test_the_page_has_every_table_and_figure(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "DRAWS", 100)
    done = Conducted(pool, tmp_path / "out", quick=True)
    done.folder.mkdir()
    leave(done, EXPERIMENTS, "redveil experiment page")
    target = tmp_path / "docs" / "experiments.md"
    target.parent.mkdir()
    page.write_page(done, target)
    text = target.read_text(encoding="utf-8")
    for one in EXPERIMENTS:
        assert f"redveil experiment {one.name}`" in text
        for name, _ in one.draws:
            assert (target.parent / "evidence" / f"paper-{name}.svg").is_file()
    assert "{" not in text
    assert "91.1" in text
    assert "versions of the source: `here`" in text


def in_short(pool: Pool) -> dict[str, str]:
    """Return what the page says in short, by table or figure."""
    lines = page.in_short(pool).splitlines()[2:]
    return dict(line.strip("| ").split(" | ", 1) for line in lines)


def test_what_is_said_in_short_follows_from_the_runs(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "DRAWS", 100)
    said = in_short(pool)
    assert said.keys() == page.words()["in_short"].keys()
    successes = "Tables 7 and 8, successful runs"
    assert "MCMCTreePair 4 of 4 (paper 110 of 110), MCMCTreePair b 4 of 4" in said[successes]
    # The same line of the page after a run that returns nothing.
    failed = [
        replace(run, findings=()) if run.row[1:] == ("tree-pair@3", "0.1") else run
        for run in pool.runs
    ]
    assert (
        "MCMCTreePair 2 of 4 (paper 110 of 110)" in in_short(replace(pool, runs=failed))[successes]
    )
    # Two of three numbers of MAMMAL are the paper's, which has a row more.
    assert said["Table 1, data sets"].startswith("2 of 3 ")
    errors = said["Figures 9 to 14, box plots"]
    assert errors.endswith("0.05 at ε = 1, 0.05 at ε = 0.1, 0.05 at ε = 0.01")
    # One in five is pruned, with a true J of 0; of the others one has 0.05.
    scatter = said["Figures 2 and 3, scatter plots"]
    assert scatter.endswith("MAMMAL 100 %, 20 %, +0.05")
    medians = said["Figures 4 and 5, histograms"].rpartition("MAMMAL ")[2].split(", ")
    assert (medians[0], len(medians)) == ("0.00", 4)


def test_what_is_said_in_short_does_not_need_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "DRAWS", 100)
    assert "{" not in page.in_short(Pool([], KNOWN))


def test_no_verdict_on_the_runs_is_fixed() -> None:
    # Such words are for those who read the numbers beside them.
    verdicts = re.compile(
        r"\b(always|never|nearly|hardly|reproduced|partly|yes|agrees?|near|close|little|mostly?|fail)\b"
    )
    for line in page.words()["in_short"].values():
        assert "{" in line
        assert verdicts.findall(re.sub(r"\{.*?\}", "", line)) == []
    for name, text in page.words()["sections"].items():
        assert verdicts.findall(text.replace("near 0", "")) == [], name


# The command


def test_the_command_lists_every_experiment() -> None:
    done = CliRunner().invoke(app, ["experiment", "list"])
    assert done.exit_code == 0
    assert all(one.name in done.output for one in EXPERIMENTS)


def test_an_experiment_without_runs_needs_a_folder_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "DRAWS", 100)
    out = tmp_path / "out"
    options = ["--data", str(tmp_path), "--out", str(out)]
    done = CliRunner().invoke(app, ["experiment", "laplace", *options])
    assert done.exit_code == 0, done.exception
    assert "40,741" in done.output
    assert (out / "laplace.svg").is_file()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nonsense"], "no such experiment"),
        (["spearman"], "no data; name the folder"),
        (["spearman", "--data", "nowhere"], "no such folder"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments: list[str], problem: str) -> None:
    done = CliRunner().invoke(app, ["experiment", *arguments])
    assert problem in str(done.exception)


def test_data_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert missing(QUICK, ["runtime"], tmp_path) == ["MAMMAL", "NPAS-2016", "CMS2"]
    options = ["--data", str(tmp_path), "--out", str(tmp_path / "out"), "--quick"]
    done = CliRunner().invoke(app, ["experiment", "spearman", *options])
    assert "mammals/left.csv" in str(done.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    # What is killed cannot end its own processes, which would wait for more to do for ever.
    program = (
        "import os, signal, sys, time\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from multiprocessing import get_context\n"
        "from redveil_research.experiments.series import end_with_the_parent\n"
        "if __name__ == '__main__':\n"
        "    context = get_context('spawn')\n"
        "    pool = ProcessPoolExecutor(1, context, initializer=end_with_the_parent)\n"
        "    print(pool.submit(os.getpid).result(), flush=True)\n"
        "    pool.submit(time.sleep, 600)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    script = tmp_path / "killed.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    worker = int(done.stdout)
    ended = False
    for _ in range(600):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            ended = True
            break
        time.sleep(0.1)
    assert ended
