"""Numbers in text: decimal and group characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.schema.number_format import NumberFormat

FORMATS = [(".", ""), (",", ""), (",", "."), (".", ","), (".", "'"), (",", " "), (",", "\u202f")]


@pytest.mark.parametrize(
    ("characters", "text", "number"),
    [
        ((".", ""), "1.5", 1.5),
        ((".", ""), "+.5e-1", 0.05),
        ((".", ""), "1.", 1.0),
        ((".", ""), "1_000", None),
        ((".", ""), "1,5", None),
        ((".", ""), "", None),
        ((".", ""), ".", None),
        ((".", ""), "٣", None),
        ((",", ""), "-1,5e3", -1500.0),
        ((",", ""), "1.5", None),
        ((",", ""), "1,2,3", None),
        ((",", "."), "1.234.567,5", 1234567.5),
        ((",", "."), "1234567,5", 1234567.5),
        ((",", "."), "12,5", 12.5),
        ((",", "."), "1.5", None),
        ((",", "."), "1.23.456", None),
        ((",", "."), "1234.567", None),
        ((",", "."), ".123", None),
        ((",", "."), "1.234,567.8", None),
        ((",", "."), "1.234e2", 123400.0),
        ((".", "'"), "1'234.5", 1234.5),
        ((",", "\u00a0"), "1\u00a0234,5", 1234.5),
        ((",", "\u00a0"), "1 234,5", None),
        ((",", "."), "inf", float("inf")),
    ],
)
def test_a_text_is_read(characters: tuple[str, str], text: str, number: float | None) -> None:
    assert NumberFormat(*characters).read(text) == number


@given(
    st.sampled_from(FORMATS),
    st.decimals(-(10**12), 10**12, allow_nan=False, allow_infinity=False, places=3),
)
def test_a_written_number_is_read_exactly(characters: tuple[str, str], number: object) -> None:
    decimal, group = characters
    plain = f"{number:,.3f}" if group else f"{number:.3f}"
    text = plain.translate({ord(","): group, ord("."): decimal})
    assert NumberFormat(decimal, group).read(text) == float(f"{number:.3f}")
