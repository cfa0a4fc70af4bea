"""Queries: their formulas, notations, and what they cover. Released values only."""
