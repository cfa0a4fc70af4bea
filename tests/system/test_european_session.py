"""An owner with a European CSV file and a workbook with dates, from the draft to free questions."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from support.console import redveil
from support.workbooks import write_xlsx

ROWS = 3000


def write_files(folder: Path) -> None:
    """Write laboratory values with decimal commas, and admissions, half of their dates as text."""
    rng = np.random.default_rng(3)
    days = [date(2012, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 3600, ROWS)]
    lines = ["Patient;CRP;Kosten;Größe"]
    rows: list[tuple[Any, ...]] = [("Patient", "Aufnahme", "Besuche")]
    for number, day in enumerate(days):
        crp = 30 + rng.random() if day.year >= 2017 else 5 + rng.random()
        paid = f"{rng.integers(1, 9)}.{rng.integers(100, 999)},5"
        lines.append(f"{number};{crp:.1f}".replace(".", ",") + f";{paid};1,{rng.integers(50, 99)}")
        shown: object = day if number % 2 else f"{day:%d.%m.%Y}"
        rows.append((number, shown, int(rng.integers(0, 9))))
    (folder / "labor.csv").write_bytes("\n".join(lines).encode("latin-1"))
    write_xlsx(folder / "mappe.xlsx", {"Info": [("Hinweis",)], "Aufnahmen": rows})


def test_a_european_session(tmp_path: Path) -> None:
    write_files(tmp_path)
    drafted = redveil(
        *("schema", "draft", "labor.csv", "mappe.xlsx#Aufnahmen", "--key", "Patient"),
        folder=tmp_path,
    )
    assert drafted.returncode == 0
    for line in (
        "labor.csv: columns separated by semicolons; encoding latin-1; numbers with decimal commas",
        "mappe.xlsx, sheet Aufnahmen: one of 2 sheets",
        "3,000 of 3,000 keys are in both tables",
    ):
        assert line in drafted.stderr
    checked = redveil(
        "schema", "check", "datapackage.json", "labor.csv", "mappe.xlsx", folder=tmp_path
    )
    assert checked.returncode == 0
    assert "3,000 entities in both views" in checked.stdout
    assert "unreadable" not in checked.stdout + checked.stderr

    mined = redveil(
        *("mine", "labor.csv", "mappe.xlsx", "--epsilon", "20", "--output", "result.json"),
        folder=tmp_path,
    )
    assert mined.returncode == 0
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    found = [(one["left"]["text"], one["right"]["text"]) for one in result["redescriptions"]]
    assert any("Aufnahme" in right and '"2016"' in right for _, right in found)
    for left, right in found:
        # What is printed can be pasted back, and years need no quotation marks.
        for pasted in (right, right.replace('"', "")):
            answered = redveil("ask", "result.json", left, pasted, "--json", folder=tmp_path)
            assert (answered.returncode, answered.stderr) == (0, "")
    written = redveil("show", "result.json", "-o", "out.csv", folder=tmp_path)
    assert written.returncode == 0
