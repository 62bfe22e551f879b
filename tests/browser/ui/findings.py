#!/usr/bin/env python3
"""Follows every finding into the timeline. It stops at the first error.

    findings.py ADDRESS… [--chromium /usr/bin/chromium]

Each finding with evidence must lead to an event or an area of the timeline, or say why it does not.
The module of the start page finds the place; that the place exists is asked of SQL. The first
finding with a place is then followed by a click.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path
from urllib.parse import parse_qs

from playwright.sync_api import TimeoutError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from checks import check  # noqa: E402
from server import Ui, browser_of, is_clean, until, window  # noqa: E402

# Rules whose evidence is a sum over a trace or a job, without events and times.
SUMS = {
    "communication",
    "data_parallel",
    "gpu_busy",
    "gpu_idle",
    "launch_bound",
    "memory_limit",
    "rank_skew",
    "recording",
    "stragglers",
    "unlinked_work",
}


def places(page, ui, findings):
    """For each finding { href } or { reason }."""
    traces = ui.post("state", None)["traces"]
    return page.evaluate(
        "async ([findings, traces]) => {"
        ' const { placeOfFinding } = await import("/assets/ui/start/place.js");'
        " const found = [];"
        " for (const one of findings) found.push(await placeOfFinding(one, traces));"
        " return found; }",
        [findings, traces],
    )


def exists(ui, finding, href):
    """Checks that an address leads to an event, or to an area in which the trace has events."""
    path, _, state = href.partition("#")
    check(path == "/timeline", f"{finding['rule']} leads to {href}")
    own = {name: values[0] for name, values in parse_qs(state).items()}
    trace = own["trace"].replace("'", "''")
    if "event_id" in own:
        where = f"event_id = {int(own['event_id'])} AND ts_ns IS NOT NULL"
    else:
        where = f"ts_ns <= {int(own['end_ns'])} AND coalesce(end_ns, ts_ns) >= {int(own['start_ns'])}"
    count = ui.rows(f"SELECT count(*) FROM events WHERE trace_id = '{trace}' AND {where}")[0][0]
    check(int(count) > 0, f"{finding['rule']} of {trace}: there is no event at {href}")


def follow(page, ui):
    """Clicks on the first finding that has a place."""
    page.goto(ui.address("/"))
    button = page.get_by_role("button", name="Show in the timeline").first
    button.wait_for()
    # The list is complete when the summary counts what is within limits.
    until(page, "document.querySelector('.panel .findings, .findings') && "
                "/within limits/.test(document.body.innerText)", 60_000)
    # A panel above that fills moves the button away from a click.
    until(page, "!document.querySelector('[aria-busy=true]')", 60_000)
    button = page.get_by_role("button", name="Show in the timeline").first
    status = button.locator("xpath=following-sibling::*[@role='status']")
    button.click()
    until_left(page, status)


def until_left(page, status):
    """Waits until the timeline shows a selection, or the button says why it leads nowhere."""
    said = None
    for _ in range(1200):
        if "/timeline" in page.url:
            until(page, "window.tracesql?.state()?.selection", 60_000)
            return
        try:
            said = status.inner_text(timeout=500)
        except TimeoutError:
            # The page has gone on to the timeline.
            continue
        if said and "Looking" not in said:
            return
        page.wait_for_timeout(25)
    check(False, f"a click on a finding leads nowhere; beside the button: {said!r}")


def drive(browser, ui):
    """Follows the findings of a server; the rules whose findings have a place and have none."""
    page = window(browser, ui, reduced_motion="reduce")
    # A page that asks for nothing by itself.
    page.goto(ui.address("/sql"))
    rows = ui.post("findings", None)["rows"]
    found = [row for row in rows if row["status"] == "finding" and row["evidence"]]
    located, lost = [], []
    if found:
        for finding, place in zip(found, places(page, ui, found)):
            if place.get("href"):
                exists(ui, finding, place["href"])
                located.append(finding["rule"])
            else:
                check(place.get("reason"), f"{finding['rule']}: neither a place nor a reason")
                lost.append(finding["rule"])
        follow(page, ui)
    is_clean(page, ui, check, "the way of findings")
    page.context.close()
    return located, lost


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address", nargs="+")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    args = parser.parse_args()
    with browser_of(args.chromium) as browser:
        each = [drive(browser, Ui(address)) for address in args.address]
    located = {rule for have, _ in each for rule in have}
    lost = {rule for _, without in each for rule in without}
    check(lost <= SUMS, f"findings without a place: {sorted(lost - SUMS)}")
    check(len(located) >= 12, f"only findings of these rules have a place: {sorted(located)}")
    print(f"ok: {json.dumps({'located': sorted(located), 'without': sorted(lost)})}")


if __name__ == "__main__":
    main()
