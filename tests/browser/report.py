#!/usr/bin/env python3
"""Drives a page of `tracesql report` in Chromium as a reader would. It stops at the first error.

    report.py PAGE.html [--chromium /usr/bin/chromium] [--screenshots DIR] [--sums JSON]

Checked: nothing is loaded except the page, the console has no errors, every tab shows something,
tables sort, search and save as CSV, the module tree opens, the flame graph zooms and finds
(`flame_checks.py`) with the sums of `--sums`, addresses lead to tabs (`address_checks.py`),
headings are whole in windows of all widths (`layout_checks.py`), charts
have tooltips, legends and zooming (`chart_checks.py`), a class of device work has one colour
everywhere, dark and light differ, names are shown as text.
"""

import argparse
import csv
import json
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

import address_checks
import chart_checks
import flame_checks
import layout_checks
from checks import check, has_tab, open_tab


def cells(page, column):
    """Texts of a column of the first table, in the rows that are in the page."""
    at = page.locator(".grid thead th").all_text_contents().index(column)
    rows = page.locator(".grid").first.locator("tbody tr:not(.space):not(.rest)")
    return [row.locator("td").nth(at) for row in rows.all()]


def exact(cell):
    """The whole number in the tooltip of a cell."""
    return int(cell.get_attribute("title").split(" ")[0].replace(",", ""))


def tables(page, data):
    """Operators: sorting both ways, searching, the record of a row, and CSV."""
    open_tab(page, "Operators")
    calls = "Calls"
    page.get_by_role("button", name=calls, exact=True).click()
    down = [exact(c) for c in cells(page, calls)]
    check(
        len(down) > 1 and down == sorted(down, reverse=True),
        f"calls are not sorted downwards: {down[:9]}",
    )
    page.get_by_role("button", name=calls, exact=True).click()
    up = [exact(c) for c in cells(page, calls)]
    check(up == sorted(up), f"calls are not sorted upwards: {up[:9]}")
    check(page.locator("th[aria-sort=ascending]").count() == 1, "the sorted column is not marked")

    section = data["sections"]["operators"]
    name = [c["name"] for c in section["columns"]].index("name")
    trace = int(page.evaluate("document.getElementById('trace').value"))
    names = [row[name] for row in section["rows"] if row[0] == trace]
    wanted = names[len(names) // 2]
    page.get_by_label("Search the table").fill(wanted.upper())
    found = [c.text_content() for c in cells(page, "Name")]
    check(
        sorted(found) == sorted(n for n in names if wanted.lower() in n.lower()),
        f"search for {wanted} finds {found}",
    )
    page.locator(".grid tbody tr:not(.space)").first.click()
    check(page.locator("dl.record").count() == 1, "a click on a row shows no record")

    page.get_by_label("Search the table").fill("")
    with page.expect_download() as saved:
        page.locator("button.csv").first.click()
    with open(saved.value.path(), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    check(
        saved.value.suggested_filename == "operators.csv",
        f"CSV is called {saved.value.suggested_filename}",
    )
    check(
        sorted(r["name"] for r in rows) == sorted(names),
        f"CSV has {len(rows)} rows, the table {len(names)}",
    )
    host = [c["name"] for c in section["columns"]].index("host_self_ns")
    total = sum(row[host] for row in section["rows"] if row[0] == trace)
    check(sum(int(r["host_self_ns"]) for r in rows) == total, "CSV is not exact")


def modules(page):
    open_tab(page, "Modules")
    if page.locator("table.tree").count() == 0:
        return
    page.get_by_role("button", name="Close all").click()
    closed = page.locator("table.tree tbody tr").count()
    page.get_by_role("button", name="Open all").click()
    opened = page.locator("table.tree tbody tr").count()
    check(opened >= closed > 0, f"{closed} modules are shown closed, {opened} open")


def device_classes(page, data):
    """Bars by class: parts that add up, a name for each, and one colour for a class in bars, tables
    and the legend."""
    section = data["sections"]["device_classes"]
    at = {c["name"]: i for i, c in enumerate(section["columns"])}
    trace = int(page.evaluate("document.getElementById('trace').value"))
    own = [row for row in section["rows"] if row[0] == trace]
    open_tab(page, "Steps and devices")
    panel = page.locator("#panel-device_classes")
    bars = panel.locator(".stack-bar")
    devices = list(dict.fromkeys(row[at["device"]] for row in own))
    check(bars.count() == len(devices), f"{bars.count()} bars for {len(devices)} devices")
    for device, bar in zip(devices, bars.all()):
        classes = {
            row[at["class"]]
            for row in own
            if row[at["device"]] == device and row[at["time_ns"]] > 0
        }
        wide = bar.evaluate(
            "(bar) => [...bar.children]"
            ".reduce((sum, part) => sum + parseFloat(part.style.width), 0)"
        )
        check(abs(wide - 100) < 0.01, f"the parts of device {device} are {wide} % of its busy time")
        label = bar.get_attribute("aria-label")
        check(all(f"{name} " in label for name in classes), f"{label} does not name {classes}")
        check(
            all(part.get_attribute("title") for part in bar.locator("span").all()),
            "a part says nothing when pointed at",
        )
    tints = panel.locator(".legend span").filter(has=page.locator(".swatch"))
    colours = {
        t.inner_text().split()[0]: t.locator(".swatch").evaluate(
            "(s) => getComputedStyle(s).background"
        )
        for t in tints.all()
    }
    check(
        set(colours)
        == {row[at["class"]] for row in own if len(devices) > 1 or row[at["time_ns"]] > 0},
        f"the legend names {sorted(colours)}",
    )
    check(len(set(colours.values())) == len(colours), f"classes share a colour: {colours}")
    panel.locator("details.plain summary").click()
    for cell in panel.locator("details.plain td:has(.swatch)").all():
        name = cell.inner_text().strip()
        found = cell.locator(".swatch").evaluate("(s) => getComputedStyle(s).background")
        check(
            colours.get(name, found) == found,
            f"{name} is {found} in the table and {colours.get(name)} in the legend",
        )

    open_tab(page, "Flame graph")
    measures = page.get_by_label("Measure")
    if measures.count() == 0 or "Device time" not in measures.inner_text():
        return
    measures.select_option("Device time")
    names = (
        page.locator("#panel-flame .legend span")
        .filter(has=page.locator(".swatch"))
        .all_inner_texts()
    )
    check(
        names and set(names) <= set(colours) | {"mixed"},
        f"device frames are of the classes {names}",
    )
    frames = page.locator(".flame button.k-kernel")
    check(
        frames.count() > 0 and "class " in frames.first.get_attribute("title"),
        "frames of device work do not say their class",
    )


def theme(page):
    def background():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    before = background()
    page.locator("#theme").click()
    check(background() != before, "dark looks like light")
    page.locator("#theme").click()
    check(background() == before, "the way back from dark fails")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument(
        "--chromium", default=shutil.which("chromium") or shutil.which("google-chrome")
    )
    parser.add_argument("--screenshots", type=Path)
    parser.add_argument("--sums", type=json.loads, default={})
    args = parser.parse_args()
    address = args.page.resolve().as_uri()
    problems, requests = [], []
    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=args.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context(
            viewport={"width": 1360, "height": 900},
            offline=True,
            color_scheme="light",
            accept_downloads=True,
        )
        page = context.new_page()
        page.on(
            "console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda e: problems.append(str(e)))
        page.on("request", lambda r: requests.append(r.url))
        page.goto(address)
        data = json.loads(page.locator("#data").text_content())
        titles = [t.strip() for t in page.get_by_role("tab").all_text_contents()]
        check(len(titles) >= 3, f"there are only the tabs {titles}")
        for key in page.evaluate("[...document.querySelectorAll('[role=tab]')].map((t) => t.id)"):
            page.locator(f"#{key}").click()
            check(len(page.locator("#main").inner_text().strip()) > 20, f"{key} shows nothing")
            if page.locator(".chart").count():
                page.locator(".chart canvas").first.wait_for()
            if args.screenshots:
                page.screenshot(path=args.screenshots / f"{key}.png", full_page=True)

        def has_rows(section):
            return any(row[0] == 0 for row in data["sections"][section]["rows"])

        if has_tab(page, "Operators") and has_rows("operators"):
            tables(page, data)
        if has_tab(page, "Modules"):
            modules(page)
        if has_tab(page, "Flame graph") and has_rows("flame"):
            flame_checks.all_checks(page, data, args.sums)
        if has_tab(page, "Steps and devices") and has_rows("device_classes"):
            device_classes(page, data)
        chart_checks.all_charts(page, data, has_tab)
        address_checks.all_checks(page, data)
        layout_checks.widths(page)
        theme(page)
        if len(data["traces"]) > 1:
            page.locator("#trace").select_option("1")
            open_tab(page, "Overview")
            check(
                page.locator("#main h2").first.text_content() != "", "the second trace is not shown"
            )
        # What scripts of a hostile name would have left behind.
        check(
            page.evaluate(
                "window.pwned === undefined &&"
                " !document.querySelector('main img, main script, main iframe')"
            ),
            "a name became more than text",
        )
        others = [
            r
            for r in requests
            if r != address and not r.startswith("blob:") and not r.startswith("data:")
        ]
        check(not others, f"the page loads {others}")
        check(not problems, f"on the console: {problems[:5]}")
        browser.close()
    print(f"ok: {len(titles)} tabs, {args.page.stat().st_size} bytes")


if __name__ == "__main__":
    main()
