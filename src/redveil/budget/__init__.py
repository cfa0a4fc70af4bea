"""Who has spent how much: charges are written down before anything is released."""
