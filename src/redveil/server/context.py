"""What the routes of a server share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from redveil.server.logs import Log
from redveil.server.metrics import Metrics
from redveil.server.planning import Planners
from redveil.server.rates import Rates
from redveil.server.settings import Settings
from redveil.server.watching import Watch
from redveil.store.store import Store, utc_now


@dataclass(frozen=True, eq=False)
class Context:
    """The parts of a server that answers the network."""

    settings: Settings
    store: Store
    planners: Planners
    log: Log
    requests: Rates
    wrong_tokens: Rates
    watch: Watch
    metrics: Metrics = field(default_factory=Metrics)
    clock: Callable[[], datetime] = utc_now

    @classmethod
    def make(cls, settings: Settings, store: Store, log: Log) -> Context:
        """Return the parts, as settings say."""
        return cls(
            settings,
            store,
            Planners(settings.planners),
            log,
            Rates(settings.requests_per_minute, time.monotonic),
            Rates(settings.wrong_tokens_per_minute, time.monotonic),
            Watch(settings.streams_each, store.jobs.stands),
        )


def _context(request: Request) -> Context:
    context: Context = request.app.state.context
    return context


Here = Annotated[Context, Depends(_context)]
