from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import redveil
from redveil.client.address import Address
from redveil.client.login import Login, Logins
from redveil.client.questions import question
from redveil.client.token import Token
from redveil.errors import InputError, RemoteError
from support.served import Served

SECRET = "redveil_this_is_the_secret_of_a_test"


def login(address: str = "https://a.example", secret: str = SECRET) -> Login:
    return Login(Address.parse(address), Token(secret))


def test_the_last_login_is_the_usual_one(tmp_path: Path) -> None:
    logins = Logins(tmp_path / "new" / "logins.json")
    logins.keep(login())
    logins.keep(login("https://b.example"))
    assert logins.find().is_of_this_folder
    logins.keep(login("https://c.example"), as_usual=False)
    assert logins.find().address.text == "https://b.example"
    # After a demonstration was started here, nobody knows whether it is meant.
    assert not logins.find().is_of_this_folder
    assert logins.find("https://a.example/").token.reveal() == SECRET
    assert logins.forget() == "https://b.example"
    assert logins.find().address.text == "https://a.example"


def test_a_folder_has_the_server_of_the_last_login_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logins = Logins(tmp_path / "logins.json")
    for name, address in (("one", "a"), ("two", "b"), ("one", "b"), ("three", "a")):
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        logins.keep(login(f"https://{address}.example"))
    found = {}
    for name in ("one", "two", "three", "one/below", "."):
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        one = logins.find()
        found[name] = (one.address.text[8], one.is_of_this_folder)
    # A login in the home folder does not stand for all folders below.
    guessed = {"one/below": ("a", False), ".": ("a", False)}
    assert found == {"one": ("b", True), "two": ("b", True), "three": ("a", True), **guessed}


def test_a_program_in_no_folder_has_no_server_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    logins = Logins(tmp_path / "logins.json")
    logins.keep(login())
    assert not logins.find().is_of_this_folder


@pytest.mark.parametrize("folders", [None, 3, "/", [3], {"/": 1}])
def test_damaged_folders_mean_no_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: object
) -> None:
    path = tmp_path / "logins.json"
    known = {"address": "https://a.example", "token": SECRET, "folders": folders}
    path.write_text(json.dumps([known]))
    path.chmod(0o600)
    monkeypatch.chdir("/")
    assert not Logins(path).find().is_of_this_folder
    Logins(path).keep(login())
    assert Logins(path).find().is_of_this_folder


def test_only_its_owner_can_read_the_file(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        logins = Logins(tmp_path / "new" / "logins.json")
        logins.keep(login())
    finally:
        os.umask(before)
    assert logins.path.stat().st_mode & 0o777 == 0o600
    assert logins.path.parent.stat().st_mode & 0o777 == 0o700
    assert [one.name for one in logins.path.parent.iterdir()] == ["logins.json"]
    logins.path.chmod(0o644)
    with pytest.raises(InputError, match="others can read your tokens"):
        logins.find()


@pytest.mark.parametrize("content", ["", "{", "{}", "[1]", '[{"address": 1}]', "[" * 10_000])
def test_a_damaged_file_is_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "logins.json"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match="log in with"):
        Logins(path).find()


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    logins = Logins(tmp_path / "logins.json")
    with pytest.raises(InputError, match="no server is known"):
        logins.find()
    logins.keep(login())
    with pytest.raises(InputError, match="no login for this server"):
        logins.find("https://b.example")
    (tmp_path / "link").symlink_to(tmp_path / "gone" / "gone")
    with pytest.raises(InputError, match="cannot be written"):
        Logins(tmp_path / "link" / "logins.json").keep(login())
    with pytest.raises(InputError, match="say where the server is"):
        redveil.connect(token=SECRET)


def test_a_damaged_token_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "logins.json"
    path.write_text(json.dumps([{"address": "https://a.example", "token": f"{SECRET} x"}]))
    path.chmod(0o600)
    with pytest.raises(InputError) as caught:
        Logins(path).find()
    assert SECRET not in str(caught.value)


def test_a_notebook_needs_no_token(
    place: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    key = place.store.signer.public.to_pem().decode()
    Logins().keep(Login(Address.parse(place.url), Token(place.people.secrets["ana"]), key))
    with redveil.connect() as server:
        assert server.me().name == "ana"
    key_file = tmp_path / "key.pem"
    key_file.write_text(key)
    with redveil.connect(place.url, place.people.secrets["bob"], key=key_file) as server:
        assert server.me().name == "bob"


def test_a_notebook_elsewhere_reads_but_is_not_charged_without_an_address(
    place: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Logins().keep(Login(Address.parse(place.url), Token(place.people.secrets["ana"])))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    asked = len(place.store.jobs.of_analyst(place.people.ids["ana"]))
    with redveil.connect() as server:
        clinic = server.dataset("clinic")
        assert clinic.plan(1).is_covered
        said = f'connect\\("{place.url}"\\)'
        with pytest.raises(InputError, match=said):
            clinic.mine(1, depth=1, trials=1)
        with pytest.raises(InputError, match=said):
            server.decide("7e57", approve=True)
        with pytest.raises(RemoteError):
            server.decide("7e57", approve=False)

    assert len(place.store.jobs.of_analyst(place.people.ids["ana"])) == asked
    with redveil.connect(place.url) as server:
        clinic = server.dataset("clinic")
        assert server.submit(clinic.id, question("mine", {"epsilon": 1}))
