from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from redveil.report import palette
from redveil.schema import Schema
from redveil.schema_form.server import MOST_BYTES, TOKEN_HEADER
from support.forms import asked, served, written


def raised(shown: dict[str, Any], maximum: str) -> dict[str, Any]:
    """Return a request that saves another maximum of the first column."""
    one = shown["views"][0]["columns"][0]
    row = {"side": "left", "number": one["number"], "row": {**one["row"], "maximum": maximum}}
    return {"version": shown["version"], "rows": [row]}


def test_only_this_machine_can_reach_it(tmp_path: Path) -> None:
    with served(written(tmp_path)) as server:
        assert server.server_address[0] == "127.0.0.1"
        assert server.address == f"http://127.0.0.1:{server.server_port}/#{server.token}"
        assert len(server.token) > 40
    with served(tmp_path / "datapackage.json") as other:
        assert other.token != server.token


def test_the_page_holds_nothing_of_the_schema_and_may_load_nothing(tmp_path: Path) -> None:
    with served(written(tmp_path)) as server:
        status, headers, page = asked(server, "/", without=(TOKEN_HEADER, "Origin"))
    assert status == 200
    assert b"clinic" not in page
    assert b"age" not in page.split(b"<script")[0].split(b"</style>")[1]
    assert server.token.encode() not in page
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Server"] == "redveil"


@pytest.mark.parametrize("token", ["", "x", "é" * 40, None])
@pytest.mark.parametrize("path", ["/schema", "/preview", "/save", "/done"])
def test_without_the_token_nothing_is_told_or_done(
    tmp_path: Path, token: str | None, path: str
) -> None:
    file = written(tmp_path)
    before = file.read_bytes()
    with served(file) as server:
        content: object = None if path == "/schema" else {}
        wrong = {} if token is None else {TOKEN_HEADER: token.encode("utf-8").decode("latin-1")}
        without = (TOKEN_HEADER,) if token is None else ()
        status, _, told = asked(server, path, content, without=without, headers=wrong)
        assert status == 403
        assert told == {"error": "no token; open the whole address that redveil printed"}
        # It is still there for those who have it.
        assert asked(server, "/schema")[0] == 200
    assert file.read_bytes() == before


@pytest.mark.parametrize("host", ["evil.example", "localhost:{port}", "127.0.0.1", "127.0.0.1:1"])
def test_other_names_of_this_machine_are_refused(tmp_path: Path, host: str) -> None:
    with served(written(tmp_path)) as server:
        name = host.format(port=server.server_port)
        for path, content in (("/", None), ("/schema", None), ("/save", {})):
            status, _, told = asked(server, path, content, headers={"Host": name})
            assert status == 421
            assert told == {"error": "not the name of this server"}


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost", None])
def test_other_pages_cannot_ask(tmp_path: Path, origin: str | None) -> None:
    with served(written(tmp_path)) as server:
        other = {} if origin is None else {"Origin": origin}
        without = ("Origin",) if origin is None else ()
        for path in ("/preview", "/save", "/done"):
            status, headers, told = asked(server, path, {}, without=without, headers=other)
            assert status == 403
            assert told == {"error": "asked by another page"}
            assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[1]", {}, 400),
        (b"\xff", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Length": "x"}, 411),
        (b"{}", {"Content-Length": "-1"}, 411),
        (b"{}", {"Content-Length": str(MOST_BYTES + 1)}, 413),
        (b"{}", {"Content-Length": "9" * 5000}, 413),
    ],
)
def test_what_is_no_request_is_refused(
    tmp_path: Path, content: bytes, headers: dict[str, str], status: int
) -> None:
    with served(written(tmp_path)) as server:
        assert asked(server, "/preview", content, headers=headers)[0] == status
        assert asked(server, "/schema")[0] == 200


def test_other_paths_and_methods_do_not_exist(tmp_path: Path) -> None:
    with served(written(tmp_path)) as server:
        for path in ("/nowhere", "/../datapackage.json", "/datapackage.json", "/main.js"):
            assert asked(server, path)[0] == 404
            assert asked(server, path, {})[0] == 404
        with socket.create_connection(("127.0.0.1", server.server_port)) as line:
            line.sendall(b"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b" 501 " in line.recv(100)


def test_rows_that_do_not_fit_are_told(tmp_path: Path) -> None:
    with served(written(tmp_path)) as server:
        status, _, told = asked(server, "/preview", {"side": "left", "number": 99})
    assert status == 400
    assert told == {"error": "no such column; reload the page"}


def test_a_schema_is_saved_and_shown_again(tmp_path: Path) -> None:
    path = written(tmp_path)
    with served(path) as server:
        _, _, shown = asked(server, "/schema")
        status, _, told = asked(server, "/save", raised(shown, "120"))
        assert status == 200
        assert told["problems"] == []
        assert Path(told["kept"]).name == "datapackage.json.1"
        assert told["schema"]["views"][0]["columns"][0]["summary"] == "18 to 120, 19 cut points"
        assert told["schema"]["version"] != shown["version"]
    assert Schema.read(path).left.attributes[0].maximum == 120


def test_a_file_that_was_changed_meanwhile_is_a_conflict(tmp_path: Path) -> None:
    path = written(tmp_path)
    with served(path) as server:
        _, _, shown = asked(server, "/schema")
        path.write_bytes(path.read_bytes() + b"\n")
        status, _, told = asked(server, "/save", raised(shown, "120"))
    assert status == 409
    assert told == {"error": f"{path}: changed since it was read; run the command again"}


def test_of_windows_that_save_at_once_one_wins_and_the_others_are_told(tmp_path: Path) -> None:
    path = written(tmp_path)
    with served(path) as server:
        _, _, shown = asked(server, "/schema")

        def save(maximum: int) -> int:
            return asked(server, "/save", raised(shown, str(maximum)))[0]

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(save, range(110, 126)))
    assert sorted(found) == [200] + [409] * 15
    assert Schema.read(path).left.attributes[0].maximum == 110 + found.index(200)
    assert len(list(tmp_path.iterdir())) == 2


def test_the_page_can_end_it(tmp_path: Path) -> None:
    with served(written(tmp_path)) as server:
        assert asked(server, "/done", {})[0] == 200
        # `serve_forever` returns by itself; waiting for it would wait forever if it did not.
        server._BaseServer__is_shut_down.wait(5)  # type: ignore[attr-defined]
        assert server._BaseServer__is_shut_down.is_set()  # type: ignore[attr-defined]


def test_answers_are_json_in_ascii_and_cannot_be_taken_for_a_page(tmp_path: Path) -> None:
    path = written(tmp_path)
    text = path.read_text(encoding="utf-8").replace('"gout"', '"<script>ε"')
    path.write_text(text, encoding="utf-8")
    with served(path) as server:
        _, headers, told = asked(server, "/schema")
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert json.dumps(told).isascii()
    assert told["views"][0]["columns"][1]["name"] == "<script>ε"


def test_the_form_has_the_colours_of_reports_and_figures(tmp_path: Path) -> None:
    with served(written(tmp_path)) as server:
        page = server.page.html.decode()
    for name in ("LEFT", "RIGHT", "BOTH", "INK", "MUTED"):
        assert f"--{name.lower()}: {getattr(palette, name)};" in page
