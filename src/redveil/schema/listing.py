"""Views and their attributes as tables to look at."""

from __future__ import annotations

from redveil.base.display import MOST_ROWS, Listing, shortened
from redveil.schema.attribute import Attribute, Kind
from redveil.schema.view import Side, View

HEADS = ("attribute", "kind", "values", "cut points", "can be missing")


def view_listing(view: View, side: Side) -> Listing:
    """Return the attributes of a view, with what is declared about each; long lists are shortened.

    >>> age = Attribute("age", Kind.NUMERIC, minimum=0, maximum=110, cuts=(18.0, 65.0))
    >>> view_listing(View("people", "id", (age,)), Side.LEFT).rows
    [('age', 'numeric', '0 to 110', '18, 65', 'yes')]
    """
    shown = view.attributes[:MOST_ROWS]
    rows: list[tuple[str, ...]] = [(one.name, *declared(one)) for one in shown]
    more = len(view.attributes) - MOST_ROWS
    if more > 0:
        rows.append((f"… and {more:,} more", "", "", "", ""))
    return Listing(HEADS, rows, caption=view_caption(view, side))


def view_caption(view: View, side: Side) -> str:
    """Return what a view is, in a line.

    >>> view_caption(View("people", "id", ()), Side.LEFT)
    'left view: people, entity key id, 0 attributes'
    """
    count = len(view.attributes)
    attributes = f"{count:,} attribute{'' if count == 1 else 's'}"
    return f"{side} view: {view.name}, entity key {view.key}, {attributes}"


def declared(attribute: Attribute) -> tuple[str, str, str, str]:
    """Return what is declared about an attribute: kind, values, cut points, missing values.

    >>> declared(Attribute("sex", Kind.CATEGORICAL, required=True, categories=("f", "m")))
    ('categorical', 'f, m', '', 'no')
    """
    if attribute.date is not None:
        rule = attribute.date
        cuts = shortened(attribute.categories[:-1])
        values = f"{rule.minimum.isoformat()} to {rule.maximum.isoformat()}"
        return rule.type, values, cuts, "no" if attribute.required else "yes"
    values = {
        Kind.BOOLEAN: "true, false",
        Kind.NUMERIC: f"{attribute.minimum:.12g} to {attribute.maximum:.12g}",
    }.get(attribute.kind, shortened(attribute.categories))
    cuts = shortened([f"{cut:.12g}" for cut in attribute.cuts])
    return attribute.kind.value, values, cuts, "no" if attribute.required else "yes"
