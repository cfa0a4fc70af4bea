"""A ledger of privacy losses in one SQLite file. Charges are never removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DatabaseError

from redveil.errors import InputError, OverBudgetError
from redveil.privacy.loss import Loss

_METADATA = MetaData()
_CHARGES = Table(
    "charges",
    _METADATA,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("dataset", String, nullable=False),
    Column("epsilon", String, nullable=False),
    Column("purpose", String, nullable=False),
    Column("made_at", String, nullable=False),
    Column("delta", String, nullable=False, server_default="0"),
)


@dataclass(frozen=True, slots=True)
class Charge:
    """One recorded charge.

    >>> Charge(Loss(Fraction(1)), "mine", "2026-01-01T12:00:00+00:00").purpose
    'mine'
    """

    loss: Loss
    purpose: str
    made_at: str


class Ledger:
    """Charges to data sets, in a file that survives crashes.

    A charge is checked and written in one transaction that first locks the file, so that two
    processes cannot both spend the rest of a budget.

    Losses add up, ε and δ separately (basic composition), however a run spends its own.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "ledger.sqlite")
    ...     ledger.charge("clinic", Loss(Fraction(1)), "mine", cap=Loss(Fraction(2)))
    ...     ledger.spent("clinic")
    Loss(epsilon=Fraction(1, 1), delta=Fraction(0, 1))
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._engine = create_engine(
            # Not a string: a path may contain "?" and "#", which have a meaning in URLs.
            URL.create("sqlite", database=str(path)),
            # Transactions are explicit (BEGIN IMMEDIATE), not the driver's.
            isolation_level="AUTOCOMMIT",
            connect_args={"timeout": 60},
        )

    def charge(self, dataset: str, loss: Loss, purpose: str, cap: Loss) -> None:
        """Record a charge, or raise OverBudgetError if the total would exceed the cap."""
        with self._transaction() as connection:
            spent = _total(connection, dataset)
            for key, asked, used, whole in (
                ("budget", loss.epsilon, spent.epsilon, cap.epsilon),
                ("budget_delta", loss.delta, spent.delta, cap.delta),
            ):
                if asked and used + asked > whole:
                    raise OverBudgetError(
                        f"{self._path}: {asked} requested, {max(whole - used, Fraction(0))} left "
                        f"of the {key} of {whole}; spend less, or let the owner raise redveil.{key}"
                    )
            connection.execute(
                _CHARGES.insert().values(
                    dataset=dataset,
                    epsilon=str(loss.epsilon),
                    delta=str(loss.delta),
                    purpose=purpose,
                    made_at=datetime.now(UTC).isoformat(timespec="seconds"),
                )
            )

    def spent(self, dataset: str) -> Loss:
        """Return the exact sum of a data set's charges."""
        with self._transaction() as connection:
            return _total(connection, dataset)

    def charges(self, dataset: str) -> tuple[Charge, ...]:
        """Return a data set's charges, oldest first."""
        wanted = select(_CHARGES).where(_CHARGES.c.dataset == dataset).order_by(_CHARGES.c.number)
        with self._transaction() as connection:
            return tuple(
                Charge(Loss(Fraction(row.epsilon), Fraction(row.delta)), row.purpose, row.made_at)
                for row in connection.execute(wanted)
            )

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Lock the file, then commit on success and roll back on any error."""
        try:
            with self._engine.connect() as connection:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                try:
                    _prepare(connection)
                    yield connection
                except BaseException:
                    connection.exec_driver_sql("ROLLBACK")
                    raise
                connection.exec_driver_sql("COMMIT")
        except (DatabaseError, ValueError, ZeroDivisionError):
            # The latter two: an amount in the file is not a number.
            raise InputError(
                f"{self._path}: not a usable ledger; check that it is a ledger and can be written"
            ) from None
        finally:
            self._engine.dispose()


def _prepare(connection: Connection) -> None:
    """Create the table, or add the column that a table of an earlier version lacks."""
    _METADATA.create_all(connection)
    if not any(one["name"] == "delta" for one in inspect(connection).get_columns("charges")):
        connection.execute(text("ALTER TABLE charges ADD COLUMN delta VARCHAR NOT NULL DEFAULT 0"))


def _total(connection: Connection, dataset: str) -> Loss:
    """Return the exact sum of a data set's charges."""
    wanted = select(_CHARGES.c.epsilon, _CHARGES.c.delta).where(_CHARGES.c.dataset == dataset)
    rows = connection.execute(wanted).all()
    return Loss(
        sum((Fraction(row.epsilon) for row in rows), Fraction(0)),
        sum((Fraction(row.delta) for row in rows), Fraction(0)),
    )
