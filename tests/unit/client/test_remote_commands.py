"""`redveil remote`, on a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import redveil
from redveil.cli.remote import remote
from redveil.client.server import Server
from redveil.data.synthetic import CLINIC_ID
from redveil.losses.loss import parse_loss
from redveil.report.result import Result
from support.command_line import Command, Typist, caller
from support.relays import Liar, http, listening
from support.served import Served

SMALL = ("--depth", "1", "--trials", "1")


def names(folder: str) -> list[str]:
    return sorted(one.name for one in Path(folder).iterdir())


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("REDVEIL_TOKEN", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    run = caller(monkeypatch, capsys)
    return lambda *arguments: run("remote", *arguments)


@pytest.fixture
def analyst(command: Command, place: Served) -> Command:
    """The commands of somebody who has logged in."""
    log_in(command, place, "ana")
    return command


@pytest.fixture(scope="module")
def mined(place: Served) -> Result:
    """A result of the server, with a list."""
    with redveil.connect(place.url, place.people.secrets["ana"]) as server:
        return server.dataset("clinic").mine(5, depth=1, trials=1)


def log_in(command: Command, place: Served, name: str) -> None:
    Path("token").write_text(f"{place.people.secrets[name]}\n")
    done = command("login", place.url, "--token-file", "token")
    assert done.code == 0, done.err
    assert f"logged in as {name}" in done.err
    assert place.people.secrets[name] not in done.err + done.out


def test_a_session(analyst: Command) -> None:
    assert "clinic" in analyst("datasets").out
    assert json.loads(analyst("datasets", "--json").out)[0]["id"] == CLINIC_ID
    assert "left of" in analyst("budget", "clinic").out
    assert json.loads(analyst("budget", "clinic", "--json").out)["cap"]["epsilon"]
    assert "would be charged" in analyst("plan", "clinic", "-e", "1", *SMALL).out
    assert json.loads(analyst("plan", "clinic", "-e", "1", "--json").out)["is_covered"]
    mined = analyst("mine", "clinic", "--epsilon", "5", *SMALL)
    assert (mined.code, "Privacy certificate" in mined.out) == (0, True)
    assert "written to result.json" in mined.err
    refined = analyst("refine", "result.json", "clinic", "-e", "1", "--quiet")
    assert (refined.code, refined.out, refined.err.count("\n")) == (0, "", 1)
    assert Result.read("refined.json").certificate.algorithm == "refine"
    assert analyst("confirm", "result.json", "clinic", "-e", "1", "-o", "-").code == 0
    asked = analyst("describe", "[gout]", "clinic", "-e", "1", "--no-wait")
    fetched = analyst("fetch", asked.out.strip(), "-o", "result.json")
    assert "result.json.1\n" in fetched.err
    listed = json.loads(analyst("jobs", "--json", "--most", "4").out)
    kinds = [one["question"]["kind"] for one in listed]
    assert kinds == ["describe", "confirm", "refine", "mine"]
    assert "describe [gout]" in analyst("jobs").out
    assert analyst("cancel", listed[0]["id"]).code == 1
    assert analyst("logout").code == 0
    assert "no server is known" in analyst("datasets").err


def test_what_is_refused_is_one_line(analyst: Command) -> None:
    for arguments, code, said in (
        (("mine", "clinic", "-e", "1", "--depth", "9"), 2, "--depth"),
        (("mine", "clinic", "-e", "99999"), 2, "epsilon"),
        (("mine", "nothing", "-e", "1"), 2, "no data set nothing"),
        (("fetch", "7e57"), 1, "no such job"),
        (("log",), 1, "scope audit"),
        (("datasets", "--server", "https://other.example"), 2, "no login"),
        (("login", "http://a.example"), 2, "unencrypted"),
        (("datasets", "--token-file", "none"), 2, "cannot be read"),
    ):
        done = analyst(*arguments)
        assert (done.code, said in done.err, done.out) == (code, True, ""), done
        (_,) = (line for line in done.err.splitlines() if not line.startswith("server: "))


CHARGING = (
    ("mine", "clinic", "-e", "1", *SMALL, "--no-wait"),
    ("mine", "clinic", "-e", "1", *SMALL, "--no-wait", "--quiet"),
    ("describe", "[gout]", "clinic", "-e", "1", "--no-wait"),
    ("refine", "mined.json", "clinic", "-e", "1", "--no-wait"),
    ("confirm", "mined.json", "clinic", "-e", "1", "--no-wait"),
    ("approve", "7e57"),
)
FREE = (
    *(("datasets",), ("datasets", "--json"), ("budget", "clinic"), ("schema", "clinic")),
    *(("dummy", "clinic", "new"), ("plan", "clinic", "-e", "1"), ("key",), ("jobs", "--json")),
    *(("fetch", "7e57"), ("cancel", "7e57"), ("decline", "7e57")),
    *(("log", "clinic"), ("requests", "clinic")),
)


@pytest.mark.slow
def test_every_command_names_the_server(analyst: Command, place: Served, mined: Result) -> None:
    assert f"server: {place.url}\n" in analyst("login", place.url, "--token-file", "token").err
    mined.save("mined.json")
    called = set()
    for arguments in (*CHARGING, *FREE):
        # Also if it fails: perhaps because another server was meant.
        assert analyst(*arguments).err.splitlines()[0] == f"server: {place.url}", arguments
        called.add(arguments[0])
    assert place.url in analyst("logout").err
    assert called | {"login", "logout"} == {
        one.name or one.callback.__name__
        for one in remote.registered_commands
        if one.callback is not None
    }


@pytest.mark.parametrize("arguments", CHARGING, ids=lambda one: one[0])
def test_no_server_is_charged_that_was_not_meant(
    arguments: tuple[str, ...],
    analyst: Command,
    place: Served,
    monkeypatch: pytest.MonkeyPatch,
    mined: Result,
) -> None:
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    mined.save("mined.json")
    asked = len(place.store.jobs.of_analyst(place.people.ids["ana"]))
    done = analyst(*arguments)
    assert (done.code, done.out) == (2, "")
    assert f"--server {place.url}" in done.err
    assert f"{place.url}, of your last login" in done.err
    assert len(place.store.jobs.of_analyst(place.people.ids["ana"])) == asked
    # What is free goes on, and says whom it asked.
    assert f"{place.url}, of your last login" in analyst("budget", "clinic").err
    if arguments[0] == "approve":
        return
    assert analyst(*arguments, "--server", place.url).code == 0
    assert len(place.store.jobs.of_analyst(place.people.ids["ana"])) == asked + 1


def test_on_a_terminal_a_server_that_was_not_named_is_asked_for(
    analyst: Command, place: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    monkeypatch.setattr("sys.stdin", Typist("n\n\ny\n"))
    call = ("mine", "clinic", "-e", "1", *SMALL, "--no-wait")
    for _ in range(2):
        refused = analyst(*call)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.splitlines()[0] == f"server: {place.url}, of your last login"
        assert "Let this charge" in refused.err
    assert analyst(*call).code == 0


def test_a_given_token_goes_only_where_it_is_said_to_go(
    analyst: Command, place: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    monkeypatch.setenv("REDVEIL_TOKEN", place.people.secrets["bob"])
    assert "say where the server is" in analyst("datasets").err
    assert analyst("datasets", "--server", place.url).code == 0


def test_over_budget_has_an_exit_code_of_its_own(analyst: Command, place: Served) -> None:
    people = place.people.ids
    grant = place.store.datasets.limits(CLINIC_ID).grant(people["ana"])
    assert grant is not None
    cap = grant.cap
    spent = place.store.datasets.spent(CLINIC_ID).of(people["ana"])
    place.store.datasets.grant(CLINIC_ID, people["ana"], spent, people["olga"])
    done = analyst("mine", "clinic", "-e", "1")
    place.store.datasets.grant(CLINIC_ID, people["ana"], cap, people["olga"])
    assert done.code == 3
    assert "ε = 1 asked, 0 left; ask the owner for 1 more" in done.err


def test_public_things_are_saved(analyst: Command, tmp_path: Path) -> None:
    assert analyst("schema", "clinic", "-o", "datapackage.json").code == 0
    assert json.loads(Path("datapackage.json").read_text())["name"] == "clinic"
    assert json.loads(analyst("schema", "clinic").out)["name"] == "clinic"
    assert analyst("dummy", "clinic", "new", "--entities", "5").code == 0
    assert names("new") == ["datapackage.json", "left.csv", "right.csv"]
    assert len(Path("new/left.csv").read_text().splitlines()) == 6
    assert analyst("key", "-o", "key.pem").code == 0
    assert analyst("key").out == Path("key.pem").read_text()
    assert "name a new file" in analyst("key", "-o", "key.pem").err
    assert "there already" in analyst("dummy", "clinic", "new").err
    assert "cannot be written" in analyst("dummy", "clinic", "none/new").err


def test_a_token_can_come_from_the_environment_or_the_terminal(
    command: Command, place: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDVEIL_TOKEN", place.people.secrets["bob"])
    assert "say where the server is" in command("datasets").err
    assert command("datasets", "--server", place.url).code == 0
    assert command("login", place.url).code == 0
    assert command("datasets").code == 0
    monkeypatch.delenv("REDVEIL_TOKEN")
    monkeypatch.setattr("typer.prompt", lambda *_, **__: place.people.secrets["ana"])
    assert "as ana" in command("login", place.url).err


def test_a_login_can_be_tied_to_a_key(command: Command, place: Served) -> None:
    from redveil.signing.keys import Signer

    Path("token").write_text(place.people.secrets["ana"])
    Path("wrong.pem").write_bytes(Signer.generate().public.to_pem())
    Path("right.pem").write_bytes(place.store.signer.public.to_pem())
    given = ("login", place.url, "--token-file", "token", "--key")
    assert "do not trust it" in command(*given, "wrong.pem").err
    assert not Path("home").exists()
    done = command(*given, "right.pem")
    assert (done.code, "compare it" in done.err) == (0, False)


def test_an_owner_decides_and_exports_the_log(command: Command, place: Served) -> None:
    people = place.people.ids
    loss = parse_loss("5", "0")
    place.store.datasets.grant(CLINIC_ID, people["eve"], loss, people["olga"], needs_approval=True)
    log_in(command, place, "eve")
    jobs = [command("mine", "clinic", "-e", "1", *SMALL, "--no-wait").out.strip() for _ in "12"]
    log_in(command, place, "olga")
    assert jobs[0] in command("requests", "clinic").out
    assert len(json.loads(command("requests", "clinic", "--json").out)) == 2
    assert "not a data set of yours" in command("log", "other").err
    assert command("approve", jobs[0]).code == command("decline", jobs[1]).code == 0
    assert "nothing waits" in command("requests", "clinic").err
    assert "number" in command("log", "clinic").out
    assert command("log", "clinic", "--output", "log.jsonl").code == 0
    events = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    assert {*jobs} <= {one["job"] for one in events}
    again = command("log", "clinic", "--later-than", events[-1]["number"])
    assert "no events" in again.err
    log_in(command, place, "aud")
    assert "number" in command("log").out
    assert "number" in command("log", CLINIC_ID).out
    log_in(command, place, "eve")
    assert "declined" in command("fetch", jobs[1]).err
    assert command("fetch", jobs[0], "-q").code == 0
    place.store.datasets.revoke_grant(CLINIC_ID, people["eve"], people["olga"])


def test_stopping_says_how_to_get_the_result(
    analyst: Command, place: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "wait", stop)
    done = analyst("mine", "clinic", "-e", "1", *SMALL)
    assert done.code == 130
    assert "`redveil remote fetch" in done.err
    assert f" --server {place.url}`" in done.err
    assert not Path("result.json").exists()


def test_names_of_a_hostile_server_are_no_paths_and_no_escapes(command: Command) -> None:
    evil = "../../evil\x1b[2J"
    loss = {"epsilon": "1", "delta": "0"}
    known = {"id": evil, "name": evil, "unit": evil, "left": loss, "cap": loss}
    one = known | {"needs_approval": False}
    schema = {"name": evil, "resources": [{"path": "../../evil.csv"}]}
    body = one | {"datasets": [one], "schema": schema, "left": "a\n", "right": "b\n"}
    with listening(Liar(http("200 OK", json.dumps(body).encode()))) as port:
        Path("token").write_text("redveil_some_token")
        there = ("--server", f"http://127.0.0.1:{port}", "--token-file", "token")
        listed = command("datasets", *there)
        refused = command("mine", "other", "-e", "1", *there)
    assert "\x1b" not in listed.out + refused.err
    assert names(".") == ["token"]
    assert not Path("../../evil.csv").exists()


def test_dummy_data_of_a_hostile_server_stays_in_its_folder(command: Command) -> None:
    loss = {"epsilon": "1", "delta": "0"}
    one = {"id": "a", "name": "a", "unit": "u", "left": loss, "cap": loss, "needs_approval": False}
    schema = {"name": "../../evil", "resources": [{"path": "../../evil.csv", "name": "../evil"}]}
    answers = {
        b"/dummy-data": {"left": "=cmd()\n", "right": "b\n"},
        b"/datasets/a ": one | {"schema": schema},
        b"/datasets ": {"datasets": [one]},
    }

    def handle(client: object) -> None:
        request = client.recv(1 << 16)  # type: ignore[attr-defined]
        body = next(body for path, body in answers.items() if path in request)
        client.sendall(http("200 OK", json.dumps(body).encode()))  # type: ignore[attr-defined]

    with listening(handle) as port:
        Path("token").write_text("redveil_some_token")
        there = ("--server", f"http://127.0.0.1:{port}", "--token-file", "token")
        assert command("dummy", "a", "new", *there).code == 0
    assert names(".") == ["new", "token"]
    assert names("new") == ["datapackage.json", "left.csv", "right.csv"]
