"""Which version this is."""

from __future__ import annotations


def software() -> str:
    """Return the package's name and version.

    >>> software().startswith("redveil ")
    True
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"redveil {version('redveil')}"
    except PackageNotFoundError:
        # The client alone is a distribution of its own.
        return f"redveil {version('redveil-client')}"
