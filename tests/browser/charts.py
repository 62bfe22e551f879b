#!/usr/bin/env python3
"""Loads the modules of `web/` into Chromium as modules and drives charts of 100,000 points.

    charts.py [--chromium /usr/bin/chromium] [--screenshot FILE]

Checked: ticks and searches give the values that they should, tooltips name the point below the
pointer, zooming and moving stay fluid, nothing is requested except files of the repository.
"""

import argparse
import re
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

from chart_checks import hover, settle, tip
from checks import check

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "http://charts.test"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
# A frame may take this long in milliseconds. Two cores that are otherwise idle need 3 to 8; the
# limit is for machines that are busy with other tests.
MAX_FRAME_MS = 100


def serve(route, requests):
    """Answers requests from files of the repository; anything else is refused and noted."""
    path = route.request.url.removeprefix(ADDRESS)
    file = ROOT / path.lstrip("/")
    if route.request.url.startswith(ADDRESS) and file.suffix in TYPES and file.is_file():
        route.fulfill(body=file.read_bytes(), content_type=TYPES[file.suffix])
    else:
        requests.append(route.request.url)
        route.abort()


def ticks(page):
    def labels(call):
        return page.evaluate(f"(() => {{ const t = {call}; return t.values.map(t.label); }})()")

    cases = {
        "parts.timeTicks(0, 4.8e6, 5)": ["0", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms"],
        "parts.timeTicks(0, 1.17e9, 4)": ["0", "0.5 s", "1.0 s", "1.5 s"],
        "parts.timeTicks(0, 0, 5)": ["0"],
        "parts.timeTicks(1.0002e9, 1.0004e9, 2)": ["1.0002 s", "1.0003 s", "1.0004 s"],
        "parts.byteTicks(0, 209 * 2 ** 20, 5)": ["0", "64 MiB", "128 MiB", "192 MiB", "256 MiB"],
        "parts.byteTicks(0, 1.2 * 2 ** 30, 4)": ["0", "512 MiB", "1 GiB", "1.5 GiB"],
    }
    for call, wanted in cases.items():
        check(labels(call) == wanted, f"{call} gives {labels(call)}, not {wanted}")


def searches(page):
    for x, wanted in [(-1, -1), (0, 0), (4, 1), (5, 2), (99, 2)]:
        found = page.evaluate(f"parts.lastAtMost([0, 3, 5], {x})")
        check(found == wanted, f"the last number that is at most {x} is at {found}")
    kept = page.evaluate("parts.greatestOfPixels([1, 9, 2, 3, 8, 7], 0, 6, 0.5)")
    check(kept == [1, 3, 4], f"the greatest bars of three pixels are {kept}")


def tooltips(page):
    bars, lines, cells = page.locator(".chart").all()
    for across in (0.2, 0.7):
        hover(bars, across)
        title, values = tip(page)
        bar = int(re.fullmatch(r"bar (\d+)", title)[1])
        check(abs(bar / 100_000 - across) < 0.05, f"at {across} is {title}")
        check(int(values["kernels"]) == page.evaluate(f"parts.wave({bar})"), f"{title}: {values}")
        hover(lines, across)
        title, values = tip(page)
        point = int(re.fullmatch(r"at (\d+)", title)[1]) // 1000
        check(int(values["bytes"]) == page.evaluate(f"parts.wave({point})"), f"{title}: {values}")
        hover(cells, across, 0.5)
        title, values = tip(page)
        row = int(re.fullmatch(r"rank (\d+)", title)[1])
        [(column, value)] = values.items()
        wanted = page.evaluate(f"parts.share({row}, {column.split(' ')[1]})")
        check(40 < row < 60 and float(value) == wanted, f"{title}: {values}, wanted {wanted}")


def fluid(page):
    """The median time of a frame while each chart is zoomed and moved."""
    frames = """(chart) => new Promise((done) => {
        const box = chart.getBoundingClientRect();
        const at = { clientX: box.left + 500, clientY: box.top + 50, bubbles: true };
        const times = [];
        let last = null;
        const frame = (now) => {
            if (last !== null) times.push(now - last);
            last = now;
            if (times.length === 60) {
                done(times.sort((a, b) => a - b)[30]);
                return;
            }
            const zoom = times.length < 30 ? { deltaY: -60 } : { deltaX: 40 };
            chart.dispatchEvent(new WheelEvent("wheel", { ...at, ...zoom, cancelable: true }));
            requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
    })"""
    medians = [round(chart.evaluate(frames), 1) for chart in page.locator(".chart").all()]
    check(max(medians) <= MAX_FRAME_MS, f"frames take {medians} ms")
    return medians


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--chromium", default=shutil.which("chromium") or shutil.which("google-chrome")
    )
    parser.add_argument("--screenshot", type=Path)
    args = parser.parse_args()
    problems, requests = [], []
    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=args.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1300, "height": 1300})
        page.on(
            "console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda e: problems.append(str(e)))
        page.route("**/*", lambda route: serve(route, requests))
        page.goto(f"{ADDRESS}/tests/browser/charts.html")
        page.wait_for_function("window.isReady")
        settle(page)
        ticks(page)
        searches(page)
        tooltips(page)
        if args.screenshot:
            page.screenshot(path=args.screenshot, full_page=True)
        medians = fluid(page)
        others = [r for r in requests if not r.endswith("/favicon.ico")]
        check(not others, f"the page asks for {others}")
        problems = [p for p in problems if "favicon" not in p and "ERR_FAILED" not in p]
        check(not problems, f"on the console: {problems[:5]}")
        browser.close()
    print(f"ok: frames of bars, lines and cells take {medians} ms")


if __name__ == "__main__":
    main()
