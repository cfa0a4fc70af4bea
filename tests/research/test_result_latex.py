from __future__ import annotations

import re

import pytest

from redveil.findings.reporting import Constraints
from redveil.query.formula import Known, Not
from redveil.report.document import RedescriptionPart
from redveil.report.full import full_listing
from redveil.report.result import Result
from redveil_research.latex import latex_table
from support.clinic import mined_clinic
from support.named import HOSTILE_NAMES, mined_with
from support.results import document, redescription, redescription_of

COLUMNS = 13


def listed(*entries: RedescriptionPart) -> Result:
    return Result(document(*entries))


def body(text: str) -> list[str]:
    lines = text.splitlines()
    return lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_complete_tabular_with_one_row_a_redescription(count: int) -> None:
    text = latex_table(listed(*[redescription()] * count))
    lines = text.splitlines()
    assert lines[:2] == [r"\begin{tabular}{llrrrrr}", r"\toprule"]
    assert lines[2] == (
        r"left & right & Jaccard [95\,\%] & expected & corrected [95\,\%] & overlap & "
        r"$p$ at most \\"
    )
    assert lines[-2:] == [r"\end{tabular}", "% epsilon = 1, exact"]
    assert len(body(text)) == count


def test_a_row_holds_queries_interval_size_and_p_value() -> None:
    (row,) = body(latex_table(listed(redescription("t_5"))))
    assert row == (
        r"$[\text{t\_5}]$ & $[\text{cough}]$ & 0.50 [0.25, 0.75] & 0.03 & 0.48 [0.22, 0.74] & "
        r"1234 & 1e-30 \\"
    )


def test_details_name_the_number_of_their_story() -> None:
    detail = redescription().model_copy(update={"detail": 1})
    lines = latex_table(listed(redescription(), detail)).splitlines()
    assert lines[0] == r"\begin{tabular}{rllrrrrrr}"
    assert lines[2].startswith(r"\# & left & ")
    assert lines[2].endswith(r" & detail of \\")
    first, second = body("\n".join(lines))
    assert first.startswith("1 & $")
    assert first.endswith(r" & 1e-30 &  \\")
    assert second.startswith("2 & $")
    assert second.endswith(r" & 1e-30 & 1 \\")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", ["50 % & more", r"a\b", "x_1^2 ~ {y}", "#1 $", "tab\there"])
def test_names_cannot_end_a_cell_a_line_or_the_mathematics(
    name: str,
    known: bool,  # noqa: FBT001
) -> None:
    one = redescription_of(Known(name), Not(Known(name))) if known else redescription(name, name)
    (row,) = body(latex_table(listed(one)))
    assert row.count("is known") == 2 * known
    assert len(re.findall(r"(?<!\\)&", row)) == 6
    assert len(re.findall(r"(?<!\\)\$", row)) == 4
    assert not re.search(r"(?<!\\)[%#]", row)
    assert row.count(r"\\") == 1


def test_latex_has_the_same_columns() -> None:
    result = mined_clinic(Constraints())
    rows = body(latex_table(result, full=True))
    for row, shown in zip(rows, full_listing(result.document).rows, strict=True):
        cells = row.removesuffix(r" \\").split(" & ")
        assert cells[3:] == list(shown[3:])


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_cannot_end_a_cell_a_line_or_the_mathematics(name: str) -> None:
    text = latex_table(mined_with(name), full=True)
    head = text.splitlines()[2]
    for row in (head, *body(text)):
        assert len(re.findall(r"(?<!\\)&", row)) == COLUMNS - 1
        assert not re.search(r"(?<!\\)[%#]", row)
        assert row.count(r"\\") == 1
        assert r"\input" not in row
        assert row.isprintable()
    assert body(text)
