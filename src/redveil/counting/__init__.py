"""Counting backends: what algorithms ask for counts, wherever the entities are."""
