"""The application that answers the network."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from redveil.server import asking, operating, owning
from redveil.server.answering import handle_problems
from redveil.server.context import Context
from redveil.server.gate import Gate
from redveil.wire.problems import Problem

_ABOUT = (
    "Ask about two tables without seeing a row. Amounts are exact decimal numbers, moments are in "
    "UTC. Every problem is application/problem+json with a stable code."
)


def make_app(context: Context) -> FastAPI:
    """Return the application of a server."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await context.planners.start()
        try:
            yield
        finally:
            await context.planners.stop()

    app = FastAPI(
        title="redveil",
        version="1",
        description=_ABOUT,
        lifespan=lifespan,
        # Pages that load scripts from elsewhere are not for a server with private data.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.context = context
    for router in (asking.router, owning.router, operating.router):
        app.include_router(router)
    handle_problems(app)
    app.add_middleware(Gate, context=context)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the documentation of the interface, with problems as they are answered."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=_ABOUT, routes=app.routes
        )
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= schemas["Problem"].pop("$defs", {})
        app.openapi_schema = made
    return app.openapi_schema
