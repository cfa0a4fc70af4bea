"""An analyst with nothing but a result file asks it questions with the console script."""

from __future__ import annotations

import json
from pathlib import Path

from support.command_line import Clinic
from support.console import redveil


def test_a_result_file_alone_answers(tmp_path: Path) -> None:
    clinic = Clinic.write(tmp_path / "clinic", 600)
    assert redveil(*clinic.mine, "--quiet").returncode == 0
    away = tmp_path / "away"
    away.mkdir()
    clinic.result.rename(away / "result.json")
    for path in clinic.folder.iterdir():
        path.unlink()

    listed = redveil("ask", "result.json", "--json", folder=away)
    assert (listed.returncode, listed.stderr) == (0, "")
    table = json.loads(listed.stdout)[0]
    left, right = " | ".join(table["left"][:2]), f"!({table['right'][0]})"
    answered = redveil("ask", "result.json", left, right, "--json", folder=away)
    assert (answered.returncode, answered.stderr) == (0, "")
    jaccard = json.loads(answered.stdout)["jaccard"]
    assert 0 <= jaccard["low"] <= jaccard["estimate"] <= jaccard["high"] <= 1

    refused = redveil("ask", "result.json", "[age <= 50.125]", right, folder=away)
    assert refused.returncode == 2
    assert "left query: [age <= 50.125] " in refused.stderr
    assert sorted(path.name for path in away.iterdir()) == ["result.json"]
