"""The same for asynchronous programs: the conversations are those of `server`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self, Unpack

from redveil.client.connection import AsyncConnection, Link
from redveil.client.plan import RemotePlan, in_words
from redveil.client.progress import Share
from redveil.client.questions import (
    ConfirmParameters,
    DescribeParameters,
    MineParameters,
    Number,
    RefineParameters,
    amount,
    job_of,
    question,
)
from redveil.client.talk import Progress, Talk, identifier
from redveil.wire import answers, paths
from redveil.wire.answers import Job
from redveil.wire.questions import Question

if TYPE_CHECKING:
    from redveil.report.result import Result
    from redveil.schema import Schema


class AsyncServer:
    """A server for asynchronous programs. Made by `connect_async`; used with `async with`.

    Its methods are those of `Server`, to be awaited. Many questions can be asked at once.

    >>> import redveil
    >>> redveil.connect_async("https://redveil.example.org", "redveil-secret")
    <AsyncServer https://redveil.example.org>
    """

    def __init__(self, link: Link, talk: Talk) -> None:
        self._talk = talk
        self._connection = AsyncConnection(link)

    @property
    def address(self) -> str:
        """Where the server is."""
        return self._talk.place

    async def datasets(self) -> list[AsyncDataset]:
        """Return the data sets that you may ask about."""
        found = await self._connection.run(self._talk.get(answers.Datasets, paths.DATASETS))
        return [AsyncDataset(self, one) for one in found.datasets]

    async def dataset(self, name: str) -> AsyncDataset:
        """Return the data set with a name, or with an id."""
        return AsyncDataset(self, await self._connection.run(self._talk.dataset(name)))

    async def me(self) -> answers.Me:
        """Return whom your token belongs to, what it allows, and when it expires."""
        return await self._connection.run(self._talk.get(answers.Me, paths.ME))

    async def about(self) -> answers.Server:
        """Return the server's version, its public key, and when results appear."""
        return await self._connection.run(self._talk.get(answers.Server, paths.SERVER))

    async def submit(self, dataset: str, asked: Question, *, key: str | None = None) -> Job:
        """Submit a question without waiting for the answer."""
        steps = self._talk.submit(dataset, asked, key or token_hex(16))
        return await self._connection.run(steps)

    async def wait(self, job: Job, told: Progress | None = None) -> Job:
        """Wait for the end of a job; `told` is called with the job whenever it changes."""
        return await self._connection.run(self._talk.watch(job, told))

    async def result(self, job: Job | str) -> Result:
        """Return the result of a job, as often as you like; it is paid for once."""
        found = await self.job(job) if isinstance(job, str) else job
        return await self._connection.run(self._talk.result(found))

    async def job(self, job: str) -> Job:
        """Return a job of yours, by its id."""
        return await self._connection.run(self._talk.job(job))

    async def jobs(self, most: int = 20) -> list[Job]:
        """Return your jobs, latest first."""
        return await self._connection.run(self._talk.jobs(most))

    async def cancel(self, job: str) -> Job:
        """Cancel a job. One that has started stays charged."""
        return await self._connection.run(self._talk.cancel(job))

    async def receipt(self, job: str) -> answers.Receipt:
        """Return the ledger's signed head as it was when a job was charged."""
        path = paths.JOB_RECEIPT.format(job=identifier(job))
        return await self._connection.run(self._talk.get(answers.Receipt, path))

    async def events(self, dataset: str | None = None, later_than: int = 0) -> list[answers.Event]:
        """Return the audit log: who asked what, when, at which price, and who approved."""
        return await self._connection.run(self._talk.events(dataset, later_than))

    async def owned(self) -> list[answers.OwnedDataset]:
        """Return the data sets that you own, with what was spent and by whom."""
        found = await self._connection.run(self._talk.get(answers.OwnedDatasets, paths.OWNED))
        return found.datasets

    async def requests(self, dataset: str) -> list[answers.OwnedJob]:
        """Return the jobs on a data set of yours that wait for your approval, latest first."""
        return await self._connection.run(self._talk.requests(dataset))

    async def decide(self, job: str, *, approve: bool) -> answers.OwnedJob:
        """Approve or decline a job on a data set of yours."""
        return await self._connection.run(self._talk.decide(job, approve=approve))

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncServer {self._talk.place}>"

    async def _answered(
        self,
        dataset: str,
        asked: Question,
        key: str | None,
        progress: Callable[[float], None] | None,
    ) -> Result:
        job = await self.submit(dataset, asked, key=key)
        return await self.result(
            await self.wait(job, None if progress is None else Share(progress))
        )

    async def _posted(self, model: Any, path: str, dataset: str, body: Mapping[str, Any]) -> Any:
        where = path.format(dataset=identifier(dataset))
        return await self._connection.run(self._talk.post(model, where, body))

    async def _details(self, dataset: str) -> answers.DatasetDetails:
        path = paths.DATASET.format(dataset=identifier(dataset))
        return await self._connection.run(self._talk.get(answers.DatasetDetails, path))


class AsyncDataset:
    """A data set on a server. Its methods are those of `RemoteDataset`, to be awaited."""

    def __init__(self, server: AsyncServer, known: answers.Dataset) -> None:
        self._server = server
        self._known = known

    @property
    def id(self) -> str:
        """The data set's id."""
        return self._known.id

    @property
    def name(self) -> str:
        """The data set's name."""
        return self._known.name

    @property
    def known(self) -> answers.Dataset:
        """What the server said of it when it was looked up."""
        return self._known

    async def left(self) -> answers.Loss:
        """Return what you can still spend, as of now."""
        return (await self._server._details(self.id)).left

    async def schema(self) -> Schema:
        """Return the schema, which is public."""
        from redveil.schema import Schema

        return Schema.from_dict(await self.descriptor())

    async def descriptor(self) -> dict[str, Any]:
        """Return the schema as `datapackage.json` has it."""
        return (await self._server._details(self.id)).schema_

    async def detectable(
        self, epsilon: Number, entities: int, *, delta: Number | None = None
    ) -> dict[str, Any]:
        """Return the smallest matches that runs would detect. Free of charge."""
        body: dict[str, Any] = {"epsilon": amount(epsilon), "entities": entities}
        if delta is not None:
            body["delta"] = amount(delta)
        found = await self._server._posted(answers.Detectable, paths.DETECTABLE, self.id, body)
        document: dict[str, Any] = found.document
        return document

    async def dummy(self, entities: int = 100) -> answers.DummyData:
        """Return two CSV tables that fit the schema and are about nobody. Free of charge."""
        body = {"entities": entities}
        found: answers.DummyData = await self._server._posted(
            answers.DummyData, paths.DUMMY_DATA, self.id, body
        )
        return found

    async def plan(
        self,
        epsilon: Number,
        entities: int = 10_000,
        *,
        query: str | None = None,
        **given: Unpack[MineParameters],
    ) -> RemotePlan:
        """Return what `mine` would cost and spend it on, or `describe` with a `query`. Free."""
        kind = "mine" if query is None else "describe"
        asked = question(kind, {"epsilon": epsilon, "query": query, **given})
        plain = asked.model_dump(mode="json", exclude_unset=True)
        body = {"question": plain, "entities": int(entities)}
        found = await self._server._posted(answers.Plan, paths.PLAN, self.id, body)
        return RemotePlan.of(found)

    async def mine(
        self,
        epsilon: Number,
        *,
        progress: Callable[[float], None] | None = None,
        key: str | None = None,
        **given: Unpack[MineParameters],
    ) -> Result:
        """Mine redescriptions, as `redveil.mine` does, and wait for the result."""
        asked = question("mine", {"epsilon": epsilon, **given})
        return await self._server._answered(self.id, asked, key, progress)

    async def describe(
        self,
        query: str,
        epsilon: Number,
        *,
        progress: Callable[[float], None] | None = None,
        key: str | None = None,
        **given: Unpack[DescribeParameters],
    ) -> Result:
        """Describe a query of one view by queries of the other: see `redveil.describe`."""
        asked = question("describe", {"query": query, "epsilon": epsilon, **given})
        return await self._server._answered(self.id, asked, key, progress)

    async def refine(
        self,
        result: Result,
        epsilon: Number,
        *,
        progress: Callable[[float], None] | None = None,
        key: str | None = None,
        **given: Unpack[RefineParameters],
    ) -> Result:
        """Refine one redescription of a result of this server: see `redveil.refine`."""
        asked = question("refine", {"job": job_of(result), "epsilon": epsilon, **given})
        return await self._server._answered(self.id, asked, key, progress)

    async def confirm(
        self,
        result: Result,
        epsilon: Number,
        *,
        progress: Callable[[float], None] | None = None,
        key: str | None = None,
        **given: Unpack[ConfirmParameters],
    ) -> Result:
        """Measure the list of a result of this server again, on this data set's entities."""
        asked = question("confirm", {"job": job_of(result), "epsilon": epsilon, **given})
        return await self._server._answered(self.id, asked, key, progress)

    def __repr__(self) -> str:
        left = in_words(self._known.left)
        return f"<AsyncDataset {self.name} at {self._server.address}: {left} left>"
