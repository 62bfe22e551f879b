#!/usr/bin/env python3
"""Uses the SQL page of `tracesql ui` as a reader would. It stops at the first error.

    sql.py ADDRESS [--chromium /usr/bin/chromium]

Checked: running all and running a selection, several statements, the place of an error, completion,
cancelling, results that are cut, integers beyond 2^53, CSV, parameters, summaries of columns, a
chart, and the state in the address after a reload and with Back. Then the way from a finding to its
rows, from a row to the timeline, and from there to SQL.
"""

import argparse
import csv
import shutil
import sys
import time
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from checks import check  # noqa: E402
from server import Ui, browser_of, is_clean, until, window  # noqa: E402

ENDLESS = "SELECT count(*) FROM events a, events b, events c WHERE a.name < b.name || c.name"


def write(page, text):
    area = page.locator("#sql")
    area.fill(text)
    # Spans come from the server.
    until(page, "document.querySelectorAll('.editor-layer span').length > 0")


def run(page, text, wait=True):
    write(page, text)
    # While a statement runs, the page ignores the keys that run another.
    until(page, "document.querySelector('.result-area').ariaBusy === 'false'")
    page.locator("#sql").press("Control+Enter")
    if wait:
        until(
            page,
            "document.querySelector('.result-area').ariaBusy === 'false' && "
            "document.querySelector('.result-block, .run-message *') !== null"
        )


def cells(page):
    """Texts of the rows in the page, without the link to the timeline. The page draws rows when the
    browser draws a frame, so they are read all at once, after the first of them is there."""
    rows = ".result-block:not([hidden]) tbody tr:not(.space)"
    until(page, f"document.querySelector('{rows}') !== null")
    return page.locator(rows).evaluate_all(
        "(rows) => rows.map((row) => Array.from("
        "row.querySelectorAll('td:not(.place):not(.filler)'), (cell) => cell.innerText))"
    )


def running(page, ui):
    run(page, "SELECT 40 + 2 AS answer")
    check(cells(page) == [["42"]], f"SELECT 40 + 2 shows {cells(page)}")
    page.go_back()
    # The statement before has not run, and this result is not its own.
    until(page, "document.querySelector('.result-block') === null")
    write(page, "SELECT 1 AS one; SELECT 2 AS two")
    page.locator("#sql").evaluate("(area) => area.setSelectionRange(17, area.value.length)")
    page.locator("#sql").press("Control+Enter")
    page.locator(".result-block th", has_text="two").wait_for()
    check(cells(page) == [["2"]], f"the selection shows {cells(page)}")
    write(page, "SELECT 1 AS one; SELECT 2 AS two")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".result-tabs [role=tab]").nth(1).wait_for()
    check(page.locator(".result-tabs [role=tab]").count() == 2, "two statements have no two tabs")
    run(page, "SELECT 9007199254740993 AS large")
    check(
        cells(page)[0][0].replace(",", "") == "9007199254740993",
        f"an integer beyond 2^53 is shown as {cells(page)}",
    )
    count = ui.rows("SELECT count(*) FROM range(10001)")[0][0]
    check(count == 10_001, "the oracle is wrong")
    run(page, "SELECT value FROM range(10001)")
    page.locator(".notice", has_text="10,000 rows").wait_for()


def errors(page):
    text = "SELECT name,\n  durr_ns FROM events"
    run(page, text)
    marked = "".join(page.locator(".editor-layer .sql-error").all_text_contents())
    check(marked == "durr_ns", f"the error marks {marked!r}")
    said = page.locator(".run-message").inner_text()
    check("dur_ns" in said, f"the error says {said!r}")


def completing(page):
    write(page, "SELECT e. FROM events e")
    area = page.locator("#sql")
    area.evaluate("(area) => area.setSelectionRange(9, 9)")
    area.press("Control+Space")
    items = page.locator("#completions li")
    items.first.wait_for()
    check("ts_ns" in items.all_inner_texts(), f"after e. come {items.all_inner_texts()[:9]}")
    area.press("Escape")


def cancelling(page, ui):
    run(page, ENDLESS, wait=False)
    page.wait_for_timeout(700)
    begun = time.monotonic()
    page.get_by_role("button", name="Cancel").click()
    page.locator(".run-message", has_text="Cancelled").wait_for()
    # The server has room again: two run at once, and others wait.
    for _ in range(2):
        ui.rows("SELECT 1")
    took = time.monotonic() - begun
    check(took < 2, f"cancelling took {took:.1f} s")


def saving(page):
    run(page, "SELECT 9007199254740993 AS large, 'a,\"b' AS text, NULL AS none")
    with page.expect_download() as saved:
        page.locator(".result-block").get_by_role("button", name="CSV", exact=True).first.click()
    with open(saved.value.path(), newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    check(
        rows[1][:2] == ["9007199254740993", 'a,"b'] and rows[0][:2] == ["large", "text"],
        f"the CSV has {rows}",
    )


def parameters(page):
    write(page, "SELECT $least + 1 AS more, $word AS word")
    form = page.locator(".parameters")
    form.locator("input").nth(1).wait_for()
    form.locator("input").nth(0).fill("41")
    form.locator("input").nth(1).fill("x")
    form.locator("input").nth(1).press("Enter")
    page.locator(".result-block th", has_text="more").wait_for()
    check(cells(page) == [["42", "x"]], f"the parameters give {cells(page)}")
    until(page, "location.hash.includes('p.least=41')")
    page.reload()
    page.locator(".result-block th", has_text="more").wait_for()
    check(cells(page) == [["42", "x"]], f"after a reload there is {cells(page)}")
    # An empty field is no NULL, with which many conditions find nothing.
    page.locator(".parameters input").nth(0).fill("")
    page.locator(".parameters input").nth(0).press("Enter")
    page.get_by_text("$least has no value").first.wait_for()
    page.locator(".parameters input").nth(0).fill("41")
    run(page, "SELECT 7 AS seven")
    page.go_back()
    until(page, "document.getElementById('sql').value.includes('$least')")


def pictures(page, ui):
    run(page, "SELECT name, count(*) AS calls FROM events GROUP BY name ORDER BY calls DESC LIMIT 9")
    page.locator(".result-block").get_by_role("button", name="Chart").click()
    page.locator(".result-block canvas").first.wait_for()
    page.get_by_role("button", name="Table", exact=True).click()
    run(page, "SELECT dur_ns, name FROM events WHERE dur_ns IS NOT NULL LIMIT 1000")
    page.locator(".result-body").get_by_text("dur_ns").first.wait_for()
    summary(page, ui)


def summary(page, ui):
    """Summaries of a whole result, which the page computes, and of a cut one, by the server."""
    run(page, "SELECT value % 4 AS part, 'x' || (value % 3) AS text FROM range(1000)")
    boxes = page.locator(".summary")
    boxes.nth(1).get_by_text("3 different").wait_for()
    said = boxes.nth(0).inner_text()
    check("1,000 rows" in said and "4 different" in said, f"the summary says {said!r}")
    check("334" in boxes.nth(1).inner_text(), f"the summary says {boxes.nth(1).inner_text()!r}")
    answer = ui.post("summary", {"sql": "SELECT value FROM range(10001)", "column": "value"})
    check("skipped" in answer or answer["count"] == 10_001, f"the server says {answer}")


def links(page, ui):
    """Finding, rows, timeline, SQL."""
    page.goto(f"{ui.origin}/")
    page.locator(".finding, .findings p").first.wait_for(timeout=60_000)
    with_rows = page.locator(".finding a", has_text="Rows of the evidence")
    if with_rows.count():
        with_rows.first.click()
        page.locator(".result-block, .run-message *").first.wait_for()
        said = page.locator(".run-message").inner_text()
        check(not said.strip(), f"the evidence fails: {said}")
    page.goto(f"{ui.origin}/sql#sql={quote('SELECT * FROM events WHERE dur_ns > 0 LIMIT 5')}&run=1")
    page.reload()
    page.locator(".result-block td.place a").first.click()
    page.wait_for_url("**/timeline*")
    until(page, "window.tracesql?.state().selection")
    page.evaluate("window.tracesql.ready")
    wanted = page.evaluate("window.tracesql.state().selection.id")
    page.keyboard.press("KeyR")
    page.get_by_role("link", name="Rows of this selection in SQL").click()
    page.wait_for_url("**/sql*")
    page.locator(".result-block th", has_text="event_id").first.wait_for()
    check(
        any(str(wanted) in [c.replace(",", "") for c in row] for row in cells(page)),
        f"event {wanted} is not among the rows of its area",
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    args = parser.parse_args()
    ui = Ui(args.address)
    # The browser itself notes answers that are errors.
    ui.allowed = ["status of 400", "status of 499"]
    with browser_of(args.chromium) as browser:
        page = window(browser, ui)
        page.goto(ui.address("/sql"))
        page.locator("#sql").wait_for()
        running(page, ui)
        errors(page)
        completing(page)
        cancelling(page, ui)
        saving(page)
        parameters(page)
        pictures(page, ui)
        links(page, ui)
        is_clean(page, ui, check, "the SQL page")
    print("ok: the SQL page")


if __name__ == "__main__":
    main()
