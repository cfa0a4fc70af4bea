"""A registration whose process is killed at one of its steps.

`python -m support.cut_off_registration SETTINGS OWNER LEDGER STEP WHEN`. It kills itself, as the
system would, right before or after a step that it takes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from redveil.budget.ledger import Ledger
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.losses.loss import Loss
from redveil.server.opening import open_store
from redveil.server.settings import Settings
from redveil.store.datasets import DataSets
from redveil.workers.registration import Registration

STEPS: Final = {"take_over": Ledger, "register": DataSets, "new_version": DataSets}


def cut_off(step: str, when: str) -> None:
    """Let a step kill the process."""
    usual = getattr(STEPS[step], step)

    def deadly(*given: Any, **named: Any) -> None:
        if when == "after":
            usual(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(STEPS[step], step, deadly)


if __name__ == "__main__":
    place, owner, ledger, which, moment = sys.argv[1:]
    plain = json.loads(Path(place).read_text(encoding="utf-8").partition(" ")[2])
    settings = Settings(**plain)
    cut_off(which, moment)
    Registration(open_store(settings), settings).add(
        *(clinic_frames(30), clinic_schema(), owner, Loss(Fraction(5))), ledgers=[Path(ledger)]
    )
