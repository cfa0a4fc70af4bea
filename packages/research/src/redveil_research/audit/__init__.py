"""Empirical audits: lower bounds on ε from runs on neighbouring data sets.

For developers, and for data owners who want evidence. Everything runs on generated data.
"""
