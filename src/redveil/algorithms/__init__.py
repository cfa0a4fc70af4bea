"""The algorithms: from a sealed data set to released leaf tables."""
