"""Figures for files, one kind a module. All values in them have been released, but for traces."""
