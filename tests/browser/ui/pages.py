#!/usr/bin/env python3
"""Opens every page of `tracesql ui` as a reader would. It stops at the first error.

    pages.py ADDRESS [--chromium /usr/bin/chromium] [--screenshots DIR] [--name NAME]

Checked on every page, in light and dark, in narrow and very large windows: it shows something, its
title names it, nothing lies beyond the right edge, the console has no errors, the policy refused
nothing, and no request goes to another host. The token leaves the address, a second tab gets it
from the first one, and a tab of another browser without it says what to do.
"""

import argparse
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from checks import check  # noqa: E402
from server import Ui, browser_of, is_clean, until, window  # noqa: E402

PAGES = {
    "start": "/",
    "sql": "/sql",
    "views": "/views",
    "timeline": "/timeline",
    "stacks": "/stacks",
    "compare": "/compare",
    "report": "/report",
}
SQL = "sql=SELECT%20trace_id%2C%20name%2C%20ts_ns%2C%20dur_ns%20FROM%20events%20LIMIT%20500&run=1"
STATES = {"sql": SQL}
WINDOWS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "narrow": {"viewport": {"width": 420, "height": 900}},
    "4k": {"viewport": {"width": 3840, "height": 2160}},
}


def is_done(page, key):
    """Waits until a page has computed what it shows."""
    page.locator("#main, #report-page").first.wait_for()
    if key == "timeline":
        until(page, "window.tracesql !== undefined")
        page.evaluate("window.tracesql.ready")
    elif key == "report":
        until(
            page,
            "document.querySelector('#tabs [role=tab]') || document.querySelector('main .notice.bad')",
            timeout=90_000,
        )
        if page.locator(".chart").count():
            page.locator(".chart canvas").first.wait_for()
    else:
        until(
            page,
            "!document.querySelector('[aria-busy=true]') && "
            "document.querySelector('main').innerText.trim().length > 40",
            timeout=90_000,
        )
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))")


def fits(page, name):
    over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    check(over <= 0, f"{name} is {over} pixels wider than its window")


def all_pages(browser, ui, kind, options, args):
    page = window(browser, ui, **options)
    for key, path in PAGES.items():
        page.goto(ui.address(path, STATES.get(key, "")))
        is_done(page, key)
        check("token" not in page.url, f"{key}: the token stays in the address")
        text = page.locator("body").inner_text()
        check(len(text.strip()) > 100, f"{key} shows nothing in {kind}")
        current = page.locator(".frame-nav a[aria-current=page]").get_attribute("href")
        check(current == path, f"{key} is marked as {current}")
        if args.screenshots:
            page.screenshot(path=args.screenshots / f"{args.name}-{key}-{kind}.png")
        fits(page, f"{key} in {kind}")
        is_clean(page, ui, check, f"{key} in {kind}")
    page.context.close()


def tabs(browser, ui):
    first = window(browser, ui)
    first.goto(ui.address("/sql"))
    is_done(first, "sql")
    second = ui.watch(first.context.new_page())
    second.goto(f"{ui.origin}/views#name=kernels")
    second.locator(".reference-entry h2, .reference-entry h1").first.wait_for()
    is_clean(second, ui, check, "a second tab")
    stranger = window(browser, ui)
    stranger.goto(f"{ui.origin}/sql")
    stranger.locator(".frame-trouble:not([hidden])").wait_for()
    said = stranger.locator(".frame-trouble").inner_text()
    check("tracesql ui" in said, f"a tab without the token says {said!r}")
    ui.allowed = ["401"]
    wrong = window(browser, ui)
    wrong.goto(f"{ui.origin}/sql#token={'0' * 64}")
    wrong.locator(".frame-trouble:not([hidden])").wait_for()
    ui.problems, ui.allowed = [], []
    for page in (first, stranger, wrong):
        page.context.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--screenshots", type=Path)
    parser.add_argument("--name", default="ui")
    args = parser.parse_args()
    ui = Ui(args.address)
    with browser_of(args.chromium) as browser:
        for kind, options in WINDOWS.items():
            all_pages(browser, ui, kind, options, args)
        tabs(browser, ui)
    print(f"ok: {len(PAGES)} pages in {len(WINDOWS)} windows")


if __name__ == "__main__":
    main()
