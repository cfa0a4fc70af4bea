from __future__ import annotations

import re

import pytest

from redveil.base.csv_text import csv_text
from redveil.findings.reporting import Constraints
from redveil.findings.wording import interval_text, p_text
from redveil.owner import truth
from redveil.report.full import full_fragment, full_listing
from support.clinic import clinic, mined_clinic
from support.named import HOSTILE_NAMES, mined_with
from support.page import Page, must_be_ours

COLUMNS = 13


def test_every_number_has_a_column() -> None:
    result = mined_clinic(Constraints())
    listing = full_listing(result.document)
    for row, one in zip(listing.rows, result, strict=True):
        assert row[1:] == [
            one.left.text,
            one.right.text,
            interval_text(one.jaccard, 2),
            f"{one.expected_jaccard:.2f}",
            interval_text(one.corrected, 2),
            interval_text(one.support.both, 0),
            interval_text(one.support.left, 0),
            interval_text(one.support.right, 0),
            p_text(one.p_value),
            "yes" if one.confirmed else "not confirmed",
            str(one.source.tree_pair + 1),
            str(one.detail or ""),
        ]
        assert len(row) == len(listing.heads) == COLUMNS


def test_a_page_has_the_table_what_must_not_be_overlooked_and_the_certificate() -> None:
    result = truth(mined_clinic(Constraints()), clinic()).filter(max_support=0.5)
    page = Page(full_fragment(result.document))
    must_be_ours(page)
    assert "NOT PRIVATE" in page.text
    assert "support at most 0.5" in page.text
    assert "Privacy certificate" in page.text
    assert page.codes == [side.text for one in result for side in (one.left, one.right)]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_do_nothing_on_a_page(name: str) -> None:
    page = Page(full_fragment(mined_with(name).document))
    must_be_ours(page)
    assert next(one.left.text for one in mined_with(name)) in page.codes


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_cell_of_the_csv_begins_as_a_formula(name: str) -> None:
    table = mined_with(name).to_arrow()
    text = csv_text(table)
    assert all(cell[0] in "[!(" for side in ("left", "right") for cell in table[side].to_pylist())
    assert not re.search(r"(?m)^[=+@-]", text.replace("\n" + name.partition("\n")[2], ""))
