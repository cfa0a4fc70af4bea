"""Who asks, and whether the token allows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from redveil.errors import NotFoundError
from redveil.server.answering import ProblemError
from redveil.server.context import Context
from redveil.store.accounts import Account, Token
from redveil.store.datasets import DataSet
from redveil.store.limits import Grant
from redveil.wire.problems import Code
from redveil.wire.scopes import OF_ROLE, Scope

_bearer = HTTPBearer(auto_error=False, description="A token that the operator has issued.")


def token_of(
    request: Request,
    _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None,
) -> Token:
    """Return the token that the gate has checked."""
    token: Token = request.state.token
    return token


def scopes_of(token: Token) -> frozenset[Scope]:
    """Return what a token allows: its scopes, as far as the role of its account has them."""
    return frozenset(one for one in OF_ROLE[token.account.role] if one.value in token.scopes)


def needs(*scopes: Scope) -> Callable[[Token], Account]:
    """Return a dependency: the account that asks, if its token has one of some scopes."""
    wanted = " or ".join(one.value for one in scopes)

    def allowed(token: Annotated[Token, Depends(token_of)]) -> Account:
        if scopes_of(token).isdisjoint(scopes):
            raise ProblemError(Code.FORBIDDEN, f"this takes a token with the scope {wanted}")
        return token.account

    return allowed


Used = Annotated[Token, Depends(token_of)]
Reader = Annotated[Account, Depends(needs(Scope.READ))]
Asker = Annotated[Account, Depends(needs(Scope.ASK))]
Owner = Annotated[Account, Depends(needs(Scope.OWN))]
Auditor = Annotated[Account, Depends(needs(Scope.AUDIT))]
Operator = Annotated[Account, Depends(needs(Scope.OPERATE))]
Keeper = Annotated[Account, Depends(needs(Scope.AUDIT, Scope.OPERATE))]


def granted(context: Context, account: Account, dataset: str) -> tuple[DataSet, Grant]:
    """Return a data set that an analyst may ask about; others look as if there were none."""
    for found, grant in context.store.datasets.granted(account.id):
        if found.id == dataset:
            return found, grant
    raise NotFoundError("no such data set")


def owned(context: Context, account: Account, dataset: str) -> DataSet:
    """Return a data set of an owner; others look as if there were none."""
    found = context.store.datasets.get(dataset)
    if found.owner != account.id:
        raise NotFoundError("no such data set")
    return found
