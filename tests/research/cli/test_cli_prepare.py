from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import Command
from support.console import is_one_line


@pytest.fixture
def fauna(tmp_path: Path) -> Path:
    files = {
        "mammals.names": "Moose\nOtter\n",
        "mammals.datbool": "2\t2\t0\n1\t1\t1\n",
        "worldclim_tp.names": "t\\u2081\\u207B\n",
        "worldclim_tp.densenum": "10.6 -8.3\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_prepared_tables_can_be_mined_as_they_are(fauna: Path, command: Command) -> None:
    out = fauna / "out"
    done = command("prepare", "mammals", fauna, out)
    assert (done.code, done.out) == (0, "")
    assert f"written to {out}: 2 left and 1 right attributes" in done.err
    checked = command(
        "schema", "check", out / "datapackage.json", out / "left.csv", out / "right.csv"
    )
    assert checked.code == 0
    again = command("prepare", "mammals", fauna, out)
    assert again.code == 2
    assert "is there already; name another folder" in again.err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("npas", "--segments", "2"), "--segments does nothing for npas; leave it out"),
        (("cms", "--segments", "0"), "--segments must be a whole number from 1 to 16"),
        (("cms",), "no file such as ccs_multi_dx_tool_2015.csv"),
        (("mimic",), "no file such as D_ICD_DIAGNOSES.csv"),
        (("npas",), "no file such as data.csv"),
    ],
)
def test_what_cannot_be_prepared_is_one_line(
    given: tuple[str, ...], message: str, fauna: Path, command: Command
) -> None:
    name, *options = given
    refused = command("prepare", name, fauna, fauna / "out", *options)
    assert (refused.code, refused.out) == (2, "")
    assert message in refused.err
    assert is_one_line(refused.err)
    assert not (fauna / "out").exists()
