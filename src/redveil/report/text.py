"""A result for the terminal: the table people look at, and the certificate under it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from redveil.algorithms.schedule import start_step
from redveil.findings.leaf_table import noise_variance
from redveil.privacy.loss import Price, Rho, total
from redveil.report.chance import chance_text
from redveil.report.document import (
    CertificatePart,
    DiscoveryPart,
    IntervalPart,
    ResultDocument,
    StepPart,
)

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    from redveil.algorithms.tuning import Tuned
    from redveil.privacy.plan import Step


# Below this many columns a table leaves no room for queries.
NARROW = 120


def result_view(
    document: ResultDocument, *, steps: bool = False, width: int | None = None
) -> Group:
    """Return everything there is to see of a result, for a terminal of some width."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    if document.warning:
        parts.append(Text(document.warning, style="bold red"))
    if document.redescriptions:
        narrow = width is not None and width < NARROW
        listed = redescription_list if narrow else redescription_table
        parts.append(listed(document))
    if document.message:
        parts.append(Text(document.message, style="yellow"))
    if document.false_discoveries:
        found = len(document.redescriptions)
        parts.append(Text(false_discoveries(document.false_discoveries, found)))
    parts.append(certificate_view(document.certificate, document.entities))
    if steps:
        parts.append(steps_table(document.certificate.steps))
    return Group(*parts)


def redescription_list(document: ResultDocument) -> Text:
    """Return the redescriptions one below the other, for narrow terminals."""
    from rich.text import Text

    lines = Text()
    for number, one in enumerate(document.redescriptions, start=1):
        chance = chance_text(document, *one.support.sizes)
        facts = (
            f"J {_interval(one.jaccard, 2)}{f' (by chance {chance})' if chance else ''}  "
            f"{_interval(one.support.both, 0)} entities"
        )
        lines.append(
            f"{number}{doubt(document, number)}  {facts}  p ≤ {p_text(one.p_value)}\n", style="bold"
        )
        if one.true:
            true = f"   true J {one.true.jaccard:.3f}, true p {p_text(one.true.p_value)}\n"
            lines.append(true, style="red")
        lines.append(f"   {one.left.text}\n   {one.right.text}\n")
    return lines


def redescription_table(document: ResultDocument) -> Table:
    """Return the redescriptions as a table, best first."""
    from rich.table import Table
    from rich.text import Text

    evaluated = any(one.true for one in document.redescriptions)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right")
    table.add_column("left", ratio=5, overflow="fold")
    table.add_column("right", ratio=5, overflow="fold")
    table.add_column("Jaccard [95 %]", no_wrap=True)
    table.add_column("by chance", no_wrap=True)
    table.add_column("entities [95 %]", no_wrap=True)
    table.add_column("p ≤", no_wrap=True)
    if evaluated:
        table.add_column("true J", no_wrap=True, style="red")
        table.add_column("true p", no_wrap=True, style="red")
    for number, one in enumerate(document.redescriptions, start=1):
        # Text, not str: attribute names may look like markup.
        cells = [
            Text(f"{number}{doubt(document, number)}"),
            Text(one.left.text),
            Text(one.right.text),
            Text(_interval(one.jaccard, 2)),
            Text(chance_text(document, *one.support.sizes)),
            Text(_interval(one.support.both, 0)),
            Text(p_text(one.p_value)),
        ]
        if evaluated and one.true:
            cells += [Text(f"{one.true.jaccard:.3f}"), Text(p_text(one.true.p_value))]
        table.add_row(*cells)
    return table


def certificate_view(promise: CertificatePart, entities: IntervalPart | None) -> Table:
    """Return the certificate as a table of facts."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, title="Privacy certificate", title_justify="left")
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    # Text, not str: what a file says may look like markup.
    pure = ", δ = 0" if promise.guarantee == "exact" and promise.rho is None else ""
    table.add_row("promise", Text(f"{promise.promise}, {promise.guarantee}{pure}"))
    table.add_row("protects", Text(promise.unit))
    table.add_row("against", Text(f"telling apart data sets that differ by {promise.neighbouring}"))
    spent = total(step.price for step in promise.steps)
    table.add_row("spent in", f"{len(promise.steps)} steps that add up to exactly {_price(spent)}")
    alone = ", its private start alone" if promise.parameters.get("alternations") == 0 else ""
    method = f"{promise.algorithm}{alone} ({promise.profile}), {promise.software}"
    table.add_row("method", Text(method))
    if entities is not None:
        table.add_row("entities", f"{_interval(entities, 0)} (noisy)")
    table.add_row("schema", Text(f"{promise.schema_name} ({promise.schema_status})"))
    table.add_row("digest", Text(promise.schema_digest))
    for number, condition in enumerate(promise.conditions):
        style = "bold yellow" if condition.startswith("NOT MET") else ""
        table.add_row("conditions" if number == 0 else "", Text(condition, style=style))
    return table


def cases_table(cases: Iterable[Tuned]) -> Table:
    """Return how a budget would be spent for a range of sizes."""
    from rich.table import Table

    listed = list(cases)
    first = listed[0]
    alternates = first.parameters.algorithm.alternates
    table = Table(box=None, header_style="bold")
    for name in (
        "entities from",
        "alternations" if alternates else "pairs of trees",
        "depth",
        "start by" if alternates else "roots by",
        f"{_unit(first.plan.price)} of size",
        *(["of the start"] if alternates else []),
        "of a tree" if first.parameters.draws_exactly else "of a level",
        "of a leaf table",
        "error of a cell",
    ):
        table.add_column(name, justify="right")
    for one in listed:
        prices = {step.name: step.price for step in one.plan.steps}
        cells = next(price for name, price in prices.items() if name.endswith("cells"))
        start = [s.price for s in one.plan.steps if s.name == start_step(1)]
        starts = {start_step(trial) for trial in range(1, one.parameters.trials + 1)}
        choices = (s for s in one.plan.steps if s.mechanism == "choose" and s.name not in starts)
        table.add_row(
            f"{one.size:,}",
            str(one.parameters.alternations if alternates else one.parameters.trials),
            str(one.parameters.depth),
            one.parameters.root_score.value,
            str(prices.get("size", "")),
            *map(str, start),
            # Without alternations no tree is grown after the start.
            next((str(s.price) for s in choices), "–"),
            str(cells),
            f"±{noise_variance(cells) ** 0.5:,.3g}",
        )
    return table


def steps_table(steps: Iterable[StepPart | Step]) -> Table:
    """Return the steps of a plan with their prices, and the sum."""
    from rich.table import Table
    from rich.text import Text

    listed = list(steps)
    whole = total(step.price for step in listed)
    table = Table(box=None, header_style="bold", show_footer=True)
    table.add_column("step", footer="sum")
    table.add_column("mechanism")
    table.add_column(_unit(whole), justify="right", footer=str(whole))
    for step in listed:
        table.add_row(Text(step.name), step.mechanism, Text(str(step.price)))
    return table


def _unit(price: Price) -> str:
    return "ρ" if isinstance(price, Rho) else "ε"


def _price(price: Price) -> str:
    """Return a price as the certificate has it: ε as a bare number, ρ with its name."""
    return f"ρ = {price}" if isinstance(price, Rho) else str(price)


def false_discoveries(known: DiscoveryPart, reported: int) -> str:
    """Return how many of the findings may be nothing, in a line."""
    return (
        f"false discoveries: at most {known.bound:.0%} expected; {known.surviving} of {reported} "
        f"hold up even against all pairs of their kind (up to 10^{known.searched:.0f})"
        + ("; those marked ? may be chance" if known.doubtful else "")
    )


def doubt(document: ResultDocument, number: int) -> str:
    """Return the mark of a redescription, counted from 1, that may be chance."""
    known = document.false_discoveries
    return "?" if known and number - 1 in known.doubtful else ""


def p_text(p_value: float) -> str:
    """Return a p-value as people read it.

    >>> p_text(0.0), p_text(2e-30), p_text(0.0123)
    ('1e-300', '2e-30', '0.012')
    """
    if p_value < 1e-300:
        return "1e-300"
    return f"{p_value:.2g}" if p_value >= 1e-4 else f"{p_value:.0e}"


def _interval(interval: IntervalPart, digits: int) -> str:
    low, high = f"{interval.low:,.{digits}f}", f"{interval.high:,.{digits}f}"
    return f"{interval.estimate:,.{digits}f} [{low}, {high}]"
