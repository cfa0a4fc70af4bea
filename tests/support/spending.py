"""What other processes do to a ledger; at the top of a module, so that they can be spawned."""

from __future__ import annotations

import os
import signal
from fractions import Fraction
from multiprocessing.synchronize import Barrier
from pathlib import Path

from redveil.budget.ledger import Ledger
from redveil.errors import OverBudgetError
from redveil.privacy.loss import Loss

WON, REFUSED = 0, 3


def spend_together(path: Path, start: Barrier, price: Fraction, cap: Fraction) -> None:
    """Wait for the others, then charge; the exit code says whether it was granted."""
    ledger = Ledger(path)
    start.wait()
    try:
        ledger.charge("clinic", Loss(price), "mine", Loss(cap))
    except OverBudgetError:
        raise SystemExit(REFUSED) from None
    raise SystemExit(WON)


def spend_and_die(path: Path) -> None:
    """Charge, then end as if the power had failed: nothing is closed or flushed."""
    Ledger(path).charge("clinic", Loss(Fraction(1, 3)), "mine", Loss(Fraction(1)))
    os.kill(os.getpid(), signal.SIGKILL)
