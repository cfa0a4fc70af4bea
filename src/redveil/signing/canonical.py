"""The one spelling of a JSON value, which is hashed and signed."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any


def canonical(value: Any) -> bytes:
    r"""Return the one spelling of a JSON value.

    Keys are sorted, nothing is indented, all other characters than ASCII are escaped, and numbers
    are written as Python writes them. NaN and infinities are refused.

    >>> canonical({"b": 1.0, "a": "ε"})
    b'{"a":"\\u03b5","b":1.0}'
    """
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return text.encode("ascii")


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value in its one spelling, in hexadecimal digits.

    >>> digest({})[:8]
    '44136fa3'
    """
    return sha256(canonical(value)).hexdigest()
