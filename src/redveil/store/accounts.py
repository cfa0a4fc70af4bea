"""Accounts and their tokens."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from redveil.errors import ConflictError, InputError, NotFoundError
from redveil.store.audit import record
from redveil.store.database import Database, Transaction
from redveil.store.texts import checked_name, moment

Clock = Callable[[], datetime]
PREFIX: Final = "redveil_"
_BYTES: Final = 32


class Role(StrEnum):
    """What an account may do at most."""

    OWNER = "owner"
    ANALYST = "analyst"
    AUDITOR = "auditor"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody, or a program, that uses a server.

    >>> Account("7e57", "ana", Role.ANALYST).role
    <Role.ANALYST: 'analyst'>
    """

    id: str
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Token:
    """A token, without its secret.

    scopes: what may be done with it, within the role
    """

    id: str
    account: Account
    scopes: frozenset[str]
    made_at: str
    expires_at: str
    revoked_at: str | None


_TOKENS: Final = """
    SELECT tokens.id, tokens.scopes, tokens.made_at, tokens.expires_at, tokens.revoked_at,
        accounts.id AS account, accounts.name, accounts.role
    FROM tokens JOIN accounts ON accounts.id = tokens.account"""


class Accounts:
    """The accounts of a server. Only hashes of tokens are stored."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def create(self, name: str, role: Role, actor: str) -> Account:
        """Create an account."""
        account = Account(secrets.token_hex(16), checked_name(name, "name"), Role(role))
        now = self._clock()
        with self._database.transaction() as transaction:
            made = transaction.change(
                "INSERT INTO accounts (id, name, role, made_at) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                *(account.id, account.name, account.role.value, moment(now)),
            )
            if not made:
                raise ConflictError(f"there is an account named {account.name} already")
            record(
                transaction, now, actor, "account created", account=account.id, role=account.role
            )
        return account

    def all(self) -> list[Account]:
        """Return the accounts that are not closed, by name."""
        with self._database.reading() as transaction:
            rows = transaction.rows(
                "SELECT id, name, role FROM accounts WHERE closed_at IS NULL ORDER BY name"
            )
        return [_account(row["id"], row) for row in rows]

    def close(self, account: str, actor: str) -> None:
        """Close an account: its tokens no longer work. What it has spent stays spent."""
        now = self._clock()
        with self._database.transaction() as transaction:
            find_account(transaction, account)
            transaction.execute(
                "UPDATE accounts SET closed_at = ? WHERE id = ?", [moment(now), account]
            )
            record(transaction, now, actor, "account closed", account=account)

    def issue_token(
        self, account: str, scopes: Collection[str], expires: datetime, actor: str
    ) -> tuple[Token, str]:
        """Return a new token and its secret, which is not stored and cannot be shown again."""
        now = self._clock()
        if expires <= now:
            raise InputError("expires: a moment in the future, please")
        wanted = sorted({checked_name(one, "scope") for one in scopes})
        secret = PREFIX + secrets.token_urlsafe(_BYTES)
        number = secrets.token_hex(16)
        with self._database.transaction() as transaction:
            owner = find_account(transaction, account)
            transaction.execute(
                "INSERT INTO tokens (id, account, hash, scopes, made_at, expires_at) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [
                    *(number, account, _hash(secret), json.dumps(wanted)),
                    *(moment(now), moment(expires)),
                ],
            )
            record(transaction, now, actor, "token issued", account=account, token=number)
        token = Token(number, owner, frozenset(wanted), moment(now), moment(expires), None)
        return token, secret

    def authenticate(self, secret: str) -> Token | None:
        """Return the token with a secret, None if there is none, or it may not be used any more.

        It is found by its hash. How long that takes tells nothing of secrets, only of hashes, and
        whoever could make a secret for a hash would not need to ask.
        """
        now = moment(self._clock())
        with self._database.reading() as transaction:
            row = transaction.row(
                f"{_TOKENS} WHERE tokens.hash = ? AND tokens.revoked_at IS NULL "
                "AND tokens.expires_at > ? AND accounts.closed_at IS NULL",
                *(_hash(secret), now),
            )
        return None if row is None else _token(row)

    def tokens(self, account: str | None = None) -> list[Token]:
        """Return the tokens of an account, or all, without secrets."""
        condition, given = ("", []) if account is None else (" WHERE tokens.account = ?", [account])
        with self._database.reading() as transaction:
            rows = transaction.rows(f"{_TOKENS}{condition} ORDER BY tokens.made_at", *given)
        return [_token(row) for row in rows]

    def revoke_token(self, token: str, actor: str) -> None:
        """Make a token useless, from now on."""
        now = self._clock()
        with self._database.transaction() as transaction:
            changed = transaction.change(
                "UPDATE tokens SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ?",
                *(moment(now), token),
            )
            if not changed:
                raise NotFoundError("no such token")
            record(transaction, now, actor, "token revoked", token=token)


def find_account(transaction: Transaction, account: str) -> Account:
    """Return an account that is not closed."""
    row = transaction.row(
        "SELECT id, name, role FROM accounts WHERE id = ? AND closed_at IS NULL", account
    )
    if row is None:
        raise NotFoundError("no such account")
    return _account(row["id"], row)


def find_working_token(
    transaction: Transaction, token: str | None, account: str, now: datetime
) -> None:
    """Refuse a token that is not of an account, or does not work any more."""
    row = transaction.row(
        "SELECT id FROM tokens WHERE id = ? AND account = ? AND revoked_at IS NULL "
        "AND expires_at > ?",
        *(token, account, moment(now)),
    )
    if row is None:
        raise ConflictError("the token with which this was asked no longer works; ask again")


def _account(number: str, row: dict[str, Any]) -> Account:
    return Account(number, row["name"], Role(row["role"]))


def _token(row: dict[str, Any]) -> Token:
    return Token(
        row["id"],
        _account(row["account"], row),
        frozenset(json.loads(row["scopes"])),
        *(row["made_at"], row["expires_at"], row["revoked_at"]),
    )


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
