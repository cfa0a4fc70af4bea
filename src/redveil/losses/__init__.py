"""Losses, prices, plans and promises: public arithmetic."""
