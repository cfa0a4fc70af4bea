"""Open a server's store as its settings say; make what is missing at the first start."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from redveil.errors import InputError
from redveil.server.settings import Settings
from redveil.signing.keys import Signer
from redveil.store.accounts import Role
from redveil.store.store import Store, utc_now
from redveil.wire.scopes import OF_ROLE

ADMIN = "admin"


def open_store(settings: Settings) -> Store:
    """Return the store, which must have been set up."""
    if not settings.key_file.exists():
        raise InputError(
            f"{settings.key_file}: no such key; start the server once with `redveil serve`, or "
            "name its folder or settings"
        )
    return Store.open(
        settings.address,
        Signer.read(settings.key_file),
        settings.witness_of,
        most_open=settings.jobs_each,
        most_a_day=settings.jobs_a_day,
        lease=timedelta(seconds=settings.lease_seconds),
        release_every=settings.releases_every,
    )


def set_up(settings: Settings) -> tuple[Store, str | None]:
    """Return the store, and the first operator's token if it was made now."""
    _make(settings.folder)
    _make(settings.data_folder)
    if not settings.key_file.exists():
        # Another process may make it at the same moment; then its key is the one.
        with suppress(InputError):
            Signer.create(settings.key_file)
    store = open_store(settings)
    if store.accounts.all():
        return store, None
    return store, new_account(store, ADMIN, Role.OPERATOR)


def new_account(store: Store, name: str, role: Role, *, days: int = 90) -> str:
    """Make an account, and return the secret of its token."""
    account = store.accounts.create(name, role, "console")
    expires = utc_now() + timedelta(days=days)
    _, secret = store.accounts.issue_token(account.id, OF_ROLE[role], expires, "console")
    return secret


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        raise InputError(f"{folder}: cannot be made; name another folder") from None
