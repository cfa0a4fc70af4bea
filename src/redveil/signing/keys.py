"""The server's key: it signs the ledger and the certificates, and everybody can check it."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redveil.errors import InputError
from redveil.signing.canonical import canonical

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )


class PublicKey:
    """The public half of a server's key (Ed25519). Clients and auditors have it."""

    def __init__(self, key: Ed25519PublicKey) -> None:
        self._key = key

    @classmethod
    def read(cls, path: str | Path) -> PublicKey:
        """Read a public key from a PEM file."""
        try:
            content = Path(path).read_bytes()
        except (OSError, ValueError):
            raise InputError(f"{path}: cannot be read; name the server's public key") from None
        return cls.from_pem(content, str(path))

    @classmethod
    def from_pem(cls, content: bytes, place: str = "key") -> PublicKey:
        """Return the public key in a PEM text."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        try:
            key = load_pem_public_key(content)
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PublicKey):
            raise InputError(f"{place}: not a public key (Ed25519, PEM); ask the server for one")
        return cls(key)

    def to_pem(self) -> bytes:
        """Return the key as a PEM text."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return self._key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    @property
    def name(self) -> str:
        """A short name by which a key is recognised: part of its SHA-256."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return sha256(self._key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:32]

    def has_signed(self, what: Any, signature: object) -> bool:
        """Return whether a signature of a JSON value is this key's."""
        from cryptography.exceptions import InvalidSignature

        if not isinstance(signature, str):
            return False
        try:
            self._key.verify(b64decode(signature, validate=True), canonical(what))
        except (InvalidSignature, ValueError):
            return False
        return True


class Signer:
    """A server's key (Ed25519). It is read from a file that only the server's user can read.

    >>> signer = Signer.generate()
    >>> signer.public.has_signed({"answer": 42}, signer.sign({"answer": 42}))
    True
    >>> signer.public.has_signed({"answer": 43}, signer.sign({"answer": 42}))
    False
    """

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = PublicKey(key.public_key())

    @classmethod
    def generate(cls) -> Signer:
        """Return a new key, from the operating system's randomness."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def create(cls, path: str | Path) -> Signer:
        """Write a new key to a file that only its owner can read; never over another one."""
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        signer = cls.generate()
        pem = signer._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise InputError(f"{path}: not replaced; a key is never written over another") from None
        except (OSError, ValueError):
            raise InputError(f"{path}: cannot be written; check its folder") from None
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        return signer

    @classmethod
    def read(cls, path: str | Path) -> Signer:
        """Read a key; one that others can read is refused."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            if Path(path).stat().st_mode & 0o007:
                raise InputError(f"{path}: others can read this key; run chmod 600")
            content = Path(path).read_bytes()
        except (OSError, ValueError):
            raise InputError(f"{path}: cannot be read; name the server's key") from None
        try:
            key = load_pem_private_key(content, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise InputError(f"{path}: not a private key (Ed25519, PEM)")
        return cls(key)

    def sign(self, what: Any) -> str:
        """Return the signature of a JSON value, in base 64."""
        return b64encode(self._key.sign(canonical(what))).decode("ascii")
