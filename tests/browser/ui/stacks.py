#!/usr/bin/env python3
"""Uses the sandwich view of the stacks page as a reader would. It stops at the first error.

    stacks.py ADDRESS [--chromium /usr/bin/chromium]

Checked with two traces: the chosen frame is that of the address after Back and when the address
changes, a frame that the other trace lacks is not shown with callers of the first one, and without
a frame in the address none is chosen.
"""

import argparse
import shutil
import sys
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from checks import check  # noqa: E402
from server import Ui, browser_of, is_clean, until, window  # noqa: E402

NOT_HERE = "It is not among the frames shown here."


def settled(page):
    until(page, "!document.querySelector('[aria-busy=true]')")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))")


def chosen(page):
    """The title of the right half; None without a chosen frame."""
    settled(page)
    half = page.locator(".sandwich-halves")
    return half.locator("h3").inner_text() if half.is_visible() else None


def names(ui, trace):
    answer = ui.post("stacks", {"measure": "host", "trace": trace})
    return set(answer["names"])


def open_state(page, state):
    """Changes the fragment of the open page, as a link does."""
    page.evaluate(f"location.hash = {state!r}")
    settled(page)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    args = parser.parse_args()
    ui = Ui(args.address)
    traces = [row[0] for row in ui.rows("SELECT trace_id FROM traces ORDER BY trace_id")]
    first, second = (names(ui, trace) for trace in traces)
    only = sorted(first - second)
    check(len(only) >= 2, f"the first trace has no two frames of its own: {only}")
    a, b = only[:2]
    with browser_of(args.chromium) as browser:
        page = window(browser, ui)
        sandwich = f"trace={quote(traces[0])}&view=sandwich"
        page.goto(ui.address("/stacks", f"{sandwich}&frame={quote(a)}"))
        page.locator(".sandwich-table").wait_for()
        check(chosen(page) == a, f"the address chooses {a!r}, the page {chosen(page)!r}")
        open_state(page, f"{sandwich}&frame={quote(b)}")
        check(chosen(page) == b, f"the address chooses {b!r}, the page {chosen(page)!r}")
        page.go_back()
        check(chosen(page) == a, f"Back leads to {a!r}, the page shows {chosen(page)!r}")
        check(quote(a, safe="") in page.url, f"the address is {page.url}")
        open_state(page, f"trace={quote(traces[1])}&view=sandwich&frame={quote(a)}")
        check(chosen(page) == a, f"the page names {chosen(page)!r}")
        half = page.locator(".sandwich-halves")
        check(NOT_HERE in half.inner_text(), f"the page says {half.inner_text()!r}")
        check(not half.locator("canvas").first.is_visible(), "callers of another trace are shown")
        open_state(page, sandwich)
        check(chosen(page) is None, f"no frame is chosen, the page shows {chosen(page)!r}")
        is_clean(page, ui, check, "the stacks page")
    print("ok: the stacks page")


if __name__ == "__main__":
    main()
