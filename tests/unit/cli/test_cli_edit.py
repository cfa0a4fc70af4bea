from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from redveil.schema_form.server import FormServer
from support.command_line import Command
from support.forms import asked, written


@pytest.mark.parametrize("works", [True, False])
def test_a_form_is_opened_in_the_browser_and_ended_by_its_page(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, works: bool
) -> None:
    opened: list[str] = []
    made: list[FormServer] = []
    start = FormServer.__init__

    def watched(self: FormServer, form: Any) -> None:
        start(self, form)
        made.append(self)

    def browse(address: str) -> bool:
        opened.append(address)
        Thread(target=asked, args=(made[0], "/done", {})).start()
        return works

    monkeypatch.setattr(FormServer, "__init__", watched)
    monkeypatch.setattr("webbrowser.open", browse)
    done = command("schema", "edit", written(tmp_path))
    assert done.code == 0
    assert opened == [made[0].address]
    assert made[0].address in done.err
    assert ("no browser could be opened" in done.err) is not works
    assert "next: redveil schema check" in done.err


def test_what_is_no_schema_is_not_served(command: Command, tmp_path: Path) -> None:
    done = command("schema", "edit", tmp_path / "nowhere.json")
    assert done.code != 0
    assert "no such file; name a schema" in done.err
