"""The public description of the data: views, attributes, categories, bounds, cut points, keys."""

from redveil.schema.attribute import Attribute, Kind
from redveil.schema.model import Schema
from redveil.schema.problem import Problem
from redveil.schema.view import Side, Status, View

__all__ = ["Attribute", "Kind", "Problem", "Schema", "Side", "Status", "View"]
