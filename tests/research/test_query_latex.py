import re

import pytest
from hypothesis import given

from redveil.query.formula import Query, literals
from redveil.query.text import parse_text
from redveil_research.latex import escape_latex, to_latex
from strategies.queries import any_literals, queries_of


@pytest.mark.parametrize(
    ("query", "latex"),
    [
        ("[a] & ![b] | [c]", r"[\text{a}] \land \lnot [\text{b}] \lor [\text{c}]"),
        ("[1 < x <= 2.5]", r"[1 < \text{x} \leq 2.5]"),
        ("![1 < x <= 2.5] & [a]", r"\lnot [1 < \text{x} \leq 2.5] \land [\text{a}]"),
        ("[x > -1e-7]", r"[\text{x} > -1 \times 10^{-7}]"),
        ("[x <= 2.5e20]", r"[\text{x} \leq 2.5 \times 10^{20}]"),
        ("[s != CA] & [s = NY]", r"[\text{s} \neq \text{CA}] \land [\text{s} = \text{NY}]"),
        ('[g <= "mid"]', r"[\text{g} \leq \text{mid}]"),
        ("([a] | [b]) & [c]", r"([\text{a}] \lor [\text{b}]) \land [\text{c}]"),
        ("!([a] | [b])", r"\lnot ([\text{a}] \lor [\text{b}])"),
        ("(& (| [a]))", r"[\text{a}]"),
        ("(& [a]) | !(| [b] & [c])", r"[\text{a}] \lor \lnot ([\text{b}] \land [\text{c}])"),
        ("[t_1 is known]", r"[\text{t\_1}\ \textit{is known}]"),
        ("![a is known] | [b]", r"\lnot [\text{a}\ \textit{is known}] \lor [\text{b}]"),
        # Names that say the same are upright.
        ('["a is known"]', r"[\text{a is known}]"),
        ('["a is known" is known]', r"[\text{a is known}\ \textit{is known}]"),
        (
            '["}\\\\textit{is known" is known]',
            r"[\text{\}\textbackslash{}textit\{is known}\ \textit{is known}]",
        ),
        ("[t_1~ > 5]", r"[\text{t\_1\textasciitilde{}} > 5]"),
    ],
)
def test_the_latex_of_a_query(query: str, latex: str) -> None:
    assert to_latex(parse_text(query)) == latex


def test_all_specials_are_escaped() -> None:
    assert escape_latex("\\{}$&#_%~^<>|\n") == (
        r"\textbackslash{}\{\}\$\&\#\_\%\textasciitilde{}\textasciicircum{}"
        r"\textless{}\textgreater{}\textbar{} "
    )


@given(queries_of(any_literals()))
def test_braces_balance_and_every_literal_is_there(query: Query) -> None:
    latex = to_latex(query)
    grouping = re.sub(r"\\.", "", latex)
    assert grouping.count("{") == grouping.count("}")
    assert not re.search(r"[$&#_%~]", grouping)
    for literal in literals(query):
        assert rf"\text{{{escape_latex(literal.attribute)}}}" in latex
