"""How a tape is kept: one line a request."""

from __future__ import annotations

import json

from redveil.base.display import rendered
from redveil.report.result import Result
from redveil.report.text import result_view
from support.tape import Request, Tape
from tape.cases import RECORDED


def write_tape(name: str, tape: Tape) -> None:
    """Keep a tape."""
    lines = (
        json.dumps({"step": step, **vars(request)}, ensure_ascii=False)
        for step, request in tape.requests.items()
    )
    path = RECORDED / f"{name}.requests.json"
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def read_tape(name: str) -> Tape:
    """Return a tape that was kept."""
    lines = json.loads((RECORDED / f"{name}.requests.json").read_text(encoding="utf-8"))
    return Tape({line.pop("step"): Request(**line) for line in lines})


def printed(result: Result) -> str:
    """Return a result as it is printed, without what the process has spent on the data set."""
    return rendered([result_view(result.document, width=120)]) + "\n"
