from __future__ import annotations

import pytest

from redveil.report import palette
from redveil.report.page.bundle import styles


@pytest.mark.parametrize("name", ["LEFT", "RIGHT", "BOTH", "INK", "MUTED"])
def test_reports_have_the_colours_of_figures(name: str) -> None:
    light = styles().partition("@media (prefers-color-scheme: dark)")[0]
    assert f"--{name.lower()}: {getattr(palette, name)};" in light
