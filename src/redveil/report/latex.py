"""A result as a LaTeX table."""

from __future__ import annotations

from redveil.findings.wording import p_text
from redveil.report.document import ResultDocument


def latex_table(document: ResultDocument) -> str:
    r"""Return a `tabular` (needs booktabs) with one row a redescription."""
    rows = [
        f"${one.left.latex}$ & ${one.right.latex}$ & {one.jaccard.estimate:.2f} "
        f"[{one.jaccard.low:.2f}, {one.jaccard.high:.2f}] & "
        f"{one.expected_jaccard:.2f} & {one.support.both.estimate:.0f} & "
        f"{p_text(one.p_value)} \\\\"
        for one in document.redescriptions
    ]
    head = r"left & right & Jaccard [95\,\%] & expected & overlap & $p$ at most \\"
    lines = [r"\begin{tabular}{llrrrr}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    lines.append(r"\end{tabular}")
    promise = document.certificate
    lines.append(f"% {promise.promise.replace('ε', 'epsilon')}, {promise.guarantee}")
    return "\n".join(lines)
