"""How intervals and p-values are worded, in every text format."""

from __future__ import annotations

from typing import Protocol


class Estimated(Protocol):
    """An estimate with the ends of its interval, inferred or read from a result file."""

    @property
    def estimate(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


def interval_text(interval: Estimated, digits: int) -> str:
    """Return an estimate with the ends of its interval.

    >>> from redveil.findings.statistics import Interval
    >>> interval_text(Interval(1234.5, 1000, 1500), 0)
    '1,234 [1,000, 1,500]'
    """
    low, high = f"{interval.low:,.{digits}f}", f"{interval.high:,.{digits}f}"
    return f"{interval.estimate:,.{digits}f} [{low}, {high}]"


def p_text(p_value: float) -> str:
    """Return a p-value as short text.

    >>> p_text(0.0), p_text(2e-30), p_text(0.0123)
    ('1e-300', '2e-30', '0.012')
    """
    if p_value < 1e-300:
        return "1e-300"
    return f"{p_value:.2g}" if p_value >= 1e-4 else f"{p_value:.0e}"
