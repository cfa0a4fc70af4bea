from __future__ import annotations

import numpy as np
import pytest

from redveil.findings.cell_intervals import cell_intervals
from redveil.report.released import released_tables
from support.clinic import mined_clinic


@pytest.mark.parametrize("counts", ["cells", "least-squares", "two-pass"])
def test_a_cell_says_what_a_free_question_about_its_ends_answers(counts: str) -> None:
    result = mined_clinic(counts=counts)
    tables = released_tables(result.document)
    compared = 0
    for table, part in zip(tables, result.document.tree_pairs, strict=True):
        cells, low, high = cell_intervals(table.counts, len(tables))
        for row, left in enumerate(part.left.ends):
            for column, right in enumerate(part.right.ends):
                if left is None or right is None:
                    continue
                answer = result.ask(left.text, right.text)
                if answer.tables and tables[answer.table] is table:
                    both = answer.statistics.support_both
                    found = cells[row, column], low[row, column], high[row, column]
                    assert found == pytest.approx((both.estimate, both.low, both.high))
                    compared += 1
    assert compared > 20


def test_ends_of_missing_values_have_wider_intervals() -> None:
    result = mined_clinic()
    tables = released_tables(result.document)
    stuck = [one for one in tables if one.counts.right.stuck]
    assert stuck
    for table in stuck:
        cells, low, high = cell_intervals(table.counts, len(tables))
        leaves, reach = len(table.counts.right.leaves), high - np.maximum(cells, low)
        assert reach[0, leaves:].min() > reach[0, :leaves].max() * 0.99
        assert (low >= 0).all()
        assert (low <= cells).all()
        assert (cells <= high).all()
