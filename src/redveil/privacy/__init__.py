"""What private means here: exact losses, plans, randomness, and the mechanisms."""
