from __future__ import annotations

import json
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import redveil
from redveil.budget.ledger import Ledger
from redveil.cli.buy_cuts import save_purchase
from redveil.errors import InputError
from redveil.schema import Schema
from redveil.schema.on_disk import SchemaOnDisk
from support.command_line import Clinic, Command
from support.console import REDVEIL, is_one_line

LEDGER = "datapackage.ledger.sqlite"


def buy(clinic: Clinic, *more: object) -> list[object]:
    return ["schema", "buy-cuts", clinic.left, clinic.right, *more]


def raw(clinic: Clinic) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(clinic.schema.read_text(encoding="utf-8"))
    return read


def field(plain: dict[str, Any], name: str) -> dict[str, Any]:
    fields = [f for resource in plain["resources"] for f in resource["schema"]["fields"]]
    found: dict[str, Any] = next(f for f in fields if f["name"] == name)
    return found


def test_bought_mined_and_shown(clinic_files: Clinic, command: Command) -> None:
    before = raw(clinic_files)
    names = ("--columns", "CRP,uric acid", "--columns", "age", "--cuts", 7)
    done = command(*buy(clinic_files, *names, "--epsilon", "0.3"))
    assert done.code == 0
    assert "uric acid" in done.out
    assert "bought for ε = 3/10" in done.err
    kept = clinic_files.schema.with_name("datapackage.json.1")
    assert json.loads(kept.read_text(encoding="utf-8")) == before
    schema = Schema.read(clinic_files.schema)
    (purchase,) = schema.bought
    assert (purchase.left, purchase.right) == (("age",), ("uric acid", "CRP"))
    assert purchase.epsilon == Fraction(3, 10)
    assert command(*clinic_files.mine).code == 0
    promise = json.loads(clinic_files.result.read_text(encoding="utf-8"))["certificate"]
    assert any("spent on the cut points of 3 attributes" in one for one in promise["conditions"])
    assert command("schema", "check", clinic_files.schema).code == 0


def test_what_an_owner_wrote_besides_is_left_as_it_is(
    clinic_files: Clinic, command: Command
) -> None:
    def annotate(plain: dict[str, Any]) -> None:
        plain["title"] = "Our clinic"
        field(plain, "CRP")["description"] = "mg/l"
        field(plain, "CRP")["redveil"] = None
        field(plain, "gout")["redveil"] = {"use": False}

    clinic_files.change_schema(annotate)
    before = raw(clinic_files)
    assert command(*buy(clinic_files, "--columns", "CRP", "-e", "1", "-q")).code == 0
    after = raw(clinic_files)
    assert len(after["redveil"].pop("bought")) == 1
    cuts = field(after, "CRP").pop("redveil")["cuts"]
    assert cuts == {"method": "explicit", "values": sorted(cuts["values"])}
    field(before, "CRP").pop("redveil")
    assert after == before


def test_all_heavy_tails_at_once_to_another_file(clinic_files: Clinic, command: Command) -> None:
    ledger = clinic_files.set_budget(Fraction(1))
    before = clinic_files.schema.read_bytes()
    path = clinic_files.folder / "bought.json"
    done = command(*buy(clinic_files, "--heavy-tailed", "--epsilon", "1/2", "-o", path))
    assert done.code == 0
    assert len(Schema.read(path).bought[0].right) == 5
    assert clinic_files.schema.read_bytes() == before
    assert Ledger(ledger).spent("clinic").epsilon == Fraction(1, 2)
    assert f"recorded in {ledger}" in done.err.replace("\n", "")
    assert "pass --ledger" not in done.err
    again = command(*buy(clinic_files, "--heavy-tailed", "--epsilon", "1", "-o", path))
    assert again.code == 3
    assert is_one_line(again.err)
    assert not path.with_name("bought.json.1").exists()


def test_a_new_schema_does_not_begin_a_new_budget(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    """This spent 1.9 of 1: the ledger of new.json was not the one that paid for its cuts."""
    ledger = clinic_files.set_budget(Fraction(1))
    new = clinic_files.folder / "new.json"
    assert command(*buy(clinic_files, "--columns", "CRP", "-e", "0.9", "-q", "-o", new)).code == 0
    refused = command(*clinic_files.mine, "--schema", new)
    assert refused.code == 3
    assert "1/10 left of the budget of 1" in refused.err
    elsewhere = tmp_path / "elsewhere" / "new.json"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(new.read_bytes())
    refused = command(*clinic_files.mine, "--schema", elsewhere, "-q")
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "bought for ε = 9/10 that are not in this ledger; name the ledger" in refused.err
    assert [path.name for path in elsewhere.parent.iterdir()] == ["new.json"]
    assert Ledger(ledger).spent("clinic").epsilon == Fraction(9, 10)
    tenth = [*clinic_files.mine, "--schema", elsewhere, "-q", "--ledger", ledger, "-e", "1/10"]
    assert command(*tenth).code == 0


def test_a_schema_with_a_budget_is_not_replaced_by_one_without(
    clinic_files: Clinic, command: Command
) -> None:
    plain = clinic_files.schema.read_bytes()
    clinic_files.set_budget(Fraction(1))
    capped = clinic_files.schema.rename(clinic_files.folder / "capped.json")
    before = capped.read_bytes()
    clinic_files.schema.write_bytes(plain)
    refused = command(*buy(clinic_files, "--columns", "CRP", "-e", "0.1", "-o", capped))
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "not replaced, because its budget of 1 would be lost" in refused.err
    assert capped.read_bytes() == before
    assert Ledger(clinic_files.folder / LEDGER).charges("clinic") == ()


def test_a_schema_in_another_folder_is_told_where_its_ledger_is(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    new = tmp_path / "elsewhere" / "new.json"
    new.parent.mkdir()
    done = command(*buy(clinic_files, "--columns", "CRP", "-e", "0.1", "-o", new))
    assert done.code == 0
    assert f"pass --ledger {clinic_files.folder / LEDGER} when you mine" in done.err


def test_what_was_bought_is_skipped(clinic_files: Clinic, command: Command) -> None:
    once = buy(clinic_files, "--columns", "CRP", "--epsilon", "0.1")
    assert command(*once).code == 0
    bought, names = clinic_files.schema.read_bytes(), clinic_files.names()
    skipped = command(*once)
    assert (skipped.code, skipped.out) == (0, "")
    assert skipped.err.splitlines() == [
        "skipped, bought already: right, CRP (--again buys new cut points)",
        "nothing is left to buy; nothing was charged",
    ]
    assert (clinic_files.schema.read_bytes(), clinic_files.names()) == (bought, names)
    copy = clinic_files.folder / "copy.json"
    assert command(*once, "-q", "-o", copy).code == 0
    assert Schema.read(copy) == Schema.read(clinic_files.schema)
    assert Ledger(clinic_files.folder / LEDGER).spent("clinic").epsilon == Fraction(1, 10)
    rest = command(*buy(clinic_files, "--columns", "CRP,TSH", "--epsilon", "0.1"))
    assert rest.code == 0
    assert "skipped, bought already: right, CRP" in rest.err
    assert Schema.read(clinic_files.schema).bought[1].right == ("TSH",)
    assert command(*once, "--again").code == 0
    assert len(Schema.read(clinic_files.schema).bought) == 3


@pytest.mark.parametrize(
    "options",
    [
        ("--epsilon", "1"),
        ("--epsilon", "1", "--columns", "CRP", "--heavy-tailed"),
        ("--epsilon", "0", "--columns", "CRP"),
        ("--epsilon", "1", "--columns", "nobody"),
        ("--epsilon", "1", "--columns", "CRP,"),
        ("--epsilon", "1", "--columns", "CRP", "--cuts", "255"),
        ("--epsilon", "1", "--columns", "CRP", "--output", "nowhere/at/all.json"),
        ("--epsilon", "1", "--columns", "CRP", "--schema", "nowhere.json"),
    ],
)
def test_bad_requests_are_refused_in_one_line(
    options: tuple[str, ...], clinic_files: Clinic, command: Command
) -> None:
    names = clinic_files.names()
    refused = command(*buy(clinic_files, *options))
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert clinic_files.names() == names


def test_a_draft_is_warned_of(clinic_files: Clinic, command: Command) -> None:
    clinic_files.change_schema(lambda plain: plain["redveil"].update(status="draft"))
    done = command(*buy(clinic_files, "--columns", "CRP", "--epsilon", "1"))
    assert done.code == 0
    assert "the schema is a draft" in done.err


def test_a_name_with_a_comma_is_given_by_itself(clinic_files: Clinic, command: Command) -> None:
    def rename(plain: dict[str, Any]) -> None:
        field(plain, "CRP")["name"] = "CRP, high"

    clinic_files.change_schema(rename)
    text = clinic_files.right.read_text(encoding="utf-8").replace("CRP", '"CRP, high"', 1)
    clinic_files.right.write_text(text, encoding="utf-8")
    done = command(*buy(clinic_files, "--columns", "CRP, high", "--epsilon", "1", "-q"))
    assert done.code == 0
    assert Schema.read(clinic_files.schema).bought[0].right == ("CRP, high",)


def buy_in_python(clinic: Clinic, name: str) -> tuple[Schema, SchemaOnDisk]:
    """Buy cut points as the command does, up to the moment when they are saved."""
    read = SchemaOnDisk.read(clinic.schema)
    dataset = redveil.load(clinic.left, clinic.right, read.schema)
    return redveil.buy_cuts(dataset, 1, [name], ledger=clinic.folder / LEDGER), read


def test_what_changes_while_cut_points_are_bought_is_kept(clinic_files: Clinic) -> None:
    """A budget, or other cut points; also in another file that is written."""
    new, read = buy_in_python(clinic_files, "HbA1c")
    clinic_files.set_budget(Fraction(3))
    clinic_files.change_schema(lambda plain: plain.update(title="Our clinic"))
    save_purchase(*buy_in_python(clinic_files, "CRP"), clinic_files.schema)
    elsewhere = clinic_files.folder / "elsewhere.json"
    for target in (elsewhere, clinic_files.schema):
        save_purchase(new, read, target)
        schema = Schema.read(target)
        assert schema.budget == 3
        assert [one.right for one in schema.bought] == [("CRP",), ("HbA1c",)]
        cuts = {a.name: a.cuts for a in schema.right.attributes}
        assert cuts["HbA1c"] == {a.name: a.cuts for a in new.right.attributes}["HbA1c"]
        assert json.loads(target.read_text(encoding="utf-8"))["title"] == "Our clinic"
    # The ledger has both purchases.
    assert len(Ledger(clinic_files.folder / LEDGER).charges("clinic", schema.id)) == 2


@pytest.mark.parametrize("change", ["bounds", "id", "damage"])
def test_cut_points_that_no_longer_fit_are_put_elsewhere(
    change: str, clinic_files: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(clinic_files.folder))
    new, read = buy_in_python(clinic_files, "HbA1c")
    if change == "bounds":
        clinic_files.change_schema(
            lambda plain: field(plain, "HbA1c")["constraints"].update(maximum=99)
        )
    elif change == "id":
        clinic_files.change_schema(lambda plain: plain.update(id="another"))
    else:
        clinic_files.schema.write_text("{", encoding="utf-8")
    before = clinic_files.schema.read_bytes()
    with pytest.raises(InputError, match="it was paid for, so it is in") as caught:
        save_purchase(new, read, clinic_files.schema)
    assert clinic_files.schema.read_bytes() == before
    place = str(caught.value).rpartition(" in ")[2].removesuffix(")")
    assert Schema.read(place).bought == new.bought


def test_a_budget_that_another_schema_got_meanwhile_is_kept(clinic_files: Clinic) -> None:
    new, read = buy_in_python(clinic_files, "HbA1c")
    other = clinic_files.folder / "other.json"
    other.write_bytes(clinic_files.schema.read_bytes().replace(b'"unit"', b'"budget": "3", "unit"'))
    before = other.read_bytes()
    with pytest.raises(InputError, match=r"its budget of 3 would be lost.*it was paid for"):
        save_purchase(new, read, other)
    assert other.read_bytes() == before


def test_a_schema_from_a_pipe_is_read_once(clinic_files: Clinic) -> None:
    command = " ".join(f"'{one}'" for one in (REDVEIL, *buy(clinic_files, "-e", 1)))
    piped = f"{command} --columns HbA1c -s <(cat datapackage.json) --ledger my.sqlite"

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line],
            cwd=clinic_files.folder,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    refused = run(piped)
    assert refused.returncode == 2
    assert is_one_line(refused.stderr)
    assert "cannot be changed in place" in refused.stderr
    done = run(f"{piped} -o new.json")
    assert done.returncode == 0, done.stderr
    assert len(Schema.read(clinic_files.folder / "new.json").bought) == 1
