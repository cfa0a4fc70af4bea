"""What a server does that means harm: the token stays secret, and the client stays whole."""

from __future__ import annotations

import gzip
import json
import logging
import pickle
import ssl
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import redveil
from redveil.client import connection, talk
from redveil.client.address import Address
from redveil.client.connection import Link, Reply
from redveil.client.server import Server
from redveil.client.token import Token
from redveil.errors import InputError, RemoteError, ResultError
from redveil.wire.answers import Job
from support.connecting import Connect
from support.relays import Liar, http, listening
from support.served import Served

SECRET = "redveil_this_is_the_secret_of_a_test"
JOB = {
    "id": "7e57",
    "dataset": "data",
    "question": {"kind": "mine", "epsilon": "1"},
    "price": {"epsilon": "1"},
    "state": "running",
    "charged": True,
    "submitted_at": "2026-01-01T00:00:00+00:00",
    "started_at": "2026-01-01T00:00:00+00:00",
    "next_release_at": "2026-01-01T00:00:05+00:00",
    "released_at": None,
}


@contextmanager
def lied_to(answer: bytes, **more: Any) -> Iterator[tuple[Server, Liar]]:
    liar = Liar(answer, **more)
    with (
        listening(liar) as port,
        redveil.connect(f"http://127.0.0.1:{port}", SECRET, patience=0) as server,
    ):
        yield server, liar


def problem(status: int, code: str, detail: str) -> bytes:
    body = {"title": "no", "status": status, "code": code, "detail": detail}
    return http(f"{status} No", json.dumps(body).encode(), "Content-Type: application/problem+json")


def test_the_token_travels_in_one_header_and_never_in_an_address() -> None:
    with lied_to(problem(404, "not_found", "no")) as (server, liar):
        for ask in (server.me, server.jobs, lambda: server.job("a"), lambda: server.cancel("a")):
            with pytest.raises(redveil.RedveilError):
                ask()
    for seen in liar.seen:
        first, *headers = seen.split(b"\r\n")
        assert SECRET.encode() not in first
        holding = [one for one in headers if SECRET.encode() in one]
        assert [one.lower().split(b":")[0] for one in holding] == [b"authorization"]


def test_a_redirect_does_not_take_the_token_elsewhere() -> None:
    elsewhere = Liar(http("200 OK", b"{}"))
    with listening(elsewhere) as port:
        moved = http("307 Moved", b"", f"Location: http://127.0.0.1:{port}/v1/me")
        with lied_to(moved) as (server, _), pytest.raises(RemoteError, match="sends us elsewhere"):
            server.me()
    assert elsewhere.seen == []


@pytest.mark.parametrize("status", [400, 401, 403, 422, 500])
def test_the_token_is_in_no_error_and_no_log(status: int, caplog: pytest.LogCaptureFixture) -> None:
    codes = {400: "bad_request", 401: "unauthenticated", 403: "forbidden", 422: "refused"}
    said = problem(status, codes.get(status, "internal"), f"you sent {SECRET}")
    with caplog.at_level(logging.DEBUG), lied_to(said) as (server, _):
        with pytest.raises(redveil.RedveilError) as caught:
            server.me()
        shown = "".join(traceback.format_exception(caught.value)) + repr(server) + caplog.text
    assert SECRET not in shown
    assert "Authorization" not in caplog.text


def test_a_token_cannot_be_shown_copied_or_smuggled() -> None:
    token = Token(SECRET)
    assert SECRET not in f"{token} {token!r} {Link(Address.parse('https://a.example'), token)}"
    with pytest.raises(TypeError):
        pickle.dumps(token)
    for wrong in ("", "short", f"{SECRET}\r\nHost: elsewhere", "ä" * 20, 3):
        with pytest.raises(InputError) as caught:
            Token(wrong)  # type: ignore[arg-type]
        assert str(wrong) not in str(caught.value) or not wrong


@pytest.mark.parametrize(
    "address",
    [
        "http://redveil.example.org",
        "http://127.0.0.1.example.org",
        "ftp://127.0.0.1",
        "https://",
        "https://user:password@example.org",
        "https://example.org/?token=a",
        "https://example.org/#a",
        "https://exa\nmple.org",
        "https://example.org:99999",
        "//example.org",
    ],
)
def test_a_token_is_not_sent_to_such_addresses(address: str) -> None:
    with pytest.raises(InputError) as caught:
        redveil.connect(address, SECRET)
    assert "password" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://[::1]:8750", "http://localhost/a/", "https://a.b:1"])
def test_these_are_addresses(address: str) -> None:
    assert Address.parse(address).text == address.rstrip("/")


def test_proxies_of_the_environment_never_see_a_token_in_the_clear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proxy = Liar(http("200 OK", b"{}"))
    with listening(proxy) as port:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        with lied_to(problem(404, "not_found", "no")) as (server, liar):
            with pytest.raises(redveil.RedveilError):
                server.me()
            assert liar.seen
    assert proxy.seen == []


def test_certificates_are_checked_and_there_is_no_way_not_to(
    connect: Connect, tmp_path: Path
) -> None:
    certificate, key = own_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    seen: list[bytes] = []

    def handle(plain: Any) -> None:
        with context.wrap_socket(plain, server_side=True) as encrypted:
            seen.append(encrypted.recv(1 << 16))
            encrypted.sendall(problem(404, "not_found", "no such thing"))

    with listening(handle) as port:
        where = f"https://127.0.0.1:{port}"
        with pytest.raises(RemoteError, match="certificate is not trusted"):
            connect(url=where, token=SECRET, patience=5).me()
        assert seen == []
        with pytest.raises(redveil.RedveilError, match="no such thing"):
            connect(url=where, token=SECRET, authorities=certificate, patience=0).me()
    with pytest.raises(InputError, match="no certificates in it"):
        redveil.connect("https://a.example", SECRET, authorities=tmp_path / "none.pem")


def own_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for this machine that nobody else trusts, and its key."""
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "redveil test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(*pem, serialization.NoEncryption()))
    return paths


@pytest.mark.parametrize(
    "answer",
    [
        http("200 OK", b""),
        http("200 OK", b"[" * 200_000),
        http("200 OK", b'{"id": ' + b"9" * 10_000 + b"}"),
        http("200 OK", b"\xff\xfe\x00"),
        http("200 OK", gzip.compress(b" " * 10**6), "Content-Encoding: gzip"),
        http("500 Broken", b"<html>\x1b[2J</html>"),
        http("999 What", b"{}"),
        http("402 Pay", b'{"code": "over_budget"}'),
        b"not HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 10**6,
        b"",
    ],
    ids=range(12),
)
def test_nonsense_is_one_line(answer: bytes) -> None:
    with lied_to(answer) as (server, _), pytest.raises(redveil.RedveilError) as caught:
        server.me()
    assert str(caught.value).isprintable()


ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


def test_a_huge_or_slow_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LARGEST", 1 << 20)
    with lied_to(ENDLESS, again=b" " * (1 << 16), times=10_000) as (server, _):
        with pytest.raises(RemoteError, match="larger than 1 MiB"):
            server.me()
        monkeypatch.setattr(connection, "SECONDS", -1.0)
        with pytest.raises(RemoteError, match="took longer"):
            server.me()


@pytest.mark.parametrize(
    "said",
    [b"data: {}\n\n", b"data: " + b"x" * (2 << 20), b"data: x\n" * 600_000, b"data: [[[[\n\n"],
    ids=range(4),
)
def test_events_that_mean_nothing_end_the_watch(said: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    with (
        lied_to(head + said) as (server, _),
        pytest.raises(RemoteError, match="events cannot be understood; job 7e57 goes on there"),
    ):
        server.wait(Job.model_validate(JOB))


def test_an_event_about_another_job_is_refused() -> None:
    other = json.dumps(JOB | {"id": "0ther", "state": "done"}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    said = head + b"data: " + other + b"\n\n"
    with lied_to(said) as (server, _), pytest.raises(RemoteError, match="cannot be understood"):
        server.wait(Job.model_validate(JOB))
    answer = http("200 OK", other)
    with lied_to(answer) as (server, _), pytest.raises(RemoteError, match="another job"):
        server.job("7e57")


def test_the_result_of_another_job_is_refused(connect: Connect, place: Served) -> None:
    """An old answer is signed, too; it must not pass for that to a new question."""
    server, key = connect(), place.store.signer.public
    small: dict[str, Any] = {"depth": 1, "trials": 1}
    server.dataset("clinic").mine(1, **small)
    old = server.jobs(1)[0]
    document = place.store.jobs.result(old.id, place.people.ids["ana"])
    done = Job.model_validate(JOB | {"state": "done", "dataset": old.dataset})
    with pytest.raises(ResultError, match="result of another job"):
        talk.signed_for(json.dumps(document).encode(), done, key)
    assert talk.signed_for(json.dumps(document).encode(), old, key)
    changed = json.dumps(document).replace('"epsilon": "1"', '"epsilon": "2"', 1).encode()
    with pytest.raises(ResultError, match="changed after it was signed"):
        talk.signed_for(changed, old, key)
    with pytest.raises(ResultError, match="another job"):
        talk.signed_for(b"{}", old, None)


@pytest.mark.parametrize("name", ["", ".", "..", "a" * 300])
def test_ids_do_not_lead_elsewhere(name: str) -> None:
    with pytest.raises(InputError, match="not an id"):
        talk.identifier(name)


def test_other_ids_are_quoted() -> None:
    assert talk.identifier("../../me?a=b#c") == "..%2F..%2Fme%3Fa%3Db%23c"


def test_events_that_never_end_or_go_back_do_not_keep_us() -> None:
    event = {"number": 1, "at": "now", "actor": "a", "action": "b", "dataset": None, "job": None}
    page = json.dumps({"events": [event | {"details": {}}]}).encode()
    answer = http("200 OK", page)
    with lied_to(answer) as (server, _), pytest.raises(RemoteError, match="not in order"):
        server.events()


def test_a_wait_that_a_server_asks_for_is_bounded() -> None:
    told = {"retry-after": "9" * 400}
    assert talk._asked_to_wait(Reply(503, told, b""), 1.0) == 60.0
    assert talk._asked_to_wait(Reply(503, {"retry-after": "soon"}, b""), 1.0) == 1.0
