"""Privacy accounting and mechanisms: losses, plans, randomness, selection and counts."""
