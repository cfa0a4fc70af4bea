from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from redveil.errors import InputError, ResultError
from redveil.signing.canonical import canonical
from redveil.signing.certificate import check_result, read_result, sign_result
from redveil.signing.keys import PublicKey, Signer

DOCUMENT: dict[str, Any] = {"certificate": {"epsilon": "1"}, "list": [1, 2.5, None, "ε"]}
CHARGED = {"job": "j", "dataset": "d", "ledger": "l", "number": 3, "hash": "ab"}


def test_a_signed_result_is_checked_with_the_public_key(tmp_path: Path) -> None:
    signer = Signer.create(tmp_path / "key.pem")
    (tmp_path / "public.pem").write_bytes(signer.public.to_pem())
    signed = sign_result(DOCUMENT, CHARGED, Signer.read(tmp_path / "key.pem"))
    text = json.dumps(signed, indent=2, ensure_ascii=False).encode()
    part = check_result(read_result(text), PublicKey.read(tmp_path / "public.pem"))
    assert {name: part[name] for name in CHARGED} == CHARGED


def changed(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    signed: Any = json.loads(json.dumps(sign_result(DOCUMENT, CHARGED, SIGNER)))
    place = signed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return dict(signed)


SIGNER = Signer.generate()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("certificate", "epsilon"), "2"),
        (("list", 0), 2),
        (("list", 0), 1.0),
        (("more",), 1),
        (("signature", "job"), "k"),
        (("signature", "number"), 4),
        (("signature", "more"), 4),
        (("signature", "value"), "AAAA"),
        (("signature", "value"), "not base 64"),
        (("signature", "value"), "ε"),
        (("signature", "value"), 5),
    ],
)
def test_whatever_is_changed_in_a_signed_result_shows(
    path: tuple[str | int, ...], value: object
) -> None:
    with pytest.raises(ResultError, match="does not fit"):
        check_result(changed(path, value), SIGNER.public)


def test_results_without_a_signature_or_with_anothers_are_refused() -> None:
    with pytest.raises(ResultError, match="not signed"):
        check_result(DOCUMENT, SIGNER.public)
    with pytest.raises(ResultError, match="another key"):
        check_result(sign_result(DOCUMENT, CHARGED, Signer.generate()), SIGNER.public)
    stolen = changed(("signature", "key"), "x")
    with pytest.raises(ResultError, match="another key"):
        check_result(stolen, SIGNER.public)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"a": NaN}', b'{"a": 1, "a": 1}', b"[" * 100000]
)
def test_what_is_no_json_object_is_no_result(content: bytes) -> None:
    with pytest.raises(ResultError, match="not a result"):
        read_result(content)


def test_a_value_has_one_spelling() -> None:
    assert canonical(json.loads('{"b":[1.50, 1e3], "a":"\\u00e9"}')) == (
        b'{"a":"\\u00e9","b":[1.5,1000.0]}'
    )
    with pytest.raises(ValueError, match="Out of range"):
        canonical(float("nan"))


def test_a_key_is_not_written_over_another_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    Signer.create(path)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="never written over another"):
        Signer.create(path)
    path.chmod(0o604)
    with pytest.raises(InputError, match="others can read this key; run chmod 600"):
        Signer.read(path)
    with pytest.raises(InputError, match="cannot be written"):
        Signer.create(tmp_path / "nowhere" / "key.pem")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"-----BEGIN PUBLIC KEY-----\nAAAA\n"])
def test_what_is_no_key_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    with pytest.raises(InputError, match="cannot be read"):
        PublicKey.read(path)
    with pytest.raises(InputError, match="cannot be read"):
        Signer.read(path)
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match="not a public key"):
        PublicKey.read(path)
    with pytest.raises(InputError, match="not a private key"):
        Signer.read(path)
