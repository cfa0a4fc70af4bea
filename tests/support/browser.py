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

    Files that need no settings of their own are opened one after the other in the same page:
    to start one takes longer than most tests.

    settings: of the browser's context, such as `viewport` and `color_scheme`
    """
    page = _new_page(browser, **settings) if settings else _shared_page(browser)
    with _seen(page, file.as_uri(), file.as_uri()) as seen:
        yield page
    if settings:
        page.context.close()
    assert seen.complaints == []
    assert seen.requests == [file.as_uri()]


@contextmanager
def visited(browser: Any, address: str, **settings: Any) -> Iterator[Opened]:
    """Open a page of a server. It must ask nobody else; its complaints are for the test."""
    origin = "/".join(address.split("/")[:3]) + "/"
    page = _new_page(browser, **settings)
    with _seen(page, address, origin) as seen:
        yield seen
    page.context.close()
    assert all(url.startswith(origin) for url in seen.requests)


def _new_page(browser: Any, **settings: Any) -> Any:
    settings = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **settings}
    context = browser.new_context(**settings)
    # Far longer than anything takes, for machines that do much else at the same time.
    context.set_default_timeout(60_000)
    return context.new_page()


def _shared_page(browser: Any) -> Any:
    """Return the page that is kept, with nothing left of what was last done in it."""
    kept = [page for context in browser.contexts for page in context.pages]
    if not kept:
        return _new_page(browser)
    page = kept[0]
    page.goto("about:blank")
    page.emulate_media(media="null")
    page.mouse.move(0, 0)
    return page


@contextmanager
def _seen(page: Any, address: str, within: str) -> Iterator[Opened]:
    """Open an address, and let through only what is within another one."""
    seen = Opened(page)

    def complain(message: Any) -> None:
        seen.complaints.append(message.text)

    def fail(error: Any) -> None:
        seen.complaints.append(str(error))

    def answer(route: Any) -> None:
        seen.requests.append(route.request.url)
        if route.request.url.startswith(within):
            route.continue_()
        else:
            route.abort()

    page.on("console", complain)
    page.on("pageerror", fail)
    page.context.route("**/*", answer)
    page.goto(address)
    try:
        yield seen
    finally:
        page.context.unroute("**/*", answer)
        page.remove_listener("console", complain)
        page.remove_listener("pageerror", fail)
