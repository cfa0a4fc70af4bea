"""Connections on which no request arrives are closed, so that strangers cannot keep them all."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


def impatient(seconds: float) -> type[H11Protocol]:
    """Return a protocol that waits only so long for the head of a request.

    Uvicorn itself waits for ever for the first one, and for one that has begun to arrive.
    """

    class Impatient(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._wait()
            else:
                self._stop_waiting()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            # The next request may have begun to arrive behind the last one.
            if self.cycle.response_complete and self.conn.trailing_data[0]:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait(self) -> None:
            # Not from the beginning with every byte: they may come one by one.
            if self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self._give_up)

        def _stop_waiting(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _give_up(self) -> None:
            self._deadline = None
            self.transport.close()

    return Impatient
