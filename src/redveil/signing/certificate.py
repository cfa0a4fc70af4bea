"""Signed results: what a server signs, and how anybody checks it without asking the server.

Signed is the canonical JSON of `{"redveil": "certificate", "result": RESULT}`, where RESULT is the
whole result document, with its `signature` but without the `value` in that. So the signature
covers every released number, the certificate, the job, the data set and the place of the charge in
the server's ledger.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from redveil.errors import ResultError
from redveil.signing.keys import PublicKey, Signer


def sign_result(
    document: Mapping[str, Any], charged: Mapping[str, Any], signer: Signer
) -> dict[str, Any]:
    """Return a result document with the server's signature.

    charged: where the charge is recorded: job, dataset, ledger, number, hash

    >>> signer = Signer.generate()
    >>> check_result(sign_result({"answer": 42}, {"job": "7e57"}, signer), signer.public)["job"]
    '7e57'
    """
    part = {"algorithm": "ed25519", "key": signer.public.name, **charged}
    value = signer.sign(_signed({**document, "signature": part}))
    return {**document, "signature": {**part, "value": value}}


def check_result(document: Mapping[str, Any], key: PublicKey) -> Mapping[str, Any]:
    """Return what a signature says of the charge; refuse a result that the key has not signed."""
    part = document.get("signature")
    if not isinstance(part, Mapping):
        raise ResultError("the result is not signed; only a server signs results")
    if part.get("key") != key.name:
        raise ResultError(
            f"the result was signed with another key, {part.get('key')}; this one is {key.name}"
        )
    if not key.has_signed(_signed(document), part.get("value")):
        raise ResultError("the signature does not fit: the result was changed after it was signed")
    return part


def read_result(content: bytes) -> dict[str, Any]:
    """Return the JSON object in a file; refuse a key that is there twice, which readers differ on.

    >>> read_result(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    redveil.errors.ResultError: not a result; a key is there twice, or it is not JSON
    """
    try:
        found = json.loads(content, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ResultError("not a result; a key is there twice, or it is not JSON")
    return found


def _signed(document: Mapping[str, Any]) -> dict[str, Any]:
    part = {name: one for name, one in document["signature"].items() if name != "value"}
    return {"redveil": "certificate", "result": {**document, "signature": part}}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refused(name: str) -> None:
    raise ValueError(name)
