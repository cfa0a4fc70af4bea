from __future__ import annotations

import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import redveil
from redveil.budget.charges import PaidFor
from redveil.budget.ledger import Ledger
from redveil.data.address import Address
from redveil.data.synthetic import CLINIC_ID, clinic_frames, clinic_schema
from redveil.errors import (
    ConflictError,
    InputError,
    LedgerWarning,
    NotFoundError,
    SealedError,
)
from redveil.losses.loss import Loss
from redveil.owner import load_report, truth
from redveil.schema import Status
from redveil.schema.purchase import Purchase
from redveil.server.child import line_for
from redveil.server.opening import set_up
from redveil.server.settings import Settings
from redveil.store.accounts import Role
from redveil.store.recovery import recover
from redveil.store.store import utc_now
from redveil.workers.dummy_data import dummy_tables
from redveil.workers.packed import pack, unpack
from redveil.workers.registration import Registration
from support import wall
from support.other_user import unobserved

TESTS = Path(__file__).parents[2]
KEY = "ab" * 32
BUDGET = Loss(Fraction(5))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[tuple[Registration, str]]:
    settings = Settings.read(None, {"REDVEIL_SERVER_DATA_KEY_DIGITS": KEY}, folder=tmp_path / "s")
    store, _ = set_up(settings)
    owner = store.accounts.create("olga", Role.OWNER, "console")
    yield Registration(store, settings), owner.id
    store.close()


def test_tables_are_checked_packed_and_registered(desk: tuple[Registration, str]) -> None:
    registration, owner = desk
    left, right = clinic_frames(50)
    made = registration.add((left.slice(0, 40), right), clinic_schema(), owner, BUDGET)
    assert made.version.number == 1
    assert made.report.joined == 40
    path = registration.settings.data_folder / made.version.location
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    # The key is set, so nothing shows.
    assert b"rows" not in path.read_bytes()
    # Analysts see no budget in the schema: what they may spend is in the ledger.
    assert registration.store.datasets.get(CLINIC_ID).name == "clinic"
    assert registration.store.datasets.limits(CLINIC_ID).budget == BUDGET


def test_codes_are_reported_to_the_owner_and_stay_out_of_the_server(
    desk: tuple[Registration, str],
) -> None:
    registration, owner = desk
    schema = replace(wall.marked_schema(), id="7e57")
    made = registration.add(wall.marked_frames(), schema, owner, BUDGET)
    assert any(f"times {wall.OUTSIDE}" in line for line in made.report.warnings())
    files = [path for path in registration.settings.folder.rglob("*") if path.is_file()]
    assert len(files) > 2
    for path in files:
        assert not wall.MARKS.search(path.read_bytes().decode("latin-1"))


def test_versions_share_schema_and_budget(desk: tuple[Registration, str]) -> None:
    registration, owner = desk
    registration.add(clinic_frames(30), clinic_schema(), owner, BUDGET)
    made = registration.renew(CLINIC_ID, clinic_frames(60, seed=2), clinic_schema())
    assert (made.version.number, made.report.joined) == (2, 60)
    assert registration.store.datasets.limits(CLINIC_ID).budget == BUDGET
    other = clinic_schema().without("sex")
    with pytest.raises(ConflictError, match="differs"):
        registration.renew(CLINIC_ID, clinic_frames(30), other)
    with pytest.raises(NotFoundError):
        registration.renew("nothing", clinic_frames(30), clinic_schema())
    # What was packed for nothing is removed.
    with pytest.raises(ConflictError, match="registered"):
        registration.add(clinic_frames(30), clinic_schema(), owner, BUDGET)
    assert len(list(registration.settings.data_folder.iterdir())) == 2


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger that says that ε = 2 was spent of the clinic."""
    path = tmp_path / "datapackage.ledger.sqlite"
    with pytest.warns(LedgerWarning):
        Ledger(path).charge(
            "clinic", Loss(Fraction(2)), PaidFor("mine"), None, identifier=CLINIC_ID
        )
    return path


def registered(registration: Registration) -> Mapping[str, Any]:
    """Return what the audit log says of the registration."""
    (event,) = [
        one
        for one in registration.store.audit.events(dataset=CLINIC_ID)
        if one.action == "data set registered"
    ]
    return event.details


def test_what_was_spent_elsewhere_counts(desk: tuple[Registration, str], ledger: Path) -> None:
    registration, owner = desk
    made = registration.add(
        # Named twice, it counts once.
        *(clinic_frames(30), clinic_schema(), owner, BUDGET),
        ledgers=[ledger, ledger.parent / "." / ledger.name],
    )
    assert registration.store.datasets.spent(CLINIC_ID).of_all.epsilon == 2
    assert made.taken_over == Loss(Fraction(2))
    assert registered(registration) == {"taken_over": {"epsilon": "2", "delta": "0"}}
    with pytest.raises(InputError, match="has taken over"):
        Ledger(ledger).charge(
            "clinic", Loss(Fraction(1)), PaidFor("mine"), None, identifier=CLINIC_ID
        )


def test_charges_that_are_known_are_not_passed_over(
    desk: tuple[Registration, str], ledger: Path
) -> None:
    registration, owner = desk
    given = (clinic_frames(30), clinic_schema(), owner, BUDGET)
    with pytest.raises(InputError) as refused:
        registration.add(*given, beside=[ledger])
    for said in ("ε = 2 was charged", f"--ledger {ledger}", "--leave-out-charges"):
        assert said in str(refused.value)
    assert registration.store.datasets.all() == []
    assert list(registration.settings.data_folder.iterdir()) == []
    registration.add(*given, beside=[ledger], leave_out_charges=True)
    assert registration.store.datasets.spent(CLINIC_ID).of_all.epsilon == 0
    assert registered(registration) == {"left_out": {"epsilon": "2", "delta": "0"}}
    # It was not taken over, so it goes on.
    Ledger(ledger).check("clinic", Loss(Fraction(1)), None, identifier=CLINIC_ID)


def test_that_charges_are_left_out_is_recorded_also_if_none_are_known(
    desk: tuple[Registration, str],
) -> None:
    registration, owner = desk
    # As of a schema that comes through a pipe: nobody can say what is beside it.
    registration.add(clinic_frames(30), clinic_schema(), owner, BUDGET, leave_out_charges=True)
    assert registered(registration) == {"left_out": {}}


def test_a_ledger_that_has_no_charges_to_the_data_is_the_wrong_one(
    desk: tuple[Registration, str], tmp_path: Path
) -> None:
    registration, owner = desk
    other = tmp_path / "other.sqlite"
    with pytest.warns(LedgerWarning):
        Ledger(other).charge("school", Loss(Fraction(2)), PaidFor("mine"), None, identifier="5c00")
    given = (clinic_frames(30), clinic_schema(), owner, BUDGET)
    with pytest.raises(InputError, match="nothing was charged for clinic"):
        registration.add(*given, ledgers=[other])
    assert len(Ledger(other).entries()) == 1
    registration.add(*given, ledgers=[other], leave_out_charges=True)
    with pytest.raises(InputError, match="has taken over"):
        Ledger(other).check("clinic", Loss(Fraction(1)), None, identifier=CLINIC_ID)


def test_what_was_charged_to_data_that_a_restored_server_forgot_is_not_sold_again(
    desk: tuple[Registration, str],
) -> None:
    registration, owner = desk
    store = registration.store
    # The data set was registered and charged after the backup that was restored.
    recover(store.database, store.signer, utc_now, write_off=True)
    given = (clinic_frames(30), clinic_schema(), owner, BUDGET)
    with pytest.raises(InputError, match="written off") as refused:
        registration.add(*given)
    assert "--leave-out-charges" in str(refused.value)
    assert store.datasets.all() == []
    registration.add(*given, leave_out_charges=True)
    assert registered(registration) == {"left_out": {"written_off": store.written_off_at()}}


def test_a_ledger_beside_that_is_about_other_data_is_no_obstacle(
    desk: tuple[Registration, str], tmp_path: Path
) -> None:
    registration, owner = desk
    other = tmp_path / "other.sqlite"
    with pytest.warns(LedgerWarning):
        Ledger(other).charge("school", Loss(Fraction(2)), PaidFor("mine"), None, identifier="5c00")
    registration.add(
        *(clinic_frames(30), clinic_schema(), owner, BUDGET), beside=[other, tmp_path / "none"]
    )
    assert registered(registration) == {}


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        (Loss(Fraction(6)), "ε = 3 in all, and --budget 6 is more"),
        (Loss(Fraction(3), Fraction(1, 10)), "δ = 1/100 in all, and --budget-delta 1/10 is more"),
    ],
)
def test_a_budget_is_not_raised_in_passing(
    desk: tuple[Registration, str], allowed: Loss, said: str
) -> None:
    registration, owner = desk
    schema = replace(clinic_schema(), budget=Fraction(3), budget_delta=Fraction(1, 100))
    with pytest.raises(InputError) as refused:
        registration.add(clinic_frames(30), schema, owner, allowed)
    assert said in str(refused.value)
    assert "--raise-budget" in str(refused.value)
    registration.add(clinic_frames(30), schema, owner, allowed, raise_budget=True)
    assert registration.store.datasets.limits(CLINIC_ID).budget == allowed
    assert registered(registration) == {"raised_from": {"epsilon": "3", "delta": "1/100"}}


def test_a_budget_that_the_schema_allows_is_no_obstacle(desk: tuple[Registration, str]) -> None:
    registration, owner = desk
    schema = replace(clinic_schema(), budget=Fraction(5))
    registration.add(clinic_frames(30), schema, owner, BUDGET)
    assert registered(registration) == {}


def test_cut_points_that_were_bought_count(desk: tuple[Registration, str], ledger: Path) -> None:
    registration, owner = desk
    bought = (Purchase(Fraction(1, 10), right=("CRP",)), Purchase(Fraction(1, 5), right=("CRP",)))
    paid = PaidFor.cut_points(bought[0])
    Ledger(ledger).charge("clinic", Loss(Fraction(1, 10)), paid, None, identifier=CLINIC_ID)
    schema = replace(clinic_schema(), bought=bought)
    registration.add(clinic_frames(30), schema, owner, BUDGET, ledgers=[ledger])
    spent = registration.store.datasets.spent(CLINIC_ID).of_all
    assert spent == Loss(Fraction(2) + Fraction(1, 10) + Fraction(1, 5))


def test_a_second_server_does_not_sell_the_same_budget(
    desk: tuple[Registration, str], ledger: Path
) -> None:
    registration, owner = desk
    Ledger(ledger).take_over("clinic", CLINIC_ID, "another server")
    given = (clinic_frames(30), clinic_schema(), owner, BUDGET)
    for known in ({"beside": [ledger]}, {"ledgers": [ledger]}):
        with pytest.raises(InputError, match="another server"):
            registration.add(*given, **known)  # type: ignore[arg-type]
    registration.add(*given, ledgers=[ledger], leave_out_charges=True)
    assert registration.store.datasets.spent(CLINIC_ID).of_all.epsilon == 2
    assert registered(registration)["left_out"] == {"ledgers": ["another server"]}


@pytest.mark.parametrize("step", ["take_over", "register", "new_version"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_registration_that_is_cut_off_forgets_nothing(
    step: str, when: str, desk: tuple[Registration, str], ledger: Path, tmp_path: Path
) -> None:
    """Wherever the process dies, what was spent is known to whoever may go on charging."""
    registration, owner = desk
    settings = tmp_path / "settings.json"
    settings.write_bytes(line_for("x", registration.settings))
    words = [sys.executable, "-m", "support.cut_off_registration"]
    words += [str(settings), owner, str(ledger), step, when]
    cut_off = subprocess.run(words, cwd=TESTS, env=unobserved(), timeout=120, check=False)
    assert cut_off.returncode == -signal.SIGKILL
    local, store = Ledger(ledger), registration.store
    assert local.spent("clinic", CLINIC_ID) == Loss(Fraction(2))
    is_served = bool(store.datasets.all())
    assert is_served == (f"{when} {step}" in ("after register", "before new_version")) or (
        step == "new_version"
    )
    try:
        local.check("clinic", Loss(Fraction(1)), None, identifier=CLINIC_ID)
    except InputError:
        goes_on_here = False
    else:
        goes_on_here = True
    assert goes_on_here == (f"{when} {step}" == "before take_over")
    # Somebody does what the messages say, and it is as if nothing had happened.
    given = (clinic_frames(30), clinic_schema(), owner, BUDGET)
    if is_served:
        with pytest.raises(ConflictError, match="add a new version"):
            registration.add(*given, ledgers=[ledger])
        registration.renew(CLINIC_ID, clinic_frames(30), clinic_schema())
    else:
        registration.add(*given, ledgers=[ledger])
    assert store.datasets.spent(CLINIC_ID).of_all == Loss(Fraction(2))
    assert store.datasets.version(CLINIC_ID).number >= 1
    with pytest.raises(InputError, match="has taken over"):
        local.check("clinic", Loss(Fraction(1)), None, identifier=CLINIC_ID)


def test_a_draft_is_not_served(desk: tuple[Registration, str]) -> None:
    registration, owner = desk
    for draft in (
        replace(clinic_schema(), status=Status.DRAFT),
        replace(clinic_schema(), id=None),
    ):
        with pytest.raises(InputError, match="draft"):
            registration.add(clinic_frames(30), draft, owner, BUDGET)
    assert list(registration.settings.data_folder.iterdir()) == []


def test_a_packed_table_is_the_table(tmp_path: Path) -> None:
    schema = clinic_schema()
    dataset = redveil.load(*clinic_frames(500), schema)
    digest = pack(dataset, tmp_path / "packed", None)
    again = unpack(schema, tmp_path / "packed", None, digest)
    result = redveil.mine(again, epsilon=20)
    assert len(result)
    # True values of the same queries are the same in both.
    one, other = (truth(result, data).to_json() for data in (dataset, again))
    assert one == other
    assert load_report(again).joined == 0


def test_a_packed_table_fits_its_schema_only(tmp_path: Path) -> None:
    schema = clinic_schema()
    digest = pack(redveil.load(*clinic_frames(20), schema), tmp_path / "packed", None)
    for other in (schema.without("sex"), replace(schema, id="other")):
        key = bytes(32)
        sealed = pack(
            redveil.load(*clinic_frames(20), schema),
            tmp_path / f"{other.id}-{len(other.left.attributes)}",
            key,
        )
        with pytest.raises(SealedError):
            unpack(other, tmp_path / f"{other.id}-{len(other.left.attributes)}", key, sealed)
    with pytest.raises(SealedError):
        unpack(schema.without("sex"), tmp_path / "packed", None, digest)


def test_an_empty_table_can_be_packed(tmp_path: Path) -> None:
    schema = clinic_schema()
    left, right = clinic_frames(5)
    nobody = redveil.load(left.slice(0, 0), right, schema, few_in_common=True)
    digest = pack(nobody, tmp_path / "packed", None)
    unpack(schema, tmp_path / "packed", None, digest)


def write_sqlite(path: Path, frames: tuple[pa.Table, pa.Table]) -> None:
    connection = sqlite3.connect(path)
    for name, frame in zip(("l", "r"), frames, strict=True):
        columns = ", ".join(f'"{one}"' for one in frame.column_names)
        connection.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join("?" * frame.num_columns)
        rows = [tuple(row.values()) for row in frame.to_pylist()]
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    connection.commit()
    connection.close()


def test_tables_come_from_a_database(desk: tuple[Registration, str], tmp_path: Path) -> None:
    registration, owner = desk
    write_sqlite(tmp_path / "clinic.sqlite", clinic_frames(40))
    address = str(tmp_path / "clinic.sqlite")
    tables = (
        Address.of_query(address, "SELECT * FROM l"),
        Address.of_query(f"sqlite:///{address}", "SELECT * FROM r"),
    )
    made = registration.add(tables, clinic_schema(), owner, BUDGET)
    assert made.report.joined == 40


def test_dummy_data_fits_the_schema(tmp_path: Path) -> None:
    schema = clinic_schema().with_attribute(
        "seen", side="left", kind="date", minimum="2020-01-01", maximum="2021-12-31"
    )
    paths = []
    for name, text in zip(("left.csv", "right.csv"), dummy_tables(schema, 200), strict=True):
        paths.append(tmp_path / name)
        paths[-1].write_text(text, encoding="utf-8")
    report = load_report(redveil.load(paths[0], paths[1], schema))
    assert (report.joined, report.incomplete) == (200, 0)
    counts = [(one.outside, one.undeclared, one.unreadable) for one in report.attributes]
    assert set(counts) == {(0, 0, 0)}
    assert np.ndim(counts) == 2
