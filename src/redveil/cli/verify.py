"""`redveil verify`: check the signature of a result, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.arguments import ResultFile
from redveil.cli.console import write
from redveil.errors import ResultError


def verify(
    result: ResultFile,
    key: Annotated[Path, typer.Option("--key", help="The public key of the server.")],
) -> None:
    """Check that a server signed a result, and that nothing in it was changed since."""
    from redveil.report.result import Result
    from redveil.signing.certificate import check_result, read_result
    from redveil.signing.keys import PublicKey

    public = PublicKey.read(key)
    try:
        content = result.read_bytes()
    except OSError:
        raise ResultError(f"{result}: cannot be read; name a result") from None
    try:
        part = check_result(read_result(content), public)
    except ResultError as error:
        raise ResultError(f"{result}: {error}") from None
    certificate = Result.read(result).certificate
    write(f"{result}: signed by {public.name}, unchanged")
    write(f"{certificate.promise} charged to {part['dataset']} for job {part['job']}")
    write(f"entry {part['number']} of ledger {part['ledger']}, hash {part['hash']}")
