"""Fixtures that open the retail catalog in Chromium, live and as a static site."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.catalog.retail_registry import open_retailer
from tests.catalog.sample_project_data import SampleProjectData
from tests.server.running import running
from treaty.catalog.site import build
from treaty.registry.service import Registry
from treaty.server.app import create_app

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_MISSING = "no Chromium on this machine; on Debian: apt-get install chromium; else set TREATY_CHROMIUM to one's path"
PAGE_TIMEOUT_MS = 15_000
"""How long a test waits for a page."""

Visit = Callable[..., Page]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start Chromium once. It stops after the last browser test, because its event loop would disturb other tests."""
    path = os.environ.get("TREATY_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    assert path, _MISSING
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # root has none
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=sandbox)
        yield started
        started.close()


@pytest.fixture(scope="package")
def retailer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_retailer(tmp_path_factory.mktemp("retailer") / "registry.db") as registry:
        yield registry


@pytest.fixture(scope="package")
def live(retailer: Registry) -> Iterator[str]:
    """The address of a running server that shows the data of a project."""
    app = create_app(retailer)
    app.state.project_data = SampleProjectData()
    with running(app) as address:
        yield address


@pytest.fixture(scope="package")
def static_site(retailer: Registry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same catalog as a static site."""
    folder = tmp_path_factory.mktemp("site") / "pages"
    build(retailer, folder)
    return folder


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open pages in a new browser context of a given width and theme, with or without JavaScript.

    Console messages, errors and requests to other hosts fail the test.
    """
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def open_page(address: str, *, width: int = 1440, theme: str = "light", script: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if theme == "dark" else "light",
            java_script_enabled=script,
            permissions=["clipboard-read", "clipboard-write"] if script else [],
        )
        contexts.append(context)
        context.set_default_timeout(PAGE_TIMEOUT_MS)
        page = context.new_page()
        page.on("console", lambda message: problems.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("request", lambda request: _check_origin(request.url, address, problems))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


def _check_origin(url: str, address: str, problems: list[str]) -> None:
    origin = "file://" if address.startswith("file://") else "/".join(address.split("/")[:3])
    if not url.startswith(origin):
        problems.append(f"asked for {url}")


@pytest.fixture(scope="session")
def screenshots() -> Path | None:
    """The folder for screenshots, from TREATY_SCREENSHOTS; None if it is not set."""
    named = os.environ.get("TREATY_SCREENSHOTS")
    if not named:
        return None
    Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named)
