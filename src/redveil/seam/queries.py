"""Queries: their parts, their words, their JSON, and attributes that they are about."""

from __future__ import annotations

from redveil.query.formula import (
    And,
    AnyLiteral,
    Known,
    Literal,
    Not,
    Or,
    Query,
    Value,
    attributes,
    complement,
    interval_pairs,
    literals,
    negate,
)
from redveil.query.json_form import from_json
from redveil.query.simplify import simplified
from redveil.query.text import Notation, number_text, render, to_text
from redveil.schema import Attribute, Kind, Side, View

__all__ = [
    "And",
    "AnyLiteral",
    "Attribute",
    "Kind",
    "Known",
    "Literal",
    "Not",
    "Notation",
    "Or",
    "Query",
    "Side",
    "Value",
    "View",
    "attributes",
    "complement",
    "from_json",
    "interval_pairs",
    "literals",
    "negate",
    "number_text",
    "render",
    "simplified",
    "to_text",
]
