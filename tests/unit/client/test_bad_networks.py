from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from redveil.errors import RemoteError
from support.connecting import Connect
from support.relays import Relay, listening
from support.served import Served

SMALL: dict[str, Any] = {"depth": 1, "trials": 1}


def port(place: Served) -> int:
    found = urlsplit(place.url).port
    assert found
    return found


@pytest.mark.parametrize(
    ("lost", "after"),
    [
        ([b"POST /v1/datasets", b"/result "], 0),
        ([b"POST /v1/datasets", b"/result "], 100),
        ([b"/events "], 0),
        ([b"/events "], 200),
    ],
)
def test_lost_answers_are_asked_for_again_and_charged_once(
    connect: Connect, place: Served, lost: list[bytes], after: int
) -> None:
    relay = Relay(port(place), list(lost), after)
    with listening(relay) as number:
        server = connect(url=f"http://127.0.0.1:{number}", patience=20)
        dataset = server.dataset("clinic")
        before = float(dataset.left().epsilon)
        assert dataset.mine(1, **SMALL).certificate.epsilon == "1"
        assert before - float(dataset.left().epsilon) == pytest.approx(1)
    assert relay.lose == []
    submitted = [one for one in relay.seen if b"POST /v1/datasets" in one and b"/jobs" in one]
    keys = {
        line for one in submitted for line in one.lower().split(b"\r\n") if b"idempotency" in line
    }
    assert (len(submitted), len(keys)) == (1 + (b"/result " in lost), 1)


def test_a_server_that_is_gone_is_named_with_what_to_do(connect: Connect) -> None:
    with listening(lambda _: None) as number:
        gone = f"http://127.0.0.1:{number}"
    server = connect(url=gone, patience=0)
    with pytest.raises(RemoteError, match=f"^{gone}: it cannot be reached; is it"):
        server.me()
    from redveil.client.questions import question

    with pytest.raises(RemoteError, match="key once finds it, at no further charge"):
        server.submit("id", question("mine", {"epsilon": 1}), key="once")
    with pytest.raises(RemoteError, match="job 7e57 goes on there"):
        server.job("7e57")
