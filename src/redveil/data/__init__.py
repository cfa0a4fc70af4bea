"""Private tables: loading, joining and binning them. Everything here ends up sealed."""
