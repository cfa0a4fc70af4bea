"""Who has spent how much: charges are written down before the data is touched."""
