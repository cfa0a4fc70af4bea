"""From released leaf tables to findings. Released values only."""
