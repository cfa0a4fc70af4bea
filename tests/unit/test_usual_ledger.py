"""Every paid call in Python is counted: beside the schema's file, or by the process."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import redveil
from redveil.budget.ledger import Ledger
from redveil.data.synthetic import clinic_frames, clinic_schema, write_clinic
from redveil.errors import InputError, OverBudgetError
from redveil.losses.loss import Loss
from redveil.schema import Schema
from redveil.workers.asking import answer
from support.clinic import clinic

LEDGER = "datapackage.ledger.sqlite"
UNRECORDED = "no ledger recorded it"


def nobody_else() -> Schema:
    """Return the clinic's schema under a name and an id that no other test charges."""
    return replace(clinic_schema(), name=f"clinic {uuid4().hex}", id=uuid4().hex)


def with_schema_path(folder: Path) -> redveil.Dataset:
    left, right, schema = write_clinic(folder, 100)
    return redveil.load(left, right, schema)


def with_schema_read(folder: Path) -> redveil.Dataset:
    left, right, schema = write_clinic(folder, 100)
    return redveil.load(str(left), str(right), Schema.read(schema).replace(unit="case"))


def with_schema_of_a_program(folder: Path) -> redveil.Dataset:
    left, right, _ = write_clinic(folder, 100)
    return redveil.load(left, right, clinic_schema())


def with_one_frame(folder: Path) -> redveil.Dataset:
    _, right, _ = write_clinic(folder, 100)
    return redveil.load(clinic_frames(100)[0], right, clinic_schema())


def frames_with_schema_path(folder: Path) -> redveil.Dataset:
    return redveil.load(*clinic_frames(100), write_clinic(folder, 100)[2])


def frames_with_schema_read(folder: Path) -> redveil.Dataset:
    schema = Schema.read(write_clinic(folder, 100)[2]).with_attribute("age", maximum=120)
    return redveil.load(*clinic_frames(100), schema)


def frames_with_schema_saved(folder: Path) -> redveil.Dataset:
    schema = clinic_schema()
    dataset = redveil.load(*clinic_frames(100), schema)
    schema.save(folder / "datapackage.json")
    return dataset


LOADED = [
    with_schema_path,
    with_schema_read,
    with_schema_of_a_program,
    with_one_frame,
    frames_with_schema_path,
    frames_with_schema_read,
    frames_with_schema_saved,
]


@pytest.mark.parametrize("loaded", LOADED)
def test_runs_in_python_are_charged_to_the_ledger_beside_the_schema(
    loaded: Callable[[Path], redveil.Dataset], tmp_path: Path
) -> None:
    data = loaded(tmp_path)
    for _ in range(5):
        redveil.mine(data, epsilon=1, trials=1, depth=1)
    assert Ledger(tmp_path / LEDGER).spent("clinic", data.schema.id).epsilon == 5


PAID: dict[str, Callable[..., object]] = {
    "mine": redveil.mine,
    "describe": lambda data, epsilon, **more: redveil.describe(data, "[gout]", epsilon, **more),
    "dataset.describe": lambda data, epsilon, **more: data.describe("[gout]", epsilon, **more),
    "refine": lambda data, epsilon, **more: redveil.refine(listed(), data, epsilon, **more),
    "result.refine": lambda data, epsilon, **more: listed().refine(data, epsilon, **more),
    "confirm": lambda data, epsilon, **more: redveil.confirm(listed(), data, epsilon, **more),
}


def listed() -> redveil.Result:
    return redveil.mine(clinic(), 20, trials=1, depth=1, ledger=None)


@pytest.mark.parametrize("name", PAID)
def test_every_paid_call_charges_the_usual_ledger(name: str, tmp_path: Path) -> None:
    data = with_schema_path(tmp_path)
    PAID[name](data, "1/3")
    (charge,) = Ledger(tmp_path / LEDGER).charges("clinic")
    assert charge.loss.epsilon == Fraction(1, 3)
    assert charge.paid_for.purpose == name.rpartition(".")[2]


def test_every_public_function_that_asks_for_a_price_and_data_charges_by_default() -> None:
    """The remote ones have no ledger: the server keeps it."""
    public = {name: getattr(redveil, name) for name in redveil.__all__}
    owners = [one for one in public.values() if inspect.isclass(one)]
    methods = {f"{one.__name__}.{n}": m for one in owners for n, m in vars(one).items()}
    priced = {
        name: inspect.signature(one).parameters
        for name, one in (public | methods).items()
        if inspect.isfunction(one) and "epsilon" in inspect.signature(one).parameters
    }
    paid = {name: taken for name, taken in priced.items() if "ledger" in taken}
    assert set(paid) == {
        *("mine", "describe", "refine", "confirm"),
        *("Dataset.describe", "Result.refine"),
    }
    assert {repr(taken["ledger"].default) for taken in paid.values()} == {"<the usual ledger>"}
    # These need no data, or release nothing.
    assert set(priced) - set(paid) == {"plan", "detectable"}


def test_a_budget_binds_runs_in_python_by_default(tmp_path: Path) -> None:
    left, right, path = write_clinic(tmp_path, 100)
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw["redveil"]["budget"] = "2"
    path.write_text(json.dumps(raw), encoding="utf-8")
    data = redveil.load(left, right, path)
    redveil.mine(data, 1)
    redveil.mine(data, "1/2")
    with pytest.raises(OverBudgetError, match="1/2 left of the budget of 2"):
        redveil.mine(redveil.load(left, right, path), 1)
    for name, paid in PAID.items():
        with pytest.raises(InputError, match="declares a budget"):
            paid(data, "1/4", ledger=None)
        assert Ledger(tmp_path / LEDGER).spent("clinic").epsilon == Fraction(3, 2), name


def test_a_budget_needs_a_file() -> None:
    """What a process counts is forgotten when it ends, and then the budget would be whole again."""
    data = redveil.load(*clinic_frames(100), nobody_else().replace(budget=3))
    with pytest.raises(InputError, match="declares a budget; save the schema, or name the file"):
        redveil.mine(data, 1)


def test_frames_are_charged_to_the_process_which_says_what_has_been_spent() -> None:
    schema = nobody_else()
    data = redveil.load(*clinic_frames(200), schema)
    first = redveil.mine(data, 1)
    assert f"ε = 1 spent on {schema.name} so far" in str(first).replace("\n", " ")
    second = redveil.mine(data, "1/2", delta=1e-6)
    # By every result, and however it was arranged.
    for result in (first, second, first.filter(min_jaccard=0.5)):
        said = f"{Loss(Fraction(3, 2), Fraction(1, 10**6))} spent on"
        assert said in str(result)
        assert f"{said} {schema.name} so far" in result._repr_html_()
    # What a file of it holds is for others, who have spent nothing.
    assert "so far" not in first.to_json()
    other = redveil.mine(redveil.load(*clinic_frames(200), nobody_else()), 1)
    assert "ε = 1 spent on" in str(other)


def test_the_process_counts_every_paid_call() -> None:
    schema = nobody_else()
    data = redveil.load(*clinic_frames(200), schema)
    for paid in PAID.values():
        paid(data, "1/4")
    shown = str(redveil.mine(data, "1/4"))
    assert f"ε = {Fraction(len(PAID) + 1, 4)} spent on {schema.name}" in shown.replace("\n", " ")


def test_a_data_set_without_an_id_is_known_to_the_process_by_its_name() -> None:
    for schema in (replace(nobody_else(), id=None), replace(nobody_else(), id=None)):
        data = redveil.load(*clinic_frames(100), schema)
        assert f"ε = 1 spent on {schema.name}" in str(redveil.mine(data, 1)).replace("\n", " ")


@pytest.mark.parametrize("name", PAID)
def test_going_without_is_a_word_in_the_call_and_the_result_says_so(
    name: str, tmp_path: Path
) -> None:
    data = with_schema_path(tmp_path)
    result: Any = PAID[name](data, "1/3", ledger=None)
    assert not (tmp_path / LEDGER).exists()
    assert UNRECORDED in " ".join(str(result).split())
    assert UNRECORDED in result._repr_html_().partition("<details>")[0]
    result.save(tmp_path / "result.json")
    assert any(
        UNRECORDED in one for one in result.read(tmp_path / "result.json").certificate.conditions
    )
    counted: Any = PAID[name](data, "1/3")
    assert UNRECORDED not in counted.to_json()


def test_what_was_released_without_a_ledger_says_so_before_it_has_a_list() -> None:
    kept: list[redveil.Result] = []
    redveil.mine(clinic(), 1, ledger=None, keep=kept.append)
    assert UNRECORDED in kept[0].to_json()


def test_a_server_has_charged_what_it_answers() -> None:
    schema = nobody_else()
    data = redveil.load(*clinic_frames(200), schema)
    result = answer({"kind": "mine", "epsilon": "1"}, data)
    assert UNRECORDED not in result.to_json()
    assert "so far" not in str(result)


def test_the_first_file_of_a_schema_stays_the_one_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a copy for a colleague, nor another working folder, begins a new ledger."""
    study, elsewhere = tmp_path / "study", tmp_path / "elsewhere"
    study.mkdir()
    elsewhere.mkdir()
    write_clinic(study, 100)
    monkeypatch.chdir(study)
    schema = Schema.read("datapackage.json")
    monkeypatch.chdir(elsewhere)
    schema.save("datapackage.json")
    redveil.mine(redveil.load(*clinic_frames(100), schema), 1)
    assert Ledger(study / LEDGER).spent("clinic").epsilon == 1
    assert not (elsewhere / LEDGER).exists()


def test_the_file_of_a_schema_is_no_declaration(tmp_path: Path) -> None:
    path = write_clinic(tmp_path, 20)[2]
    read = Schema.read(path)
    assert read == clinic_schema()
    assert hash(read) == hash(clinic_schema())
    assert read.digest == clinic_schema().digest
    assert str(tmp_path) not in f"{read!r} {read} {read.to_dict()}"


def test_a_schema_of_a_pipe_has_no_ledger_beside_it() -> None:
    schema = nobody_else()
    schema.save("/dev/null")
    data = redveil.load(*clinic_frames(100), schema)
    assert "spent on" in str(redveil.mine(data, 1))
