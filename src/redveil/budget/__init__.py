"""Budgets: every charge is recorded before anything is released."""
