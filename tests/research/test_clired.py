import math
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracle.clired import from_clired, read_queries
from oracle.query_rows import Row
from redveil.errors import InputError
from redveil.query.formula import And, Known, Literal, Not, Op, Or, Query, evaluate, literals
from redveil.query.text import parse_text, to_text
from redveil_research.clired import to_clired, write_queries
from strategies.queries import columns_of, comparisons, queries_of, tables

WORDS = st.from_regex(r"[A-Za-z~][A-Za-z0-9_ ~.:/#%]{0,5}[a-z~]", fullmatch=True)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, max_value=1e300)


@st.composite
def clired_literals(draw: st.DrawFn) -> Literal:
    value = draw(st.one_of(st.booleans(), NUMBERS, WORDS, st.sampled_from(["5", "6.5"])))
    ops: list[Op] = ["<=", ">", "=", "!="] if isinstance(value, float) else ["=", "!="]
    name = draw(st.one_of(st.sampled_from(["t5~", "Moose"]), WORDS))
    return Literal(name, draw(st.sampled_from(ops)), value)


def wider(inner: st.SearchStrategy[Query]) -> st.SearchStrategy[tuple[Query, ...]]:
    return st.lists(inner, min_size=2, max_size=4).map(tuple)


CONJUNCTIONS = wider(clired_literals()).map(And)
DISJUNCTIONS = wider(st.one_of(clired_literals(), CONJUNCTIONS, st.builds(Not, CONJUNCTIONS))).map(
    Or
)
QUERIES = st.one_of(
    clired_literals(),
    CONJUNCTIONS,
    DISJUNCTIONS,
    st.builds(Not, CONJUNCTIONS),
    st.builds(Not, DISJUNCTIONS),
)


@given(QUERIES)
def test_what_is_written_reads_back_the_same(query: Query) -> None:
    # An interval that holds one float alone is read as an equality.
    compared = [each.value for each in literals(query) if isinstance(each, Literal)]
    bounds = [value for value in compared if isinstance(value, float)]
    assume(all(math.nextafter(low, math.inf) not in bounds for low in bounds))
    assert from_clired(to_clired(query)) == query


# clired knows no order of labels, so grades stay out.
@given(
    queries_of(comparisons(("wet", "cold", "depth", "width", "state"))),
    tables(with_missing=False),
)
def test_the_meaning_stays_where_nothing_is_missing(query: Query, rows: list[Row]) -> None:
    columns = columns_of(rows)
    before, after = evaluate(query, columns), evaluate(from_clired(to_clired(query)), columns)
    assert after.true.tolist() == before.true.tolist()


@given(QUERIES, st.permutations(["t5~", "Moose", "a & b", "v0", "[5]"]))
def test_column_numbers_carry_any_name(query: Query, names: list[str]) -> None:
    renamed = Or((query, Literal("v0", "=", value=True), Literal("[5]", "<=", 2.0)))
    used = list(dict.fromkeys([*names, *(each.attribute for each in literals(renamed))]))
    text = to_clired(renamed, used)
    assert "[5]" not in text
    assert to_clired(from_clired(text, used), used) == text


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("[Moose] & ![t 5]", "[Moose] & ![t 5]"),
        ("[x <= 4.5]", "[x<4.5]"),
        ("[x > 0]", "[5e-324<x]"),
        ("[1 < x <= 4.5]", "[1.0000000000000002<x<4.5]"),
        ("![1 < x <= 4.5] & [a]", "![1.0000000000000002<x<4.5] & [a]"),
        ("[x = 5]", "[5.0<x<5.0]"),
        ("[x != 5]", "![5.0<x<5.0]"),
        ("[s = CA] & [s != NV]", "[s=CA] & [s!=NV]"),
        ('[s = "5"]', "[s=5]"),
        ("[a] & [b] | [c]", "( [a] & [b] ) | [c]"),
        ("([a] | [b]) & [c]", "( [a] | [b] ) & [c]"),
        ("!([a] & [b])", "!( [a] & [b] )"),
        ("!([a] & [b]) | [c]", "!( [a] & [b] ) | [c]"),
        ("!([a] | [b]) & [c]", "!( [a] | [b] ) & [c]"),
        # clired's syntax has no place for these, so they take another shape.
        ("!([a] & [b]) & [c]", "( ![a] | ![b] ) & [c]"),
        ("!([a] | [b]) | [c]", "( ![a] & ![b] ) | [c]"),
        ("!(!([a] | [b]) & [c]) & [d]", "( [a] | [b] | ![c] ) & [d]"),
        ("([a] & [b]) & (& [c])", "[a] & [b] & [c]"),
        ("!!([a] | [b])", "[a] | [b]"),
        # clired refuses intervals that hold nothing.
        ("[x > 5] & [x <= 3]", "[5.000000000000001<x] & [x<3.0]"),
        ("!([x > 5] & [x <= 3]) & [a]", "( [x<5.0] | [3.0000000000000004<x] ) & [a]"),
    ],
)
def test_the_text_for_clired(query: str, text: str) -> None:
    assert to_clired(parse_text(query)) == text


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Moose ", "[Moose]"),
        ("! Moose  & ( 3.0<t5~<4.2 | v7=CA )", "![Moose] & ([B < t5~ <= 4.2] | [v7 = CA])"),
        ("[-7.0727<t5~<-3.375]", "[-7.072700000000001 < t5~ <= -3.375]"),
        ("[v5 ≤ 4.2] ∧ ¬ [v3 ≠ CA]", "[v5 <= 4.2] & [v3 = CA]"),
        ("v5>3.0 | 5>v6≥3.0", "[v5 > B] | [B < v6 <= 5]"),
        ("![v5<4.2]", "[v5 > 4.2]"),
        ("! 3.0<v5", "[v5 <= B]"),
        ("[v3={CA, NV}] | [a]", "[v3 = CA] | [v3 = NV] | [a]"),
        ("v3 ∉ {CA,NV}", "!([v3 = CA] | [v3 = NV])"),
        ("[v3=new york]", '[v3 = "new york"]'),
        ("[v3=5]", '[v3 = "5"]'),
        ("!(a & b)", "!([a] & [b])"),
        ("((a)) & (b & c)", "[a] & [b] & [c]"),
    ],
)
def test_what_clired_writes_is_read(text: str, query: str) -> None:
    below_three = repr(math.nextafter(3.0, 0.0))
    assert to_text(from_clired(text)) == query.replace("B", below_three)


def test_columns_are_called_by_their_names() -> None:
    names = ["age", "a & b", "state"]
    assert from_clired("v1 & [state=CA] & 4.0<v0", names) == And(
        (
            Literal("a & b", "=", value=True),
            Literal("state", "=", "CA"),
            Literal("age", ">", math.nextafter(4.0, 0.0)),
        )
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "position 1: expected a literal"),
        ("[]", "position 2: expected a literal"),
        ("a & ", "position 5: expected a literal"),
        ("a & b | c", "position 7: '&' and '|' are mixed"),
        ("( a & b", "position 8: expected ')'"),
        ("[a", "position 3: expected ']'"),
        ("a b] & c", "position 4: expected '&', '|' or the end"),
        ("28>-7.0727<-3.375", "position 1: expected a literal such as"),
        ("1<2<3<4", "position 1: expected a literal such as"),
        ("1<2", "position 1: expected a variable"),
        ("a<b", "position 1: expected a finite number"),
        ("@2010<a", "position 1: expected a "),
        ("a<1e999", "position 1: expected a finite number"),
        (f"{-1.7976931348623157e308!r}<a", "position 1: no number is below this bound"),
        ("?v3", "position 1: expected a variable"),
        ("a={CA,}", "position 1: expected a category"),
        ("a=", "position 1: expected a category"),
        ("(" * 10_000, "position 101: the query nests deeper than"),
        ("!" * 10_000, "position 101: the query nests deeper than"),
    ],
)
def test_errors_name_the_position(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        from_clired(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"), [("v2", "no column has this number"), ("c", "no column has this name")]
)
def test_columns_that_are_not_there(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_clired(text, ["a", "b"])


@pytest.mark.parametrize(
    "name",
    [
        *("v12", "5 a", "?a", "@a", "-5", " a", "a ", "a,b", "a<b", "a=b", "a|b", "!a", "a(b)"),
        *("{a}", "[a]", "a\tb", "a\nb", "a≤b", "a¬b", "a\x07", "a\u00a0b", "٣a"),
    ],
)
def test_names_that_the_format_cannot_carry(name: str) -> None:
    with pytest.raises(InputError, match="pass column names"):
        to_clired(Literal(name, "=", value=True))
    assert to_clired(Literal(name, "=", value=True), [name]) == "[v0]"


@pytest.mark.parametrize("category", ["", "65+", "a,b", "a=b", " a", "a|b", "a\x07b", "-\n"])
def test_categories_that_the_format_cannot_carry(category: str) -> None:
    with pytest.raises(InputError, match="cannot read this category"):
        to_clired(Literal("s", "=", category))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Literal("grade", "<=", "mid"), "cannot compare labels"),
        (Literal("x", ">", 1.7976931348623157e308), "no number is above"),
        (Known("x"), "clired cannot ask whether a value is known; write a comparison or its"),
        (Not(Known("x")), "clired cannot ask whether a value is known"),
        (And((Literal("x", ">", 1), Or((Known("y"), Known("x"))))), "cannot ask whether"),
    ],
)
def test_literals_that_the_format_cannot_carry(query: Query, message: str) -> None:
    with pytest.raises(InputError, match=message):
        to_clired(query)


def test_an_attribute_without_a_column_cannot_be_written() -> None:
    with pytest.raises(InputError, match="'b': not among the column names"):
        to_clired(parse_text("[b]"), ["a"])


def test_a_file_has_clireds_columns_in_clireds_order(tmp_path: Path) -> None:
    path = tmp_path / "my.queries"
    write_queries([(parse_text("[a] & [b]"), parse_text("[x <= 1]"), 0.5, 1e-17)], path)
    assert path.read_text(encoding="utf-8").split("\n") == [
        "rid\tquery_LHS\tquery_RHS\tacc\tpval",
        "1\t[a] & [b]\t[x<1.0]\t0.5\t1e-17",
        "",
    ]


@settings(max_examples=25)
@given(st.lists(st.tuples(CONJUNCTIONS, CONJUNCTIONS, st.just(0.5), st.just(0.1)), max_size=3))
def test_a_file_reads_back(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[Query, Query, float, float]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "again.queries"
    write_queries(pairs, path)
    expected = [
        (from_clired(to_clired(left)), from_clired(to_clired(right))) for left, right, *_ in pairs
    ]
    assert read_queries(path) == expected


def test_column_numbers_in_files(tmp_path: Path) -> None:
    path = tmp_path / "my.queries"
    left, right = parse_text('["a & b"]'), parse_text("[x <= 1]")
    names = (["c", "a & b"], ["x"])
    write_queries([(left, right, 0.5, 0.1)], path, names)
    assert path.read_text(encoding="utf-8").endswith("1\t[v1]\t[x<1.0]\t0.5\t0.1\n")
    assert read_queries(path, names) == [(left, right)]


def test_files_of_other_makers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "my.queries"
    content = "# mined\r\n\r\nrid\tacc\tqueryRHS\tqueryLHS\t\r\nr1\t0.5\tx<1.0 \t ! a\t\r\n"
    path.write_bytes(b"\xef\xbb\xbf" + content.encode())
    assert read_queries(path) == [(parse_text("![a]"), parse_text("[x <= 1]"))]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "my.queries: no header with query_LHS and query_RHS"),
        (b"190\t28>-7.0<-3.3\t0.9\n", "my.queries, line 1: expected a tab-separated header"),
        (b"query_LHS\tquery_RHS\n\na\n", "my.queries, line 3: column 2 is missing"),
        (b"query_LHS\tquery_RHS\na\t[b\n", "my.queries, line 2, column 2, position 3: expected"),
        (b"\xff\xfe", "my.queries: cannot be read"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "my.queries"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_queries(path)
    assert message in str(caught.value)


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "my.queries"
    fine = (parse_text("[a]"), parse_text("[b]"), 0.5, 0.1)
    write_queries([fine], path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="cannot compare labels"):
        write_queries([fine, (fine[0], parse_text('[g <= "x"]'), 0.5, 0.1)], path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["my.queries"]


def test_places_that_cannot_be_written_or_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "nowhere" / "my.queries", tmp_path / "folder", Path()):
        with pytest.raises(InputError, match="cannot be written"):
            write_queries([], path)
        with pytest.raises(InputError, match="cannot be read"):
            read_queries(path)
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
