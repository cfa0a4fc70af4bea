"""Routes for operators and for everybody: accounts, tokens, what the server is, and probes."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter, Request, Response

from redveil.base.version import software
from redveil.errors import InputError, NotFoundError, StoreError
from redveil.server import views
from redveil.server.access import Keeper, Operator, Reader, scopes_of
from redveil.server.answering import ProblemError, documented
from redveil.server.context import Here
from redveil.server.metrics import MEDIA_TYPE
from redveil.server.owning import AccountId
from redveil.store.accounts import Role, Token
from redveil.wire import answers, paths
from redveil.wire.problems import Code
from redveil.wire.scopes import OF_ROLE

router = APIRouter()


@router.get(paths.SERVER, responses=documented())
def server(here: Here, account: Reader) -> answers.Server:  # noqa: ARG001 - the token is checked
    """Return the version, the public key that verifies certificates, and when results appear."""
    return answers.Server(
        version=software(),
        public_key=here.store.signer.public.to_pem().decode(),
        release_every=here.settings.releases_every,
    )


@router.get(paths.ME, responses=documented())
def me(account: Reader, request: Request) -> answers.Me:
    """Return whom your token belongs to, and what it allows."""
    token: Token = request.state.token
    return answers.Me(
        id=account.id,
        name=account.name,
        role=account.role.value,
        scopes=sorted(scopes_of(token)),
        expires_at=token.expires_at,
    )


@router.get(paths.LEDGER_HEAD, responses=documented())
def head(here: Here, account: Keeper) -> answers.Receipt:  # noqa: ARG001 - the token is checked
    """Return the signed head of the ledger: whoever keeps it notices if the ledger is cut off.

    Not for analysts: it moves whenever anybody's job starts, or the answer shows. They have their
    receipts.
    """
    return views.head(here.store.head())


@router.get(paths.ACCOUNTS, responses=documented())
def accounts(here: Here, account: Operator) -> answers.Accounts:  # noqa: ARG001
    """Return all accounts."""
    return answers.Accounts(
        accounts=[
            answers.Account(id=one.id, name=one.name, role=one.role.value)
            for one in here.store.accounts.all()
        ]
    )


@router.post(paths.ACCOUNTS, status_code=201, responses=documented(Code.CONFLICT))
def create(here: Here, account: Operator, asked: answers.AccountRequest) -> answers.Account:
    """Make an account."""
    made = here.store.accounts.create(asked.name, Role(asked.role), account.id)
    return answers.Account(id=made.id, name=made.name, role=made.role.value)


@router.delete(paths.ACCOUNT, status_code=204, responses=documented(Code.NOT_FOUND, Code.CONFLICT))
def close(here: Here, operator: Operator, account: AccountId) -> Response:
    """Close an account: its tokens no longer work. What it has spent stays spent."""
    if account == operator.id:
        raise ProblemError(Code.CONFLICT, "this is your own account; let another operator close it")
    here.store.accounts.close(account, operator.id)
    return Response(status_code=204)


@router.get(paths.TOKENS, responses=documented(Code.NOT_FOUND))
def tokens(here: Here, operator: Operator, account: AccountId) -> answers.Tokens:  # noqa: ARG001
    """Return the tokens of an account, without their secrets."""
    found = here.store.accounts.tokens(account)
    return answers.Tokens(tokens=[answers.Token(**_token(one)) for one in found])


@router.post(paths.TOKENS, status_code=201, responses=documented(Code.NOT_FOUND))
def issue(
    here: Here, operator: Operator, account: AccountId, asked: answers.TokenRequest
) -> answers.NewToken:
    """Issue a token. Its secret is shown once, here.

    Not for owners, whose tokens are issued on the server's machine.
    """
    roles = {one.id: one.role for one in here.store.accounts.all()}
    if account not in roles:
        raise NotFoundError("no such account")
    if roles[account] is Role.OWNER:
        # Who has one decides over the owner's data: her budgets, her grants, her approvals.
        raise ProblemError(
            Code.FORBIDDEN,
            "an owner's tokens are issued on the server's machine: `redveil server issue-token`",
        )
    possible = OF_ROLE[roles[account]]
    wanted = possible if asked.scopes is None else frozenset(asked.scopes)
    if not wanted or wanted - possible:
        raise InputError(f"scopes: this account can have {', '.join(sorted(possible))}")
    expires = here.clock() + timedelta(days=asked.days)
    token, secret = here.store.accounts.issue_token(account, wanted, expires, operator.id)
    return answers.NewToken(**_token(token), secret=secret)


@router.delete(paths.TOKEN, status_code=204, responses=documented(Code.NOT_FOUND))
def revoke(here: Here, operator: Operator, token: str) -> Response:
    """Revoke a token."""
    here.store.accounts.revoke_token(token, operator.id)
    return Response(status_code=204)


@router.get(paths.METRICS, responses=documented(), response_class=Response)
def metrics(here: Here, account: Operator) -> Response:  # noqa: ARG001 - the token is checked
    """Return numbers for Prometheus."""
    counted = {state.value: count for state, count in here.store.jobs.count().items()}
    return Response(here.metrics.text(counted, here.watch.streams), media_type=MEDIA_TYPE)


@router.get(paths.HEALTH, include_in_schema=False)
async def health() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "alive"}


@router.get(paths.READY, include_in_schema=False)
def ready(here: Here) -> dict[str, str]:
    """Say whether the database answers."""
    try:
        here.store.is_ready()
    except StoreError:
        raise ProblemError(
            Code.UNAVAILABLE, "the database does not answer", retry_after=5
        ) from None
    return {"status": "ready"}


def _token(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "account": token.account.id,
        "scopes": sorted(token.scopes),
        "made_at": token.made_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
    }
