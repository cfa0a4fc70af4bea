"""Record the tape again, after a change that is meant to change runs; the commit says what changed.

.venv/bin/python tests/tape/record.py             # every case
.venv/bin/python tests/tape/record.py twin-small  # some
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.tape import recording
from tape.cases import CASES, RECORDED
from tape.files import printed, write_tape


def main() -> None:
    """Record the cases that are named, or all of them."""
    RECORDED.mkdir(exist_ok=True)
    for name in sys.argv[1:] or CASES:
        with recording() as tape:
            result = CASES[name]()
            text = printed(result)
        write_tape(name, tape)
        (RECORDED / f"{name}.result.json").write_text(result.to_json(), encoding="utf-8")
        (RECORDED / f"{name}.txt").write_text(text, encoding="utf-8")
        print(name, len(tape.requests), "requests,", len(result), "redescriptions")


if __name__ == "__main__":
    main()
