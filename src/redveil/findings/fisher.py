"""Fisher's exact test for noisy, real-valued counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def log_fisher(
    both: ArrayLike, only_left: ArrayLike, only_right: ArrayLike, neither: ArrayLike
) -> Floats:
    """Return a bound on the logarithm of Fisher's one-sided p-value, for real-valued counts.

    The p-value is the hypergeometric tail from the observed overlap on. Each of its terms is a
    smaller multiple of the one before it, so the tail is at most the first term times a geometric
    series (findings/leverage.md). A pair of queries and the pair of their complements have the same
    bound. It is 0, for p = 1, if the overlap is not larger than expected. Negative counts count as
    0.

    >>> from scipy.stats import hypergeom
    >>> round(float(np.exp(log_fisher(8, 2, 1, 9))), 4), round(hypergeom.sf(7, 20, 10, 9), 4)
    (0.0028, 0.0027)
    """
    from scipy.special import gammaln

    cells = [np.maximum(np.asarray(x, dtype=np.float64), 0.0) for x in (both, only_left)]
    cells += [np.maximum(np.asarray(x, dtype=np.float64), 0.0) for x in (only_right, neither)]
    n11, n10, n01, n00 = np.broadcast_arrays(*cells)
    margins = (n11 + n10, n01 + n00, n11 + n01, n10 + n00)
    first = sum(gammaln(x + 1) for x in margins) - gammaln(n11 + n10 + n01 + n00 + 1)
    first -= sum(gammaln(x + 1) for x in (n11, n10, n01, n00))
    ratio = n10 * n01 / ((n11 + 1) * (n00 + 1))
    related = n11 * n00 > n10 * n01
    rest = np.log1p(-np.where(related, ratio, 0.0))
    return np.asarray(np.where(related, np.minimum(first - rest, 0.0), 0.0), dtype=np.float64)
