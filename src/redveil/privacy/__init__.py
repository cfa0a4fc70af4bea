"""What private means here: exact losses, plans, randomness, and the two mechanisms."""
