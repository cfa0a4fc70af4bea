"""A server and its data sets, as an analyst has them in hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from secrets import token_hex
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from redveil.base.display import Block, Displayed
from redveil.client.connection import Send
from redveil.client.events import Events
from redveil.client.plan import RemotePlan, in_words
from redveil.client.progress import Share
from redveil.client.questions import Names, Number, amount, job_of, question
from redveil.client.refusals import harmless, refuse
from redveil.client.talk import Model, Talk, identifier, must_be_done, signed_for, understood
from redveil.errors import InputError, RemoteError, ResultError
from redveil.wire import answers, paths
from redveil.wire.answers import Job, JobState
from redveil.wire.questions import Question

if TYPE_CHECKING:
    from redveil.report.result import Result
    from redveil.schema import Schema

# A server that always has more must not keep us for ever.
_MOST_PAGES: Final = 10_000

Progress = Callable[[Job], None]


class Server:
    """A server that answers questions about data that it does not show. Made by `connect`.

    It is a context manager: `with redveil.connect(…) as server:` closes its connections. Several
    threads may ask at once.

    >>> import redveil
    >>> redveil.connect("https://redveil.example.org", "redveil-secret")
    <Server https://redveil.example.org>
    """

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    @property
    def address(self) -> str:
        """Where the server is."""
        return self._talk.place

    def datasets(self) -> list[RemoteDataset]:
        """Return the data sets that you may ask about."""
        return [RemoteDataset(self, one) for one in self._known()]

    def dataset(self, name: str) -> RemoteDataset:
        """Return the data set with a name, or with an id."""
        found = self._known()
        matching = [one for one in found if name in (one.id, one.name)]
        if len(matching) == 1:
            return RemoteDataset(self, matching[0])
        known = ", ".join(harmless(one.name)[:60] for one in found[:20]) or "none"
        if matching:
            raise InputError(f"several data sets are called {name}; give the id of one")
        raise InputError(f"no data set {name} for you on this server; there are: {known}")

    def me(self) -> answers.Me:
        """Return whom your token belongs to, what it allows, and when it expires."""
        return self._talk.get(answers.Me, paths.ME)

    def about(self) -> answers.Server:
        """Return the server's version, its public key, and when results appear."""
        return self._talk.get(answers.Server, paths.SERVER)

    def submit(self, dataset: str, asked: Question, *, key: str | None = None) -> Job:
        """Submit a question without waiting for the answer.

        dataset: the id of a data set
        key:     names the question; the same key again is the same job, and is charged once
        """
        self._talk.must_be_meant()
        key = key or token_hex(16)
        path = paths.SUBMIT.format(dataset=identifier(dataset))
        body = {"question": asked.model_dump(mode="json", exclude_unset=True)}
        try:
            return self._talk.post(Job, path, body, {paths.IDEMPOTENCY_KEY: key})
        except RemoteError as error:
            raise RemoteError(
                f"{error} (if it was submitted, the same question with key {key} finds it, at no "
                "further charge)"
            ) from None

    def wait(self, job: Job, told: Progress | None = None) -> Job:
        """Wait for the end of a job; `told` is called with the job whenever it changes."""
        tell = told or (lambda _: None)
        tell(job)
        while not job.state.is_final:
            job = self._heard(job, tell)
            if not job.state.is_final:
                # A stream that broke is opened again.
                time.sleep(1.0)
                job = self.job(job.id)
                tell(job)
        return job

    def _heard(self, job: Job, tell: Progress) -> Job:
        """Return the last that a stream of events said of a job."""
        events = Events()
        path = paths.JOB_EVENTS.format(job=identifier(job.id))
        with closing(self._talk.connection.stream(path)) as parts:
            for part in parts:
                try:
                    for data in events.add(part):
                        job = _said(data, job)
                        tell(job)
                except (ValueError, RecursionError):
                    raise RemoteError(
                        f"{self.address}: its events cannot be understood; job {job.id} goes on "
                        "there"
                    ) from None
                if job.state.is_final:
                    break
        return job

    def result(self, job: Job | str) -> Result:
        """Return the result of a job, as often as you like; it is paid for once.

        One that is not what was asked for is refused.
        """
        from redveil.report.result import Result

        found = self.job(job) if isinstance(job, str) else job
        must_be_done(found)
        reply = self._talk.ask(Send("GET", paths.JOB_RESULT.format(job=identifier(found.id))))
        if reply.status != 200:
            refuse(reply)
        place = f"{self.address}, job {found.id}"
        try:
            checked = signed_for(reply.body, found, self._talk.key)
        except ResultError as error:
            raise ResultError(f"{place}: {error}") from None
        return Result.from_json(checked, place)

    def job(self, job: str) -> Job:
        """Return a job of yours, by its id."""
        try:
            send = Send("GET", paths.JOB.format(job=identifier(job)))
            found = understood(Job, self._talk.ask(send))
        except RemoteError as error:
            raise RemoteError(
                f"{error} (job {job} goes on there, and its result can be fetched later)"
            ) from None
        if found.id != job:
            raise RemoteError(f"{self.address}: answered with another job")
        return found

    def jobs(self, most: int = 20) -> list[Job]:
        """Return your jobs, latest first."""
        found: list[Job] = []
        after: str | None = None
        while len(found) < most:
            page = self._talk.get(
                answers.Jobs, paths.JOBS, most=min(most - len(found), 100), after=after
            )
            found += page.jobs
            if page.next is None or not page.jobs:
                break
            after = page.next
        return found[:most]

    def cancel(self, job: str) -> Job:
        """Cancel a job. One that has started stays charged."""
        return self._talk.post(Job, paths.JOB_CANCEL.format(job=identifier(job)), {})

    def receipt(self, job: str) -> answers.Receipt:
        """Return the ledger's signed head as it was when a job was charged."""
        return self._talk.get(answers.Receipt, paths.JOB_RECEIPT.format(job=identifier(job)))

    def events(self, dataset: str | None = None, later_than: int = 0) -> list[answers.Event]:
        """Return the audit log: who asked what, when, at which price, and who approved.

        dataset:    the id of a data set; owners name one of theirs
        later_than: the number of the last event that you know
        """
        found: list[answers.Event] = []
        for _ in range(_MOST_PAGES):
            query: dict[str, str | int | None] = {"dataset": dataset, "later_than": later_than}
            page = self._talk.get(answers.Events, paths.EVENTS, **query, most=1000).events
            if not page:
                break
            if page[0].number <= later_than or page[-1].number < page[0].number:
                raise RemoteError(f"{self.address}: its events are not in order")
            later_than = page[-1].number
            found += page
        return found

    def owned(self) -> list[answers.OwnedDataset]:
        """Return the data sets that you own, with what was spent and by whom."""
        return self._talk.get(answers.OwnedDatasets, paths.OWNED).datasets

    def requests(self, dataset: str) -> list[answers.OwnedJob]:
        """Return the jobs on a data set of yours that wait for your approval, latest first."""
        path = paths.OWNED_JOBS.format(dataset=identifier(dataset))
        found: list[answers.OwnedJob] = []
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = self._talk.get(answers.OwnedJobs, path, most=100, after=after)
            found += [one for one in page.jobs if one.state is JobState.WAITING]
            if page.next is None:
                break
            after = page.next
        return found

    def decide(self, job: str, *, approve: bool) -> answers.OwnedJob:
        """Approve or decline a job on a data set of yours. One that is approved will be charged."""
        if approve:
            self._talk.must_be_meant()
        path = (paths.APPROVE if approve else paths.DECLINE).format(job=identifier(job))
        return self._talk.post(answers.OwnedJob, path, {})

    def close(self) -> None:
        """Close the connections."""
        self._talk.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Server {self._talk.place}>"

    def _answered(
        self,
        dataset: str,
        asked: Question,
        key: str | None,
        progress: Callable[[float], None] | None,
    ) -> Result:
        """Submit a question, wait, and return the result."""
        job = self.submit(dataset, asked, key=key)
        return self.result(self.wait(job, None if progress is None else Share(progress)))

    def _known(self) -> list[answers.Dataset]:
        return self._talk.get(answers.Datasets, paths.DATASETS).datasets

    def _posted(
        self, model: type[Model], path: str, dataset: str, body: Mapping[str, Any]
    ) -> Model:
        return self._talk.post(model, path.format(dataset=identifier(dataset)), body)

    def _details(self, dataset: str) -> answers.DatasetDetails:
        return self._talk.get(
            answers.DatasetDetails, paths.DATASET.format(dataset=identifier(dataset))
        )


def _said(data: bytes, job: Job) -> Job:
    """Return what an event says of a job."""
    found = Job.model_validate_json(data)
    if found.id != job.id:
        raise ValueError("another job")
    return found


class RemoteDataset(Displayed):
    """A data set on a server. Its methods are those of a local one, and its rows stay there.

    Parameters that a server does not take are missing: the published profile is refused, and the
    ledger is the server's. `key` names a question: asking again with the same key returns the same
    answer, at no further charge.
    """

    def __init__(self, server: Server, known: answers.Dataset) -> None:
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

    def left(self) -> answers.Loss:
        """Return what you can still spend, as of now."""
        return self._server._details(self.id).left

    def schema(self) -> Schema:
        """Return the schema, which is public."""
        from redveil.schema import Schema

        return Schema.from_dict(self.descriptor())

    def descriptor(self) -> dict[str, Any]:
        """Return the schema as `datapackage.json` has it."""
        return self._server._details(self.id).schema_

    def detectable(
        self, epsilon: Number, entities: int, *, delta: Number | None = None
    ) -> dict[str, Any]:
        """Return the smallest matches that runs would detect. Free of charge."""
        body: dict[str, Any] = {"epsilon": amount(epsilon), "entities": entities}
        if delta is not None:
            body["delta"] = amount(delta)
        found = self._server._posted(answers.Detectable, paths.DETECTABLE, self.id, body)
        return found.document

    def dummy(self, entities: int = 100) -> answers.DummyData:
        """Return two CSV tables that fit the schema and are about nobody. Free of charge."""
        body = {"entities": entities}
        return self._server._posted(answers.DummyData, paths.DUMMY_DATA, self.id, body)

    def plan(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
        self,
        epsilon: Number,
        entities: int = 10_000,
        *,
        query: str | None = None,
        delta: Number | None = None,
        algorithm: str | None = None,
        depth: int | None = None,
        trials: int | None = None,
        alternations: int | None = None,
        walk_steps: int | None = None,
        tree_share: Number | None = None,
        counts: str | None = None,
        pair_score: str | None = None,
        root_score: str | None = None,
        sampler: str | None = None,
        start: str | None = None,
        max_p_value: float = 0.01,
        min_jaccard: float = 0.1,
        min_support: int = 10,
        max_support: float = 0.8,
        max_disjuncts: int | None = None,
        prune: float | str | None = None,
        ignore: Names = None,
        only: Names = None,
        require: Names = None,
        unmatched: Sequence[Sequence[str]] | None = None,
        max_literals: int | None = None,
        negation: bool = True,
        disjunction: bool = True,
    ) -> RemotePlan:
        """Return what `mine` would cost and spend it on, or `describe` with a `query`. Free.

        epsilon:  the privacy loss ε
        entities: about how many entities you expect
        """
        given = {
            "epsilon": epsilon,
            "delta": delta,
            "query": query,
            "algorithm": algorithm,
            "depth": depth,
            "trials": trials,
            "alternations": alternations,
            "walk_steps": walk_steps,
            "tree_share": tree_share,
            "counts": counts,
            "pair_score": pair_score,
            "root_score": root_score,
            "sampler": sampler,
            "start": start,
            "max_p_value": max_p_value,
            "min_jaccard": min_jaccard,
            "min_support": min_support,
            "max_support": max_support,
            "max_disjuncts": max_disjuncts,
            "prune": prune,
            "ignore": ignore,
            "only": only,
            "require": require,
            "unmatched": unmatched,
            "max_literals": max_literals,
            "negation": negation,
            "disjunction": disjunction,
        }
        asked = question("mine" if query is None else "describe", given)
        plain = asked.model_dump(mode="json", exclude_unset=True)
        body = {"question": plain, "entities": int(entities)}
        return RemotePlan.of(self._server._posted(answers.Plan, paths.PLAN, self.id, body))

    def mine(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
        self,
        epsilon: Number,
        *,
        delta: Number | None = None,
        algorithm: str | None = None,
        depth: int | None = None,
        trials: int | None = None,
        alternations: int | None = None,
        walk_steps: int | None = None,
        tree_share: Number | None = None,
        counts: str | None = None,
        pair_score: str | None = None,
        root_score: str | None = None,
        sampler: str | None = None,
        start: str | None = None,
        max_p_value: float = 0.01,
        min_jaccard: float = 0.1,
        min_support: int = 10,
        max_support: float = 0.8,
        max_disjuncts: int | None = None,
        prune: float | str | None = None,
        ignore: Names = None,
        only: Names = None,
        require: Names = None,
        unmatched: Sequence[Sequence[str]] | None = None,
        max_literals: int | None = None,
        negation: bool = True,
        disjunction: bool = True,
        within: str | Sequence[str] | None = None,
        progress: Callable[[float], None] | None = None,
        key: str | None = None,
    ) -> Result:
        """Mine redescriptions, as `redveil.mine` does, and wait for the result."""
        given = {
            "epsilon": epsilon,
            "delta": delta,
            "algorithm": algorithm,
            "depth": depth,
            "trials": trials,
            "alternations": alternations,
            "walk_steps": walk_steps,
            "tree_share": tree_share,
            "counts": counts,
            "pair_score": pair_score,
            "root_score": root_score,
            "sampler": sampler,
            "start": start,
            "max_p_value": max_p_value,
            "min_jaccard": min_jaccard,
            "min_support": min_support,
            "max_support": max_support,
            "max_disjuncts": max_disjuncts,
            "prune": prune,
            "ignore": ignore,
            "only": only,
            "require": require,
            "unmatched": unmatched,
            "max_literals": max_literals,
            "negation": negation,
            "disjunction": disjunction,
            "within": within,
        }
        return self._server._answered(self.id, question("mine", given), key, progress)

    def describe(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
        self,
        query: str,
        epsilon: Number,
        *,
        delta: Number | None = None,
        within: str | Sequence[str] | None = None,
        depth: int | None = None,
        trials: int | None = None,
        tree_share: Number | None = None,
        max_p_value: float = 0.01,
        min_jaccard: float = 0.1,
        min_support: int = 10,
        max_support: float = 0.8,
        max_disjuncts: int | None = None,
        progress: Callable[[float], None] | None = None,
        key: str | None = None,
    ) -> Result:
        """Describe a query of one view by queries of the other: see `redveil.describe`."""
        given = {
            "query": query,
            "epsilon": epsilon,
            "delta": delta,
            "within": within,
            "depth": depth,
            "trials": trials,
            "tree_share": tree_share,
            "max_p_value": max_p_value,
            "min_jaccard": min_jaccard,
            "min_support": min_support,
            "max_support": max_support,
            "max_disjuncts": max_disjuncts,
        }
        return self._server._answered(self.id, question("describe", given), key, progress)

    def refine(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
        self,
        result: Result,
        epsilon: Number,
        *,
        of: int = 1,
        delta: Number | None = None,
        depth: int | None = None,
        tree_share: Number | None = None,
        max_p_value: float = 0.01,
        min_jaccard: float = 0.1,
        min_support: int = 10,
        max_support: float = 0.8,
        max_disjuncts: int | None = None,
        progress: Callable[[float], None] | None = None,
        key: str | None = None,
    ) -> Result:
        """Refine one redescription of a result of this server: see `redveil.refine`."""
        given = {
            "job": job_of(result),
            "epsilon": epsilon,
            "of": of,
            "delta": delta,
            "depth": depth,
            "tree_share": tree_share,
            "max_p_value": max_p_value,
            "min_jaccard": min_jaccard,
            "min_support": min_support,
            "max_support": max_support,
            "max_disjuncts": max_disjuncts,
        }
        return self._server._answered(self.id, question("refine", given), key, progress)

    def confirm(
        self,
        result: Result,
        epsilon: Number,
        *,
        delta: Number | None = None,
        progress: Callable[[float], None] | None = None,
        key: str | None = None,
    ) -> Result:
        """Measure the list of a result of this server again, on this data set's entities."""
        given = {"job": job_of(result), "epsilon": epsilon, "delta": delta}
        return self._server._answered(self.id, question("confirm", given), key, progress)

    def __repr__(self) -> str:
        left = in_words(self._known.left)
        return f"<RemoteDataset {self.name} at {self._server.address}: {left} left>"

    def _shown(self) -> Iterator[Block]:
        known = self._known
        yield f"data set {known.name}: its rows stay on the server, {self._server.address}"
        yield f"{in_words(known.left)} left of {in_words(known.cap)} for you"
        if known.needs_approval:
            yield "its owner looks at every question first"
