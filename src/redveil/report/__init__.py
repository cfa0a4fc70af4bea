"""Results: documents, tables, pages. Works on released values only."""
