import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redveil.errors import QueryError
from redveil.query.formula import MAX_DEPTH, And, Known, Literal, Not, Or, Query
from redveil.query.text import MAX_TEXT, parse_text, to_text
from strategies.queries import any_literals, queries_of

A = Literal("a", "=", value=True)
B = Literal("b", "=", value=True)
LOW, HIGH = Literal("x", ">", 1), Literal("x", "<=", 2.5)


@given(queries_of(any_literals()))
@example(Not(A))
@example(Not(Not(Literal("a", "=", value=False))))
@example(And((And((LOW, HIGH)), B)))
@example(And((And((LOW, HIGH)),)))
@example(Or((And((LOW, HIGH)),)))
@example(Not(And((Not(And((LOW, HIGH))), LOW, HIGH))))
def test_what_is_written_reads_back_the_same(query: Query) -> None:
    assert parse_text(to_text(query)) == query


@given(st.text(st.sampled_from('[]()!&|<>=a5 "\\≤¬∧u0'), max_size=20))
def test_any_text_gives_a_query_or_a_query_error(text: str) -> None:
    try:
        query = parse_text(text)
    except QueryError as error:
        assert str(error).startswith("position ")  # noqa: PT017
    else:
        assert parse_text(to_text(query)) == query


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (
            Or((And((Literal("t3~", "<=", 12.5), Literal("Moose", "=", value=False))), A)),
            "[t3~ <= 12.5] & ![Moose] | [a]",
        ),
        (Literal("State", "=", "CA"), "[State = CA]"),
        (Literal("State", "!=", "new york"), '[State != "new york"]'),
        (Literal("n", "=", 5), "[n = 5]"),
        (Literal("n", "=", "5"), '[n = "5"]'),
        (Literal("n", "=", ""), '[n = ""]'),
        (Literal("n", "=", "True"), '[n = "True"]'),
        (Literal("n", "=", "nan"), '[n = "nan"]'),
        (Literal("n", "<=", 1e20), "[n <= 1e+20]"),
        (Literal("n", ">", 0.1), "[n > 0.1]"),
        (Literal("grade", "<=", "mid"), '[grade <= "mid"]'),
        (Literal("Größe (cm), 50%", ">", 5), "[Größe (cm), 50% > 5]"),
        (Literal("नमूना", ">", 5), "[नमूना > 5]"),
        (Literal("5", "=", value=True), '["5"]'),
        (Literal(" a", "=", value=True), '[" a"]'),
        (Literal('a"\\\n\t\x07\u202e', "=", value=True), '["a\\"\\\\\\n\\t\\u0007\\u202e"]'),
        (And((LOW, HIGH)), "[1 < x <= 2.5]"),
        (And((LOW, HIGH, A)), "[1 < x <= 2.5] & [a]"),
        (And((And((LOW, HIGH)), A)), "([1 < x <= 2.5]) & [a]"),
        (And((HIGH, LOW)), "[x <= 2.5] & [x > 1]"),
        (Not(And((LOW, HIGH))), "![1 < x <= 2.5]"),
        (And((Literal("g", ">", "lo"), Literal("g", "<=", "hi"))), '["lo" < g <= "hi"]'),
        # Nothing is in it, so it is no interval.
        (And((Literal("x", ">", 69), Literal("x", "<=", 53))), "[x > 69] & [x <= 53]"),
        (Not(And((Literal("x", ">", 69), Literal("x", "<=", 53)))), "!([x > 69] & [x <= 53])"),
        (And((Literal("g", ">", "lo"), Literal("g", "<=", "lo"))), '[g > "lo"] & [g <= "lo"]'),
        (Not(A), "!([a])"),
        (Not(LOW), "![x > 1]"),
        (Not(Or((A, B))), "!([a] | [b])"),
        (And((Or((A, B)), LOW)), "([a] | [b]) & [x > 1]"),
        (Or((Or((A, B)), LOW)), "([a] | [b]) | [x > 1]"),
        (And((A,)), "(& [a])"),
        (Known("a"), "[a is known]"),
        (Not(Known("a")), "![a is known]"),
        (Not(Not(Known("a"))), "!![a is known]"),
        (And((LOW, Known("x"), HIGH)), "[x > 1] & [x is known] & [x <= 2.5]"),
        (Not(And((Known("a"), B))), "!([a is known] & [b])"),
        # Names that end in the same words, or stand in their way.
        (Literal("a is known", "=", value=True), '["a is known"]'),
        (Literal("a is known", "=", value=False), '!["a is known"]'),
        (Literal("a IS  known", ">", 5), '["a IS  known" > 5]'),
        (Literal("is known", "=", value=True), '["is known"]'),
        (Known("is known"), '["is known" is known]'),
        (Known("a is known"), '["a is known" is known]'),
        (Known("a is"), "[a is is known]"),
        (Known("is known a"), "[is known a is known]"),
        (Literal("xis known", "=", value=True), "[xis known]"),
        (Literal("a is knownn", "=", value=True), "[a is knownn]"),
        (Literal("a\u00a0is known", "=", value=True), '["a\u00a0is known"]'),
        (Known("5"), '["5" is known]'),
        (Known('"] & [b'), '["\\"] & [b" is known]'),
        (Known("a\n"), '["a\\n" is known]'),
        (Literal("s", "=", "is known"), '[s = "is known"]'),
        (Or((And((A, B)),)), "(| [a] & [b])"),
    ],
)
def test_the_text_of_a_query(query: Query, text: str) -> None:
    assert to_text(query) == text
    assert parse_text(text) == query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("[x≤2.5]∧¬[a]∨[s≠CA]", "[x <= 2.5] & ![a] | [s != CA]"),
        (" [ x<=2.50 ]\n&\t! [ a ] ", "[x <= 2.5] & ![a]"),
        ("(([a]))", "[a]"),
        ("[s = new york]", '[s = "new york"]'),
        ("[a = true] & [a != TRUE]", "[a] & ![a]"),
        ('["a" = "5"]', '[a = "5"]'),
        ("[x <= +.5] & [x > 5.]", "[x <= 0.5] & [x > 5]"),
        ("[1 < x ≤ 2]", "[1 < x <= 2]"),
        ("[d <= 2019-03] & [d > 2019-03-31]", '[d <= "2019-03"] & [d > "2019-03-31"]'),
        ("[2018-12 < d <= 2019-03]", '["2018-12" < d <= "2019-03"]'),
        ("[2018-12 = 3]", "[2018-12 = 3]"),
        ('["\\u0041"]', "[A]"),
        ("[ a  Is   KNOWN ]", "[a is known]"),
        ('["a"is\nknown]', "[a is known]"),
        ("[a is known = true]", '["a is known"]'),
        ("[a is known is known]", '["a is known" is known]'),
        ("[1 < a is known <= 2]", '[1 < "a is known" <= 2]'),
        ("¬[a is known]", "![a is known]"),
        ("[a] | [b] & [c]", "[a] | [b] & [c]"),
    ],
)
def test_other_spellings_are_read(text: str, query: str) -> None:
    assert to_text(parse_text(text)) == query


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "position 1: expected '[', '(' or '!'"),
        ("a", "position 1: expected '[', '(' or '!'"),
        ("[a] [b]", "position 5: expected '&', '|' or the end"),
        ("[a] && [b]", "position 6: expected '[', '(' or '!'"),
        ("([a]", "position 5: expected ')'"),
        ("[a", "position 3: expected ']'"),
        ("[a ' b]", "position 4: expected ']'"),
        ("[]", "position 2: expected an attribute"),
        ('[""]', "position 2: expected an attribute"),
        ("[5]", "position 2: expected an attribute; quote a name that looks like a number"),
        ("[5 <= a]", "position 2: expected an attribute; quote a name that looks like a number"),
        ("[a =]", "position 5: expected a value"),
        ("[a < 5]", "position 4: '<' is not supported; write <= or >"),
        ("[a >= 5]", "position 4: '>=' is not supported; write <= or >"),
        ("[a ≥ 5]", "position 4: '≥' is not supported; write <= or >"),
        ("[a == 5]", "position 4: '==' is not supported; write ="),
        ("[5 < a]", "position 7: expected '<='"),
        ("[5 < a < 7]", "position 8: expected '<='"),
        (
            "[69 < a <= 53]",
            "position 2: nothing is above 69 and at most 53; the first must be smaller",
        ),
        (
            "![b] & ![5 < a <= 5.0]",
            "position 10: nothing is above 5 and at most 5; the first must be",
        ),
        (
            "[2019-03 < d <= 2019-03]",
            'position 2: nothing is above "2019-03" and at most "2019-03"',
        ),
        (
            "[5 < 6 <= 7]",
            "position 6: expected an attribute; quote a name that looks like a number",
        ),
        ("[a <= low]", "position 7: expected a number, a date or a label in double quotes"),
        ("[a <= 1e999]", "position 7: literal on 'a': the number must be finite"),
        ('[a = "b]', "position 6: this quote is not closed"),
        ("[is known]", "position 2: expected an attribute"),
        ('["" is known]', "position 2: expected an attribute"),
        (
            "[5 is known]",
            "position 2: expected an attribute; quote a name that looks like a number",
        ),
        ('["a" is knownn]', "position 14: expected ']'"),
        ('["a" is unknown]', "position 6: expected ']'"),
        ('["\\x"]', "position 3: expected an escape"),
        ('["\\ud800"]', "position 3: expected an escape"),
    ],
)
def test_errors_name_the_position(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_text(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("opening", ["(", "!", "!(", "(& ", "(| "])
def test_deep_nesting_is_a_query_error(opening: str) -> None:
    with pytest.raises(QueryError, match="nests deeper than"):
        parse_text(opening * 10_000)


def test_the_deepest_queries_read_back_too() -> None:
    for wrap in (Not, lambda query: And((query,)), lambda query: Or((And((A, query)), B))):
        query: Query = A
        try:
            while True:
                query = wrap(query)
        except QueryError:
            assert parse_text(to_text(query)) == query


def test_many_operands_are_no_nesting() -> None:
    text = " & ".join(["[a]"] * (MAX_DEPTH * 10))
    assert to_text(parse_text(text)) == text


def test_a_text_without_end_is_refused() -> None:
    with pytest.raises(QueryError, match="longer than"):
        parse_text(" " * (MAX_TEXT + 1))
