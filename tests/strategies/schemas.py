"""Random small schemas, and tables that fit them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
from hypothesis import strategies as st

from redveil.data.table import CodedColumn, Column, NumericColumn, Table
from redveil.schema import Attribute, Kind, Schema, View
from redveil.schema.dates import DATE_TYPES, DateRule, categories_of, last_day
from strategies.arrays import spread

KEY = "id"
_NUMBER_FORMATS = ((".", ""), (",", ""), (",", "."), (".", "'"), (",", "\u202f"))
ALL_KINDS = tuple(Kind)

# Names and labels that trip up printing, parsing and comparing.
_ODD = ("[a]", "!", "a <= 1", "∧ ∨", 'say "x"', "it's", "a,b", " ", "\t", "True", "1", "nan", "Ω")

texts = st.sampled_from(_ODD) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
names = texts.filter(lambda name: name != KEY)
_numbers = st.one_of(
    st.integers(-50, 50).map(float),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.sampled_from((0.1, 0.2, 0.1 + 0.2, 0.3, 5e-324, 1e-9)),
)


@st.composite
def attributes(draw: st.DrawFn, name: str, kinds: Collection[Kind] = ALL_KINDS) -> Attribute:
    """One valid attribute of one of the kinds."""
    kind = draw(st.sampled_from(sorted(kinds)))
    required = draw(st.booleans())
    if kind is Kind.BOOLEAN:
        return Attribute(name, kind, required)
    if kind is Kind.ORDINAL and draw(st.booleans()):
        return draw(date_attributes(name))
    if kind is Kind.NUMERIC:
        decimal_char, group_char = draw(st.sampled_from(_NUMBER_FORMATS))
        points = sorted(draw(st.lists(_numbers, min_size=2, max_size=6, unique=True)))
        below = draw(st.sampled_from((0.0, 1.0)))
        return Attribute(
            name,
            kind,
            required,
            minimum=points[0] - below,
            maximum=points[-1],
            cuts=tuple(points[:-1]),
            integer=draw(st.booleans()),
            decimal_char=decimal_char,
            group_char=group_char,
        )
    categories = draw(st.lists(texts, min_size=2, max_size=5, unique=True))
    return Attribute(name, kind, required, categories=tuple(categories))


@st.composite
def date_attributes(draw: st.DrawFn, name: str) -> Attribute:
    """One valid date attribute, cut at any years, months and days."""
    days = sorted(draw(st.lists(st.dates(), min_size=2, max_size=6, unique=True)))
    texts = {day.isoformat()[: draw(st.sampled_from((4, 7, 10)))] for day in days[1:-1]}
    ends = {last_day(text): text for text in sorted(texts)}
    cuts = [ends[end] for end in sorted(ends) if days[0] <= end < days[-1]]
    cuts = cuts or [days[0].isoformat()]
    type_ = draw(st.sampled_from(DATE_TYPES))
    pattern = draw(st.sampled_from(("default", "%d.%m.%Y", "%m/%d/%y %H:%M", "%Y%m%d%H%M%S%z")))
    return Attribute(
        name,
        Kind.ORDINAL,
        draw(st.booleans()),
        categories=categories_of(cuts, days[-1]),
        date=DateRule(days[0], days[-1], type_, pattern),
    )


@st.composite
def views(
    draw: st.DrawFn, name: str = "view", kinds: Collection[Kind] = ALL_KINDS, most: int = 4
) -> View:
    """One view of up to `most` attributes."""
    size = draw(st.sampled_from((most, *range(1, most))))
    found = draw(st.lists(names, min_size=size, max_size=size, unique=True))
    return View(name, KEY, tuple(draw(attributes(n, kinds)) for n in found))


def schemas(kinds: Collection[Kind] = ALL_KINDS) -> st.SearchStrategy[Schema]:
    """Two views that may share attribute names."""
    return st.builds(Schema, texts, views("left", kinds), views("right", kinds))


@st.composite
def columns(draw: st.DrawFn, attribute: Attribute, rows: int) -> Column:
    """One column within its declaration; values are missing only where they may be."""
    may_miss = not attribute.required
    if attribute.kind is Kind.NUMERIC:
        low, high = attribute.minimum, attribute.maximum
        edges = {low, high, *attribute.cuts}
        near = {math.nextafter(x, way) for x in attribute.cuts for way in (-math.inf, math.inf)}
        inside = [x for x in sorted(edges | near) if low <= x <= high]
        numbers = st.sampled_from(inside) | st.floats(low, high)
        if may_miss:
            numbers |= st.just(math.nan)
        return NumericColumn(attribute, np.array(draw(spread(numbers, rows)), np.float64))
    codes = st.integers(0, attribute.bins - 1)
    if may_miss:
        codes |= st.just(255)
    return CodedColumn(attribute, np.array(draw(spread(codes, rows)), np.uint8))


@st.composite
def view_columns(draw: st.DrawFn, view: View, rows: int) -> Mapping[str, Column]:
    """All columns of one view."""
    return {a.name: draw(columns(a, rows)) for a in view.attributes}


@st.composite
def tables(draw: st.DrawFn, schema: Schema, rows: int) -> Table:
    """Both views' columns."""
    left = draw(view_columns(schema.left, rows))
    return Table(rows, left, draw(view_columns(schema.right, rows)))
