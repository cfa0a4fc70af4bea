"""Queries: formulas, notations, and coverage of trees. Released values only."""
