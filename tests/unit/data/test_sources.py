"""Folders and databases: the same rows give the same table and load report as in one file."""

from __future__ import annotations

import csv
import gzip
import io
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import redveil
from redveil.data import csv_file, frame, sqlite_table
from redveil.data.address import Address
from redveil.data.draft import draft
from redveil.data.loading import examine
from redveil.data.postgresql_table import PostgresqlTable, _encoding, open_postgresql
from redveil.data.source import open_source, open_stream
from redveil.data.sqlite_table import SqliteTable, open_sqlite
from redveil.data.table import NumericColumn
from redveil.errors import LoadError
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.schema.dates import DateRule
from redveil.sealed import open_for_owner
from support.postgresql import drop_schema, new_schema, server

RULE = DateRule(date(2010, 1, 1), date(2019, 12, 31), format="%Y%m%d")
LEFT = View(
    "left",
    "id",
    (
        Attribute("number", Kind.NUMERIC, minimum=-5, maximum=99, cuts=(1.0, 7.0)),
        Attribute("label", Kind.CATEGORICAL, categories=("1", "1.5", "x", "true", "a\nb")),
        Attribute("flag", Kind.BOOLEAN, true_values=("yes", "1"), false_values=("no",)),
        Attribute("seen", Kind.ORDINAL, categories=("2010", "2015"), date=RULE),
    ),
    missing_values=("", "NA", "-99.0"),
)
SCHEMA = Schema("toy", LEFT, View("right", "id", (Attribute("sick", Kind.BOOLEAN),)))
NAMES = ("id", *LEFT.names)
RIGHT = pa.table({"id": [str(key) for key in range(9)], "sick": [True] * 9})
Row = tuple[Any, ...]

any_rows = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
texts = st.sampled_from(
    ["", "NA", "1", " 1 ", "1.0", "1.5", "-99", "x", "yes", "no", "nan", "inf", "20150101",
     "2015-01-01", "a\nb", 'a"b', "é", "true", "\ufeff1", "1e3", "\\N", "\\."]
)  # fmt: skip
numbers = st.one_of(
    st.sampled_from([0, 1, 7, -99, 20150101, 2**53 + 1, 2**63 - 1, -(2**63)]),
    st.sampled_from([1.0, 1.5, -99.0, 1e300, float("inf"), float("-inf"), -0.0, 20150101.0]),
)
# Those that pandas and Arrow do not round.
small_numbers = numbers.filter(lambda number: isinstance(number, float) or abs(number) < 2**53)
keys = st.integers(0, 8).map(str) | st.sampled_from(["", " 3 ", "NA"])


def rows_of(cells: st.SearchStrategy[Any], ids: st.SearchStrategy[Any]) -> Any:
    return st.lists(st.tuples(ids, cells, cells, cells, cells), max_size=9)


def loaded(left: object, schema: Schema = SCHEMA) -> tuple[Any, ...]:
    """Return the load report, and all values by column, of a table with all values and packed."""
    found: list[Any] = []
    for packed in (False, True):
        data = redveil.load(left, RIGHT, schema, few_in_common=True, packed=packed)
        table = open_for_owner(data.table)
        found.append(open_for_owner(data.report))
        if table.binned is not None:
            found += [table.binned.left.codes.tolist(), table.binned.left.bits.tolist()]
            continue
        for column in table.left.values():
            values = column.values if isinstance(column, NumericColumn) else column.codes
            found.append([repr(value + 0) for value in values.tolist()])
    return tuple(found)


def csv_text(rows: Sequence[Row], names: Sequence[str] = NAMES) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([names, *rows])
    return text.getvalue().encode()


def parts(rows: Sequence[Row], cuts: Sequence[int]) -> Iterator[Sequence[Row]]:
    """Cut rows at some places, also twice at the same place."""
    places = sorted(min(cut, len(rows)) for cut in cuts)
    for begin, end in zip([0, *places], [*places, len(rows)], strict=True):
        yield rows[begin:end]


def write_sqlite(path: Path, rows: Sequence[Row], names: Sequence[str] = NAMES) -> None:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE visits ({', '.join(names)})")
    connection.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * len(names))})", rows)
    connection.commit()
    connection.close()


@any_rows
@given(rows_of(texts, keys), st.lists(st.integers(0, 9), max_size=3), st.integers(8, 60))
def test_a_folder_of_csv_files_is_one_csv_file(
    rows: list[Row], cuts: list[int], block: int
) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        (folder / "one.csv").write_bytes(csv_text(rows))
        whole = loaded(folder / "one.csv")
        visits = folder / "visits"
        visits.mkdir()
        for number, some in enumerate(parts(rows, cuts)):
            # The order of the columns, the compression and files without a header do not matter.
            order = [0, 4, 3, 2, 1] if number % 2 else [0, 1, 2, 3, 4]
            reordered = [tuple(row[i] for i in order) for row in some]
            text = csv_text(reordered, [NAMES[i] for i in order])
            text = text if some or number == 0 else b""
            path = visits / f"{number}.csv{'.gz' * (number % 3 == 1)}"
            path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
        assert loaded(visits) == whole
        assert loaded(f"csv:{visits}/*") == whole
        # Large files are read block by block.
        patch.setattr(csv_file.find_csv, "__defaults__", (block,))
        assert loaded(visits) == whole


def write_parquet(folder: Path, rows: Sequence[Row], cuts: Sequence[int]) -> None:
    """Write rows as a program would that types every file by its rows."""
    for number, some in enumerate(parts(rows, cuts)):
        columns = {}
        for place, name in enumerate(NAMES):
            values = [row[place] for row in some]
            is_float = any(isinstance(value, float) for value in values)
            columns[name] = pa.array(values, pa.float64() if is_float else None)
        parquet.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=2)


@any_rows
@given(
    rows_of(small_numbers | st.none(), st.integers(0, 8) | st.sampled_from([1.0, 2.5])),
    st.lists(st.integers(0, 9), max_size=3),
)
def test_parquet_files_are_read_by_their_own_types(rows: list[Row], cuts: list[int]) -> None:
    """One file has integers, another floats or nothing: each value is what it is by itself."""
    columns = {n: pd.Series([row[i] for row in rows], dtype=object) for i, n in enumerate(NAMES)}
    whole = loaded(pd.DataFrame(columns))
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "_PIECE_ROWS", 2)
        write_parquet(Path(name), rows, cuts)
        assert loaded(name) == whole
        assert loaded(f"parquet:{name}/*.parquet") == whole


def test_files_with_numbers_and_files_with_texts_are_one_table(tmp_path: Path) -> None:
    for number, (ids, values) in enumerate(
        [([1, 2], [1, -99]), (["3", " 4 "], ["1.50", "NA"]), ([5.0], [7.5]), ([None], [None])]
    ):
        rows = {"id": pa.array(ids), "number": pa.array(values)}
        parquet.write_table(pa.table(rows), tmp_path / f"{number}.pq")
    schema = Schema("toy", View("left", "id", LEFT.attributes[:1], missing_values=("NA", "-99")),
                    SCHEMA.right)  # fmt: skip
    report, found, *_ = loaded(tmp_path, schema)
    assert found == ["1.0", "nan", "1.5", "nan", "7.5"]
    assert (report.joined, report.left.keyless) == (5, 1)
    drafted = draft(tmp_path, RIGHT, key="id").schema.left
    assert [one.name for one in drafted.attributes] == ["number"]


sqlite_values = st.one_of(texts, numbers, st.none(), st.just(b"blob"), st.just("a\0b"))


@any_rows
@given(rows_of(sqlite_values, keys | st.integers(0, 8) | st.floats(0, 3)), st.integers(1, 20))
def test_values_of_sqlite_are_read_one_by_one(rows: list[Row], batch: int) -> None:
    """Every row by itself, as a frame that has nothing else, gives what the table gives."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        path = Path(name) / "clinic.sqlite"
        write_sqlite(path, rows)
        whole = loaded(f"sqlite:{path}#visits")
        patch.setattr(sqlite_table.SqliteTable.__init__, "__defaults__", (batch, None))
        assert whole == loaded(Address.of_query(str(path), "SELECT * FROM visits"))
        alone: dict[str, list[list[str]]] = {}
        for row in rows:
            write_sqlite(path, [row])
            _, *columns = loaded(f"sqlite:{path}#visits")[:5]
            frame = loaded(pd.DataFrame({n: pd.Series([v if not isinstance(v, bytes) else None],
                                                      dtype=object)
                                         for n, v in zip(NAMES, row, strict=True)}))  # fmt: skip
            assert columns == list(frame[1:5])
            if columns[0]:
                alone.setdefault(key_of(row[0]), []).append([one[0] for one in columns])
        expected = [values[0] for values in alone.values() if len(values) == 1]
        assert [list(one) for one in zip(*whole[1:5], strict=True)] == expected


def key_of(value: object) -> str:
    return str(int(value)) if isinstance(value, float) else str(value).strip()


def test_sqlite_texts_that_are_not_unicode_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "clinic.sqlite"
    write_sqlite(path, [("1", 1, "x", 1, None), ("2", 2, "x", 1, None)])
    connection = sqlite3.connect(path)
    connection.execute("UPDATE visits SET label = CAST(x'ff78' AS TEXT) WHERE id = '1'")
    connection.commit()
    connection.close()
    _, numbers, labels, *_ = loaded(f"sqlite:{path}#visits")
    assert (numbers, labels) == (["1.0", "2.0"], ["255", "2"])


@any_rows
@given(
    rows_of(sqlite_values, st.integers(0, 8)),
    st.tuples(st.integers(0, 8), *[sqlite_values] * 4),
    st.lists(st.integers(0, 10), max_size=2),
)
def test_an_entity_more_changes_no_other(rows: list[Row], added: Row, cuts: list[int]) -> None:
    numbered = [(number, *row[1:]) for number, row in enumerate(rows)]
    more = [*numbered, (len(rows), *added[1:])]
    with tempfile.TemporaryDirectory() as name:
        for number, some in enumerate((numbered, more)):
            write_sqlite(Path(name) / f"{number}.sqlite", some)
            (Path(name) / str(number)).mkdir()
            for part, few in enumerate(parts(some, cuts)):
                plain = [tuple(map(_plain, row)) for row in few]
                (Path(name) / str(number) / f"{part}.csv").write_bytes(csv_text(plain))
        for form in ("sqlite:{}/{}.sqlite#visits", "csv:{}/{}"):
            before, after = (loaded(form.format(name, number)) for number in (0, 1))
            known = len(before[1])
            assert len(after[1]) <= known + 1
            assert [one[:known] for one in after[1:5]] == list(before[1:5])


def _plain(value: object) -> str:
    return str(value).replace("\0", "") if value is not None else ""


# PostgreSQL: columns have declared types.
KINDS = {"id": "text", "number": "numeric", "label": "text", "flag": "boolean", "seen": "date"}


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    name = "test_data_sources"
    yield new_schema(name)
    drop_schema(name)


def run(address: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


HOSTILE = r"""
    ('0', 'NaN', 'x', true, '2015-06-01'), ('1', 'Infinity', E'a\nb', false, 'infinity'),
    ('2', 1.50, '1.5', NULL, '0044-03-15 BC'), ('3', NULL, '\N', true, '20000-01-01'),
    ('4', -99.0, '\.', true, '2010-01-01'), (' 5 ', 1e200, '', false, NULL),
    ('6', 7, '"x"', true, '2019-12-31'), ('6', 7, 'x', true, '2019-12-31'), (NULL, 7, 'x', true, NULL)
"""  # noqa: E501
AS_OBJECTS = [
    ("0", None, "x", True, date(2015, 6, 1)),
    ("1", float("inf"), "a\nb", False, None),
    ("2", 1.5, "1.5", None, None),
    ("3", None, "\\N", True, None),
    ("4", -99, "\\.", True, date(2010, 1, 1)),
    (" 5 ", 1e200, "", False, None),
    ("6", 7, '"x"', True, date(2019, 12, 31)),
    ("6", 7, "x", True, date(2019, 12, 31)),
    (None, 7, "x", True, None),
]


@pytest.mark.parametrize("block", [1, 40, 2**20])
@pytest.mark.parametrize("moment", ["date", "timestamp", "timestamptz"])
@pytest.mark.parametrize("kind", ["numeric", "double precision"])
def test_a_table_of_postgresql_is_a_frame(
    database: str, monkeypatch: pytest.MonkeyPatch, moment: str, kind: str, block: int
) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in KINDS.items())
    columns = columns.replace("numeric", kind).replace("date", moment)
    run(
        database,
        "SET TimeZone = 'UTC'; DROP TABLE IF EXISTS visits",
        f"CREATE TABLE visits ({columns})",
        f"SET TimeZone = 'UTC'; INSERT INTO visits VALUES {HOSTILE}",
    )
    monkeypatch.setattr(PostgresqlTable.__init__, "__defaults__", (block, None))
    frame = pd.DataFrame(
        {n: pd.Series([row[i] for row in AS_OBJECTS], dtype=object) for i, n in enumerate(NAMES)}
    )
    assert loaded(f"{database}#visits") == loaded(frame)
    assert loaded(f"{database}#SELECT * FROM visits; ") == loaded(frame)
    assert loaded(f"{database}#test_data_sources.visits") == loaded(frame)


@pytest.mark.parametrize(
    ("encoding", "word", "odd"),
    [
        ("WIN1252", b"\xe9", b"\x81"),
        ("EUC_JIS_2004", b"\xa9\xdf", b"\xa4\xfc"),
        ("SQL_ASCII", b"\xc3\xa9", b"\xe9"),
    ],
)
def test_a_character_that_no_server_translates_stops_no_other(
    encoding: str, word: bytes, odd: bytes
) -> None:
    import psycopg

    name = f"test_{encoding}".lower()
    made = f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
    run(server(), f"DROP DATABASE IF EXISTS {name}", made)
    address = server().replace("/postgres?", f"/{name}?")
    label = Attribute("label", Kind.CATEGORICAL, categories=("x", "é"))
    schema = Schema("toy", View("left", "id", (label,)), SCHEMA.right)
    with psycopg.connect(address, client_encoding="sql_ascii", autocommit=True) as connection:
        send = connection.pgconn.exec_
        send(b"CREATE TABLE visits (id text, label text)")
        send(b"INSERT INTO visits VALUES ('1', 'x'), ('2', '" + word + b"')")
        assert loaded(f"{address}#visits", schema)[1] == ["0", "1"]
        send(b"INSERT INTO visits VALUES ('3', '" + odd + b"')")
        assert loaded(f"{address}#visits", schema)[1] == ["0", "1", "255"]
    run(server(), f"DROP DATABASE {name}")


def test_values_of_postgresql_do_not_depend_on_settings(database: str) -> None:
    run(database, "CREATE TABLE odd AS SELECT 1 AS id, '\\x78'::bytea AS a, 1.5::money AS b")
    address = f"{database.replace('options=', 'options=-cbytea_output%3Descape%20')}#odd"
    (piece,) = open_postgresql(Address.of(address)).pieces(["a", "b"])
    assert [one.to_pylist() for one in piece.read().columns.values()] == [["\\x78"], ["$1.50"]]


def test_a_database_in_an_encoding_without_a_codec_is_refused() -> None:
    # Refused whatever its rows are: one of them must not decide.
    with pytest.raises(LoadError, match="copy the table to one in UTF8"):
        _encoding("MULE_INTERNAL", Address.of("postgresql://host/clinic#visits"))


def test_integers_and_an_empty_table_of_postgresql(database: str) -> None:
    run(database, "CREATE TABLE counts (id bigint, number integer, seen text)")
    view = View("left", "id", LEFT.attributes[:1])
    schema = Schema("toy", view, SCHEMA.right)
    assert loaded(f"{database}#counts", schema)[0].joined == 0
    run(database, "INSERT INTO counts VALUES (1, 7, 'x'), (2, NULL, NULL)")
    stream = open_stream(f"{database}#counts", Side.LEFT, view)
    (piece,) = stream.pieces(["id", "number", "seen"])
    assert [one.to_pylist() for one in piece.read().columns.values()] == [
        [1, 2], [7, None], ["x", None]
    ]  # fmt: skip
    assert loaded(f"{database}#counts", schema)[1] == ["7.0", "nan"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("nothing", "no such table"),
        ("SELECT * FROM nothing", "query failed"),
        ("SELECT 1 AS a, 2 AS a", "same name"),
        ("SELECT 1) TO STDOUT; COMMIT; CREATE TABLE made (a int); --", "query failed"),
        ("WITH gone AS (DELETE FROM kept RETURNING a) SELECT a FROM gone", "cannot be read"),
        ("SELECT nextval('numbers') AS a", "cannot be read to its end"),
    ],
)
def test_postgresql_is_only_read(database: str, query: str, said: str) -> None:
    run(
        database,
        "CREATE TABLE IF NOT EXISTS kept (a int)",
        "CREATE SEQUENCE IF NOT EXISTS numbers",
    )
    with pytest.raises(LoadError, match=said) as refused:
        list(open_postgresql(Address.of(f"{database}#{query}")).pieces(["a"]))
    assert "\n" not in str(refused.value)
    with pytest.raises(LoadError, match="no such table"):
        open_postgresql(Address.of(f"{database}#made"))


def test_a_password_is_in_no_message() -> None:
    address = Address.of("postgresql://me:hush@127.0.0.1:1/db?password=hush#SELECT 1")
    with pytest.raises(LoadError, match=r"postgresql://127.0.0.1:1/db, query: cannot") as refused:
        open_source(address, Side.LEFT, None)
    for text in (str(refused.value), address.place, str(address), repr(address)):
        assert "hush" not in text
    assert "hush" not in str(Address.of("postgresql://me:hush@host:port/db#t"))


@pytest.mark.parametrize("password", ["hu#sh", "12#sh", "#sh", "hu?sh", "hu@sh", "h#u?s@sh", "[sh"])
def test_a_password_may_contain_what_ends_an_address(password: str) -> None:
    address = Address.of(f"postgresql://me:{password}@127.0.0.1:1/db#visits")
    assert address.place == "postgresql://127.0.0.1:1/db, table visits"
    assert str(address) == "postgresql://127.0.0.1:1/db#visits"
    assert address.database == f"postgresql://me:{password}@127.0.0.1:1/db"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:12/sh@host/db#t",
        "postgresql://me:1/2#sh@host/db#t",
        "postgresql://me:1 2#sh@host/db#t",
        "postgresql://host/db?password=12#sh#t",
        "postgresql://host/db?password=12#sh",
        "postgresql://me:12#sh@host",
        "postgresql+psycopg://me:12sh@host/db#t",
        "PostgreSQL://me:12sh@host/db#t",
    ],
)
def test_no_part_of_a_password_is_shown_whatever_it_contains(text: str) -> None:
    try:
        address = Address.of(text)
        said = f"{address} {address.place}"
    except LoadError as refused:
        said = str(refused)
    assert "sh" not in said
    assert "12" not in said
    assert "1/2" not in said


def test_no_password_of_an_unknown_database_of_a_query_is_shown() -> None:
    with pytest.raises(LoadError, match=r"^PostgreSQL://…: not an address that redveil knows"):
        Address.of_query("PostgreSQL://me:hush@host/db", "SELECT 1")


@pytest.mark.parametrize("begin", ["SELECT*", 'select"id"', "SELECT(id)", "SELECT'x'", "\nwith\n"])
def test_no_query_is_shown_however_it_begins(begin: str) -> None:
    for database in ("postgresql://host/db", "sqlite:clinic.sqlite"):
        place = Address.of(f"{database}#{begin} FROM visits WHERE id = 'hush'").place
        assert place.endswith(", query")


def test_operators_of_a_query_are_no_part_of_an_address() -> None:
    query = "SELECT id, a #> b AS c FROM visits WHERE d @> e"
    for database in ("postgresql://host", "postgresql://me:hush@host/db"):
        address = Address.of(f"{database}#{query}")
        assert (address.database, address.wanted) == (database, query)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("nothing", "no such table"),
        ("SELECT * FROM nothing", "query failed"),
        ("WITH a AS (SELECT 1) DELETE FROM visits", "query failed"),
        ("SELECT id, id FROM visits", "same name"),
    ],
)
def test_sqlite_is_only_read(tmp_path: Path, query: str, said: str) -> None:
    write_sqlite(tmp_path / "clinic.sqlite", [("1", 2, 3, 4, 5)])
    with pytest.raises(LoadError, match=said):
        open_sqlite(Address.of_query(str(tmp_path / "clinic.sqlite"), query))
    assert loaded(f"{tmp_path}/clinic.sqlite#visits")[0].joined == 1


@pytest.mark.parametrize(
    ("files", "address", "said"),
    [
        ({}, "{}/nothing/*.csv", "no such file"),
        ({}, "csv:{}", "no CSV file in this folder"),
        ({}, "{}", "a folder with no CSV or Parquet file"),
        ({"a.csv": b"id,x\n", "b.xlsx": b""}, "{}", "files of several formats"),
        ({"a.csv": b"id,number\n", "b.csv": b"id,name-of-4711\n"}, "{}", "b.csv: other columns"),
        ({"a.csv": b"", "b.csv": b"\n"}, "{}", "all files are empty"),
        ({"a.csv": b"id,number\n1,2,3\n"}, "{}", "a.csv, line 2: 3 fields"),
        ({"a.parquet": b"no"}, "{}", "a.parquet: not a Parquet file"),
        ({"a.sqlite": b"no database at all"}, "sqlite:{}/a.sqlite#t", "as a SQLite database"),
        ({}, "sqlite:{}/a.sqlite#t", "no such file"),
        ({}, "sqlite:{}/a.sqlite", "no table; name one after #"),
    ],
)
def test_mistakes_are_named_in_one_line(
    tmp_path: Path, files: dict[str, bytes], address: str, said: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    view = View("left", "id", LEFT.attributes[:1])
    with pytest.raises(LoadError, match=said) as refused:
        redveil.load(address.format(tmp_path), RIGHT, Schema("toy", view, SCHEMA.right))
    assert "4711" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_parquet_files_with_other_columns_are_refused(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": [1], "number": [2]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"id": [1]}), tmp_path / "b.parquet")
    with pytest.raises(LoadError, match=r"b\.parquet: other columns than in .*a\.parquet; give"):
        open_source(tmp_path, Side.LEFT, None)


def test_places_name_the_file_and_the_line(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "1.csv").write_bytes(b"id,number\n0,1\n1,2\n")
    (tmp_path / "c" / "2.csv").write_bytes(b"")
    (tmp_path / "c" / "3.csv").write_bytes(b'number,id\n"3",2\n\nodd,3\n5,3\n')
    (tmp_path / "p").mkdir()
    for number, rows in enumerate([{"id": [0, 1], "number": [1, 2]}, {"id": [2], "number": ["q"]}]):
        parquet.write_table(pa.table(rows), tmp_path / "p" / f"{number}.parquet")
    schema = Schema("toy", View("left", "id", LEFT.attributes[:1]), SCHEMA.right)
    details = "\n".join(examine(tmp_path / "c", RIGHT, schema).details())
    assert "3.csv, line 4, column id" in details
    assert "3.csv, line 5, column id" in details
    details = "\n".join(examine(tmp_path / "p", RIGHT, schema).details())
    assert "1.parquet, row 1, column number" in details
    with pytest.raises(LoadError, match=r"1\.parquet, row 1, column number"):
        redveil.load(tmp_path / "p", RIGHT, schema, strict=True)
    write_sqlite(tmp_path / "a.sqlite", [("0", 1, 1, 1, 1), ("1", "odd", 1, 1, 1)])
    details = "\n".join(examine(f"{tmp_path}/a.sqlite#visits", RIGHT, schema).details())
    assert "a.sqlite, table visits, row 2, column number" in details


def test_progress_grows_with_every_piece(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(str(number), number, "x", 1, None) for number in range(40)]
    write_sqlite(tmp_path / "a.sqlite", rows)
    for number, some in enumerate(parts(rows, [10, 20])):
        (tmp_path / f"{number}.csv").write_bytes(csv_text(some))
    write_parquet(tmp_path, rows, [7, 30])
    run(database, "CREATE TABLE many AS SELECT generate_series(1, 40)::text AS id, 7 AS number")
    monkeypatch.setattr(frame, "_PIECE_ROWS", 4)
    monkeypatch.setattr(SqliteTable.__init__, "__defaults__", (12, None))
    monkeypatch.setattr(PostgresqlTable.__init__, "__defaults__", (64, None))
    for address in (
        f"csv:{tmp_path}", f"parquet:{tmp_path}", f"{tmp_path}/a.sqlite#visits", f"{database}#many",
    ):  # fmt: skip
        stream = open_stream(address, Side.LEFT, LEFT)
        pieces = list(stream.pieces(["id", "number"]))
        shares = [piece.share for piece in pieces]
        assert len(shares) >= 3
        assert shares == sorted(shares)
        assert [share == 1 for share in shares] == [False] * (len(shares) - 1) + [True]
        assert sum(piece.read().rows for piece in pieces) == 40


def test_drafts_are_made_from_every_source(tmp_path: Path, database: str) -> None:
    rows = [(str(number), number, "é" if number == 39 else "x", 1, None) for number in range(40)]
    text = csv_text(rows).decode().replace(",", ";").encode("latin-1")
    lines = text.splitlines(keepends=True)
    (tmp_path / "visits").mkdir()
    (tmp_path / "visits" / "1.csv").write_bytes(b"".join(lines[:20]))
    (tmp_path / "visits" / "2.csv").write_bytes(b"".join([lines[0], *lines[20:]]))
    write_sqlite(tmp_path / "a.sqlite", rows)
    run(database, "CREATE TABLE drafted AS SELECT generate_series(1, 9)::text AS id, random() AS b")
    right = pa.table({"id": [str(number) for number in range(40)], "sick": [0, 1] * 20})
    found = draft(tmp_path / "visits", right).schema.left
    assert (found.name, found.delimiter, found.encoding) == ("visits", ";", "latin-1")
    assert [one.name for one in found.attributes] == ["number", "label", "flag"]
    found = draft(f"{tmp_path}/a.sqlite#visits", right).schema.left
    assert [one.name for one in found.attributes] == ["number", "label", "flag"]
    assert draft(f"{database}#drafted", right).schema.left.names == ("b",)
