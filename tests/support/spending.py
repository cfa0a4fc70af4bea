"""What other processes do to a ledger; at the top of a module, so that they can be spawned."""

from __future__ import annotations

import os
import signal
import sqlite3
from fractions import Fraction
from multiprocessing.synchronize import Barrier
from pathlib import Path

from redveil.budget.charges import PaidFor
from redveil.budget.ledger import Ledger
from redveil.errors import OverBudgetError
from redveil.losses.loss import Loss

WON, REFUSED = 0, 3
MINED = PaidFor("mine", "result.json", "twin", {"depth": 2})


def spend_together(path: Path, start: Barrier, price: Fraction, cap: Fraction) -> None:
    """Wait for the others, then charge; the exit code says whether it was granted."""
    ledger = Ledger(path)
    start.wait()
    try:
        ledger.charge("clinic", Loss(price), MINED, Loss(cap))
    except OverBudgetError:
        raise SystemExit(REFUSED) from None
    raise SystemExit(WON)


def spend_and_die(path: Path) -> None:
    """Charge, then end as if the power had failed: nothing is closed or flushed."""
    Ledger(path).charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(Fraction(1)))
    os.kill(os.getpid(), signal.SIGKILL)


def die_within_a_charge(path: Path) -> None:
    """End as if the power had failed after a charge was written and before it was committed."""
    connection = sqlite3.connect(path, isolation_level=None)
    # So small a cache that pages go to the file before the commit, and a journal is left behind.
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN IMMEDIATE")
    for _ in range(200):
        connection.execute(
            "INSERT INTO charges (dataset, epsilon, purpose, made_at) VALUES (?, ?, ?, ?)",
            ("clinic", "1/3", "mine", "x" * 1000),
        )
    os.kill(os.getpid(), signal.SIGKILL)
