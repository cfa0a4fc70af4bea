from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from hypothesis import given

from oracle.clired import from_clired, read_queries
from oracle.query_rows import Row
from redveil.errors import InputError
from redveil.query.formula import And, Known, Literal, Not, Or, Query, evaluate
from redveil.query.json_form import from_json
from redveil.query.simplify import simplified
from redveil.query.text import parse_text, to_text
from redveil.report.document import AttributePart, AttributesPart, RedescriptionPart
from redveil.report.result import Result
from redveil_research.clired import spelled_out, to_clired, write_clired
from strategies.queries import VALUES, columns_of, queries_of, table_literals, tables
from support.clinic import NOTHING, mined_clinic
from support.results import document, redescription, redescription_of


def listed(*entries: RedescriptionPart) -> Result:
    return Result(document(*entries))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_written_reads_back_as_the_same_queries(seed: int, tmp_path: Path) -> None:
    found = mined_clinic(seed=seed).document
    path = tmp_path / "result.queries"
    write_clired(Result(found), path)
    left = {one.name: one for one in found.attributes.left}
    right = {one.name: one for one in found.attributes.right}
    assert read_queries(path) == [
        tuple(
            from_clired(to_clired(spelled_out(from_json(query.tree), side)))
            for query, side in ((one.left, left), (one.right, right))
        )
        for one in found.redescriptions
    ]


def test_an_order_of_labels_becomes_a_choice_of_labels() -> None:
    labels = ("low", "middle", "high")
    declared = {
        "grade": AttributePart(name="grade", kind="ordinal", categories=labels),
        "ward": AttributePart(name="ward", kind="categorical", categories=labels),
    }
    low, middle, high = (Literal("grade", "=", label) for label in labels)
    young = Literal("age", "<=", 3)
    for query, meant in (
        (Literal("grade", "<=", "middle"), Or((low, middle))),
        (Literal("grade", ">", "middle"), high),
        (Not(Literal("grade", "<=", "low")), Not(low)),
        (And((young, Literal("grade", ">", "low"))), And((young, Or((middle, high))))),
        (young, young),
        (Literal("other", "<=", "middle"), Literal("other", "<=", "middle")),
        (Literal("ward", "<=", "middle"), Literal("ward", "<=", "middle")),
    ):
        assert spelled_out(query, declared) == meant


KINDS = [
    AttributePart(name="sick", kind="boolean"),
    AttributePart(name="ward", kind="categorical", categories=("65+", "east", "west")),
    AttributePart(name="grade", kind="ordinal", categories=("low", "high")),
    AttributePart(name="age", kind="numeric", minimum=18, maximum=101),
]


@pytest.mark.parametrize("attribute", KINDS, ids=lambda one: one.kind)
def test_that_a_value_is_known_becomes_a_comparison_or_its_complement(
    attribute: AttributePart, tmp_path: Path
) -> None:
    path = tmp_path / "result.queries"
    query = parse_text(f"[sick] & [{attribute.name} is known]")
    declared = AttributesPart(left=tuple(KINDS), right=tuple(KINDS))
    found = document(redescription_of(query, Known(attribute.name)))
    write_clired(Result(found.model_copy(update={"attributes": declared})), path)
    ((left, right),) = read_queries(path)
    # What is read back says the same, and is shortened to it.
    assert simplified(right) == Known(attribute.name)
    assert simplified(left) == simplified(query)
    text = path.read_text(encoding="utf-8").splitlines()[1].split("\t")[2]
    assert (
        text
        == {
            "sick": "[sick] | ![sick]",
            "ward": "[ward=east] | [ward!=east]",
            "grade": "[grade=low] | [grade!=low]",
            "age": "[age<0.0] | [5e-324<age]",
        }[attribute.name]
    )


@pytest.mark.parametrize("name", ["a is known", "House mouse (2)", "v7"])
def test_odd_names_of_what_is_known_are_numbered(name: str, tmp_path: Path) -> None:
    path = tmp_path / "result.queries"
    attributes = tuple(AttributePart(name=one, kind="boolean") for one in ("Moose", name))
    found = document(redescription_of(Known(name), Known("Moose")))
    declared = AttributesPart(left=attributes, right=attributes)
    listed, _ = write_clired(Result(found.model_copy(update={"attributes": declared})), path)
    names = ["Moose", name]
    ((left, right),) = read_queries(path, None if listed is None else (names, names))
    assert (listed is None) is (name == "a is known")
    assert (simplified(left), simplified(right)) == (Known(name), Known("Moose"))


@pytest.mark.parametrize("query", ["![age is known]", "!([sick] & ![age is known])"])
def test_missing_values_cannot_be_asked_for(query: str, tmp_path: Path) -> None:
    declared = AttributesPart(left=tuple(KINDS), right=tuple(KINDS))
    found = document(redescription_of(parse_text(query), Known("age")))
    with pytest.raises(InputError, match="'age': clired cannot ask for missing values; use"):
        write_clired(
            Result(found.model_copy(update={"attributes": declared})), tmp_path / "result.queries"
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("declared", [{}, {"age": AttributePart(name="age", kind="categorical")}])
def test_what_is_not_declared_cannot_be_spelled_out(declared: dict[str, AttributePart]) -> None:
    with pytest.raises(InputError, match="'age': no values are declared; the file is damaged"):
        spelled_out(Known("age"), declared)


DECLARED = {
    name: AttributePart(name=name, kind=kind, categories=values if kind != "boolean" else ())
    for name, kind, values in (
        ("wet", "boolean", ()),
        ("cold", "boolean", ()),
        ("depth", "numeric", ()),
        ("width", "numeric", ()),
        ("state", "categorical", VALUES["state"]),
        ("grade", "ordinal", VALUES["grade"]),
    )
}


@given(queries_of(table_literals()), tables())
def test_the_support_stays_when_a_query_is_spelled_out(query: Query, rows: list[Row]) -> None:
    try:
        spelled = spelled_out(query, DECLARED)
    except InputError:
        assert "is known" in to_text(query)
        assert "!" in to_text(query)
        return
    columns = columns_of(rows)
    assert evaluate(spelled, columns).true.tolist() == evaluate(query, columns).true.tolist()
    assert "is known" not in to_text(spelled)


def test_the_statistics_are_the_noisy_ones(tmp_path: Path) -> None:
    path = tmp_path / "result.queries"
    write_clired(listed(redescription()), path)
    header, line = (text.split("\t") for text in path.read_text(encoding="utf-8").splitlines())
    row = dict(zip(header, line, strict=True))
    assert (float(row["acc"]), float(row["pval"])) == (0.5, 1e-30)


ODD_NAMES = ("House mouse (2)", "t5~", "v7", "a\tb", "größer ≤ 字", "5 a")


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_that_clired_cannot_read_are_numbered_and_listed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "result.queries"
    attributes = [AttributePart(name=one, kind="boolean") for one in ("Moose", name)]
    declared = AttributesPart(
        left=tuple(attributes), right=(AttributePart(name="x", kind="boolean"),)
    )
    found = document(redescription(name, "x"), redescription("Moose", "x"))
    listed, _ = write_clired(Result(found.model_copy(update={"attributes": declared})), path)
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    if name == "t5~":
        assert listed is None
        assert [row[1] for row in rows] == ["[t5~]", "[Moose]"]
        assert [one.name for one in tmp_path.iterdir()] == ["result.queries"]
        return
    assert [row[1] for row in rows] == ["[v1]", "[Moose]"]
    assert listed == tmp_path / "result.queries.names"
    with listed.open(encoding="utf-8", newline="") as file:
        head, *names = csv.reader(file, delimiter="\t")
    assert head == ["view", "column", "name"]
    assert names == [["left", "v0", "Moose"], ["left", "v1", name], ["right", "v0", "x"]]
    # With the list, the queries are read back as they were.
    known = [[row[2] for row in names if row[0] == side] for side in ("left", "right")]
    first, _ = read_queries(path, (known[0], known[1]))
    assert first == (Literal(name, "=", value=True), Literal("x", "=", value=True))


def test_a_list_of_names_has_to_have_a_place(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    attributes = tuple(AttributePart(name=one, kind="boolean") for one in ("a (2)", "x"))
    declared = AttributesPart(left=attributes, right=attributes)
    found = document(redescription("a (2)", "x")).model_copy(update={"attributes": declared})
    with pytest.raises(InputError, match="need a list beside the file; name a file"):
        write_clired(Result(found), pipe)
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]


def test_lists_and_queries_replace_their_own_kind_only(tmp_path: Path) -> None:
    path, table = tmp_path / "result.queries", tmp_path / "table.queries"
    table.write_text("id,age\n1,2\n")
    attributes = tuple(AttributePart(name=one, kind="boolean") for one in ("a (2)", "x"))
    declared = AttributesPart(left=attributes, right=attributes)
    found = document(redescription("a (2)", "x")).model_copy(update={"attributes": declared})
    for _ in range(2):
        assert write_clired(Result(found), path)[0] is not None
    with pytest.raises(InputError, match="not replaced, because it is a CSV file"):
        write_clired(listed(redescription()), table)


def test_an_empty_result_gives_a_file_without_queries(tmp_path: Path) -> None:
    path = tmp_path / "result.queries"
    write_clired(mined_clinic(NOTHING), path)
    assert read_queries(path) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "result.queries"
    with pytest.raises(InputError, match="nowhere"):
        write_clired(listed(), path)


def test_earlier_queries_are_kept(tmp_path: Path) -> None:
    """They may be clired's own, from hours of work."""
    path = tmp_path / "my.queries"
    path.write_text("# clired\nqueryLHS\tqueryRHS\n", encoding="utf-8")
    _, kept = write_clired(listed(redescription()), path)
    assert kept == tmp_path / "my.queries.1"
    assert kept.read_text(encoding="utf-8") == "# clired\nqueryLHS\tqueryRHS\n"


@pytest.mark.parametrize(
    "text",
    [
        "import csv\nrows = [row['query_LHS'] for row in csv.DictReader(open('my.queries'))]\n",
        "query_LHS, query_RHS = 1, 2\n",
        "id\tx\nquery_LHS\tquery_RHS\n",
    ],
    ids=["program", "no tab", "second line"],
)
def test_a_program_that_reads_queries_is_not_replaced(text: str, tmp_path: Path) -> None:
    path = tmp_path / "analyse.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="not replaced, because it is a"):
        write_clired(listed(redescription()), path)
    assert path.read_text(encoding="utf-8") == text
