"""The processes behind a server: planners, which see schemas, and workers, which see rows."""
