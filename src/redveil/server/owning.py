"""Routes for owners and auditors: limits, grants, approvals, the audit log."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from redveil.errors import InputError, NotFoundError
from redveil.losses.loss import Loss, read_fraction
from redveil.server import views
from redveil.server.access import Auditor, Owner, owned
from redveil.server.answering import documented
from redveil.server.asking import DatasetId, JobId, Most
from redveil.server.context import Context, Here
from redveil.store.accounts import Role
from redveil.store.datasets import DataSet
from redveil.store.job import Job
from redveil.store.texts import checked_loss
from redveil.wire import answers, paths
from redveil.wire.problems import Code

router = APIRouter()

AccountId = Annotated[str, Path(min_length=1, max_length=64, description="An account's id.")]


@router.get(paths.OWNED, responses=documented())
def mine(here: Here, account: Owner) -> answers.OwnedDatasets:
    """Return your data sets: what may be spent, what was, and by whom."""
    found = [one for one in here.store.datasets.all() if one.owner == account.id]
    return answers.OwnedDatasets(datasets=[_owned(here, one) for one in found])


@router.get(paths.OWNED_ONE, responses=documented(Code.NOT_FOUND))
def one(here: Here, account: Owner, dataset: DatasetId) -> answers.OwnedDataset:
    """Return a data set of yours."""
    return _owned(here, owned(here, account, dataset))


@router.put(paths.OWNED_BUDGET, responses=documented(Code.NOT_FOUND))
def budget(
    here: Here, account: Owner, dataset: DatasetId, asked: answers.LossRequest
) -> answers.OwnedDataset:
    """Set what may be spent on a data set in all."""
    found = owned(here, account, dataset)
    here.store.datasets.set_budget(found.id, read_loss(asked), account.id)
    return _owned(here, found)


@router.put(paths.OWNED_CAP, responses=documented(Code.NOT_FOUND))
def cap(
    here: Here, account: Owner, dataset: DatasetId, asked: answers.CapRequest
) -> answers.OwnedDataset:
    """Set what all analysts together may spend."""
    found = owned(here, account, dataset)
    wanted = None if asked.cap is None else read_loss(asked.cap)
    here.store.datasets.set_cap(found.id, wanted, account.id)
    return _owned(here, found)


@router.put(paths.OWNED_GRANT, responses=documented(Code.NOT_FOUND))
def grant(
    here: Here,
    account: Owner,
    dataset: DatasetId,
    asked: answers.GrantRequest,
    analyst: Annotated[AccountId, Path(alias="account")],
) -> answers.OwnedDataset:
    """Let an analyst ask, up to a cap. What she has spent already counts."""
    found = owned(here, account, dataset)
    people = {one.id: one.role for one in here.store.accounts.all()}
    if people.get(analyst) is not Role.ANALYST:
        raise NotFoundError("no such analyst")
    here.store.datasets.grant(
        found.id, analyst, read_loss(asked), account.id, needs_approval=asked.needs_approval
    )
    return _owned(here, found)


@router.delete(paths.OWNED_GRANT, status_code=204, responses=documented(Code.NOT_FOUND))
def revoke(
    here: Here,
    account: Owner,
    dataset: DatasetId,
    analyst: Annotated[AccountId, Path(alias="account")],
) -> Response:
    """Let an analyst no longer ask."""
    found = owned(here, account, dataset)
    if here.store.datasets.limits(found.id).grant(analyst) is None:
        raise NotFoundError("no such grant")
    here.store.datasets.revoke_grant(found.id, analyst, account.id)
    return Response(status_code=204)


@router.get(
    paths.OWNED_JOBS, response_model_exclude_unset=True, responses=documented(Code.NOT_FOUND)
)
def jobs(
    here: Here,
    account: Owner,
    dataset: DatasetId,
    most: Most = 20,
    after: Annotated[str | None, Query(max_length=64, description="Go on after this job.")] = None,
) -> answers.OwnedJobs:
    """Return the jobs of a data set of yours, latest first."""
    found = owned(here, account, dataset)
    before = None
    if after is not None:
        last = here.store.jobs.get(after)
        if last.dataset != found.id:
            raise NotFoundError("no such job")
        before = last.number
    listed = here.store.jobs.of_dataset(found.id, before=before, most=most + 1)
    return answers.OwnedJobs(
        jobs=[_job(here, one) for one in listed[:most]],
        next=listed[most - 1].id if len(listed) > most else None,
    )


@router.post(
    paths.APPROVE,
    response_model_exclude_unset=True,
    responses=documented(Code.NOT_FOUND, Code.CONFLICT),
)
def approve(here: Here, account: Owner, job: JobId) -> answers.OwnedJob:
    """Let a job that waits for approval be run."""
    return _job(here, here.store.jobs.approve(job, account.id))


@router.post(
    paths.DECLINE,
    response_model_exclude_unset=True,
    responses=documented(Code.NOT_FOUND, Code.CONFLICT),
)
def decline(here: Here, account: Owner, job: JobId) -> answers.OwnedJob:
    """Refuse a job that waits for approval. Nothing is charged."""
    return _job(here, here.store.jobs.decline(job, account.id))


@router.get(paths.EVENTS, responses=documented(Code.NOT_FOUND))
def events(
    here: Here,
    account: Auditor,
    dataset: Annotated[
        str | None, Query(max_length=200, description="Owners name one of theirs.")
    ] = None,
    later_than: Annotated[int, Query(ge=0, le=2**62, description="The last one known.")] = 0,
    most: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> answers.Events:
    """Return who asked what, when, at which price, and who approved."""
    if account.role is Role.OWNER:
        if dataset is None:
            raise InputError("dataset: name a data set of yours")
        owned(here, account, dataset)
    found = here.store.audit.events(dataset=dataset, later_than=later_than, most=most)
    return answers.Events(events=[answers.Event(**asdict(one)) for one in found])


def read_loss(asked: answers.LossRequest) -> Loss:
    """Return an amount that was sent, or refuse it."""
    epsilon, delta = read_fraction(asked.epsilon), read_fraction(asked.delta)
    if epsilon is None or delta is None:
        raise InputError("epsilon and delta are decimal numbers, as in 0.25")
    return checked_loss(Loss(epsilon, delta), "epsilon and delta")


def _owned(here: Context, found: DataSet) -> answers.OwnedDataset:
    limits, spent = here.store.datasets.limits(found.id), here.store.datasets.spent(found.id)
    names = {one.id: one.name for one in here.store.accounts.all()}
    try:
        version = here.store.datasets.version(found.id).number
    except NotFoundError:
        version = None
    return answers.OwnedDataset(
        id=found.id,
        name=found.name,
        budget=views.loss(limits.budget),
        spent=views.loss(spent.of_all),
        cap=None if limits.cap is None else views.loss(limits.cap),
        version=version,
        grants=[
            answers.Grant(
                account=one.analyst,
                name=names.get(one.analyst, "closed account"),
                cap=views.loss(one.cap),
                spent=views.loss(spent.of(one.analyst)),
                needs_approval=one.needs_approval,
            )
            for one in (limits.grants or {}).values()
        ],
    )


def _job(here: Context, job: Job) -> answers.OwnedJob:
    return views.owned_job(here.store, job, here.clock())
