"""The process that answers the network: `python -m redveil.server.api`."""

from __future__ import annotations

import resource
import socket
import sys

import uvicorn

from redveil.errors import RedveilError
from redveil.server.app import make_app
from redveil.server.child import end_with_parent, read_settings, stop_by_signal
from redveil.server.context import Context
from redveil.server.logs import Log
from redveil.server.opening import open_store
from redveil.server.settings import Settings

#: The exit code that tells the parent that trying again is useless.
USELESS = 3
# How long requests may take to end when the server is stopped; event streams are cut.
_SECONDS_TO_STOP = 3
# How many connections may wait to be accepted.
_MOST_WAITING = 2048


def run(settings: Settings, log: Log) -> None:
    """Answer the network until the process is stopped."""
    settings.must_be_safe()
    _allow_many_connections()
    store = open_store(settings)
    listening = _listen(settings)
    host, port = listening.getsockname()[:2]
    scheme = "https" if settings.has_tls else "http"
    config = uvicorn.Config(
        make_app(Context.make(settings, store, log)),
        # Its access log holds addresses as they were sent.
        access_log=False,
        log_level="warning",
        server_header=False,
        http="h11",
        proxy_headers=settings.behind_proxy,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        timeout_graceful_shutdown=_SECONDS_TO_STOP,
        timeout_keep_alive=60,
        h11_max_incomplete_event_size=32 << 10,
    )
    log("listening", address=f"{scheme}://{host}:{port}")
    try:
        uvicorn.Server(config).run([listening])
    finally:
        store.close()
    log("stopped")


def _allow_many_connections() -> None:
    """Open as many files as the system lets us; every connection takes one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((settings.host, settings.port))
    # Whoever reads that the server listens may connect, although nobody accepts yet.
    listening.listen(_MOST_WAITING)
    return listening


if __name__ == "__main__":
    name, given = read_settings()
    end_with_parent(stop_by_signal)
    record = Log(name)
    try:
        run(given, record)
    except RedveilError as error:
        record("cannot start", reason=str(error))
        sys.exit(USELESS)
    except OSError as error:
        record("cannot start", reason=f"{given.host}, port {given.port}: {error.strerror}")
        sys.exit(USELESS)
