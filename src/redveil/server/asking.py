"""Routes for analysts: data sets, plans, jobs and results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import StreamingResponse

from redveil.errors import NotFoundError, OverBudgetError
from redveil.losses.loss import Loss
from redveil.server import views
from redveil.server.access import Asker, Reader, Used, granted
from redveil.server.answering import ProblemError, documented
from redveil.server.context import Context, Here
from redveil.store.accounts import Account
from redveil.store.datasets import DataSet
from redveil.store.job import Job
from redveil.store.jobs import Request
from redveil.store.texts import as_loss
from redveil.wire import answers, paths
from redveil.wire.problems import Code
from redveil.wire.questions import (
    Confirm,
    DetectableRequest,
    DummyDataRequest,
    JobRequest,
    PlanRequest,
    Question,
    Refine,
)

router = APIRouter()

# PostgreSQL takes no text with a NUL.
_NAMES: Final = r"^[^\x00]+$"
DatasetId = Annotated[
    str, Path(min_length=1, max_length=200, pattern=_NAMES, description="A data set's id.")
]
JobId = Annotated[str, Path(min_length=1, max_length=64, pattern=_NAMES, description="A job's id.")]
Most = Annotated[int, Query(ge=1, le=100, description="How many at most.")]
Key = Annotated[
    str,
    Header(
        alias=paths.IDEMPOTENCY_KEY,
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="Chosen by the client. The same key is the same job, and is charged once.",
        examples=["3f8c0f0e-9a0b-4e0e-8d43-5f5d2f3a8a11"],
    ),
]


_LIMITS: Final = {"exact_only", "least_epsilon", "most_trials", "most_walk_steps"}


@router.get(paths.DATASETS, responses=documented())
def datasets(here: Here, account: Reader) -> answers.Datasets:
    """Return the data sets that you may ask about."""
    found = here.store.datasets.granted(account.id)
    return answers.Datasets(
        datasets=[
            views.dataset(one, grant, here.store.datasets.left(one.id, account.id))
            for one, grant in found
        ]
    )


@router.get(paths.DATASET, responses=documented(Code.NOT_FOUND))
def dataset(here: Here, account: Reader, dataset: DatasetId) -> answers.DatasetDetails:
    """Return a data set with its schema, which is public. Its rows, and their number, are not."""
    found, grant = granted(here, account, dataset)
    seen = views.dataset(found, grant, here.store.datasets.left(found.id, account.id))
    return answers.DatasetDetails(**seen.model_dump(), schema=views.schema(found.description))


@router.post(paths.PLAN, responses=documented(Code.NOT_FOUND))
async def plan(here: Here, account: Reader, dataset: DatasetId, asked: PlanRequest) -> answers.Plan:
    """Return what a question would cost, and on what it would be spent. Free of charge."""
    found, _ = await run_sync(granted, here, account, dataset)
    checked = await _checked(here, account, found, asked.question, asked.entities)
    price = _price(checked)
    left = await run_sync(here.store.datasets.left, found.id, account.id)
    return answers.Plan(
        price=views.loss(price),
        left=views.loss(left),
        is_covered=price.epsilon <= left.epsilon and price.delta <= left.delta,
        unit=checked["unit"],
        steps=[answers.Step(**step) for step in checked["steps"]],
    )


@router.post(paths.DETECTABLE, responses=documented(Code.NOT_FOUND))
async def detectable(
    here: Here, account: Reader, dataset: DatasetId, asked: DetectableRequest
) -> answers.Detectable:
    """Return the smallest matches that runs would find and confirm. Free of charge."""
    found, _ = await run_sync(granted, here, account, dataset)
    given = asked.model_dump()
    return answers.Detectable(
        **await here.planners.ask(account.id, "detectable", schema=_schema(found), **given)
    )


@router.post(paths.DUMMY_DATA, responses=documented(Code.NOT_FOUND))
async def dummy_data(
    here: Here, account: Reader, dataset: DatasetId, asked: DummyDataRequest
) -> answers.DummyData:
    """Return tables about nobody that fit the schema. Free of charge."""
    found, _ = await run_sync(granted, here, account, dataset)
    made = await here.planners.ask(
        account.id, "dummy-data", schema=_schema(found), entities=asked.entities
    )
    return answers.DummyData(**made)


@router.post(
    paths.SUBMIT,
    response_model_exclude_unset=True,
    status_code=202,
    responses=documented(Code.NOT_FOUND, Code.OVER_BUDGET, Code.CONFLICT),
)
async def submit(
    here: Here, account: Asker, token: Used, dataset: DatasetId, asked: JobRequest, key: Key
) -> answers.Job:
    """Submit a question. It is charged when a worker starts it, and then stays charged."""
    found, _ = await run_sync(granted, here, account, dataset)
    price = _price(await _checked(here, account, found, asked.question))
    question = asked.question.model_dump(mode="json", exclude_unset=True)
    request = Request(account.id, found.id, asked.question.kind, question, price, key, token.id)
    try:
        job = await run_sync(here.store.jobs.submit, request)
    except OverBudgetError as error:
        left = views.loss(await run_sync(here.store.datasets.left, found.id, account.id))
        wanted = views.loss(price)
        raise ProblemError(
            Code.OVER_BUDGET,
            str(error),
            epsilon_asked=wanted.epsilon,
            epsilon_left=left.epsilon,
            delta_asked=wanted.delta,
            delta_left=left.delta,
        ) from None
    here.log(
        "submitted",
        account=account.id,
        dataset=found.id,
        job=job.id,
        kind=job.purpose,
        epsilon=views.digits(price.epsilon),
        delta=views.digits(price.delta),
    )
    return await run_sync(_seen, here, job)


@router.get(paths.JOBS, response_model_exclude_unset=True, responses=documented(Code.NOT_FOUND))
def jobs(
    here: Here,
    account: Reader,
    most: Most = 20,
    after: Annotated[str | None, Query(max_length=64, description="Go on after this job.")] = None,
) -> answers.Jobs:
    """Return your jobs, latest first."""
    before = None if after is None else here.store.jobs.get(after, account.id).number
    found = here.store.jobs.of_analyst(account.id, before=before, most=most + 1)
    return answers.Jobs(
        jobs=[_seen(here, one) for one in found[:most]],
        next=found[most - 1].id if len(found) > most else None,
    )


@router.get(paths.JOB, response_model_exclude_unset=True, responses=documented(Code.NOT_FOUND))
def job(here: Here, account: Reader, job: JobId) -> answers.Job:
    """Return a job of yours."""
    return _seen(here, here.store.jobs.get(job, account.id))


@router.post(
    paths.JOB_CANCEL,
    response_model_exclude_unset=True,
    status_code=202,
    responses=documented(Code.NOT_FOUND, Code.CONFLICT),
)
def cancel(here: Here, account: Asker, job: JobId) -> answers.Job:
    """Cancel a job. One that has started stays charged, and there will be no result."""
    return _seen(here, here.store.jobs.cancel(job, account.id))


@router.get(
    paths.JOB_EVENTS,
    responses=documented(Code.NOT_FOUND)
    | {200: {"description": "events of the job", "content": {"text/event-stream": {}}}},
    response_class=StreamingResponse,
)
async def events(here: Here, account: Reader, job: JobId) -> StreamingResponse:
    """Watch a job: an event for every change of what shows of it, until its end."""

    async def look() -> answers.Job:
        found = await run_sync(here.store.jobs.get, job, account.id)
        return await run_sync(_seen, here, found)

    await look()
    here.watch.must_have_room(account.id)
    return StreamingResponse(
        here.watch.stream(account.id, job, look), media_type="text/event-stream"
    )


@router.get(paths.JOB_RESULT, responses=documented(Code.NOT_FOUND, Code.NOT_READY))
def result(here: Here, account: Reader, job: JobId) -> dict[str, Any]:
    """Return the signed result of a job: a result file."""
    return _result(here, account, job)


@router.get(paths.JOB_RECEIPT, responses=documented(Code.NOT_FOUND))
def receipt(here: Here, account: Reader, job: JobId) -> answers.Receipt:
    """Return the ledger's signed head as it was when a job was charged. Keep it."""
    return views.head(here.store.jobs.receipt(job, account.id))


def _seen(here: Context, job: Job) -> answers.Job:
    return views.job(here.store, job, here.clock())


def _result(here: Context, account: Account, job: str) -> dict[str, Any]:
    """Return the result of an analyst's job, if it shows already."""
    state = _seen(here, here.store.jobs.get(job, account.id)).state
    if state is not answers.JobState.DONE:
        raise ProblemError(Code.NOT_READY, f"the job is {state.value}; there is no result")
    return here.store.jobs.result(job, account.id)


async def _checked(
    here: Context,
    account: Account,
    found: DataSet,
    question: Question,
    entities: int | None = None,
) -> Mapping[str, Any]:
    """Return what a question costs; refuse one that cannot be asked, before anything is charged."""
    earlier = None
    if isinstance(question, Refine | Confirm):
        try:
            earlier = await run_sync(_result, here, account, question.job)
        except NotFoundError:
            raise NotFoundError("job: no such job of yours") from None
    return await here.planners.ask(
        account.id,
        "check",
        schema=_schema(found),
        question=question.model_dump(mode="json", exclude_unset=True),
        earlier=earlier,
        limits=here.settings.limits,
        entities=entities,
    )


def _price(checked: Mapping[str, Any]) -> Loss:
    return as_loss(checked["epsilon"], checked["delta"])


def _schema(found: DataSet) -> str:
    return json.dumps(found.description)
