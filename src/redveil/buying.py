"""Buying cut points: once per data set, charged like a run, public afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from redveil.budget.charges import PaidFor
from redveil.budget.charging import Charged, charge
from redveil.errors import InputError
from redveil.privacy.loss import Loss, parse_epsilon, read_count
from redveil.schema import Attribute, Kind, Schema, Side
from redveil.schema.beside import USUAL
from redveil.schema.cuts import MOST_BINS
from redveil.schema.fine_grid import is_heavy_tailed
from redveil.schema.purchase import Purchase
from redveil.version import software

if TYPE_CHECKING:
    from redveil.data.dataset import Dataset

Chosen = dict[Side, tuple[Attribute, ...]]


def buy_cuts(
    dataset: Dataset,
    epsilon: str | float | Fraction,
    columns: Sequence[str] | None = None,
    *,
    cuts: int = 15,
    result_name: str | None = None,
    ledger: Charged = USUAL,
    again: bool = False,
) -> Schema:
    """Learn where to cut numeric attributes from the data itself, with ε-differential privacy.

    Returns the schema with new cut points, bins of about equally many entities, and a record of
    what they cost: `epsilon`, exactly, on top of every result mined with it. `columns` names the
    attributes, in whichever view they are; without it, they are those whose declared cut points
    are spaced as for a heavy tail. Columns bought before are skipped, unless you pay `again`; if
    none is left, nothing is charged, and the schema is returned as it is. Save the schema, and load
    the tables with it from then on. For `ledger` and `result_name`, see `mine`; a purchase that no
    ledger recorded is added to the one that the new schema's first run charges.

    >>> from redveil import load
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = load(*clinic_frames(2000), clinic_schema())
    >>> schema = buy_cuts(dataset, 0.1, ["creatinine"], cuts=7)
    >>> schema.bought[0].epsilon, schema.bought[0].right
    (Fraction(1, 10), ('creatinine',))
    """
    from redveil.algorithms.cut_points import CutPointRequest, bought_cuts
    from redveil.data.dataset import must_be_loaded, must_have_values
    from redveil.privacy.randomness import SystemRandomness

    price, schema = parse_epsilon(epsilon), must_be_loaded(dataset, "buy_cuts").schema
    must_have_values(dataset, "buy_cuts")
    most = checked_count(cuts)
    chosen = chosen_columns(schema, columns, again=again)
    wanted = [CutPointRequest(side, one) for side in Side for one in chosen[side]]
    if not wanted:
        return schema
    left, right = (tuple(one.name for one in chosen[side]) for side in Side)
    purchase = Purchase(price, left, right, software())
    charge(schema, Loss(price), ledger, PaidFor.cut_points(purchase, result_name, cuts=most))
    found = bought_cuts(dataset.table, wanted, most, price, SystemRandomness())
    points = {(one.side, one.attribute.name): new for one, new in zip(wanted, found, strict=True)}
    return _with_points(schema, points, purchase)


def chosen_columns(schema: Schema, columns: Sequence[str] | None, *, again: bool) -> Chosen:
    """Return the attributes to buy for; what cannot be bought is refused before any data is read.

    Columns bought before are skipped, unless they are to be bought again.

    >>> from redveil.data.synthetic import clinic_schema
    >>> chosen_columns(clinic_schema(), ["HbA1c"], again=False)[Side.RIGHT][0].name
    'HbA1c'
    >>> chosen_columns(clinic_schema(), ["gout"], again=False)
    Traceback (most recent call last):
    redveil.errors.InputError: gout: no numeric attribute of that name in either view
    """
    numeric = {
        side: [a for a in schema.view(side).attributes if a.kind is Kind.NUMERIC] for side in Side
    }
    columns = [columns] if isinstance(columns, str) else columns
    known = {a.name for side in Side for a in numeric[side]}
    for name in columns or ():
        if name not in known:
            raise InputError(f"{name}: no numeric attribute of that name in either view")
    chosen = {
        side: tuple(
            a
            for a in numeric[side]
            if (is_heavy_tailed(a) if columns is None else a.name in columns)
        )
        for side in Side
    }
    if not any(chosen.values()):
        raise InputError("no column to buy cut points for; name numeric attributes")
    return chosen if again else _not_bought(schema, chosen)


def checked_count(cuts: int) -> int:
    """Return how many cut points are wanted at most, if a column can have so many.

    >>> checked_count(0)
    Traceback (most recent call last):
    redveil.errors.InputError: cuts must be a whole number from 1 to 254
    """
    number = read_count(cuts)
    if number is None or not 1 <= number < MOST_BINS:
        raise InputError(f"cuts must be a whole number from 1 to {MOST_BINS - 1}")
    return number


def _not_bought(schema: Schema, chosen: Chosen) -> Chosen:
    """Leave out the columns whose cut points were bought before."""
    had = {side: {name for one in schema.bought for name in one.names(side)} for side in Side}
    return {side: tuple(a for a in chosen[side] if a.name not in had[side]) for side in Side}


def _with_points(
    schema: Schema, points: dict[tuple[Side, str], tuple[float, ...]], purchase: Purchase
) -> Schema:
    """Return the schema with the new cut points, and what they cost written down."""
    views = {
        side: replace(
            schema.view(side),
            attributes=tuple(
                replace(a, cuts=points.get((side, a.name), a.cuts))
                for a in schema.view(side).attributes
            ),
        )
        for side in Side
    }
    bought = (*schema.bought, purchase)
    return replace(schema, left=views[Side.LEFT], right=views[Side.RIGHT], bought=bought)
