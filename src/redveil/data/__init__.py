"""Load, join, convert and bin private tables, and seal them."""
