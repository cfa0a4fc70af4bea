"""Empirical audits: how well results tell two neighbouring data sets apart, at least.

For developers, and for owners who want to see for themselves. Everything runs on generated data.
"""
