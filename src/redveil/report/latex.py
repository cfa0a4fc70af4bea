"""A result as a LaTeX table."""

from __future__ import annotations

from redveil.findings.wording import interval_text, p_text
from redveil.report.document import ResultDocument


def latex_table(document: ResultDocument) -> str:
    r"""Return a `tabular` (needs booktabs) with one row a redescription."""
    rows = [
        f"${one.left.latex}$ & ${one.right.latex}$ & {interval_text(one.jaccard, 2)} & "
        f"{one.expected_jaccard:.2f} & {interval_text(one.corrected, 2)} & "
        f"{one.support.both.estimate:.0f} & {p_text(one.p_value)} \\\\"
        for one in document.redescriptions
    ]
    head = (
        r"left & right & Jaccard [95\,\%] & expected & corrected [95\,\%] & overlap & "
        r"$p$ at most \\"
    )
    lines = [r"\begin{tabular}{llrrrrr}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    lines.append(r"\end{tabular}")
    promise = document.certificate
    lines.append(f"% {promise.promise.replace('ε', 'epsilon')}, {promise.guarantee}")
    return "\n".join(lines)
