"""What every remote command does that pays for a result: submit, wait, save and show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.base.file_kind import FileKind
from redveil.cli.arguments import FILES
from redveil.cli.console import display, output, progress, say
from redveil.cli.outputs import check_output, is_standard_output
from redveil.cli.paid_output import PaidOutput
from redveil.cli.remote_access import suggested
from redveil.errors import UnfinishedError

if TYPE_CHECKING:
    from redveil.client.server import Server
    from redveil.wire.answers import Job
    from redveil.wire.questions import Question

Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="<text>",
        help="Name of this question; with the same one it is the same job, and charged once.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Write the file and print only warnings, and which server was asked.",
        rich_help_panel=FILES,
    ),
]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="Print the job's id; get the result with `fetch`.")
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be done with the answer to a question."""

    path: Path
    quiet: bool
    no_wait: bool = False
    key: str | None = None

    def check(self, inputs: Iterable[Path] = ()) -> None:
        """Refuse an output that could not be written, before anything is asked."""
        if not self.no_wait:
            check_output(self.path, FileKind.RESULT, inputs)


def answer(server: Server, dataset: str, asked: Question, wanted: Wanted) -> None:
    """Submit a question and, unless that is not wanted, wait and save the result."""
    from redveil.cli.console import write
    from redveil.client.plan import in_words

    job = server.submit(dataset, asked, key=wanted.key)
    if wanted.no_wait:
        write(job.id)
        return
    if not wanted.quiet:
        say(f"job {job.id}: {in_words(job.price)}")
    collect(server, job, wanted)


def collect(server: Server, job: Job, wanted: Wanted) -> None:
    """Wait for a job, save its result, and show it."""
    from redveil.client.progress import Share
    from redveil.report.text import result_view

    try:
        with progress("waiting") as report:
            share = Share(report)
            seen: list[str] = []

            def told(now: Job) -> None:
                share(now)
                if now.state.value not in seen and not wanted.quiet:
                    seen.append(now.state.value)
                    say(_in_words(now))

            done = server.wait(job, told)
        found = server.result(done)
    except KeyboardInterrupt as stopped:
        raise UnfinishedError(
            f"stopped; job {job.id} goes on at the server; "
            f"{suggested(f'fetch {job.id}', server.address)} gets its result at no further charge"
        ) from stopped
    kept = PaidOutput(wanted.path).finish(found.to_json())
    if wanted.quiet or is_standard_output(wanted.path):
        return
    try:
        display(result_view(found.document, width=output().width))
    finally:
        if kept:
            say(f"previous result kept as {kept}")
        say(f"written to {wanted.path}")


def _in_words(job: Job) -> str:
    match job.state.value:
        case "waiting":
            return "waiting for the owner's approval"
        case "queued":
            return "waiting for a worker"
        case "running":
            return "running; the end of a job shows at fixed moments only"
    return job.state.value.replace("_", " ")
