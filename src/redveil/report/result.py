"""A result: what an analyst holds in hand. Every value in it has been released."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from redveil.errors import ResultError
from redveil.file_kind import FileKind, kind_of
from redveil.files import write_text
from redveil.report.document import CertificatePart, RedescriptionPart, ResultDocument

if TYPE_CHECKING:
    import polars as pl

    from redveil.findings.questions import Answer


REMEDY = "ask for a fresh copy (mining again costs its ε again)"
NOT_A_RESULT = "not a result; name a file that `redveil mine` wrote"


@dataclass(frozen=True, slots=True)
class Result:
    """Redescriptions with their certificate, trees and leaf tables.

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> result = redveil.mine(redveil.load(*clinic_frames(500), clinic_schema()), epsilon=1)
    >>> result.certificate.epsilon
    '1'
    >>> result.to_frame().columns[:3]
    ['left', 'right', 'jaccard']
    """

    document: ResultDocument

    @property
    def redescriptions(self) -> tuple[RedescriptionPart, ...]:
        """The redescriptions, best first."""
        return self.document.redescriptions

    @property
    def certificate(self) -> CertificatePart:
        """What the run promises, and what it spent."""
        return self.document.certificate

    @property
    def message(self) -> str | None:
        """Why nothing was found and what it would have taken, or None."""
        return self.document.message

    def __len__(self) -> int:
        return len(self.redescriptions)

    def __iter__(self) -> Iterator[RedescriptionPart]:
        return iter(self.redescriptions)

    def __repr__(self) -> str:
        promise = self.certificate
        return (
            f"Result({len(self)} redescriptions, {promise.promise}, {promise.guarantee}, "
            f"{promise.algorithm})"
        )

    def _repr_html_(self) -> str:
        from redveil.report.html import fragment

        return fragment(self.document)

    def to_frame(self) -> pl.DataFrame:
        """Return the redescriptions as a Polars frame, one a row (`.to_pandas()` gives pandas')."""
        from redveil.report.frame import to_frame

        return to_frame(self.document)

    def ask(self, left: str, right: str) -> Answer:
        """Return supports, Jaccard index and p-value of any two queries. Costs no privacy.

        Each query must be a union of leaves of a released tree; otherwise a `QueryError` says which
        part is not. The intervals hold simultaneously for everything this result can answer, so you
        may ask as often as you like.

        >>> import redveil
        >>> from redveil.data.synthetic import clinic_frames, clinic_schema
        >>> result = redveil.mine(redveil.load(*clinic_frames(500), clinic_schema()), epsilon=1)
        >>> trees = result.document.tree_pairs[0]
        >>> answer = result.ask(trees.left.ends[0].text, trees.right.ends[0].text)
        >>> jaccard = answer.statistics.jaccard
        >>> jaccard.low <= jaccard.estimate <= jaccard.high
        True
        >>> answer.cost
        0
        """
        from redveil.findings.questions import answer, parse_side
        from redveil.report.released import released_tables
        from redveil.schema import Side

        queries = parse_side(left, Side.LEFT), parse_side(right, Side.RIGHT)
        return answer(*queries, released_tables(self.document))

    def to_json(self) -> str:
        """Return the result file's text."""
        plain = self.document.model_dump(mode="json", by_alias=True, exclude_none=False)
        for redescription in plain["redescriptions"]:
            # Only an owner's evaluation has true values; a private file does not mention them.
            if redescription["true"] is None:
                del redescription["true"]
        return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the result file, atomically; replace nothing but an earlier result."""
        write_text(Path(path), self.to_json(), FileKind.RESULT)

    @classmethod
    def read(cls, path: str | Path) -> Result:
        """Read a result file.

        >>> Result.read("no.json")
        Traceback (most recent call last):
        redveil.errors.ResultError: no.json: no such file; name a file that `redveil mine` wrote
        """
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            raise ResultError(
                f"{path}: no such file; name a file that `redveil mine` wrote"
            ) from None
        except IsADirectoryError:
            raise ResultError(f"{path}: this is a folder, {NOT_A_RESULT}") from None
        except OSError:
            raise ResultError(f"{path}: cannot be read; check its permissions") from None
        try:
            return cls(ResultDocument.model_validate_json(content))
        except ValidationError as error:
            if (kind := kind_of(content)) is not FileKind.RESULT:
                raise ResultError(f"{path}: this is {kind}, {NOT_A_RESULT}") from None
            if not _is_whole(content):
                raise ResultError(f"{path}: a result, but cut short or damaged; {REMEDY}") from None
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "the whole file"
            # A foreign file's keys can hold anything, line ends too.
            problem = " ".join(f"at {place} ({first['msg']})".split())
            raise ResultError(f"{path}: not a result of this version {problem}; {REMEDY}") from None


def _is_whole(content: bytes) -> bool:
    """Return whether a file is JSON from its beginning to its end.

    >>> _is_whole(b'{"format": "redveil-result"}'), _is_whole(b'{"format": "redveil-re')
    (True, False)
    """
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True
