from __future__ import annotations

import json
import os
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from redveil.budget.ledger import Ledger
from redveil.losses.loss import total
from redveil.report.result import Result
from support.command_line import Clinic, Command
from support.console import REDVEIL, is_one_line

LEDGER = "datapackage.ledger.sqlite"
THREE_FILES = ["datapackage.json", "diagnoses.csv", "laboratory.csv"]
MINED_FILES = sorted([*THREE_FILES, LEDGER, "result.json"])


def make_draft(clinic_files: Clinic) -> None:
    clinic_files.change_schema(lambda raw: raw["redveil"].update(status="draft"))


def test_a_result_is_written_and_shown(clinic_files: Clinic, command: Command) -> None:
    done = command(*clinic_files.mine)
    assert done.code == 0
    result = Result.read(clinic_files.result)
    assert total(step.price for step in result.certificate.steps) == 1
    assert result.document.warning is None
    assert "ε = 1, δ = 0, exact" in done.out
    assert "owner only: 300 patients in both views" in done.err
    assert f"recorded in {clinic_files.folder / LEDGER}\n" in done.err
    assert done.err.endswith(f"written to {clinic_files.result}\n")
    assert clinic_files.names() == MINED_FILES


def test_what_only_the_owner_may_see_is_not_on_standard_output(
    clinic_files: Clinic, command: Command
) -> None:
    assert "300 patients in both views" not in command(*clinic_files.mine).out


def test_quiet_only_writes_the_file(clinic_files: Clinic, command: Command) -> None:
    for number, first in ((1, True), (2, False)):
        done = command(*clinic_files.mine, "--quiet", "--output", f"{clinic_files.result}{number}")
        assert (done.code, done.out) == (0, "")
        assert done.err.startswith("new ledger begun: ") if first else not done.err
    clinic_files.result.with_name("result.json1").rename(clinic_files.result)
    assert Result.read(clinic_files.result).certificate.epsilon == "1"


def test_earlier_results_are_kept(clinic_files: Clinic, command: Command) -> None:
    for epsilon in ("1", "2", "3"):
        clinic_files.folder.joinpath("last").write_text(epsilon)
        done = command(*clinic_files.mine, "--epsilon", epsilon)
        assert done.code == 0
    assert f"kept as {clinic_files.result}.2" in done.err
    kept = ["result.json.1", "result.json.2", "result.json"]
    promised = [Result.read(clinic_files.folder / name).certificate.epsilon for name in kept]
    assert promised == ["1", "2", "3"]


def test_options_reach_the_certificate(clinic_files: Clinic, command: Command) -> None:
    options = "--depth 1 --trials 2 --alternations 3 --max-p-value 0.5 --min-jaccard 0.2"
    options += " --min-support 7 --max-support 0.9 --max-disjuncts 2 --algorithm alt-expm"
    assert command(*clinic_files.mine, "-q", *options.split()).code == 0
    chosen = {
        "depth": 1,
        "trials": 2,
        "alternations": 3,
        "max_p_value": 0.5,
        "min_jaccard": 0.2,
        "min_support": 7,
        "max_support": 0.9,
        "max_disjuncts": 2,
    }
    assert chosen.items() <= Result.read(clinic_files.result).certificate.parameters.items()


def test_a_schema_elsewhere_is_named_with_an_option(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "reviewed.json"
    clinic_files.schema.rename(elsewhere)
    assert command(*clinic_files.mine, "-q", "--schema", elsewhere).code == 0


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_a_draft_is_warned_about_even_when_quiet(
    quiet: list[str], clinic_files: Clinic, command: Command
) -> None:
    make_draft(clinic_files)
    done = command(*clinic_files.mine, *quiet)
    assert done.code == 0
    assert "warning: the schema is a draft" in done.err
    assert f"redveil schema accept {clinic_files.schema}" in done.err
    promise = Result.read(clinic_files.result).certificate
    assert promise.schema_status == "draft"
    assert promise.conditions[0].startswith("NOT MET")
    assert "NOT MET" in command("show", clinic_files.result).out


def test_a_declared_schema_is_not_warned_about(clinic_files: Clinic, command: Command) -> None:
    done = command(*clinic_files.mine)
    assert "warning" not in done.err
    assert "NOT MET" not in done.out


def test_a_budget_is_charged_until_it_is_spent(clinic_files: Clinic, command: Command) -> None:
    ledger = clinic_files.set_budget(Fraction(5, 2))
    assert command(*clinic_files.mine, "-q").code == 0
    assert command(*clinic_files.mine, "-q").code == 0
    before = clinic_files.result.read_bytes(), clinic_files.names()
    refused = command(*clinic_files.mine, "-q")
    assert refused.code == 3
    assert is_one_line(refused.err)
    assert "1 requested, 1/2 left of the budget of 5/2" in refused.err
    assert Ledger(ledger).spent("clinic").epsilon == 2
    assert (clinic_files.result.read_bytes(), clinic_files.names()) == before
    assert command(*clinic_files.mine, "-q", "--epsilon", "1/2").code == 0
    assert Ledger(ledger).spent("clinic").epsilon == Fraction(5, 2)


def test_the_ledger_can_be_kept_elsewhere(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    default = clinic_files.set_budget(Fraction(1))
    elsewhere = tmp_path / "charges.sqlite"
    assert command(*clinic_files.mine, "-q", "--ledger", elsewhere).code == 0
    assert Ledger(elsewhere).spent("clinic").epsilon == 1
    assert not default.exists()


def test_without_a_budget_runs_are_recorded(clinic_files: Clinic, command: Command) -> None:
    for _ in range(2):
        assert command(*clinic_files.mine, "-q", "--epsilon", "50").code == 0
    assert Ledger(clinic_files.folder / LEDGER).spent("clinic").epsilon == 100
    (charge, _) = Ledger(clinic_files.folder / LEDGER).charges("clinic")
    assert (charge.paid_for.result, charge.paid_for.algorithm) == ("result.json", "twin")


def test_a_new_ledger_is_announced_even_when_quiet(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    ledger = clinic_files.set_budget(Fraction(9))
    first = command(*clinic_files.mine, "-q")
    assert first.code == 0
    assert is_one_line(first.err.replace("new ledger", "redveil: new ledger"))
    assert first.err.startswith(f"new ledger begun: {ledger}; if earlier runs on the same data")
    again = command(*clinic_files.mine, "-q")
    assert (again.code, again.err) == (0, "")
    typo = command(*clinic_files.mine, "-q", "--ledger", tmp_path / "leger.sqlite")
    assert "new ledger begun" in typo.err
    clinic_files.change_schema(lambda raw: raw.update(id="another", name="another"))
    assert "first charge to another: " in command(*clinic_files.mine, "-q").err


def test_a_refused_run_announces_nothing(clinic_files: Clinic, command: Command) -> None:
    ledger = clinic_files.set_budget(Fraction(1, 2))
    # Not quiet: the tables are not even read.
    refused = command(*clinic_files.mine)
    assert refused.code == 3
    assert is_one_line(refused.err)
    assert not ledger.exists()


def test_copies_links_and_names_of_a_schema_share_a_budget(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    clinic_files.set_budget(Fraction(1))
    assert command(*clinic_files.mine, "-q").code == 0
    raw = json.loads(clinic_files.schema.read_text(encoding="utf-8"))
    copy, renamed, link = (clinic_files.folder / f"{name}.json" for name in "abc")
    copy.write_text(json.dumps(raw))
    renamed.write_text(json.dumps(raw | {"name": "renamed"}))
    link = tmp_path / "link.json"
    link.symlink_to(clinic_files.schema)
    for schema in (copy, renamed, link):
        refused = command(*clinic_files.mine, "-q", "--schema", schema)
        assert refused.code == 3, schema
    assert not (tmp_path / LEDGER).exists()


def test_a_schema_with_a_budget_and_no_id_is_refused(
    clinic_files: Clinic, command: Command
) -> None:
    clinic_files.set_budget(Fraction(1))
    clinic_files.change_schema(lambda raw: raw.pop("id"))
    refused = command(*clinic_files.mine, "-q")
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "run `redveil schema accept SCHEMA`" in refused.err
    assert clinic_files.names() == THREE_FILES
    assert command("schema", "accept", clinic_files.schema).code == 0
    assert command(*clinic_files.mine, "-q").code == 0


def test_a_result_does_not_replace_the_ledger(clinic_files: Clinic, command: Command) -> None:
    ledger = clinic_files.set_budget(Fraction(5))
    assert command(*clinic_files.mine, "-q").code == 0
    before = ledger.read_bytes()
    refused = command(*clinic_files.mine, "-q", "--output", ledger)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "this command needs that file itself" in refused.err
    assert ledger.read_bytes() == before


@pytest.mark.parametrize(
    "mistake",
    [
        ["--epsilon", "0"],
        ["--epsilon", "much"],
        ["--depth", "0"],
        ["--algorithm", "magic"],
        ["--min-jaccard", "2"],
        ["--max-disjuncts", "0"],
        ["--max-disjuncts", "2", "--depth", "0"],
        ["--max-support", "0"],
        ["--max-support", "nan"],
        ["--max-p-value", "0"],
        ["--min-support", "-1"],
        ["--min-support", "9999999999"],
        ["--prune", "1e30"],
        ["--ledger", ":memory:"],
        ["--ledger", "file:x.sqlite"],
        ["--ledger", "/dev/null"],
        ["--ledger", "."],
        ["--ledger", "diagnoses.csv"],
        ["--ledger", "result.json"],
        ["--profile", "magic"],
        ["--tree-share", "1"],
        ["--tree-share", "0." + 4100 * "3"],
        ["--delta", "0.0000" + 4100 * "1"],
        ["--epsilon", "0." + 4290 * "3"],
        ["--prune", "much"],
        ["--steps", "0"],
        ["--output", "nowhere/at/all.json"],
        ["--output", "."],
        ["--schema", "nowhere.json"],
    ],
)
def test_what_is_refused_is_not_charged(
    mistake: list[str], clinic_files: Clinic, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clinic_files.folder)
    ledger = clinic_files.set_budget(Fraction(5))
    refused = command(*clinic_files.mine, *mistake)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert clinic_files.names() == THREE_FILES
    assert not ledger.exists()


def test_data_that_do_not_fit_are_not_charged(clinic_files: Clinic, command: Command) -> None:
    ledger = clinic_files.set_budget(Fraction(5))
    clinic_files.right.write_text("patient,HbA1c\nP000001,5.1\n")
    refused = command(*clinic_files.mine)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert not ledger.exists()


def test_an_unusable_ledger_stops_the_run(clinic_files: Clinic, command: Command) -> None:
    clinic_files.set_budget(Fraction(5))
    refused = command(*clinic_files.mine, "-q", "--ledger", clinic_files.left)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "not a usable ledger" in refused.err
    assert not clinic_files.result.exists()


def test_the_demo_mines_a_generated_clinic(tmp_path: Path, command: Command) -> None:
    folder = tmp_path / "new" / "demo"
    done = command("demo", folder, "--patients", "200", "--epsilon", "2")
    assert done.code == 0
    assert sorted(path.name for path in folder.iterdir()) == MINED_FILES
    assert Result.read(folder / "result.json").certificate.epsilon == "2"
    assert "generated 200 patients" in done.err
    assert "redveil show" in done.err
    assert len(json.loads((folder / "datapackage.json").read_text())["resources"]) == 2


def test_the_demo_refuses_a_file_in_its_folders_place(tmp_path: Path, command: Command) -> None:
    (tmp_path / "taken").write_text("")
    refused = command("demo", tmp_path / "taken")
    assert refused.code == 2
    assert is_one_line(refused.err)


def test_a_delta_is_in_the_certificate_that_is_shown(
    clinic_files: Clinic, command: Command
) -> None:
    done = command(*clinic_files.mine, "--delta", "1e-6")
    assert done.code == 0
    assert "ε = 1, δ = 1e-06, exact" in done.out
    assert "steps that add up to exactly ρ = " in done.out
    shown = command("show", clinic_files.result, "--plan").out
    assert "ρ" in shown
    refused = command(*clinic_files.mine, "--delta", "0.1")
    assert refused.code == 2
    assert is_one_line(refused.err)


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_a_result_is_not_put_where_sqlite_would_remove_it(
    clinic_files: Clinic, command: Command, end: str
) -> None:
    output = clinic_files.folder / f"{LEDGER}{end}"
    refused = command(*clinic_files.mine, "-q", "--output", output)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert clinic_files.names() == THREE_FILES


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_nor_beside_the_ledger_that_a_link_leads_to(
    clinic_files: Clinic, command: Command, end: str
) -> None:
    link, real = clinic_files.folder / "link", clinic_files.folder / "real"
    link.symlink_to(real)
    for name in (link, real):
        output = f"{name}{end}"
        refused = command(*clinic_files.mine, "-q", "--ledger", link, "--output", output)
        assert refused.code == 2
        assert "this command needs that file itself" in refused.err
        assert is_one_line(refused.err)
    assert not real.exists()


def test_a_part_of_the_population_is_mined(clinic_files: Clinic, command: Command) -> None:
    done = command(*clinic_files.mine, "--within", "[age > 40]", "--within", "[eGFR > 30]")
    assert done.code == 0
    within = Result.read(clinic_files.result).certificate.within
    assert within is not None
    assert [one.text for one in within.queries] == ["[age > 40]", "[eGFR > 30]"]
    assert "within      [age > 40] and [eGFR > 30]" in done.out


def test_a_part_that_the_schema_does_not_allow_is_refused_before_loading(
    clinic_files: Clinic, command: Command
) -> None:
    done = command(*clinic_files.mine, "--within", "[agee > 40]")
    assert (done.code, done.out) == (2, "")
    assert done.err == "redveil: --within: no attribute agee; did you mean age?\n"
    assert clinic_files.names() == THREE_FILES


@pytest.mark.parametrize("key", ["title", "name"])
def test_a_schema_with_half_a_character_is_refused_before_anything_is_charged(
    key: str, clinic_files: Clinic, command: Command
) -> None:
    ledger = clinic_files.set_budget(Fraction(5))
    clinic_files.change_schema(lambda raw: raw.update({key: "clinic \ud83d"}))
    for words in (
        clinic_files.mine,
        [*clinic_files.mine, "-o", "-"],
        ["schema", "accept", clinic_files.schema, "--yes"],
    ):
        refused = command(*words)
        assert refused.code == 2
        assert f"{clinic_files.schema}, {key}: half a character" in refused.err
        assert is_one_line(refused.err)
    assert not ledger.exists()


def test_a_ledger_that_could_not_be_begun_is_not_announced(clinic_files: Clinic) -> None:
    """A real disk with room for nothing."""
    if os.geteuid() or shutil.which("unshare") is None:
        pytest.skip("only root can mount a disk")
    words = " ".join(f"'{one}'" for one in (*clinic_files.mine, "--ledger", "disk/my.sqlite"))
    script = (
        "mkdir disk && mount -t tmpfs -o size=4k none disk || exit 77\n"
        f"'{REDVEIL}' {words}; code=$?; umount disk; exit $code"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=clinic_files.folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    if done.returncode == 77:
        pytest.skip("mounting is not allowed here")
    assert done.returncode == 2
    assert "new ledger" not in done.stderr
    assert "disk/my.sqlite: cannot be written; the disk is full; make room" in done.stderr
    assert not clinic_files.result.exists()


def test_a_new_id_in_a_ledger_with_charges_is_announced(
    clinic_files: Clinic, command: Command
) -> None:
    assert command(*clinic_files.mine, "-q").code == 0
    clinic_files.change_schema(lambda raw: raw.update(id="another", name="other"))
    done = command(*clinic_files.mine, "-q")
    assert done.code == 0
    assert done.err.startswith("first charge to other: ")
