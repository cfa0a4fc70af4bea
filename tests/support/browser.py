"""Pages in a real browser: the system's Chromium, which nothing here downloads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

#: If this is set, a missing browser is a failure.
REQUIRED = "REDVEIL_REQUIRE_BROWSER"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
NOT_FOUND = f"no Chromium found; install it with the package manager ({REQUIRED}=1 insists on it)"


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser. Without one, skip the test, or fail if it is required."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        if os.environ.get(REQUIRED):
            pytest.fail(NOT_FOUND)
        pytest.skip(NOT_FOUND)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # In a container there is no sandbox, and little shared memory.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@dataclass(slots=True)
class Opened:
    """A page, with everything that it complained about and asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Any, file: Path, **settings: Any) -> Iterator[Any]:
    """Open a file. It must neither complain nor ask for anything but itself.

    settings: of the browser's context, such as `viewport` and `color_scheme`
    """
    with _seen(browser, file.as_uri(), file.as_uri(), **settings) as seen:
        yield seen.page
    assert seen.complaints == []
    assert seen.requests == [file.as_uri()]


@contextmanager
def visited(browser: Any, address: str, **settings: Any) -> Iterator[Opened]:
    """Open a page of a server. It must ask nobody else; its complaints are for the test."""
    origin = "/".join(address.split("/")[:3]) + "/"
    with _seen(browser, address, origin, **settings) as seen:
        yield seen
    assert all(url.startswith(origin) for url in seen.requests)


@contextmanager
def _seen(browser: Any, address: str, within: str, **settings: Any) -> Iterator[Opened]:
    """Open an address, and let through only what is within another one."""
    settings = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **settings}
    context = browser.new_context(**settings)
    context.set_default_timeout(10_000)
    seen = Opened(context.new_page())
    seen.page.on("console", lambda message: seen.complaints.append(message.text))
    seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))

    def answer(route: Any) -> None:
        seen.requests.append(route.request.url)
        if route.request.url.startswith(within):
            route.continue_()
        else:
            route.abort()

    context.route("**/*", answer)
    seen.page.goto(address)
    yield seen
    context.close()
