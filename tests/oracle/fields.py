"""Rows divided into fields, one row at a time."""

from __future__ import annotations

import re


def divided(text: bytes, delimiter: bytes) -> list[list[bytes]]:
    """Return the fields of all rows; empty lines are no rows."""
    return [line.split(delimiter) for line in re.split(rb"[\r\n]", text) if line]
