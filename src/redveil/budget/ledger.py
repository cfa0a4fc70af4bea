"""A ledger of privacy loss in one SQLite file: what is charged stays charged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    select,
)
from sqlalchemy.exc import DatabaseError

from redveil.errors import InputError, OverBudgetError

_METADATA = MetaData()
_CHARGES = Table(
    "charges",
    _METADATA,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("dataset", String, nullable=False),
    Column("epsilon", String, nullable=False),
    Column("purpose", String, nullable=False),
    Column("made_at", String, nullable=False),
)


class Ledger:
    """Charges against data sets, kept in a file that survives crashes.

    A charge is checked and written in one transaction that locks the file first, so that two
    processes cannot both spend the last of a budget.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "ledger.sqlite")
    ...     ledger.charge("clinic", Fraction(1), "mine", cap=Fraction(2))
    ...     ledger.spent("clinic")
    Fraction(1, 1)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._engine = create_engine(
            # Not a text: a path may hold "?" and "#", which mean something in an address.
            URL.create("sqlite", database=str(path)),
            # SQLite's own locking is used (BEGIN IMMEDIATE), not the driver's guesses.
            isolation_level="AUTOCOMMIT",
            connect_args={"timeout": 60},
        )

    def charge(self, dataset: str, epsilon: Fraction, purpose: str, cap: Fraction) -> None:
        """Write down a charge, or raise OverBudgetError if it does not fit under the cap."""
        with self._transaction() as connection:
            spent = _total(connection, dataset)
            if spent + epsilon > cap:
                raise OverBudgetError(
                    f"{self._path}: {epsilon} asked, {max(cap - spent, Fraction(0))} left of the "
                    f"budget of {cap}; ask for less, or have the owner raise redveil.budget"
                )
            connection.execute(
                _CHARGES.insert().values(
                    dataset=dataset,
                    epsilon=str(epsilon),
                    purpose=purpose,
                    made_at=datetime.now(UTC).isoformat(timespec="seconds"),
                )
            )

    def spent(self, dataset: str) -> Fraction:
        """Return what a data set's charges add up to, exactly."""
        with self._transaction() as connection:
            return _total(connection, dataset)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Lock the file, then commit on success and roll back on any error."""
        try:
            with self._engine.connect() as connection:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                try:
                    _METADATA.create_all(connection)
                    yield connection
                except BaseException:
                    connection.exec_driver_sql("ROLLBACK")
                    raise
                connection.exec_driver_sql("COMMIT")
        except (DatabaseError, ValueError, ZeroDivisionError):
            # The latter two: someone wrote an amount that is no number.
            raise InputError(
                f"{self._path}: not a usable ledger; check the path and that it can be written"
            ) from None
        finally:
            self._engine.dispose()


def _total(connection: Connection, dataset: str) -> Fraction:
    """Add up a data set's charges."""
    rows = connection.execute(select(_CHARGES.c.epsilon).where(_CHARGES.c.dataset == dataset))
    return sum((Fraction(row.epsilon) for row in rows), Fraction(0))
