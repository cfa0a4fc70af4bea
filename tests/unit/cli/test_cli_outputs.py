"""Where commands write: files, devices, pipes, standard output; never over what they read."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from redveil.base.file_kind import FileKind
from redveil.budget.ledger import Ledger
from redveil.cli import outputs
from redveil.cli.outputs import is_standard_output, save_paid
from redveil.errors import InputError
from redveil.report.result import Result
from redveil.schema import Schema
from support.command_line import Clinic, Command
from support.console import REDVEIL, is_one_line
from support.devices import device
from support.results import document, redescription

THREE_FILES = ["datapackage.json", "diagnoses.csv", "laboratory.csv"]
WITH_LEDGER = sorted([*THREE_FILES, "datapackage.ledger.sqlite"])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def mined(clinic: Clinic, *options: object) -> list[object]:
    return ["mine", clinic.left, clinic.right, "-e", "1", *options]


# -- nothing is written over what a command reads -------------------------------------------------


@pytest.mark.parametrize("how", ["itself", "link", "relative"])
@pytest.mark.parametrize(
    "which",
    ["left", "right", "schema", "ledger"],
)
def test_a_paid_command_does_not_write_over_its_inputs(
    which: str,
    how: str,
    clinic_files: Clinic,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(clinic_files.folder)
    ledger = clinic_files.set_budget(Fraction(5))
    source = {
        "left": clinic_files.left,
        "right": clinic_files.right,
        "schema": clinic_files.schema,
        "ledger": ledger,
    }[which]
    link = clinic_files.folder.parent / "link"
    link.symlink_to(source)
    target = {"itself": source, "link": link, "relative": Path(source.name)}[how]
    before = contents(clinic_files.folder)
    refused = command(*mined(clinic_files, "-o", target))
    assert (refused.code, refused.out) == (2, "")
    assert is_one_line(refused.err)
    assert "this command needs that file itself" in refused.err
    assert contents(clinic_files.folder) == before
    assert link.is_symlink()


def test_other_commands_do_not_either(clinic_files: Clinic, command: Command) -> None:
    assert command(*clinic_files.mine, "-q").code == 0
    left, right, result = clinic_files.left, clinic_files.right, clinic_files.result
    before = contents(clinic_files.folder)
    for arguments in (
        ["schema", "draft", left, right, "-o", left],
        ["truth", result, left, right, "-o", result],
        ["truth", result, left, right, "-o", right],
        ["truth", result, left, right, "-o", clinic_files.schema],
    ):
        refused = command(*arguments)
        assert (refused.code, refused.out) == (2, "")
        assert is_one_line(refused.err)
        assert "this command needs that file itself" in refused.err
    assert contents(clinic_files.folder) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["mine", "{left}", "{right}", "-e", "1", "-o", "{other}"],
        ["schema", "draft", "{left}", "{right}", "-o", "{other}"],
        ["truth", "{result}", "{left}", "{right}", "-o", "{other}"],
        ["show", "{result}", "-o", "{other}"],
    ],
    ids=lambda arguments: arguments[0] if arguments[0] != "schema" else "draft",
)
def test_nor_over_somebody_elses_table(
    arguments: list[str], clinic_files: Clinic, command: Command
) -> None:
    ledger = clinic_files.set_budget(Fraction(5))
    Result(document(redescription())).save(clinic_files.result)
    other = clinic_files.folder / "other.csv"
    other.write_text("id,age\n1,41\n")
    known = {"result": clinic_files.result, "left": clinic_files.left, "right": clinic_files.right}
    known |= {"other": other}
    before = contents(clinic_files.folder)
    refused = command(*(one.format(**known) for one in arguments))
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "not replaced, because it is a CSV file" in refused.err
    assert contents(clinic_files.folder) == before
    assert not ledger.exists()


def test_the_demo_leaves_other_files_alone(tmp_path: Path, command: Command) -> None:
    (tmp_path / "diagnoses.csv").write_text("my own")
    refused = command("demo", tmp_path, "--patients", "50")
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "diagnoses.csv: not replaced by generated data" in refused.err
    assert contents(tmp_path) == {"diagnoses.csv": b"my own"}
    (tmp_path / "diagnoses.csv").unlink()
    for _ in range(2):
        assert command("demo", tmp_path, "--patients", "50").code == 0


# -- standard output ------------------------------------------------------------------------------


def test_a_dash_is_standard_output(clinic_files: Clinic, command: Command) -> None:
    done = command(*mined(clinic_files, "-o", "-"))
    assert done.code == 0
    (clinic_files.folder / "copy.json").write_text(done.out, encoding="utf-8")
    assert Result.read(clinic_files.folder / "copy.json").certificate.epsilon == "1"
    assert "owner only: " in done.err
    assert "written to" not in done.err
    assert clinic_files.names() == ["copy.json", *WITH_LEDGER]


def test_so_it_is_for_schemas(clinic_files: Clinic, command: Command) -> None:
    drafted = command("schema", "draft", clinic_files.left, clinic_files.right, "-o", "-")
    assert drafted.code == 0
    assert Schema.from_dict(json.loads(drafted.out)).status == "draft"
    assert "values taken from the data" in drafted.err
    assert clinic_files.names() == THREE_FILES


def test_so_it_is_for_true_values(clinic_files: Clinic, command: Command) -> None:
    assert command(*clinic_files.mine, "-q").code == 0
    left, right = clinic_files.left, clinic_files.right
    compared = command("truth", clinic_files.result, left, right, "-o", "-")
    assert compared.code == 0
    assert json.loads(compared.out)["warning"].startswith("NOT PRIVATE")


@pytest.mark.parametrize("options", ["-o -", "-o result.json", "-q"])
def test_standard_output_is_not_appended_to_an_input(options: str, clinic_files: Clinic) -> None:
    before = clinic_files.left.read_bytes()
    line = " ".join(f"'{one}'" for one in (REDVEIL, *mined(clinic_files)))
    done = subprocess.run(
        ["bash", "-c", f"{line} {options} >> '{clinic_files.left}'"],
        cwd=clinic_files.folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert "standard output goes to a file that this command needs itself" in done.stderr
    assert clinic_files.left.read_bytes() == before
    assert clinic_files.names() == THREE_FILES


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "out.json"])
def test_standard_output_has_other_names(name: str, clinic_files: Clinic) -> None:
    """A file that standard output goes to holds the result, and nothing else."""
    folder = clinic_files.folder
    with (folder / "out.json").open("wb") as out:
        done = subprocess.run(
            [str(REDVEIL), *map(str, mined(clinic_files, "-o", name))],
            cwd=folder,
            stdout=out,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert Result.read(folder / "out.json").certificate.epsilon == "1"
    assert clinic_files.names() == sorted([*WITH_LEDGER, "out.json"])


def test_a_file_is_not_standard_output(tmp_path: Path) -> None:
    assert is_standard_output(Path("-"))
    assert not is_standard_output(tmp_path / "new.json")
    assert not is_standard_output(Path("/dev/zero"))


def test_a_pipe_gets_the_result(clinic_files: Clinic, command: Command) -> None:
    pipe = clinic_files.folder / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    done = command(*mined(clinic_files, "-o", pipe))
    reader.join(timeout=60)
    assert done.code == 0
    assert json.loads(read[0])["format"] == "redveil-result"
    assert pipe.is_fifo()


def test_nowhere_is_a_place_to_write_to(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    null = device("null", tmp_path)
    before = null.stat()
    for arguments in (
        mined(clinic_files, "-o", null),
        ["schema", "draft", clinic_files.left, clinic_files.right, "-o", null],
    ):
        done = command(*arguments)
        assert done.code == 0
        assert done.err.endswith(f"written to {null}\n")
    after = null.stat()
    assert stat.S_ISCHR(after.st_mode)
    assert after.st_ino == before.st_ino


def test_a_closed_standard_output_is_refused_before_anything_is_charged(
    clinic_files: Clinic,
) -> None:
    ledger = clinic_files.set_budget(Fraction(5))
    line = " ".join(f"'{one}'" for one in (REDVEIL, *mined(clinic_files, "-o", "-")))
    done = subprocess.run(
        f"{line} >&-",
        shell=True,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert "standard output is closed" in done.stderr
    assert not ledger.exists()


# -- nothing that was paid for is lost ------------------------------------------------------------


def rescued(message: str) -> Path:
    found = re.search(r"\(it was paid for, so it is in (\S+)\)", message)
    assert found
    return Path(found[1])


def test_what_was_paid_for_is_put_elsewhere_if_it_cannot_be_written(
    clinic_files: Clinic,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(aside))
    ledger = clinic_files.set_budget(Fraction(5))
    full = device("full", tmp_path)
    failed = command(*mined(clinic_files, "-o", full))
    assert failed.code == 2
    assert failed.err.splitlines()[-1].startswith(
        f"redveil: {full}: cannot be written; the disk is full"
    )
    assert Ledger(ledger).spent("clinic").epsilon == 1
    place = rescued(failed.err)
    assert place.parent == aside
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert Result.read(place).certificate.epsilon == "1"


@pytest.mark.parametrize("place", ["aside", "standard output"])
def test_what_cannot_be_encoded_is_rescued_as_well(
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path if place == "aside" else "/nowhere"))
    with pytest.raises(InputError, match="it contains half a character") as caught:
        save_paid('{"unit": "\ud83d"}\n', tmp_path / "new.json", FileKind.RESULT)
    saved = rescued(str(caught.value)).read_text() if place == "aside" else capsys.readouterr().out
    assert json.loads(saved) == {"unit": "\ud83d"}


def test_nor_does_a_mistake_of_ours_cost_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(outputs, "replace_text", lambda *_, **__: 1 / 0)
    with pytest.raises(
        InputError, match=r"not written \(internal error: ZeroDivisionError"
    ) as caught:
        save_paid("{}\n", tmp_path / "new.json", FileKind.RESULT)
    assert rescued(str(caught.value)).read_text() == "{}\n"


def test_if_nothing_can_be_written_it_is_printed(
    clinic_files: Clinic, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    failed = command(*mined(clinic_files, "-o", device("full", tmp_path)))
    assert failed.code == 2
    assert "(it was paid for, so it is in standard output)" in failed.err
    assert json.loads(failed.out)["format"] == "redveil-result"


def test_a_reader_that_went_away_does_not_cost_the_result(
    clinic_files: Clinic, tmp_path: Path
) -> None:
    clinic_files.set_budget(Fraction(5))
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [str(REDVEIL), *map(str, mined(clinic_files, "-q", "-o", "-"))],
            stdout=writer,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
            timeout=120,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
    finally:
        os.close(writer)
    assert done.returncode == 2
    *announcement, error = done.stderr.splitlines(keepends=True)
    assert [line[:17] for line in announcement] == ["new ledger begun:"]
    assert is_one_line(error)
    assert Result.read(rescued(error)).certificate.epsilon == "1"


def test_ctrl_c_while_nobody_reads_a_pipe_does_not_cost_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    text = Result(document(redescription())).to_json()
    before = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(InputError, match="pipe: stopped while it was being written") as caught:
            save_paid(text, tmp_path / "pipe", FileKind.RESULT)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rescued(str(caught.value)).read_text(encoding="utf-8") == text


def test_a_disk_that_fills_up_during_the_run_costs_no_result(clinic_files: Clinic) -> None:
    """A real disk of two megabytes, filled between the check and the write."""
    if os.geteuid() or shutil.which("unshare") is None:
        pytest.skip("only root can mount a disk")
    clinic_files.set_budget(Fraction(5))
    arguments = " ".join(f"'{one}'" for one in mined(clinic_files, "-q", "-o", "disk/result.json"))
    # The ledger appears when the run is charged, after the check.
    ledger = clinic_files.folder / "datapackage.ledger.sqlite"
    script = (
        "mkdir disk && mount -t tmpfs -o size=2m none disk || exit 77\n"
        f"'{REDVEIL}' {arguments} & run=$!\n"
        f"while [ ! -e '{ledger}' ] && kill -0 $run; do sleep 0.01; done\n"
        "head -c 4m /dev/zero > disk/filler\n"
        "wait $run; code=$?; ls -A disk; exit $code"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=clinic_files.folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
        env={**os.environ, "TMPDIR": str(clinic_files.folder)},
    )
    if done.returncode == 77:
        pytest.skip("mounting is not allowed here")
    assert done.returncode == 2
    error = done.stderr.splitlines()[-1]
    assert "disk/result.json: cannot be written; the disk is full" in error
    assert Result.read(rescued(error)).certificate.epsilon == "1"
    assert done.stdout.split() == ["filler"]


def test_a_full_disk_is_found_out_before_anything_is_charged(clinic_files: Clinic) -> None:
    ledger = clinic_files.set_budget(Fraction(5))
    line = " ".join(f"'{one}'" for one in (REDVEIL, *clinic_files.mine))
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 1000; {line}"],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert "result.json: cannot be written; the file would exceed the limit" in done.stderr
    assert not ledger.exists()
    assert clinic_files.names() == THREE_FILES


@pytest.mark.parametrize(
    "arguments", [["show", "result.json"], ["plan", "-e", "1"], ["plan", "-e", "1", "--json"]]
)
def test_a_full_standard_output_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    Result(document(redescription())).save(tmp_path / "result.json")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [str(REDVEIL), *arguments],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert "standard output cannot be written" in done.stderr


def test_messages_that_nobody_can_read_do_not_stop_a_run(clinic_files: Clinic) -> None:
    for errors in ("/dev/full", "&-"):
        line = " ".join(f"'{one}'" for one in (REDVEIL, *clinic_files.mine))
        done = subprocess.run(
            f"{line} 2>{errors}", shell=True, capture_output=True, check=False, timeout=120
        )
        assert done.returncode == 0
        assert b"owner only" not in done.stdout
        assert Result.read(clinic_files.result).certificate.epsilon == "1"


# -- what was made is saved before it is shown ----------------------------------------------------


def without_reader(where: str, *arguments: object, folder: Path) -> tuple[int, list[str]]:
    """Run a command whose standard output cannot be written; return its code and messages."""
    line = " ".join(f"'{one}'" for one in (REDVEIL, *arguments))
    done = subprocess.run(
        # In a pipe, the reader is gone before the command starts.
        ["bash", "-c", f"{line} {where}" if where != "pipe" else f"(sleep 0.3; {line}) | true"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return done.returncode, done.stderr.splitlines()


NOWHERE = ["pipe", ">&-", ">/dev/full"]


@pytest.mark.parametrize("where", NOWHERE)
def test_where_a_result_is_is_said_even_if_it_cannot_be_shown(
    where: str, clinic_files: Clinic
) -> None:
    _, said = without_reader(where, *clinic_files.mine, folder=clinic_files.folder)
    assert Result.read(clinic_files.result).certificate.epsilon == "1"
    assert f"written to {clinic_files.result}" in said
