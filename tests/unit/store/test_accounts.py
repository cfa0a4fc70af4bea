from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from redveil.budget.charges import PaidFor
from redveil.budget.ledger import Ledger
from redveil.errors import ConflictError, InputError, NotFoundError
from redveil.store.accounts import PREFIX, Role
from redveil.store.database import Transaction
from redveil.store.texts import moment
from support.stores import CLINIC, NOBODY, Place, loss


def issue(place: Place, days: float = 1) -> tuple[str, str]:
    expires = place.clock.now + timedelta(days=days)
    token, secret = place.store.accounts.issue_token(place.ana.id, ["ask", "read"], expires, NOBODY)
    return token.id, secret


def test_a_token_is_known_by_its_secret_which_is_not_stored(place: Place) -> None:
    number, secret = issue(place)
    assert secret.startswith(PREFIX)
    assert len(secret) == len(PREFIX) + 43  # 256 bits in base 64
    token = place.store.accounts.authenticate(secret)
    assert token is not None
    assert (token.id, token.account, token.scopes) == (
        number,
        place.ana,
        frozenset({"ask", "read"}),
    )
    with place.store.database.reading() as transaction:
        for table in ("tokens", "events"):
            assert secret not in str(transaction.rows(f"SELECT * FROM {table}"))
    assert [one.id for one in place.store.accounts.tokens(place.ana.id)] == [number]
    assert place.store.accounts.tokens(place.owner.id) == []
    assert len(place.store.accounts.tokens()) == 1


def test_a_token_is_looked_up_by_its_hash(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    # A comparison of the secret itself, here or in the database, could be timed.
    _, secret = issue(place)
    given: list[object] = []
    run = Transaction._run

    def noted(self: Transaction, sql: str, parameters: Sequence[object]) -> object:
        given.extend([sql, *parameters])
        return run(self, sql, parameters)

    monkeypatch.setattr(Transaction, "_run", noted)
    assert place.store.accounts.authenticate(secret) is not None
    assert sha256(secret.encode()).hexdigest() in given
    assert secret not in str(given)


@pytest.mark.parametrize("secret", ["", "redveil_", "\x00", "x" * 10000, "\ud800", "' OR 1=1 --"])
def test_a_wrong_secret_is_nobodys(secret: str, place: Place) -> None:
    issue(place)
    assert place.store.accounts.authenticate(secret) is None


def test_tokens_expire_and_can_be_revoked(place: Place) -> None:
    (_, first), (number, second) = issue(place, days=1), issue(place, days=9)
    place.clock.pass_(days=1)
    assert place.store.accounts.authenticate(first) is None
    assert place.store.accounts.authenticate(second) is not None
    place.store.accounts.revoke_token(number, NOBODY)
    place.store.accounts.revoke_token(number, NOBODY)
    assert place.store.accounts.authenticate(second) is None
    with pytest.raises(NotFoundError, match="no such token"):
        place.store.accounts.revoke_token("none", NOBODY)
    with pytest.raises(InputError, match="in the future"):
        issue(place, days=0)


def test_the_tokens_of_a_closed_account_are_useless(place: Place) -> None:
    _, secret = issue(place)
    place.store.accounts.close(place.ana.id, NOBODY)
    assert place.store.accounts.authenticate(secret) is None
    with pytest.raises(NotFoundError, match="no such account"):
        issue(place)
    assert [one.name for one in place.store.accounts.all()] == ["olga"]


def test_names_of_accounts_are_unique_and_printable(place: Place) -> None:
    with pytest.raises(ConflictError, match="already"):
        place.store.accounts.create("olga", Role.AUDITOR, NOBODY)
    for name in ("", "a\nb", "a\x00", "x" * 201):
        with pytest.raises(InputError, match="name: give a text"):
            place.store.accounts.create(name, Role.AUDITOR, NOBODY)


def test_only_owners_register_data_and_an_id_and_a_name_once(place: Place) -> None:
    register = place.store.datasets.register
    with pytest.raises(ConflictError, match="only owners"):
        register("5c00", "school", place.ana.id, {}, loss("1"))
    taken = (CLINIC, "school"), ("5c00", "clinic"), ("5c00", CLINIC), ("clinic", "school")
    for identifier, name in taken:
        with pytest.raises(ConflictError, match="add a new version"):
            register(identifier, name, place.owner.id, {}, loss("1"))
    assert [one.id for one in place.store.datasets.all()] == [CLINIC]
    assert place.store.datasets.get(CLINIC).description == {"name": "clinic"}


def test_versions_share_a_budget(place: Place) -> None:
    place.done("4")
    version = place.store.datasets.new_version(CLINIC, "new.packed", "cd" * 32, place.owner.id)
    assert version.number == 2
    assert place.store.datasets.version(CLINIC) == version
    assert place.store.datasets.version(CLINIC, 1).location == "clinic.packed"
    with pytest.raises(NotFoundError):
        place.store.datasets.version(CLINIC, 3)
    assert place.done("1").version == 2
    assert place.store.datasets.left(CLINIC, place.ana.id) == loss("5")


def test_what_a_file_ledger_has_charged_counts_on_the_server(place: Place, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("school", loss("1/3"), PaidFor("mine"), None, identifier="5c00")
    place.store.datasets.register(
        "5c00", "school", place.owner.id, {}, loss("1"), earlier=ledger.charges("school", "5c00")
    )
    assert place.store.datasets.spent("5c00").of_all == loss("1/3")
    place.store.datasets.grant("5c00", place.ana.id, loss("9"), place.owner.id)
    assert place.store.datasets.left("5c00", place.ana.id) == loss("2/3")


def test_grants_are_to_analysts_that_there_are(place: Place) -> None:
    with pytest.raises(NotFoundError):
        place.store.datasets.grant(CLINIC, "nobody", loss("1"), place.owner.id)
    with pytest.raises(NotFoundError):
        place.store.datasets.grant("none", place.ana.id, loss("1"), place.owner.id)
    ((dataset, grant),) = place.store.datasets.granted(place.ana.id)
    assert (dataset.id, grant.cap, grant.needs_approval) == (CLINIC, loss("10"), False)


def test_a_cap_over_all_can_be_taken_away(place: Place) -> None:
    for cap, left in ((loss("2"), "2"), (None, "10")):
        place.store.datasets.set_cap(CLINIC, cap, place.owner.id)
        assert place.store.datasets.left(CLINIC, place.ana.id) == loss(left)


def test_everything_that_is_done_is_written_down(place: Place) -> None:
    job = place.done("1")
    events = place.store.audit.events()
    assert [one.action for one in events] == [
        "account created",
        "budget set",
        "data set registered",
        "version added",
        "account created",
        "grant set",
        "token issued",
        "job submitted",
        "job charged",
        "job done",
    ]
    submitted = events[7]
    assert (submitted.actor, submitted.job, submitted.dataset) == (place.ana.id, job.id, CLINIC)
    assert submitted.details["epsilon"] == "1"
    assert submitted.details["question"] == {"algorithm": "twin", "depth": 2}
    of_dataset = place.store.audit.events(dataset=CLINIC, later_than=events[2].number)
    assert of_dataset[0].action == "version added"
    assert len(place.store.audit.events(most=2)) == 2


def test_events_are_forgotten_when_they_are_old_and_charges_are_not(place: Place) -> None:
    place.done("1")
    place.clock.pass_(days=400)
    place.submit("1")
    now = place.clock.now
    assert place.store.audit.forget(now - timedelta(days=365), now, NOBODY) == 10
    assert [one.action for one in place.store.audit.events()] == [
        "job submitted",
        "events forgotten",
    ]
    assert place.spent() == 1
    with pytest.raises(InputError, match="only events of the past"):
        place.store.audit.forget(now + timedelta(days=1), now, NOBODY)


def test_a_moment_needs_a_time_zone() -> None:
    with pytest.raises(InputError, match="needs a time zone"):
        moment(datetime(2026, 1, 1))
