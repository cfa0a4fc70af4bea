"""The conversations with a server: each a generator that `connection` carries out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from redveil.client.events import Events
from redveil.client.exchange import Hear, Listen, Lost, Pause, Reply, Send, Steps
from redveil.client.refusals import give_up, harmless, refuse
from redveil.errors import InputError, RemoteError, ResultError
from redveil.wire import answers, paths
from redveil.wire.answers import Job, JobState
from redveil.wire.questions import Question

if TYPE_CHECKING:
    from redveil.report.result import Result
    from redveil.signing.keys import PublicKey

#: How long to go on trying, in seconds.
PATIENCE: Final = 120.0
# The same for what nobody has paid for, and anybody can ask again.
_FOR_READING: Final = 10.0
# Answers after which the same request may succeed.
_AGAIN: Final = frozenset({408, 429, 502, 503, 504})
_LONGEST_PAUSE: Final = 10.0
# A server that always has more must not keep us for ever.
_MOST_PAGES: Final = 10_000

Model = TypeVar("Model", bound=BaseModel)
Progress = Callable[[Job], None]


@dataclass(frozen=True, slots=True)
class Talk:
    """How to talk to a server.

    place:    its address, for errors
    patience: how long to go on trying, in seconds
    key:      the public key that must have signed results; None to leave them unchecked
    is_meant: whether somebody said that it is this server; one that was guessed is not charged
    """

    place: str
    patience: float = PATIENCE
    key: PublicKey | None = None
    is_meant: bool = True

    def get(self, model: type[Model], path: str, **query: str | int | None) -> Steps[Model]:
        """Ask for something that can be asked for again."""
        given = {name: value for name, value in query.items() if value is not None}
        patience = min(self.patience, _FOR_READING)
        return understood(model, (yield from self._exchange(Send("GET", path, given), patience)))

    def post(
        self,
        model: type[Model],
        path: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
    ) -> Steps[Model]:
        """Ask for something with a body; the same again must do no harm."""
        content = json.dumps(body).encode()
        send = Send("POST", path, body=content, headers=headers or {})
        return understood(model, (yield from self._exchange(send, self.patience)))

    def dataset(self, name: str) -> Steps[answers.Dataset]:
        """Return the data set with a name or an id."""
        found = (yield from self.get(answers.Datasets, paths.DATASETS)).datasets
        matching = [one for one in found if name in (one.id, one.name)]
        if len(matching) == 1:
            return matching[0]
        known = ", ".join(harmless(one.name)[:60] for one in found[:20]) or "none"
        if matching:
            raise InputError(f"several data sets are called {name}; give the id of one")
        raise InputError(f"no data set {name} for you on this server; there are: {known}")

    def submit(self, dataset: str, question: Question, key: str) -> Steps[Job]:
        """Submit a question; the same key again is the same job, and is charged once."""
        self._must_be_meant()
        path = paths.SUBMIT.format(dataset=identifier(dataset))
        body = {"question": question.model_dump(mode="json", exclude_unset=True)}
        try:
            return (yield from self.post(Job, path, body, {paths.IDEMPOTENCY_KEY: key}))
        except RemoteError as error:
            raise RemoteError(
                f"{error} (if it was submitted, the same question with key {key} finds it, at no "
                "further charge)"
            ) from None

    def watch(self, job: Job, told: Progress | None = None) -> Steps[Job]:
        """Wait until a job is final, through its events; a stream that breaks is opened again."""
        told = told or _silent
        told(job)
        path = paths.JOB_EVENTS.format(job=identifier(job.id))
        while not job.state.is_final:
            opened = yield Listen(path)
            if isinstance(opened, Reply) and opened.status == 200:
                job = yield from self._heard(job, told)
            if not job.state.is_final:
                yield Pause(1.0)
                job = yield from self.job(job.id)
                told(job)
        return job

    def _heard(self, job: Job, told: Progress) -> Steps[Job]:
        """Return the last that a stream said of a job."""
        events = Events()
        while not job.state.is_final:
            part = yield Hear()
            if not part or isinstance(part, Lost):
                return job
            try:
                for data in events.add(part):
                    job = _said(data, job)
                    told(job)
            except (ValueError, RecursionError):
                raise RemoteError(
                    f"{self.place}: its events cannot be understood; job {job.id} goes on there"
                ) from None
        return job

    def job(self, job: str) -> Steps[Job]:
        """Return a job."""
        path = paths.JOB.format(job=identifier(job))
        try:
            found = understood(Job, (yield from self._exchange(Send("GET", path), self.patience)))
        except RemoteError as error:
            raise RemoteError(
                f"{error} (job {job} goes on there, and its result can be fetched later)"
            ) from None
        if found.id != job:
            raise RemoteError(f"{self.place}: answered with another job")
        return found

    def cancel(self, job: str) -> Steps[Job]:
        """Cancel a job."""
        return (yield from self.post(Job, paths.JOB_CANCEL.format(job=identifier(job)), {}))

    def jobs(self, most: int) -> Steps[list[Job]]:
        """Return the latest jobs."""
        found: list[Job] = []
        after: str | None = None
        while len(found) < most:
            page = yield from self.get(
                answers.Jobs, paths.JOBS, most=min(most - len(found), 100), after=after
            )
            found += page.jobs
            if page.next is None or not page.jobs:
                break
            after = page.next
        return found[:most]

    def result(self, job: Job) -> Steps[Result]:
        """Return the result of a job that is done; refuse one that is not what was asked for."""
        from redveil.report.result import Result

        must_be_done(job)
        path = paths.JOB_RESULT.format(job=identifier(job.id))
        reply = yield from self._exchange(Send("GET", path), self.patience)
        if reply.status != 200:
            refuse(reply)
        place = f"{self.place}, job {job.id}"
        try:
            checked = signed_for(reply.body, job, self.key)
        except ResultError as error:
            raise ResultError(f"{place}: {error}") from None
        return Result.from_json(checked, place)

    def events(self, dataset: str | None, later_than: int) -> Steps[list[answers.Event]]:
        """Return the audit log, from an event on."""
        found: list[answers.Event] = []
        for _ in range(_MOST_PAGES):
            query: dict[str, str | int | None] = {"dataset": dataset, "later_than": later_than}
            page = (yield from self.get(answers.Events, paths.EVENTS, **query, most=1000)).events
            if not page:
                break
            if page[0].number <= later_than or page[-1].number < page[0].number:
                raise RemoteError(f"{self.place}: its events are not in order")
            later_than = page[-1].number
            found += page
        return found

    def requests(self, dataset: str) -> Steps[list[answers.OwnedJob]]:
        """Return the jobs on an owner's data set that wait for approval."""
        path = paths.OWNED_JOBS.format(dataset=identifier(dataset))
        found: list[answers.OwnedJob] = []
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = yield from self.get(answers.OwnedJobs, path, most=100, after=after)
            found += [one for one in page.jobs if one.state is JobState.WAITING]
            if page.next is None:
                break
            after = page.next
        return found

    def decide(self, job: str, *, approve: bool) -> Steps[answers.OwnedJob]:
        """Approve or decline a job. One that is approved will be charged."""
        if approve:
            self._must_be_meant()
        path = (paths.APPROVE if approve else paths.DECLINE).format(job=identifier(job))
        return (yield from self.post(answers.OwnedJob, path, {}))

    def _must_be_meant(self) -> None:
        if not self.is_meant:
            raise InputError(
                f"{self.place} is only the server of your last login, and would be charged; if you "
                f'mean it, say redveil.connect("{self.place}")'
            )

    def _exchange(self, send: Send, patience: float) -> Steps[Reply]:
        """Return the answer to a request, after as many tries as patience allows."""
        until, pause = time.monotonic() + patience, 0.5
        while True:
            reply = yield send
            if isinstance(reply, Reply) and reply.status not in _AGAIN:
                return reply
            wait = pause if isinstance(reply, Lost) else _asked_to_wait(reply, pause)
            is_last = time.monotonic() + wait > until
            if isinstance(reply, Lost) and (reply.is_final or is_last):
                give_up(reply, self.place)
            if is_last:
                refuse(reply)
            yield Pause(wait)
            pause = min(pause * 2, _LONGEST_PAUSE)


def understood(model: type[Model], reply: Reply) -> Model:
    """Return an answer, or raise what it refuses."""
    if not 200 <= reply.status < 300:
        refuse(reply)
    try:
        return model.model_validate_json(reply.body)
    except (ValidationError, ValueError, RecursionError):
        raise RemoteError(
            "the server's answer cannot be understood; is it a redveil server, and of this version?"
        ) from None


def _said(data: bytes, job: Job) -> Job:
    """Return what an event says of a job."""
    found = Job.model_validate_json(data)
    if found.id != job.id:
        raise ValueError("another job")
    return found


def must_be_done(job: Job) -> None:
    """Refuse a job that has no result."""
    paid = "it stays charged" if job.charged else "nothing was charged"
    match job.state:
        case JobState.DONE:
            return
        case JobState.OVER_BUDGET:
            from redveil.errors import OverBudgetError

            raise OverBudgetError(
                f"job {job.id}: over budget when it was to be charged, so nothing was; see what is "
                "left, and ask for less"
            )
        case JobState.DECLINED:
            raise RemoteError(
                f"job {job.id} was declined by the owner, or what allowed it was revoked while it "
                "waited: a grant, a token; nothing was charged"
            )
        case JobState.FAILED:
            raise RemoteError(f"job {job.id} failed; {paid}; the operator can find out why")
        case JobState.CANCELLED:
            raise RemoteError(f"job {job.id} was cancelled; {paid}")
    raise RemoteError(f"job {job.id} is {job.state.value}; there is no result yet")


def signed_for(content: bytes, job: Job, key: PublicKey | None) -> bytes:
    """Return a result as it was sent, if it is that of a job and, given a key, signed by it.

    A server that answers with an old result, or with that of another job, is found out.
    """
    from redveil.signing.certificate import check_result, read_result

    document = read_result(content)
    if key is not None:
        check_result(document, key)
    part = document.get("signature")
    said = part if isinstance(part, dict) else {}
    if said.get("job") != job.id or said.get("dataset") != job.dataset:
        raise ResultError("the server sent the result of another job")
    return content


def identifier(text: str) -> str:
    """Return an id for a path; refuse one that would lead elsewhere.

    >>> identifier("3f8c0f0e-9a0b"), identifier("my clinic")
    ('3f8c0f0e-9a0b', 'my%20clinic')
    >>> identifier("..")
    Traceback (most recent call last):
    redveil.errors.InputError: not an id
    """
    if not text or len(text) > 200 or not text.strip("."):
        raise InputError("not an id")
    return quote(text, safe="")


def _asked_to_wait(reply: Reply, usual: float) -> float:
    """Return how long to wait; a server can ask for more than usual, but not for ever."""
    told = reply.headers.get("retry-after", "")
    return max(usual, min(float(told), 60.0)) if told.isascii() and told.isdecimal() else usual


def _silent(_: Job) -> None:
    """Tell nobody."""
