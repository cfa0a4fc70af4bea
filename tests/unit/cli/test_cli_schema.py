from __future__ import annotations

import io
import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from redveil.schema import Schema, Status
from support.command_line import Clinic, Command
from support.console import REDVEIL, is_one_line


def fields(path: Path) -> list[dict[str, Any]]:
    raw = json.loads(path.read_text(encoding="utf-8"))
    return [field for resource in raw["resources"] for field in resource["schema"]["fields"]]


@pytest.fixture
def drafted(clinic_files: Clinic, command: Command) -> Path:
    path = clinic_files.folder / "draft.json"
    done = command("schema", "draft", clinic_files.left, clinic_files.right, "--output", path)
    assert done.code == 0
    assert "This draft contains values taken from the data." in done.err
    assert f"redveil schema accept {path}" in done.err
    assert "HbA1c" in done.out
    return path


def test_a_draft_can_be_mined_and_says_what_it_is(drafted: Path, clinic_files: Clinic) -> None:
    schema = Schema.read(drafted)
    assert schema.status is Status.DRAFT
    assert (schema.left.key, schema.right.key) == ("patient", "patient")
    assert any("draft" in field.get("redveil", {}) for field in fields(drafted))


def test_the_key_can_be_named(clinic_files: Clinic, command: Command) -> None:
    path = clinic_files.folder / "draft.json"
    files = clinic_files.left, clinic_files.right
    assert command("schema", "draft", *files, "--key", "patient", "-o", path).code == 0
    refused = command("schema", "draft", *files, "--key", "nobody", "-o", path)
    assert refused.code == 2
    assert is_one_line(refused.err)


def test_a_draft_that_was_accepted_is_declared(drafted: Path, command: Command) -> None:
    before = Schema.read(drafted)
    done = command("schema", "accept", drafted, "--yes")
    assert done.code == 0
    assert "You vouch for every bound" in done.err
    after = Schema.read(drafted)
    assert after.status is Status.DECLARED
    assert (after.left, after.right) == (before.left, before.right)
    assert after.id == before.id is not None
    assert not any("draft" in field.get("redveil", {}) for field in fields(drafted))
    assert [path.name for path in drafted.parent.iterdir() if path.name.startswith(".")] == []


def note(raw: dict[str, Any]) -> None:
    """Write notes as `schema draft` does: one bound is edited, the rest is as it was taken."""
    left = raw["resources"][0]["schema"]["fields"]
    age = {field["name"]: field for field in left}["age"]
    sex = {field["name"]: field for field in left}["sex"]
    raw["redveil"]["status"] = "draft"
    taken = {"minimum": 18, "maximum": 110, "required": True, "cuts": age["redveil"]["cuts"]}
    age["redveil"]["draft"] = {"remark": "bounds taken from the data", "taken": taken}
    sex["redveil"] = {"draft": {"remark": "…", "taken": {"enum": ["male", "female"]}}}


def listed(out: str) -> list[list[str]]:
    return [line.split(maxsplit=2)[:3] for line in out.splitlines()[1:]]


def test_accepting_lists_what_still_equals_the_data_and_needs_a_yes(
    clinic_files: Clinic, command: Command
) -> None:
    clinic_files.change_schema(note)
    clinic_files.change_schema(lambda raw: raw.pop("id"))
    before = clinic_files.schema.read_bytes()
    refused = command("schema", "accept", clinic_files.schema)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "edit them, or confirm them with --yes" in refused.err
    rows = [line for line in listed(refused.out) if line[0] == "left"]
    assert [line[1] for line in rows] == ["age", "age", "age", "sex"]
    found = [line[2].strip() for line in rows]
    assert found[:2] == ["maximum 110", "required: no value is missing"]
    assert found[2].startswith("cut points: 20.0, 25.0, ")
    assert found[3] == "2 categories: female, male"
    assert clinic_files.schema.read_bytes() == before
    done = command("schema", "accept", clinic_files.schema, "--yes")
    assert (done.code, done.out) == (0, refused.out)
    schema = Schema.read(clinic_files.schema)
    assert schema.status is Status.DECLARED
    assert schema.id is not None
    assert len(schema.id) == 36
    assert not any("draft" in (field.get("redveil") or {}) for field in fields(clinic_files.schema))


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_at_a_terminal_accepting_asks(
    answer: str,
    code: int,
    clinic_files: Clinic,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    clinic_files.change_schema(note)
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    done = command("schema", "accept", clinic_files.schema)
    assert done.code == code
    assert "Did you know them before? [y/N]" in done.err
    accepted = Schema.read(clinic_files.schema).status is Status.DECLARED
    assert accepted == (code == 0)


def test_an_id_stays_once_it_is_given(clinic_files: Clinic, command: Command) -> None:
    first = Schema.read(clinic_files.schema).id
    assert command("schema", "accept", clinic_files.schema).code == 0
    assert Schema.read(clinic_files.schema).id == first
    files = clinic_files.left, clinic_files.right
    assert command("schema", "draft", *files, "-o", clinic_files.schema).code == 0
    assert Schema.read(clinic_files.schema).id == first
    elsewhere = clinic_files.folder.parent / "other.json"
    assert command("schema", "draft", *files, "-o", elsewhere).code == 0
    assert Schema.read(elsewhere).id not in (None, first)


def test_accepting_does_not_mind_empty_extras(clinic_files: Clinic, command: Command) -> None:
    def blank(raw: dict[str, Any]) -> None:
        raw["redveil"] = None
        raw["resources"][0]["schema"]["fields"][2]["redveil"] = None

    clinic_files.change_schema(blank)
    assert command("schema", "accept", clinic_files.schema).code == 0
    assert Schema.read(clinic_files.schema).status is Status.DECLARED


def test_a_valid_schema_is_summarised(clinic_files: Clinic, command: Command) -> None:
    done = command("schema", "check", clinic_files.schema)
    assert done.code == 0
    assert "diagnoses: key patient, 18 attributes" in done.out
    assert "valid (declared), sha256:" in done.out


def test_every_problem_is_listed(clinic_files: Clinic, command: Command) -> None:
    def damage(raw: dict[str, Any]) -> None:
        left, right = (resource["schema"]["fields"] for resource in raw["resources"])
        del left[1]["constraints"]
        del right[1]["constraints"]

    clinic_files.change_schema(damage)
    found = command("schema", "check", clinic_files.schema)
    assert found.code == 2
    assert "attribute age: no bounds; declare constraints.minimum" in found.out
    assert "attribute HbA1c: no bounds" in found.out
    assert found.err == f"redveil: {clinic_files.schema}: 2 problems\n"


@pytest.mark.parametrize("verb", ["check", "accept"])
@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"resources": []}', "\x00"])
def test_what_is_no_schema_is_refused(
    verb: str, content: str | None, tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "datapackage.json"
    if content is not None:
        path.write_text(content)
    refused = command("schema", verb, path)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert not path.exists() or path.read_text() == content


def test_a_draft_that_cannot_be_written_is_one_line(clinic_files: Clinic, command: Command) -> None:
    files = clinic_files.left, clinic_files.right
    for output in (clinic_files.folder, clinic_files.folder / "nowhere" / "draft.json"):
        refused = command("schema", "draft", *files, "--output", output)
        assert refused.code == 2
        assert is_one_line(refused.err)


def test_a_draft_is_not_put_where_sqlite_would_remove_it(
    clinic_files: Clinic, command: Command
) -> None:
    output = clinic_files.folder / "datapackage.ledger.sqlite-journal"
    refused = command("schema", "draft", clinic_files.left, clinic_files.right, "-o", output)
    assert refused.code == 2
    assert "this command needs that file itself" in refused.err
    assert not output.exists()


def test_drafting_again_keeps_the_edited_schema(clinic_files: Clinic, command: Command) -> None:
    edited = clinic_files.schema.read_text(encoding="utf-8")
    done = command(
        "schema", "draft", clinic_files.left, clinic_files.right, "-o", clinic_files.schema
    )
    assert done.code == 0
    kept = clinic_files.schema.with_name("datapackage.json.1")
    assert kept.read_text(encoding="utf-8") == edited
    assert str(kept) in done.err.replace("\n", "")


def test_a_draft_that_replaces_a_schema_keeps_its_budget(
    clinic_files: Clinic, command: Command
) -> None:
    clinic_files.set_budget(Fraction(3))
    before = Schema.read(clinic_files.schema)
    files = clinic_files.left, clinic_files.right
    assert command("schema", "draft", *files, "--output", clinic_files.schema).code == 0
    after = Schema.read(clinic_files.schema)
    assert after.status is Status.DRAFT
    assert (after.id, after.budget, after.name, after.unit) == (
        *(before.id, Fraction(3), before.name, before.unit),
    )


def about(path: Path) -> tuple[object, ...]:
    schema = Schema.read(path)
    return schema.id, schema.name, schema.unit, schema.budget, schema.budget_delta


@pytest.mark.parametrize("output", ["datapackage.json", "v2.json", "-"])
def test_drafting_again_does_not_give_back_the_budget(
    clinic_files: Clinic, command: Command, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clinic_files.folder)
    clinic_files.set_budget(Fraction(1))
    assert command(*clinic_files.mine, "-q").code == 0
    before = about(clinic_files.schema)
    # A field with a problem is what a draft is for.
    clinic_files.change_schema(lambda raw: raw["resources"][0]["schema"]["fields"].append({}))
    drafted = command("schema", "draft", clinic_files.left, clinic_files.right, "-o", output)
    assert drafted.code == 0
    path = clinic_files.folder / output
    if output == "-":
        path.write_text(drafted.out, encoding="utf-8")
    assert about(path) == before
    said = "id, name, unit and budget are those of datapackage.json; if this is another data set"
    assert (said in drafted.err.replace("\n", " ")) == (output == "v2.json")
    again = command(*clinic_files.mine, "-q", "--schema", path, "-o", clinic_files.folder / "2")
    assert again.code == 3


@pytest.mark.parametrize("output", ["datapackage.json", "v2.json"])
@pytest.mark.parametrize(
    ("before", "after"),
    [('"unit"', '"units"'), ('"redveil"', '"redviel"'), ("}\n", ",}\n"), ('"1"', '"one"')],
    ids=["unknown key", "misspelt key", "comma", "no number"],
)
def test_a_schema_whose_budget_cannot_be_read_is_not_replaced(
    clinic_files: Clinic, command: Command, before: str, after: str, output: str
) -> None:
    clinic_files.set_budget(Fraction(1))
    text = clinic_files.schema.read_text(encoding="utf-8") + "\n"
    head, found, tail = text.rpartition(before)
    clinic_files.schema.write_text(head + after + tail, encoding="utf-8")
    broken = clinic_files.schema.read_bytes()
    assert found
    path = clinic_files.folder / output
    refused = command("schema", "draft", clinic_files.left, clinic_files.right, "-o", path)
    assert refused.code == 2
    assert "repair it, or move it elsewhere" in refused.err
    assert is_one_line(refused.err)
    assert clinic_files.schema.read_bytes() == broken
    assert not (clinic_files.folder / "v2.json").exists()


def test_a_draft_keeps_the_name_and_id_in_the_folders_ledger(
    clinic_files: Clinic, command: Command
) -> None:
    assert command(*clinic_files.mine, "-q").code == 0
    charged = Schema.read(clinic_files.schema)
    clinic_files.schema.rename(clinic_files.folder / "old.json")
    draft = "schema", "draft", clinic_files.left, clinic_files.right, "-o", clinic_files.schema
    drafted = command(*draft)
    assert "name and id are those of clinic" in drafted.err.replace("\n", " ")
    assert "no budget is declared" in drafted.err.replace("\n", " ")
    again = Schema.read(clinic_files.schema)
    assert (again.id, again.name) == (charged.id, charged.name)
    assert "ε = 1 spent" in command("budget", clinic_files.schema).out
    # Of two data sets, nobody knows which one it is.
    clinic_files.change_schema(lambda raw: raw.update(id="another", name="ward"))
    assert command(*clinic_files.mine, "-q").code == 0
    clinic_files.schema.unlink()
    drafted = command(*draft)
    assert "has charges to clinic, ward; if this is one of them" in drafted.err.replace("\n", " ")
    assert Schema.read(clinic_files.schema).id not in (None, "another", charged.id)


def test_a_draft_beside_a_linked_schema_shares_its_ledger(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    ledger = clinic_files.set_budget(Fraction(1))
    # Also if the link names a file that is not called as the default.
    real = clinic_files.schema.rename(clinic_files.folder / "real.json")
    study = tmp_path / "study"
    study.mkdir()
    (study / "datapackage.json").symlink_to(real)
    left, right = (study / one.name for one in (clinic_files.left, clinic_files.right))
    left.write_bytes(clinic_files.left.read_bytes())
    right.write_bytes(clinic_files.right.read_bytes())
    mine = "mine", left, right, "-q", "--epsilon", 1, "-o", study / "result.json"
    assert command(*mine).code == 0
    drafted = command("schema", "draft", left, right, "-o", study / "v2.json")
    assert drafted.code == 0
    assert about(study / "v2.json") == about(real)
    again = command(*mine, "--schema", study / "v2.json")
    assert again.code == 3
    assert str(ledger) in again.err
    # Two ledgers: nobody knows which one is meant.
    own = study / "datapackage.ledger.sqlite"
    own.write_bytes(b"")
    for words in (mine, ("schema", "draft", left, right)):
        output = [] if words is mine else ["-o", study / "v3.json"]
        schema = ["--schema", study / "v2.json"] if words is mine else []
        refused = command(*words, *schema, *output)
        assert refused.code == 2
        assert is_one_line(refused.err)
        assert "name one of them with --ledger (ledger=), or move the link" in refused.err
    assert command(*mine, "--schema", study / "v2.json", "--ledger", ledger).code == 3


def test_a_file_that_is_no_schema_is_called_what_it_is(
    clinic_files: Clinic, command: Command
) -> None:
    for words in (["schema", "check"], ["budget"]):
        refused = command(*words, clinic_files.left)
        assert refused.code == 2
        assert "this is a CSV file, not a schema" in refused.out + refused.err


NAMELESS = ["{}", '{"name": "other"}', '{"resources": []}']


@pytest.mark.parametrize("content", NAMELESS)
def test_a_draft_over_a_file_that_names_no_data_set_begins_no_new_budget(
    clinic_files: Clinic, command: Command, content: str
) -> None:
    clinic_files.set_budget(Fraction(1))
    assert command(*clinic_files.mine, "-q").code == 0
    new = clinic_files.folder / "new.json"
    new.write_text(content, encoding="utf-8")
    tables = clinic_files.left, clinic_files.right
    drafted = command("schema", "draft", *tables, "-o", new)
    if drafted.code == 0:
        assert about(new) == about(clinic_files.schema)
        assert "those of" in drafted.err
    again = command("mine", *tables, "-q", "-e", "50", "-s", new, "-o", clinic_files.result)
    assert again.code == (3 if drafted.code == 0 else 2)


@pytest.mark.parametrize("content", NAMELESS)
def test_a_default_schema_that_names_no_data_set_does_not_hide_the_ledger(
    clinic_files: Clinic, command: Command, content: str
) -> None:
    clinic_files.set_budget(Fraction(1))
    assert command(*clinic_files.mine, "-q").code == 0
    charged = about(clinic_files.schema)
    clinic_files.schema.write_text(content, encoding="utf-8")
    new = clinic_files.folder / "new.json"
    drafted = command("schema", "draft", clinic_files.left, clinic_files.right, "-o", new)
    assert drafted.code == 0
    assert about(new)[:2] == charged[:2]
    assert "name and id are those of clinic" in drafted.err.replace("\n", " ")


def test_what_changes_while_accepting_asks_is_not_overwritten(
    clinic_files: Clinic, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    clinic_files.change_schema(note)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def readline(self, *_: object) -> str:  # type: ignore[override]
            clinic_files.set_budget(Fraction(3))
            return "y\n"

    monkeypatch.setattr("sys.stdin", Terminal())
    refused = command("schema", "accept", clinic_files.schema)
    assert refused.code == 2
    assert refused.err.endswith("changed since it was read; run the command again\n")
    schema = Schema.read(clinic_files.schema)
    assert (schema.status, schema.budget) == (Status.DRAFT, Fraction(3))
    assert "datapackage.json.1" not in clinic_files.names()
    done = command("schema", "accept", clinic_files.schema, "--yes")
    assert done.code == 0
    kept = clinic_files.schema.with_name("datapackage.json.1")
    assert Schema.read(kept) == schema
    assert f"previous schema kept as {kept}" in done.err.replace("\n", "")


def test_accepting_does_not_need_anybody_to_read_the_list(clinic_files: Clinic) -> None:
    clinic_files.change_schema(note)
    line = f"'{REDVEIL}' schema accept '{clinic_files.schema}' --yes"
    subprocess.run(["bash", "-c", f"(sleep 0.3; {line}) | true"], check=False, timeout=60)
    assert Schema.read(clinic_files.schema).status is Status.DECLARED


@pytest.mark.parametrize("where", ["<(cat datapackage.json)", "/dev/fd/3 3<datapackage.json"])
def test_what_is_no_file_cannot_be_accepted(where: str, clinic_files: Clinic) -> None:
    """A descriptor was opened again by its name, and a second document appended to the file."""
    before = clinic_files.schema.read_bytes()
    done = subprocess.run(
        ["bash", "-c", f"'{REDVEIL}' schema accept {where} --yes"],
        cwd=clinic_files.folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert "cannot be changed in place; name a file by its own name" in done.stderr
    assert clinic_files.schema.read_bytes() == before
