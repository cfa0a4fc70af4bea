from __future__ import annotations

import json
import re
import shutil
import stat
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from redveil.errors import InputError, LedgerError
from redveil.losses.loss import Loss
from redveil.server.child import line_for
from redveil.server.opening import open_store, set_up
from redveil.server.settings import Settings
from redveil.store.accounts import Role
from redveil.store.release import moments, release_moment
from support.source import REPOSITORY

DIGITS = "ab" * 32


def test_a_file_is_overridden_by_the_environment_and_that_by_options(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('port = 1\nworkers = 2\nrelease_every = 10\nhost = "::1"\n')
    environment = {"REDVEIL_SERVER_WORKERS": "3", "REDVEIL_SERVER_PORT": "2", "OTHER": "x"}
    found = Settings.read(path, environment, port=3, folder=None)
    assert (found.port, found.workers, found.release_every, found.host) == (3, 3, 10, "::1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("port = 'x'", "setting port"),
        ("ports = 1", "setting ports"),
        ("port", "not a settings"),
        ("release_every = 7.3", "setting release_every: input should be a valid integer"),
        ("release_every = -1", "setting release_every"),
        ("uncharged_days = 1", "setting uncharged_days"),
        ("cluster = 'tcp://scheduler:8786'", "setting cluster: .* mine on their own machine"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        Settings.read(path, {})


def test_whatever_a_job_takes_its_end_shows_at_one_moment_unless_the_operator_chooses() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for given in ({}, {"worker_seconds": 1}, {"worker_seconds": 7200}):
        known = Settings(**given)
        every = known.releases_every
        # From at once to when the process of one that ran too long is seen to have ended.
        for seconds in (0, 1, known.worker_seconds, known.longest_job - 1):
            finished = start + timedelta(seconds=seconds)
            assert release_moment(start, finished, every) == start + timedelta(seconds=every)
        assert moments(known.longest_job, every) == 1
    assert Settings(release_every=5).releases_every == 5
    assert Settings(release_every=0).releases_every == 0


def test_what_bounds_time_as_a_channel_has_safe_defaults() -> None:
    known = Settings()
    assert (str(known.least_epsilon), known.jobs_a_day, known.uncharged_days) == ("0.01", 50, 30)
    # As children read them, and as a file writes them.
    assert Settings.model_validate_json(known.model_dump_json()) == known
    assert str(Settings.read(None, {"REDVEIL_SERVER_LEAST_EPSILON": "0.1"}).least_epsilon) == "0.1"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Settings.read(tmp_path / "none.toml", {})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "clinic.example"])
def test_tokens_do_not_travel_in_the_clear(host: str) -> None:
    with pytest.raises(InputError, match="unencrypted"):
        Settings(host=host).must_be_safe()
    kept = Path("elsewhere/witness.jsonl")
    Settings(host=host, witness=kept, behind_proxy=True).must_be_safe()
    tls = {"tls_certificate": Path("c"), "tls_key": Path("k")}
    Settings(host=host, witness=kept, **tls).must_be_safe()


@pytest.mark.parametrize(
    "others",
    [
        {"host": "0.0.0.0", "behind_proxy": True},
        {"host": "127.0.0.1", "behind_proxy": True},
        {"host": "::", "tls_certificate": Path("c"), "tls_key": Path("k")},
    ],
)
def test_whoever_serves_others_names_a_witness(others: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="setting witness: name a file on another disk"):
        Settings(**others).must_be_safe()


@pytest.mark.parametrize("place", ["s", "s/data", "s/../s", "rows", "rows/more", "database"])
def test_a_witness_is_not_beside_what_it_watches(tmp_path: Path, place: str) -> None:
    (tmp_path / "database").mkdir()
    settings = Settings(
        folder=tmp_path / "s",
        data=tmp_path / "rows",
        database=f"sqlite:///{tmp_path}/database/server.sqlite",
        witness=tmp_path / place / "witness.jsonl",
    )
    for act in (settings.must_be_safe, lambda: set_up(settings)):
        with pytest.raises(InputError, match="not beside the server's own files"):
            act()


def test_on_this_machine_a_witness_is_kept_for_every_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = Settings(folder=tmp_path / "server")
    store, _ = set_up(settings)
    owner = store.accounts.create("olga", Role.OWNER, "console")
    store.datasets.register("7e57", "clinic", owner.id, {}, Loss(Fraction(3)))
    store.close()
    (kept,) = (tmp_path / "state").rglob("*.jsonl")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    shutil.copytree(settings.folder, tmp_path / "snapshot")
    store = open_store(settings)
    store.datasets.set_budget("7e57", Loss(Fraction(2)), owner.id)
    store.close()
    # The whole folder is restored, and says nothing of the lower budget.
    shutil.rmtree(settings.folder)
    shutil.copytree(tmp_path / "snapshot", settings.folder)
    with pytest.raises(LedgerError, match="restored from a backup"):
        open_store(settings)
    # Another server in the same place is another ledger.
    shutil.rmtree(settings.folder)
    set_up(settings)[0].close()
    assert len(list(kept.parent.iterdir())) == 2


def test_without_a_place_for_a_witness_one_must_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for home in (tmp_path / "server", tmp_path / "file"):
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_STATE_HOME", str(home))
        with pytest.raises(InputError, match="setting witness: name a file"):
            set_up(Settings(folder=tmp_path / "server"))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine_alone_needs_no_tls(host: str) -> None:
    Settings(host=host).must_be_safe()


def test_the_settings_of_the_container_are_safe() -> None:
    text = (REPOSITORY / "deploy" / "Containerfile").read_text(encoding="utf-8")
    found = dict(re.findall(r"(REDVEIL_SERVER_\w+)=(\S+)", text))
    Settings.read(None, found).must_be_safe()


def test_half_of_tls_is_none() -> None:
    with pytest.raises(InputError, match="both"):
        Settings(tls_key=Path("k")).must_be_safe()


def test_the_key_for_data_comes_from_a_file_or_the_environment(tmp_path: Path) -> None:
    assert Settings().read_data_key() is None
    path = tmp_path / "data.key"
    path.write_text(DIGITS + "\n")
    path.chmod(0o600)
    assert Settings(data_key=path).read_data_key() == bytes.fromhex(DIGITS)
    given = Settings.read(None, {"REDVEIL_SERVER_DATA_KEY_DIGITS": DIGITS})
    assert given.read_data_key() == bytes.fromhex(DIGITS)
    assert DIGITS not in repr(given)
    # Children get it through a pipe.
    name, _, text = line_for("worker", given).decode().partition(" ")
    assert (name, json.loads(text)["data_key_digits"]) == ("worker", DIGITS)


@pytest.mark.parametrize("content", ["", "ab", "xy" * 32, "ab" * 33])
def test_what_is_no_key_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "data.key"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        Settings(data_key=path).read_data_key()


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.key"
    path.write_text(DIGITS)
    path.chmod(0o604)
    with pytest.raises(InputError, match="chmod"):
        Settings(data_key=path).read_data_key()
    with pytest.raises(InputError, match="cannot be read"):
        Settings(data_key=tmp_path / "none").read_data_key()


def test_the_first_start_makes_everything_and_shows_a_token_once(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path / "server")
    with pytest.raises(InputError, match="redveil serve"):
        open_store(settings)
    store, secret = set_up(settings)
    assert secret is not None
    token = store.accounts.authenticate(secret)
    assert token is not None
    assert (token.account.name, token.account.role) == ("admin", "operator")
    store.close()
    store, again = set_up(settings)
    assert again is None
    store.close()
    for path in (settings.folder, settings.data_folder, settings.key_file):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert secret.encode() not in (settings.folder / "server.sqlite").read_bytes()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        set_up(Settings(folder=tmp_path / "file" / "server"))


def test_settings_do_not_show_the_password_of_the_database() -> None:
    assert "hush" not in repr(Settings(database="postgresql://me:hush@host/server"))
