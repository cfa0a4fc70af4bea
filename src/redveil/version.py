"""Which version this is."""

from __future__ import annotations


def software() -> str:
    """Return the package's name and version.

    >>> software().startswith("redveil ")
    True
    """
    from importlib.metadata import version

    return f"redveil {version('redveil')}"
