"""Random queries, and small tables with missing values that some of them fit."""

import itertools
from collections.abc import Collection, Mapping, Sequence

from hypothesis import strategies as st

from oracle.query_rows import ListColumn, Order, Row
from redveil.query.formula import And, AnyLiteral, Known, Literal, Not, Op, Or, Query, Value

ORDER: Order = {"grade": ("low", "mid", "high")}
VALUES: Mapping[str, Sequence[Value]] = {
    "wet": (False, True),
    "cold": (False, True),
    "depth": (1.0, 2.0, 3.0, 4.0),
    "width": (1.0, 2.0, 3.0),
    "state": ("CA", "NV", "NY"),
    "grade": ORDER["grade"],
}
# Names that are easily taken for the literal that a value is known.
ENDINGS = ("is known", "a is known", "a  Is Known", "a is", "5 is known", "xis known", "is known a")
UNORDERED = ("wet", "cold", "state")


def columns_of(rows: Sequence[Row]) -> dict[str, ListColumn]:
    return {name: ListColumn([row[name] for row in rows], ORDER.get(name)) for name in VALUES}


@st.composite
def comparisons(draw: st.DrawFn, names: Sequence[str] = tuple(VALUES)) -> Literal:
    """Comparisons that fit the rows of `tables`."""
    name = draw(st.sampled_from(names))
    ops: list[Op] = ["=", "!="] if name in UNORDERED else ["=", "!=", "<=", ">"]
    return Literal(name, draw(st.sampled_from(ops)), draw(st.sampled_from(VALUES[name])))


def table_literals() -> st.SearchStrategy[AnyLiteral]:
    """Literals that fit the rows of `tables`; one in four asks whether a value is known."""
    known = st.sampled_from([Known(name) for name in VALUES])
    return st.integers(0, 3).flatmap(lambda one: comparisons() if one else known)


def tables(
    *, with_missing: bool = True, known: Collection[str] = ()
) -> st.SearchStrategy[list[Row]]:
    """A few rows each; what is known is never missing."""

    def values_of(name: str) -> list[Value | None]:
        missing = with_missing and name not in known
        return [*([None] if missing else []), *VALUES[name]]

    row = st.fixed_dictionaries({name: st.sampled_from(values_of(name)) for name in VALUES})
    return st.lists(row, min_size=1, max_size=12)


def queries_of(
    literals: st.SearchStrategy[AnyLiteral], max_leaves: int = 12
) -> st.SearchStrategy[Query]:
    """Queries of any shape, odd ones included."""

    def extend(inner: st.SearchStrategy[Query]) -> st.SearchStrategy[Query]:
        operands = st.lists(inner, min_size=1, max_size=4).map(tuple)
        return st.one_of(st.builds(Not, inner), st.builds(And, operands), st.builds(Or, operands))

    return st.recursive(literals, extend, max_leaves=max_leaves)


def unions(names: Sequence[str]) -> st.SearchStrategy[Query]:
    """Disjunctions of short conjunctions on a few attributes, of which many can be joined."""
    known = st.sampled_from([Known(name) for name in names])
    literal = st.one_of(comparisons(names), comparisons(names), known, st.builds(Not, known))
    short = st.lists(literal, min_size=1, max_size=3).map(
        lambda parts: parts[0] if len(parts) == 1 else And(tuple(parts))
    )
    return st.lists(short, min_size=2, max_size=5).map(lambda parts: Or(tuple(parts)))


def all_rows(names: Sequence[str], known: Collection[str]) -> list[Row]:
    """Rows with every combination of values of some attributes; what is known is never missing."""
    fixed = {name: values[0] for name, values in VALUES.items()}
    choices = [[*VALUES[name], *([] if name in known else [None])] for name in names]
    return [{**fixed, **dict(zip(names, row, strict=True))} for row in itertools.product(*choices)]


def texts() -> st.SearchStrategy[str]:
    """Any text that UTF-8 can encode, with a taste for what a parser trips over."""
    tricky = st.sampled_from(
        ["5", "-1e5", "true", "NaN", " a", "a b", 'a"b', "v1", "a\\", "x < y", *ENDINGS]
    )
    return st.one_of(tricky, st.text(st.characters(exclude_categories=["Cs"]), max_size=6))


@st.composite
def any_literals(draw: st.DrawFn) -> AnyLiteral:
    """Literals with arbitrary names and values; the names repeat, so that intervals arise."""
    name = draw(st.one_of(st.sampled_from(["a", "b"]), texts().filter(bool)))
    if draw(st.integers(0, 3)) == 0:
        return Known(name)
    number = st.floats(allow_nan=False, allow_infinity=False)
    value = draw(st.one_of(st.booleans(), number, texts()))
    ops: list[Op] = ["=", "!="] if isinstance(value, bool) else ["=", "!=", "<=", ">"]
    return Literal(name, draw(st.sampled_from(ops)), value)
