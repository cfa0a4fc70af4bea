"""A baseline: what mining without privacy found. It holds true values, and says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from redveil.seam.results import (
    Block,
    Code,
    Displayed,
    FileKind,
    Listing,
    Note,
    Parameter,
    Part,
    QueryPart,
    TruePart,
    p_text,
    plural,
    write_text,
)

if TYPE_CHECKING:
    import pyarrow as pa


class MatchPart(Part):
    """Two queries and their true values. NOT private."""

    left: QueryPart
    right: QueryPart
    true: TruePart


class BaselineDocument(Part):
    """A whole baseline file. NOT private."""

    format: Literal["redveil-baseline"] = "redveil-baseline"
    version: Literal[1] = 1
    warning: str = Field(pattern="^NOT PRIVATE", description="that the file is not private")
    method: str
    parameters: dict[str, Parameter]
    unit: str = Field(description="what one entity is called")
    schema_name: str
    schema_digest: str
    entities: int = Field(description="the true number of entities")
    redescriptions: tuple[MatchPart, ...]
    software: str


@dataclass(frozen=True, slots=True, repr=False)
class Baseline(Displayed):
    """Redescriptions that were mined without privacy, with true values. For the data owner only.

    >>> import redveil, redveil_research
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(500), clinic_schema())
    >>> found = redveil_research.baseline(dataset, "layered-trees", depth=2, starts=5)
    >>> found.document.warning[:11]
    'NOT PRIVATE'
    >>> found.to_arrow().column_names[:3]
    ['left', 'right', 'true_jaccard']
    """

    document: BaselineDocument

    @property
    def redescriptions(self) -> tuple[MatchPart, ...]:
        """The redescriptions, the largest Jaccard index first."""
        return self.document.redescriptions

    def __len__(self) -> int:
        return len(self.redescriptions)

    def __iter__(self) -> Iterator[MatchPart]:
        return iter(self.redescriptions)

    def __repr__(self) -> str:
        found = f"{len(self)} redescription{'' if len(self) == 1 else 's'}"
        return f"<Baseline: {found}, {self.document.method}, NOT PRIVATE>"

    def to_arrow(self) -> pa.Table:
        """Return the redescriptions as a PyArrow table, one a row."""
        import pyarrow as pa

        counts = ("left", "right", "both", "either")
        types: dict[str, Any] = {"left": pa.string(), "right": pa.string()}
        types |= {"true_jaccard": pa.float64()}
        types |= {f"true_support_{count}": pa.int64() for count in counts}
        types |= {"true_p_value": pa.float64()}
        rows = []
        for one in self.redescriptions:
            support = one.true.support
            values = [one.left.text, one.right.text, one.true.jaccard]
            values += [getattr(support, count) for count in counts]
            rows.append(dict(zip(types, [*values, one.true.p_value], strict=True)))
        return pa.Table.from_pylist(rows, schema=pa.schema(types))

    def to_json(self) -> str:
        """Return the text of the baseline's file."""
        return self.document.model_dump_json(by_alias=True, indent=1) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the file, atomically; replace nothing but an earlier baseline."""
        write_text(Path(path), self.to_json(), FileKind.BASELINE)

    def blocks(self) -> Iterator[Block]:
        """Yield what there is to see: the warning, the list, and how it was made."""
        document = self.document
        yield Note(document.warning)
        rows = [
            (
                str(number),
                Code(one.left.text),
                Code(one.right.text),
                f"{one.true.jaccard:.3f}",
                f"{one.true.support.both:,}",
                p_text(one.true.p_value),
            )
            for number, one in enumerate(self.redescriptions, start=1)
        ]
        heads = ("#", "left", "right", "true J", f"true {plural(document.unit)}", "true p")
        if rows:
            yield Listing(heads, rows, right=(0, 3, 4, 5), unbroken=(0, 3, 4, 5))
        given = ", ".join(f"{name} {value}" for name, value in document.parameters.items())
        yield Listing(
            (),
            [
                ("method", f"{document.method}, no privacy ({document.software})"),
                ("parameters", given),
                (plural(document.unit), f"{document.entities:,} (true)"),
                ("found", str(len(rows))),
                ("schema", document.schema_name),
            ],
            caption="Baseline, NOT PRIVATE",
        )

    _shown = blocks
