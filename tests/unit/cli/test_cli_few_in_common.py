"""Commands that pay stop before the charge if few keys are in both tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from redveil.budget.ledger import Ledger
from redveil.server.opening import set_up
from redveil.server.settings import Settings
from support.command_line import Clinic, Command

FLAG = "--few-in-common"
STOP = "no common entity; check that columns patient and patient contain the same keys"


@pytest.fixture
def mixed_up(clinic_files: Clinic, command: Command) -> Clinic:
    """Return a clinic of which the laboratory has numbered the patients itself; and a result."""
    done = command("mine", *tables(clinic_files), "-e", "20", "-o", clinic_files.result, "-q")
    assert done.code == 0
    lines = clinic_files.right.read_text(encoding="utf-8").splitlines(keepends=True)
    clinic_files.right.write_text(
        lines[0] + "".join(f"lab-{line}" for line in lines[1:]), encoding="utf-8"
    )
    return clinic_files


def tables(files: Clinic) -> list[object]:
    return [files.left, files.right]


def paid(files: Clinic) -> dict[str, list[object]]:
    out = files.folder / "new.json"
    return {
        "mine": ["mine", *tables(files), "-e", "1", "-o", out],
        "mine part": ["mine", *tables(files), "-e", "1", "-o", out, "--within", "[age > 40]"],
        "describe": ["describe", "[gout]", *tables(files), "-e", "1", "-o", out],
        "refine": ["refine", files.result, *tables(files), "-e", "1", "-o", out],
        "confirm": ["confirm", files.result, *tables(files), "-e", "1", "-o", out],
    }


@pytest.mark.parametrize("name", ["mine", "mine part", "describe", "refine", "confirm"])
def test_no_keys_in_common_stop_before_the_charge(
    name: str, mixed_up: Clinic, command: Command
) -> None:
    ledger = Ledger(mixed_up.folder / "datapackage.ledger.sqlite")
    words = paid(mixed_up)[name]
    stopped = command(*words)
    assert (stopped.code, stopped.out) == (2, "")
    assert f"redveil: {STOP}" in stopped.err
    assert "nothing was charged" in stopped.err
    # The owner sees how many there are, unless what is printed may end up in a log.
    assert "owner only: 0 patients in both views" in stopped.err
    quiet = command(*words, "--quiet")
    assert quiet.err.count("\n") == 1
    assert quiet.err.startswith(f"redveil: {STOP}")
    assert ledger.spent("clinic").epsilon == 20
    assert not (mixed_up.folder / "new.json").exists()
    done = command(*words, FLAG)
    assert done.code == 0, done.err
    assert ledger.spent("clinic").epsilon == 21


def test_what_costs_nothing_goes_on(mixed_up: Clinic, command: Command) -> None:
    assert command("truth", mixed_up.result, *tables(mixed_up)).code == 0


def test_a_check_warns_and_a_draft_does(mixed_up: Clinic, command: Command, tmp_path: Path) -> None:
    lines = mixed_up.right.read_text(encoding="utf-8").splitlines(keepends=True)
    some = [one.removeprefix("lab-") if row < 100 else one for row, one in enumerate(lines)]
    mixed_up.right.write_text("".join(some), encoding="utf-8")
    checked = command("schema", "check", mixed_up.schema, *tables(mixed_up))
    assert "under half of the keys are in both tables" in checked.err + checked.out
    drafted = command("schema", "draft", *tables(mixed_up), "-o", tmp_path / "new.json")
    assert "only 99 of 300 keys are in both tables" in drafted.err


def test_a_server_looks_when_tables_are_registered(
    mixed_up: Clinic, command: Command, tmp_path: Path
) -> None:
    set_up(Settings(folder=tmp_path / "server"))[0].close()
    at = ["--folder", tmp_path / "server"]
    assert command("server", "add-account", "olga", "--role", "owner", *at).code == 0
    given = ["--schema", mixed_up.schema, "--owner", "olga", "--budget", "5", *at]
    given += ["--leave-out-charges"]
    refused = command("server", "add-data", *tables(mixed_up), *given)
    assert refused.code == 2
    assert refused.err.startswith(f"redveil: {STOP}")
    assert command("server", "add-data", *tables(mixed_up), *given, FLAG).code == 0
    assert command("server", "renew-data", "clinic", *tables(mixed_up), *at).code == 2
    assert command("server", "renew-data", "clinic", *tables(mixed_up), *at, FLAG).code == 0
