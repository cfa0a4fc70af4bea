"""A result for the terminal: the table people look at, and the certificate under it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from redveil.findings.leaf_table import noise_variance
from redveil.privacy.loss import Price, Rho, total
from redveil.privacy.plan import StepKind
from redveil.report.document import (
    CertificatePart,
    DiscoveryPart,
    IntervalPart,
    ResultDocument,
    StepPart,
)
from redveil.report.nothing_found import plural

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    from redveil.algorithms.tuning import TunedCase
    from redveil.privacy.plan import Plan, Step


# The parameters that the tuning rule sets, as column heads; `trials` for twin trees only.
SHAPE = {
    "trials": "pairs of trees",
    "alternations": "alternations",
    "depth": "depth",
    "root_score": "root score",
}
TREES = (StepKind.TWIN_TREES, StepKind.TREE, StepKind.TREE_PAIR)
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
        facts = (
            f"J {_interval(one.jaccard, 2)} (expected if unrelated {one.expected_jaccard:.2f})  "
            f"{_interval(one.support.both, 0)} {plural(document.certificate.unit)}"
        )
        lines.append(f"{number}  {facts}  p at most {p_text(one.p_value)}\n", style="bold")
        if not is_confirmed(document, number):
            lines.append("   not confirmed\n", style="yellow")
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
    table.add_column("expected if\nunrelated", no_wrap=True)
    table.add_column(Text(f"{plural(document.certificate.unit)} [95 %]"), no_wrap=True)
    table.add_column("p at most", no_wrap=True)
    if not all_confirmed(document):
        table.add_column("", no_wrap=True, style="yellow")
    if evaluated:
        table.add_column("true J", no_wrap=True, style="red")
        table.add_column("true p", no_wrap=True, style="red")
    for number, one in enumerate(document.redescriptions, start=1):
        # Text, not str: attribute names may look like markup.
        cells = [
            Text(str(number)),
            Text(one.left.text),
            Text(one.right.text),
            Text(_interval(one.jaccard, 2)),
            Text(f"{one.expected_jaccard:.2f}"),
            Text(_interval(one.support.both, 0)),
            Text(p_text(one.p_value)),
        ]
        if not all_confirmed(document):
            cells.append(Text("" if is_confirmed(document, number) else "not confirmed"))
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
    table.add_row("protects", Text(promise.protects))
    table.add_row("against", Text(f"telling apart data sets that differ by {promise.neighbouring}"))
    spent = total(step.price for step in promise.steps)
    table.add_row("spent in", f"{len(promise.steps)} steps that add up to exactly {_price(spent)}")
    alone = ", private start alone" if promise.parameters.get("alternations") == 0 else ""
    method = f"{promise.algorithm}{alone} ({promise.profile}), {promise.software}"
    table.add_row("method", Text(method))
    if entities is not None:
        table.add_row(Text(plural(promise.unit)), f"{_interval(entities, 0)} (noisy)")
    table.add_row("schema", Text(f"{promise.schema_name} ({promise.schema_status})"))
    table.add_row("digest", Text(promise.schema_digest))
    for number, condition in enumerate(promise.conditions):
        style = "bold yellow" if condition.startswith("NOT MET") else ""
        table.add_row("conditions" if number == 0 else "", Text(condition, style=style))
    return table


def cases_table(cases: Iterable[TunedCase]) -> Table:
    """Return how a budget would be spent for a range of sizes."""
    from rich.table import Table

    listed = list(cases)
    first = listed[0]
    names = first.algorithm.parameter_names()
    shape = [name for name in SHAPE if name in names]
    if "alternations" in shape:
        shape.remove("trials")
    starts = first.plan.first(StepKind.START) is not None
    # The first case may be a start alone, without trees.
    whole_trees = all(step.key.level is None for one in listed for step in one.plan.steps)
    table = Table(box=None, header_style="bold")
    for name in (
        "entities from",
        *(SHAPE[name] for name in shape),
        f"{_unit(first.plan.price)} of size",
        *(["of the start"] if starts else []),
        "of a tree" if starts and whole_trees else "of a level",
        "of a leaf table",
        "error of a cell",
    ):
        table.add_column(name, justify="right")
    for one in listed:
        prices = [_first_price(one.plan, kind) for kind in (StepKind.SIZE, StepKind.START)]
        trees = [_first_price(one.plan, kind) for kind in TREES]
        cells = _first_price(one.plan, StepKind.LEAF_TABLE)
        assert cells is not None, "every run measures a leaf table"
        table.add_row(
            f"{one.size:,}",
            *(str(getattr(one.algorithm, name)) for name in shape),
            str(prices[0] or ""),
            *([str(prices[1])] if starts else []),
            # Without alternations no tree is grown after the start.
            str(next((price for price in trees if price is not None), "–")),
            str(cells),
            f"±{noise_variance(cells) ** 0.5:,.3g}",
        )
    return table


def _first_price(plan: Plan, kind: StepKind) -> Price | None:
    step = plan.first(kind)
    return None if step is None else step.price


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
    """Return how many of the redescriptions are confirmed, in a line."""
    pairs = f"up to 10^{known.comparable:.0f} comparable pairs"
    said = f"{known.confirmed} of {reported} confirmed after correcting for {pairs}"
    if known.unconfirmed:
        return f"{said}; the others are not confirmed, and may still be real"
    return f"{said}; at most {known.bound:.0%} false discoveries expected"


def is_confirmed(document: ResultDocument, number: int) -> bool:
    """Return whether a redescription, counted from 1, is confirmed, or was never in question."""
    known = document.false_discoveries
    return known is None or number - 1 not in known.unconfirmed


def all_confirmed(document: ResultDocument) -> bool:
    """Return whether no redescription is marked as not confirmed."""
    return document.false_discoveries is None or not document.false_discoveries.unconfirmed


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
