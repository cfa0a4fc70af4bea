"""What lets a question be asked, read when it is submitted and again where it is charged.

Whatever can be revoked between the two is read here, so that neither place can forget any of it:
the account, its token, the data set, the grant, what the grant demands, what is left.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from redveil.errors import NotFoundError, OverBudgetError
from redveil.store.accounts import find_account, find_working_token
from redveil.store.database import Transaction
from redveil.store.datasets import find_dataset, find_version, limits_of
from redveil.store.job import Job, State
from redveil.store.ledger import spent
from redveil.store.limits import Grant, in_words

if TYPE_CHECKING:
    from redveil.store.jobs import Request


def hold(transaction: Transaction, asked: Request | Job) -> None:
    """Let nobody revoke what lets a question be charged until the transaction ends.

    Limits are entries of the ledger, whose lock holds them. SQLite has locked everything already.
    """
    if transaction.is_postgresql:
        for table, name in (
            ("accounts", asked.analyst),
            ("tokens", asked.token),
            ("datasets", asked.dataset),
        ):
            transaction.execute(f"SELECT id FROM {table} WHERE id = ? FOR SHARE", [name])


def admitted(transaction: Transaction, asked: Request | Job, now: datetime) -> Grant:
    """Return the grant under which a question may be asked now.

    Raises NotFoundError if what it takes is not there, or no longer, ConflictError if its token
    does not work any more, OverBudgetError if it exceeds a limit.
    """
    find_account(transaction, asked.analyst)
    find_working_token(transaction, asked.token, asked.analyst, now)
    find_dataset(transaction, asked.dataset)
    find_version(transaction, asked.dataset)
    limits = limits_of(transaction, asked.dataset, asked.analyst)
    grant = limits.grant(asked.analyst)
    if grant is None:
        # As if there were no such data set.
        raise NotFoundError("no such data set")
    _find_earlier(transaction, asked)
    over = limits.overdraft(asked.analyst, asked.price, spent(transaction, asked.dataset))
    if over is not None:
        raise OverBudgetError(in_words(over))
    return grant


def _find_earlier(transaction: Transaction, asked: Request | Job) -> None:
    """Refuse a question that begins with a result which is another's, or gone."""
    earlier = asked.question.get("job")
    if earlier is None:
        return
    found = transaction.row(
        "SELECT id FROM jobs WHERE id = ? AND analyst = ? AND state = ? AND result IS NOT NULL",
        *(earlier, asked.analyst, State.DONE),
    )
    if found is None:
        raise NotFoundError("job: no such job of yours")
