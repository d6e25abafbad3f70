"""Pages in a real browser: Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

CHROMIUM = (
    os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
NEEDED = [
    pytest.mark.skipif(
        not find_spec("playwright"),
        reason="needs Playwright: pip install 'promoarray[test-pages]'",
    ),
    pytest.mark.skipif(not CHROMIUM, reason="needs Chromium; CHROMIUM=path names one"),
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
]
"""The marks of a module that looks at pages."""


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the system's browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


class Window:
    """A page in a window, and what went wrong in it."""

    def __init__(self, browser: Any, address: str, **window: Any) -> None:
        size = {"width": window.pop("width", 1280), "height": window.pop("height", 900)}
        self.page = browser.new_page(viewport=size, **window)
        self.wrong: list[str] = []
        self.requested: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda said: self.wrong.append(said.text))
        self.page.on("request", lambda asked: self.requested.append(asked.url))
        self.page.goto(address)

    def close(self) -> None:
        """Close it; nothing may have gone wrong, and nothing but the file been asked for."""
        self.page.close()
        assert self.wrong == []
        assert [url for url in self.requested if not url.startswith(("file:", "blob:"))] == []


CONTRAST = """() => {
  const linear = (v) => (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  const light = ([r, g, b]) =>
    .2126 * linear(r / 255) + .7152 * linear(g / 255) + .0722 * linear(b / 255);
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = numbers(getComputedStyle(each).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  const texts =
    "h1,h2,p,td,th,label,dt,dd,select,button,li,span.swatch,b,i,a,code,code span,small,summary,"
    + ".finding span,.said";
  for (const element of document.querySelectorAll(texts)) {
    if (!element.innerText?.trim()) continue;
    const a = light(numbers(getComputedStyle(element).color)), b = light(behind(element));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) low.push([element.tagName, element.className, element.innerText, ratio]);
  }
  return low;
}"""
"""Finds texts of a page that do not stand out from what is behind them, by WCAG's 4.5."""
