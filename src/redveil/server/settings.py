"""The settings of a server: a TOML file, the environment, or the command line; all optional."""

from __future__ import annotations

import ipaddress
import os
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from redveil.base.files import followed
from redveil.errors import InputError
from redveil.server.vault import key_in, read_key
from redveil.store.database import SQLITE, is_address

#: What the variables of the environment begin with: REDVEIL_SERVER_PORT is `port`.
PREFIX: Final = "REDVEIL_SERVER_"
# Until a job is charged and its data opened, and until its process is seen to have ended.
_SECONDS_TO_NOTICE: Final = 10
NAME_A_WITNESS: Final = f"setting witness: name a file on another disk (or {PREFIX}WITNESS)"


class Settings(BaseModel):
    """How a server is run.

    folder:          where everything is that no other setting places elsewhere
    database:        a file, or postgresql://…; server.sqlite in the folder by default
    signing_key:     the server's key; server.key in the folder by default
    witness:         a second file with the entries of the ledger, outside of the folder and best on
                     another disk; on this machine alone, one among this user's files by default
    data:            the folder of packed tables; only workers read it
    data_key:        a file with the key that encrypts packed tables: 64 hexadecimal digits
    data_key_digits: the same key itself, for the environment
    host, port:      where to listen
    tls_certificate, tls_key: PEM files
    behind_proxy:    whether a proxy ends TLS; one on this machine is believed whom it speaks for
    workers:         how many jobs run at the same time, each of another analyst
    planners:        how many questions are checked at the same time
    worker_memory:   MiB of address space that a worker may use
    worker_seconds:  how long a job may run
    lease_seconds:   how long a lost worker keeps its job
    shutdown_seconds: how long jobs may go on when the server is stopped
    release_every:   whole seconds; results appear so long after the start, or 2, 4, 8 … times as
                     long; by default longer than any job may run
    least_epsilon:   what a job costs at least
    jobs_each:       how many unfinished jobs an analyst may have
    jobs_a_day:      how many jobs an analyst may submit in 24 hours
    uncharged_days:  how long jobs are kept that ended without a charge
    streams_each:    how many event streams an account may have open
    body_kib:        the largest request, in KiB
    body_seconds:    how long a client may take to send one
    requests_per_minute: of one account
    wrong_tokens_per_minute: from one address, before it has to wait
    audit_days:      how long the audit log is kept; for ever if it is not given
    exact_only:      refuse algorithms that are private only in the limit of a Markov chain
    most_trials:     trials that analysts may ask for; alternations of all trials count as much
    most_walk_steps: the longest walks that analysts may ask for
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path = Path("redveil-server")
    # An address may contain a password.
    database: str | None = Field(default=None, repr=False)
    signing_key: Path | None = None
    witness: Path | None = None
    data: Path | None = None
    data_key: Path | None = None
    data_key_digits: SecretStr | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8750, ge=0, le=65_535)
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    workers: int = Field(default=4, ge=0, le=1000)
    planners: int = Field(default=1, ge=1, le=100)
    worker_memory: int = Field(default=16_384, ge=512)
    worker_seconds: int = Field(default=120, ge=1)
    lease_seconds: int = Field(default=30, ge=2)
    shutdown_seconds: float = Field(default=60.0, ge=0)
    release_every: int | None = Field(default=None, ge=0, le=7 * 86_400)
    least_epsilon: Decimal = Field(default=Decimal("0.01"), ge=0, le=1)
    jobs_each: int = Field(default=20, ge=1)
    jobs_a_day: int = Field(default=50, ge=1)
    # More than a day, in which they count.
    uncharged_days: int = Field(default=30, ge=2, le=36_500)
    streams_each: int = Field(default=20, ge=1)
    body_kib: int = Field(default=256, ge=1)
    body_seconds: float = Field(default=20.0, gt=0)
    requests_per_minute: int = Field(default=600, ge=1)
    wrong_tokens_per_minute: int = Field(default=10, ge=1)
    audit_days: int | None = Field(default=None, ge=1, le=36_500)
    exact_only: bool = True
    most_trials: int = Field(default=100, ge=1)
    most_walk_steps: int = Field(default=100_000, ge=1)

    @classmethod
    def read(
        cls,
        path: Path | None = None,
        environment: Mapping[str, str] | None = None,
        **given: Any,
    ) -> Settings:
        """Return the settings in a file, changed by the environment, changed by what is given."""
        known = {} if path is None else _in_file(path)
        known |= _in_environment(os.environ if environment is None else environment)
        known |= {name: value for name, value in given.items() if value is not None}
        if "cluster" in known:
            raise InputError(
                "setting cluster: a server's workers mine on their own machine, because rows must "
                "not leave it; run more workers, or mine with `redveil mine --cluster`"
            )
        try:
            return cls(**known)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = ".".join(map(str, first["loc"]))
            raise InputError(f"setting {name}: {first['msg'].lower()}") from None

    @property
    def address(self) -> str:
        """Where the database is."""
        return self.database or str(self.folder / "server.sqlite")

    @property
    def key_file(self) -> Path:
        """Where the server's key is."""
        return self.signing_key or self.folder / "server.key"

    @property
    def data_folder(self) -> Path:
        """Where the packed tables are."""
        return self.data or self.folder / "data"

    @property
    def longest_job(self) -> int:
        """How many seconds it takes at most until a job that runs too long is found to be lost."""
        return self.worker_seconds + _SECONDS_TO_NOTICE

    @property
    def releases_every(self) -> int:
        """After how many seconds results appear: all at the same one, unless something is given."""
        return self.longest_job if self.release_every is None else self.release_every

    @property
    def limits(self) -> dict[str, Any]:
        """What questions may ask for, when they are submitted and again before they are charged."""
        return self.model_dump(
            mode="json",
            include={"exact_only", "least_epsilon", "most_trials", "most_walk_steps"},
        )

    def read_data_key(self) -> bytes | None:
        """Return the key for data at rest, None if it is not encrypted."""
        if self.data_key is not None:
            return read_key(self.data_key)
        if self.data_key_digits is None:
            return None
        return key_in(self.data_key_digits.get_secret_value(), f"{PREFIX}DATA_KEY_DIGITS")

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def has_tls(self) -> bool:
        """Whether connections are encrypted by this server."""
        return self.tls_certificate is not None and self.tls_key is not None

    def witness_of(self, ledger: str) -> Path:
        """Return where the witness of a ledger is: as it was named, or among this user's files.

        There, ledgers are told apart by their identity. So a copy of the folder that is restored
        meets the witness that has seen more, wherever it is put.
        """
        kept = self.witness or _usual_folder() / f"{ledger}.jsonl"
        self._must_be_elsewhere(kept)
        return kept

    def must_be_safe(self) -> None:
        """Refuse to send tokens over a network in the clear, or to serve others without a witness.

        >>> Settings(host="0.0.0.0").must_be_safe()
        Traceback (most recent call last):
        redveil.errors.InputError: 0.0.0.0: tokens would travel unencrypted; give tls_certificate \
and tls_key, or behind_proxy if a proxy encrypts
        """
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise InputError("TLS needs both tls_certificate and tls_key")
        if not (self.is_loopback or self.has_tls or self.behind_proxy):
            raise InputError(
                f"{self.host}: tokens would travel unencrypted; give tls_certificate and tls_key, "
                "or behind_proxy if a proxy encrypts"
            )
        if self.witness is None and (self.behind_proxy or not self.is_loopback):
            raise InputError(
                f"{NAME_A_WITNESS}; without one, a backup that is restored gives budgets back, and "
                "nobody notices"
            )
        if self.witness is not None:
            self._must_be_elsewhere(self.witness)

    def _must_be_elsewhere(self, witness: Path) -> None:
        """Refuse a witness among the files that it watches: they are backed up together."""
        place = followed(witness.absolute())
        folders = (followed(one.absolute()) for one in (self.folder, self.data_folder))
        is_inside = any(map(place.is_relative_to, folders))
        database = None if is_address(self.address) else Path(self.address.removeprefix(SQLITE))
        is_beside = database is not None and place.parent == followed(database.absolute()).parent
        if is_inside or is_beside:
            raise InputError(
                f"{NAME_A_WITNESS}, not beside the server's own files: a backup of these that is "
                "restored would bring an old witness with it"
            )


def _usual_folder() -> Path:
    """Return the folder for witnesses among this user's files."""
    # The standard has relative paths ignored.
    named = os.environ.get("XDG_STATE_HOME", "")
    try:
        state = Path(named) if named.startswith("/") else Path.home() / ".local" / "state"
        folder = state / "redveil" / "witnesses"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        raise InputError(f"{NAME_A_WITNESS}; this user has no folder for one") from None
    return folder


def environment_for_children() -> dict[str, str]:
    """Return the environment for other processes: without settings, some of which are secret."""
    return {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}


def _in_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not a settings file ({' '.join(str(error).split())})") from None
    except (OSError, ValueError):
        raise InputError(f"{path}: cannot be read; name a settings file") from None


def _in_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(PREFIX)
    }
    return {name: value for name, value in found.items() if value}
