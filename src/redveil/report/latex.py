"""A result as a LaTeX table."""

from __future__ import annotations

from redveil.findings.wording import interval_text, p_text
from redveil.report.document import RedescriptionPart, ResultDocument
from redveil.report.wording import has_details


def latex_table(document: ResultDocument) -> str:
    r"""Return a `tabular` (needs booktabs) with one row a redescription.

    If entries add detail to others, all are numbered, and a column says to which.
    """
    columns = "llrrrrr"
    heads = ["left", "right", r"Jaccard [95\,\%]", "expected", r"corrected [95\,\%]", "overlap"]
    heads.append("$p$ at most")
    rows = [_cells(one) for one in document.redescriptions]
    if has_details(document):
        columns = f"r{columns}r"
        heads = [r"\#", *heads, "detail of"]
        rows = [
            [str(number), *row, str(one.detail or "")]
            for number, (row, one) in enumerate(
                zip(rows, document.redescriptions, strict=True), start=1
            )
        ]
    promise = document.certificate
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rf"{' & '.join(heads)} \\",
            r"\midrule",
            *(rf"{' & '.join(row)} \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            f"% {promise.promise.replace('ε', 'epsilon')}, {promise.guarantee}",
        ]
    )


def _cells(one: RedescriptionPart) -> list[str]:
    return [
        f"${one.left.latex}$",
        f"${one.right.latex}$",
        interval_text(one.jaccard, 2),
        f"{one.expected_jaccard:.2f}",
        interval_text(one.corrected, 2),
        f"{one.support.both.estimate:.0f}",
        p_text(one.p_value),
    ]
