"""A result: what an analyst holds in hand. Every value in it has been released."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pydantic_core
from pydantic import ValidationError

from redveil.base.file_kind import FileKind, kind_of
from redveil.base.files import write_text
from redveil.errors import InputError, ResultError
from redveil.report.document import (
    CertificatePart,
    RedescriptionPart,
    ResultDocument,
    must_be_listed,
)
from redveil.schema.beside import USUAL

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from redveil.budget.charging import Charged
    from redveil.data.dataset import Dataset
    from redveil.findings.questions import Answer
    from redveil.handover import Keep
    from redveil.report.listing import SortKey


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
    >>> result.to_arrow().column_names[:3]
    ['left', 'right', 'jaccard']
    """

    document: ResultDocument

    @property
    def redescriptions(self) -> tuple[RedescriptionPart, ...]:
        """The redescriptions, best first.

        A result that was cut off before its list was made has none to tell of: it raises a
        `ResultError`, and so does whatever needs the list. `filter` makes it.
        """
        must_be_listed(self.document)
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
        count = len(self.document.redescriptions)
        found = f"{count} redescription{'' if count == 1 else 's'}"
        if self.document.unfinished:
            found = "unfinished"
        return f"<Result: {found}, {promise.promise}, {promise.guarantee}, {promise.algorithm}>"

    def __str__(self) -> str:
        from redveil.base.display import rendered, rich_text, text_width
        from redveil.report.remarks import remarks
        from redveil.report.text import result_view

        said = [rich_text(note) for note in remarks(self.document)]
        return rendered([result_view(self.document, width=text_width()), *said])

    def _repr_html_(self) -> str:
        from redveil.report.html import compact
        from redveil.report.remarks import remarks

        return compact(self.document, remarks(self.document))

    def sentences(self) -> list[str]:
        """Return every redescription in two sentences, with the titles of its attributes.

        Before these, a detail that is about a part of its story says what is special there. After
        them, other queries of several conditions say what the last one contributes.

        >>> import redveil
        >>> from redveil.data.synthetic import clinic_frames, clinic_schema
        >>> result = redveil.mine(redveil.load(*clinic_frames(500), clinic_schema()), epsilon=1)
        >>> all(one.startswith(("Of about ", "Among ")) for one in result.sentences())
        True
        """
        from redveil.report.page.sentences import Teller

        teller = Teller(self.document)
        return [
            " ".join("".join(sentence) for sentence in teller.sentences(one))
            for one in self.redescriptions
        ]

    def to_arrow(self) -> pa.Table:
        """Return the redescriptions as a PyArrow table, one a row.

        After `redveil.truth`, the table has the true values too.
        """
        try:
            from redveil.report.arrow import to_arrow
        except ModuleNotFoundError:
            raise InputError("PyArrow is not installed; run pip install pyarrow") from None

        must_be_listed(self.document)
        return to_arrow(self.document)

    def to_pandas(self) -> pd.DataFrame:
        """Return the redescriptions as a pandas DataFrame. Needs `redveil[pandas]`."""
        _need("pandas")
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the redescriptions as a Polars DataFrame. Needs `redveil[polars]`."""
        frame: pl.DataFrame = _need("polars").DataFrame(self.to_arrow())
        return frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table of `to_arrow` through the Arrow PyCapsule interface.

        Libraries that know the interface take a result as it is: `pa.table(result)`,
        `pl.DataFrame(result)`, `pd.DataFrame.from_arrow(result)`.
        """
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def report(self) -> str:
        """Return the result as a self-contained HTML page, as `redveil report` writes it.

        >>> import redveil
        >>> from redveil.data.synthetic import clinic_frames, clinic_schema
        >>> result = redveil.mine(redveil.load(*clinic_frames(500), clinic_schema()), epsilon=1)
        >>> result.report().startswith("<!doctype html>")
        True
        """
        from redveil.report.page import page

        must_be_listed(self.document)
        return page(self.document, sha256(self.to_json().encode()).hexdigest())

    def leaves(self) -> list[dict[str, list[str]]]:
        """Return the leaves of each pair of trees, as queries: what `ask` can combine.

        >>> import redveil
        >>> from redveil.data.synthetic import clinic_frames, clinic_schema
        >>> result = redveil.mine(redveil.load(*clinic_frames(500), clinic_schema()), epsilon=1)
        >>> sorted(result.leaves()[0])
        ['left', 'right']
        """
        from redveil.report.answer import leaf_texts

        return [
            {"left": leaf_texts(pair.left), "right": leaf_texts(pair.right)}
            for pair in self.document.tree_pairs
        ]

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
        from redveil.report.released import released_tables, significance_test
        from redveil.schema import Side

        queries = parse_side(left, Side.LEFT), parse_side(right, Side.RIGHT)
        found = answer(*queries, released_tables(self.document), significance_test(self.document))
        return replace(found, unit=self.certificate.unit)

    def filter(
        self,
        *,
        max_p_value: float | None = None,
        min_jaccard: float | None = None,
        min_corrected: float | None = None,
        min_support: int | None = None,
        max_support: float | None = None,
        max_literals: int | None = None,
        max_disjuncts: int | None = None,
        confirmed: bool | None = None,
        prune: float | str | None = None,
    ) -> Result:
        """Return the list made anew from the released tables. Costs no privacy.

        Entries that did not fit the list before can appear now. What is not given stays as it is.
        `sort`, `top` and `complement` come after it: a list that is made anew has lost them.

        max_p_value:   the largest p-value
        min_jaccard:   the smallest Jaccard index
        min_corrected: the smallest chance-corrected index
        min_support:   the smallest overlap, in entities
        max_support:   the largest share of the entities that a query may cover
        max_literals:  the most literals on a side
        max_disjuncts: the most terms that a query may join by "or"
        confirmed:     True lists only what is confirmed
        prune:         drop noisy supports below this number, or "auto"; "none" keeps all

        >>> import redveil
        >>> from redveil.data.synthetic import clinic_frames, clinic_schema
        >>> result = redveil.mine(redveil.load(*clinic_frames(500), clinic_schema()), epsilon=9)
        >>> few = result.filter(max_support=0.5, max_literals=1).sort("corrected").top(2)
        >>> few.document.listing.constraints["max_support"], few.certificate == result.certificate
        (0.5, True)
        """
        from redveil.report.listing import filtered

        changes = {
            "max_p_value": max_p_value,
            "min_jaccard": min_jaccard,
            "min_corrected": min_corrected,
            "min_support": min_support,
            "max_support": max_support,
            "max_literals": max_literals,
            "max_disjuncts": max_disjuncts,
            "confirmed": confirmed,
            "prune": prune,
        }
        return Result(filtered(self.document, changes))

    def sort(self, by: SortKey = "rank") -> Result:
        """Return the same entries in another order, the strongest first.

        by: corrected, jaccard, support (the overlap) or p, by their estimates; rank is the order in
            which the list was made
        """
        from redveil.report.listing import arranged

        return Result(arranged(self.document, sort=by))

    def top(self, count: int) -> Result:
        """Return the first entries. The share of false discoveries is bounded anew for them."""
        from redveil.report.listing import arranged

        return Result(arranged(self.document, top=count))

    def complement(self) -> Result:
        """Return every entry replaced by the pair of its complements. Costs no privacy.

        If `[gout]` goes with `[acid > 7.5]`, then `![gout]` goes with `[acid <= 7.5]`: for
        other entities, and with another Jaccard index. Where values can be missing, a complement
        holds for the entities that are known not to be in the support.
        """
        from redveil.report.listing import complemented

        return Result(complemented(self.document))

    def refine(  # noqa: PLR0913 - the parameters of the public function
        self,
        dataset: Dataset,
        epsilon: str | float | Fraction,
        *,
        of: int = 1,
        delta: str | float | Fraction | None = None,
        depth: int | None = None,
        tree_share: str | float | Fraction | None = None,
        max_p_value: float = 0.01,
        min_jaccard: float = 0.1,
        min_support: int = 10,
        max_support: float = 0.8,
        max_disjuncts: int | None = None,
        result_name: str | None = None,
        ledger: Charged = USUAL,
        progress: Callable[[float], None] | None = None,
        keep: Keep | None = None,
    ) -> Result:
        """Refine one redescription of this result: see `redveil.refine`."""
        # The public function: what it needs is built on results.
        import redveil

        return redveil.refine(
            self,
            dataset,
            epsilon,
            of=of,
            delta=delta,
            depth=depth,
            tree_share=tree_share,
            max_p_value=max_p_value,
            min_jaccard=min_jaccard,
            min_support=min_support,
            max_support=max_support,
            max_disjuncts=max_disjuncts,
            result_name=result_name,
            ledger=ledger,
            progress=progress,
            keep=keep,
        )

    def to_json(self) -> str:
        """Return the result file's text."""
        plain = self.document.model_dump(mode="json", by_alias=True, exclude_none=False)
        for name in ("listing", "unfinished", "pending", "signature"):
            if not plain[name]:
                del plain[name]
        for redescription in plain["redescriptions"]:
            # Only an owner's evaluation has true values; a private file does not mention them.
            if redescription["true"] is None:
                del redescription["true"]
            # Only a confirmation compares with an earlier result.
            if redescription["before"] is None:
                del redescription["before"]
        return pydantic_core.to_json(plain, indent=1).decode() + "\n"

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
        return cls.from_json(content, str(path))

    @classmethod
    def from_json(cls, content: bytes, place: str = "the result") -> Result:
        """Return the result in the bytes of a result file.

        place: where they come from, for errors

        >>> Result.from_json(b"{}")
        Traceback (most recent call last):
        redveil.errors.ResultError: the result: this is a JSON file, not a result; name a file \
that `redveil mine` wrote
        """
        from redveil.report.released import must_be_consistent

        try:
            document = ResultDocument.model_validate_json(content)
            must_be_consistent(document)
            return cls(document)
        except ResultError as error:
            raise ResultError(f"{place}: {error}; {REMEDY}") from None
        except ValidationError as error:
            if (kind := kind_of(content)) is not FileKind.RESULT:
                raise ResultError(f"{place}: this is {kind}, {NOT_A_RESULT}") from None
            if not _is_whole(content):
                problem = "a result, but cut short or damaged"
                raise ResultError(f"{place}: {problem}; {REMEDY}") from None
            first = error.errors(include_url=False, include_input=False)[0]
            part = ".".join(str(one) for one in first["loc"]) or "the whole file"
            # A foreign file's keys can hold anything, line ends too.
            where = " ".join(f"at {part} ({first['msg']})".split())
            problem = f"not a result of this version {where}"
            raise ResultError(f"{place}: {problem}; {REMEDY}") from None


def _need(library: str) -> Any:
    """Import an optional library.

    >>> _need("no such frames")
    Traceback (most recent call last):
    redveil.errors.InputError: no such frames is not installed; run pip install \
'redveil[no such frames]', or use to_arrow
    """
    try:
        return import_module(library)
    except ModuleNotFoundError:
        raise InputError(
            f"{library} is not installed; run pip install 'redveil[{library}]', or use to_arrow"
        ) from None


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
