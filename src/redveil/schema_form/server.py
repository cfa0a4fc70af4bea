"""The form's server: on this machine only, for whoever has its address.

Other programs and pages on this machine can send requests to it. So every request must carry a
token that only the address has, and name this server as its host; a page that asks must come from
here. The token stands in the address's fragment, which browsers do not send anywhere.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

from redveil.errors import RedveilError
from redveil.schema_form.form import Form, UnreadableError
from redveil.schema_form.page import Page

LOOPBACK: Final = "127.0.0.1"
#: Requests are no larger; a schema of thousands of columns is far smaller.
MOST_BYTES: Final = 32 * 2**20
#: How long a request may take to arrive, in seconds.
PATIENCE: Final = 20
TOKEN_HEADER: Final = "X-Redveil-Token"
_JSON: Final = "application/json; charset=utf-8"


class FormServer(ThreadingHTTPServer):
    """Serves the form of one schema until it is stopped, or its page says that it is done."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, form: Form) -> None:
        super().__init__((LOOPBACK, 0), FormHandler)
        self.form = form
        self.page = Page.made()
        self.token = secrets.token_urlsafe(32)

    @property
    def origin(self) -> str:
        """Where the form is."""
        return f"http://{LOOPBACK}:{self.server_port}"

    @property
    def address(self) -> str:
        """Where the form is, with the token."""
        return f"{self.origin}/#{self.token}"

    def stop(self) -> None:
        """Stop serving, from within a request."""
        Thread(target=self.shutdown, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that broke off; a browser may close them at any time."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class FormHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: FormServer
    timeout = PATIENCE
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the page, which holds nothing of the schema, or the schema to whoever may see it."""
        if not self._is_addressed():
            return
        if self.path == "/":
            page = self.server.page
            self._send(HTTPStatus.OK, page.html, "text/html; charset=utf-8", page.policy)
        elif self.path == "/schema" and self._is_allowed():
            self._answer(lambda _: self.server.form.shown(), {})
        elif self.path != "/schema":
            self._fail(HTTPStatus.NOT_FOUND, "no such page")

    def do_POST(self) -> None:
        """Answer what the page asks."""
        known: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "/preview": self.server.form.preview,
            "/save": self._save,
            "/done": lambda _: {},
        }
        if not self._is_addressed() or not self._is_allowed():
            return
        if self.path not in known:
            self._fail(HTTPStatus.NOT_FOUND, "no such page")
            return
        if self.headers.get("Origin") != self.server.origin:
            self._fail(HTTPStatus.FORBIDDEN, "asked by another page")
            return
        asked = self._asked()
        if asked is not None:
            self._answer(known[self.path], asked)
            if self.path == "/done":
                # Once it is answered: nobody waits for this thread to end.
                self.server.stop()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
        """Log nothing: requests are not what the owner wants to read in the terminal."""

    def version_string(self) -> str:
        """Return who serves, without versions."""
        return "redveil"

    def _save(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        saved = self.server.form.save(asked)
        kept = None if saved.kept is None else str(saved.kept)
        return {"problems": saved.problems, "kept": kept, "schema": self.server.form.shown()}

    def _is_addressed(self) -> bool:
        """Refuse requests under another name: another site's name may lead here, too."""
        if self.headers.get("Host") == f"{LOOPBACK}:{self.server.server_port}":
            return True
        self._fail(HTTPStatus.MISDIRECTED_REQUEST, "not the name of this server")
        return False

    def _is_allowed(self) -> bool:
        """Refuse requests without the token."""
        given = self.headers.get(TOKEN_HEADER, "").encode("utf-8", "replace")
        if hmac.compare_digest(given, self.server.token.encode()):
            return True
        self._fail(HTTPStatus.FORBIDDEN, "no token; open the whole address that redveil printed")
        return False

    def _asked(self) -> Mapping[str, Any] | None:
        """Return the JSON object that was sent, or refuse what is none."""
        if self.headers.get_content_type() != "application/json":
            self._fail(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "not JSON")
            return None
        size = self.headers.get("Content-Length", "")
        if not size.isascii() or not size.isdigit():
            self._fail(HTTPStatus.LENGTH_REQUIRED, "no length")
            return None
        if len(size) > 12 or int(size) > MOST_BYTES:
            self._fail(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large")
            return None
        try:
            asked = json.loads(self.rfile.read(int(size)))
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            self._fail(HTTPStatus.BAD_REQUEST, "not a JSON object")
            return None
        return asked

    def _answer(
        self, answer: Callable[[Mapping[str, Any]], dict[str, Any]], asked: Mapping[str, Any]
    ) -> None:
        try:
            content, status = answer(asked), HTTPStatus.OK
        except UnreadableError as error:
            content, status = {"error": str(error)}, HTTPStatus.BAD_REQUEST
        except RedveilError as error:
            # Such as a file that was changed meanwhile, or a full disk.
            content, status = {"error": str(error)}, HTTPStatus.CONFLICT
        self._send(status, json.dumps(content).encode(), _JSON)

    def _fail(self, status: HTTPStatus, why: str) -> None:
        # What was sent may not have been read, and would be taken for the next request.
        self.close_connection = True
        self._send(status, json.dumps({"error": why}).encode(), _JSON)

    def _send(
        self, status: HTTPStatus, content: bytes, kind: str, policy: str = "default-src 'none'"
    ) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        }
        if self.close_connection:
            headers["Connection"] = "close"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
