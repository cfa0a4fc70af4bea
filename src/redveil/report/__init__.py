"""Results for people and programs: documents, tables, pages. Works on released values only."""
