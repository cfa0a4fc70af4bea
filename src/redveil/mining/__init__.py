"""Queries, redescriptions, and the algorithms that find them."""
