"""Reports in a real browser: light and dark, wide and narrow, by keyboard, without script, and nothing leaves the page."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.reporting.bisection import documents
from tests.reporting import examples

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = (
    "no Chromium on this machine: apt-get install chromium"
    if CHROMIUM is None
    else "playwright and axe-playwright-python are not installed"
)
HAVE = CHROMIUM is not None and all(map(importlib.util.find_spec, ("playwright", "axe_playwright_python")))
pytestmark = [pytest.mark.browser, pytest.mark.skipif(not HAVE, reason=MISSING)]
PAGES = {
    "everyday": lambda: documents.html(examples.everyday(), examples.evidence()),
    "staged": lambda: documents.html(examples.staged(), examples.evidence()),
    "hostile": lambda: documents.html(examples.hostile()),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def opened(browser: Browser, folder: Path, name: str, **settings) -> tuple[Page, list[str]]:
    """The page, and everything that it complains of or asks for beside itself."""
    path = folder / "report.html"
    path.write_text(PAGES[name](), encoding="utf-8")
    page = browser.new_context(**settings).new_page()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url) if request.url != path.as_uri() else None)
    page.goto(path.as_uri())
    return page, heard


@pytest.mark.parametrize("name", ["everyday", "staged"])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_accessible_quiet_and_no_wider_than_the_screen(browser, tmp_path, name, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    page, heard = opened(browser, tmp_path, name, color_scheme=scheme, viewport={"width": width, "height": 800})
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert heard == []


def test_hostile_text_runs_nothing_and_asks_for_nothing(browser, tmp_path):
    page, heard = opened(browser, tmp_path, "hostile")
    assert page.locator("script").count() == 1
    assert heard == []


def test_the_reason_is_told_by_hover_and_by_keyboard(browser, tmp_path):
    page, _ = opened(browser, tmp_path, "everyday", viewport={"width": 1280, "height": 900})
    bad = page.locator("a.seg", has=page.locator(".bad")).first
    assert not bad.locator(".tip").is_visible()
    bad.hover()
    assert "aggregation MEAN is not supported" in bad.locator(".tip").inner_text()
    page.mouse.move(0, 0)
    for _ in range(100):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('a.seg:has(.bad)')"):
            break
    assert bad.locator(".tip").is_visible()
    page.keyboard.press("Enter")
    assert page.url.endswith("#release-3.7.0")


def test_it_reads_without_script_and_then_offers_no_button(browser, tmp_path):
    page, _ = opened(browser, tmp_path, "everyday", java_script_enabled=False)
    assert page.locator("h1").is_visible()
    assert page.locator("button:visible").count() == 0


def test_the_command_is_copied(browser, tmp_path):
    page, _ = opened(browser, tmp_path, "everyday")
    page.get_by_role("button", name="Copy the command").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("window.getSelection().toString()") == examples.everyday().reproduce
