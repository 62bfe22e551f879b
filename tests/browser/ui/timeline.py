#!/usr/bin/env python3
"""Uses the timeline of `tracesql ui` as a reader would. It stops at the first error.

    timeline.py ADDRESS… [--chromium /usr/bin/chromium] [--pictures-only]

Checked: at five places, the rectangles are those of `lanes.py`, which computes them from rows; no
two of a lane overlap; a click selects the event below it and shows its exact times; the arrow of a
launch leads to the launch; the sums of an area are those of SQL; keys move, zoom, mark and select;
the search finds what SQL counts; a query becomes a track; the address holds the state. With
--pictures-only, only rectangles are checked.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from checks import check  # noqa: E402
from lanes import Drawn, drawn, events_of, instants, lanes_of  # noqa: E402
from server import Ui, browser_of, is_clean, until, window  # noqa: E402


def settled(page):
    """The state when all that is in sight is drawn."""
    until(page, "window.tracesql !== undefined", timeout=60_000)
    page.evaluate("window.tracesql.ready")
    return page.evaluate("window.tracesql.state()")


def state_when(page, condition, what):
    """The state as soon as a condition on `s` holds."""
    try:
        until(
            page,
            f"(() => {{ const s = window.tracesql?.state(); return s && ({condition}); }})()",
            timeout=10_000,
        )
    except Exception:
        check(False, f"{what}: {page.evaluate('window.tracesql.state()')}")
    return settled(page)


class Oracle:
    """Rows of tracks, read once."""

    def __init__(self, ui):
        self.ui, self.known = ui, {}
        self.tracks = ui.post("tracks", None)

    def of(self, key):
        """Events and lanes of a track; None if it has too many rows to compare, or no rows."""
        if key not in self.known:
            track = next(t for t in self.tracks["tracks"] if t["key"] == key)
            self.known[key] = None
            if track["track_id"] is not None and track["events"] + track["instants"] < 10_000:
                trace = self.tracks["traces"][track["trace"]]
                events = events_of(
                    self.ui, trace["trace_id"], track["track_id"], int(trace["shift_ns"])
                )
                self.known[key] = events, lanes_of(events)
        return self.known[key]


def pictures(page, oracle):
    """Compares rectangles at five places; returns how many were compared."""
    end = oracle.tracks["end"]
    compared = 0
    for start, stop in [
        (0, end * 1.005 + 1),
        (end * 0.5, end * 0.6),
        (end * 0.3, end * 0.31),
        (end * 0.2, end * 0.201),
        (end * 0.7, end),
    ]:
        page.evaluate(f"window.tracesql.show({start}, {max(stop, start + 10)})")
        view = settled(page)
        shown = {}
        for event in page.evaluate("window.tracesql.visible()"):
            shown.setdefault(event["key"], []).append(event)
        for block in page.evaluate("window.tracesql.blocks()"):
            rows = oracle.of(block["key"])
            if rows is None:
                continue
            own = shown.get(block["key"], [])
            slices = [e for e in own if e["kind"] == "slice"]
            got = {Drawn(*(e[k] for k in ("lane", "id", "start", "end", "count"))) for e in slices}
            wanted = drawn(*rows, block, view)
            check(
                got == wanted,
                f"track {block['key']} from {start} to {stop}: drawn and not in SQL "
                f"{sorted(got - wanted)[:3]}, in SQL and not drawn {sorted(wanted - got)[:3]}",
            )
            marks = {(e["start"], e["count"]) for e in own if e["kind"] == "instant"}
            check(marks == instants(rows[0], block, view), f"instants of {block['key']} differ")
            ends = {}
            for event in sorted(slices, key=lambda e: e["start"]):
                before = ends.get(event["lane"], float("-inf"))
                check(before <= event["start"], f"{event['name']} lies over another event")
                ends[event["lane"]] = event["end"]
            compared += len(got) + len(marks)
    check(compared > 0, "nothing was compared")
    return compared


def click(page, event):
    """Clicks into the middle of a rectangle."""
    area = page.locator(".tl-area canvas").bounding_box()
    x = max(event["x"], 0) + min(event["width"], area["width"] - max(event["x"], 0)) / 2
    page.mouse.click(area["x"] + x, area["y"] + event["y"] + event["height"] / 2)


def widest(page, condition="true"):
    """The widest event in sight for which a condition on `e` holds."""
    area = page.locator(".tl-area canvas").bounding_box()
    return page.evaluate(
        "([height, width]) => window.tracesql.visible().filter((e) => e.kind === 'slice' && "
        f"e.y > 0 && e.y + e.height < height && e.x > 0 && e.width < 0.6 * width && ({condition}))"
        ".sort((a, b) => b.width - a.width)[0] ?? null",
        [area["height"], area["width"]],
    )


def selecting(page, oracle, ui):
    page.keyboard.press("Digit0")
    settled(page)
    event = widest(page, "e.count === 1")
    check(event is not None, "no single event is in sight")
    click(page, event)
    found = state_when(page, f"s.selection?.id === {event['id']}", f"a click on {event['name']}")
    drawer = page.locator(".tl-drawer")
    drawer.get_by_text("start since the origin").wait_for()
    text = drawer.inner_text()
    check(f"{event['start']:,} ns" in text, f"the details have no {event['start']:,} ns")
    before = found["end"] - found["start"]
    page.keyboard.press("KeyF")
    page.keyboard.press("KeyF")
    zoomed = state_when(page, f"s.end - s.start < {before} || {before} <= 20", "f twice")
    check(zoomed["start"] <= event["start"], "f does not show the event")
    page.keyboard.press("KeyR")
    area = state_when(page, "s.selection?.kind === 'area'", "r")["selection"]
    check((area["start"], area["end"]) == (event["start"], event["end"]), f"r selects {area}")
    drawer.get_by_text("By name").wait_for()
    sums(page, ui, area)
    page.keyboard.press("Escape")
    state_when(page, "!s.selection", "Escape")


def sums(page, ui, area):
    """The table of an area has the figures that SQL gives for it."""
    answer = ui.post(
        "area", {"tracks": area["keys"], "start": area["start"], "end": area["end"]}
    )
    trace = oracle_trace(ui, area["keys"][0])
    shift, track = int(trace["shift_ns"]), area["keys"][0].split(":")[1]
    begin, end = area["start"] + shift, area["end"] + shift
    rows = ui.rows(
        f"SELECT name, count(*), coalesce(sum(CASE WHEN dur_ns > 0 THEN "
        f"least(end_ns, {end}) - greatest(ts_ns, {begin}) END), 0) FROM events "
        f"WHERE trace_id = '{trace['trace_id']}' AND track_id = {track} AND depth IS NOT NULL "
        f"AND (dur_ns > 0 AND ts_ns < {end} AND end_ns > {begin} "
        f"OR coalesce(dur_ns, 0) = 0 AND ts_ns >= {begin} AND ts_ns < {end}) GROUP BY name"
    )
    wanted = {name: (calls, total) for name, calls, total in rows}
    columns = [c["name"] for c in answer["by_name"]["columns"]]
    at = [columns.index(name) for name in ("name", "calls", "total_ns")]
    got = {}
    for row in answer["by_name"]["rows"]:
        name, calls, total = (row[i] for i in at)
        known = got.get(name, (0, 0))
        got[name] = (known[0] + calls, known[1] + (total or 0))
    check(got == wanted, f"sums of the area are {got}, and by SQL {wanted}")
    shown = page.locator(".tl-drawer table").first.locator("tbody tr:not(.space)").count()
    check(shown == min(len(answer["by_name"]["rows"]), shown) > 0, "the table of sums is empty")


def oracle_trace(ui, key):
    return ui.post("tracks", None)["traces"][int(key.split(":")[0])]


def launch(page, ui):
    """From device work along the arrow to its launch."""
    rows = ui.rows(
        "SELECT trace_id, event_id, launch_id FROM kernels WHERE launch_id IS NOT NULL "
        "ORDER BY dur_ns DESC, event_id LIMIT 1"
    )
    if not rows:
        return
    trace, event, call = rows[0]
    page.evaluate(f"location.hash = 'trace={trace}&event_id={event}'")
    state_when(page, f"s.selection?.id === {event} && s.arrows > 0", "an address with an event")
    page.locator(".tl-drawer").get_by_role("button", name=f"event {call}").first.wait_for()
    page.locator(".tl-area canvas").focus()
    page.keyboard.press("BracketLeft")
    state_when(page, f"s.selection?.id === {call}", "[ does not lead to the launch")
    page.keyboard.press("Escape")


def keys(page):
    page.locator(".tl-area canvas").focus()
    page.keyboard.press("Digit0")
    whole = settled(page)
    page.keyboard.down("KeyW")
    state_when(page, f"s.end - s.start < {0.8 * (whole['end'] - whole['start'])}", "w")
    page.keyboard.up("KeyW")
    inner = settled(page)
    page.keyboard.down("KeyA")
    state_when(page, f"s.start < {inner['start']} || s.start === 0", "a")
    page.keyboard.up("KeyA")
    page.keyboard.press("Digit0")
    back = state_when(page, f"s.end - s.start >= {whole['end'] - whole['start'] - 1}", "0")
    check(back["start"] == whole["start"], "0 does not show all")
    event = widest(page)
    click(page, event)
    state_when(page, "s.selection", "a click")
    page.keyboard.press("Shift+KeyM")
    until(page, "location.hash.includes('marks=')")
    page.keyboard.press("Escape")
    page.keyboard.press("Slash")
    check(
        page.evaluate("document.activeElement.classList.contains('tl-search')"),
        "/ does not lead to the search",
    )
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Slash")
    page.get_by_role("dialog").get_by_role("heading", name="Keys").wait_for()
    page.keyboard.press("Escape")


def search(page, ui):
    name = ui.rows(
        "SELECT name, count(*) AS n FROM events WHERE depth IS NOT NULL AND ts_ns IS NOT NULL "
        "AND name IS NOT NULL AND length(name) BETWEEN 2 AND 60 GROUP BY name "
        "ORDER BY n DESC, name LIMIT 1"
    )[0][0]
    literal = name.replace("'", "''").lower()
    count = ui.rows(
        "SELECT count(*) FROM events WHERE depth IS NOT NULL AND ts_ns IS NOT NULL "
        f"AND position('{literal}' IN lower(name)) > 0"
    )[0][0]
    field = page.get_by_label("Find events")
    field.fill(name)
    field.press("Enter")
    state_when(page, f"s.hits === {min(count, 1000)} && s.selection", f"the search for {name}")
    said = page.locator(".tl-count").inner_text()
    check(f"{count:,}" in said, f"the search says {said!r} for {count} hits")
    field.press("Escape")
    page.keyboard.press("Escape")


def debug_track(page, ui):
    sql = "SELECT ts_ns, dur_ns, name FROM events WHERE dur_ns > 0 ORDER BY dur_ns DESC LIMIT 50"
    if len(ui.rows("SELECT trace_id FROM traces")) > 1:
        sql = sql.replace("SELECT ", "SELECT trace_id, ", 1)
    rows = len(ui.rows(sql))
    before = settled(page)["rows"]
    page.goto(f"{ui.origin}/timeline#track_sql={urlquote(sql)}")
    page.reload()
    state_when(page, f"s.rows > {before}", "a query as a track")
    own = page.evaluate(
        "window.tracesql.visible().filter((e) => e.key.startsWith('sql:'))"
        ".reduce((sum, e) => sum + e.count, 0)"
    )
    check(own == rows, f"the track of {rows} rows shows {own}")
    page.goto(f"{ui.origin}/timeline")
    page.reload()
    settled(page)


def urlquote(text):
    from urllib.parse import quote

    return quote(text, safe="")


def address(page, ui):
    """A copied address shows the same."""
    page.locator(".tl-area canvas").focus()
    event = widest(page)
    click(page, event)
    state_when(page, "s.selection", "a click")
    page.keyboard.press("KeyF")
    page.keyboard.press("KeyF")
    until(page, "location.hash.includes('view=')")
    page.wait_for_timeout(600)
    before = settled(page)
    page.reload()
    after = state_when(page, "s.selection", "the address after a reload")
    check(after["selection"]["id"] == before["selection"]["id"], "another event is selected")
    moved = abs(after["start"] - before["start"]) / (before["end"] - before["start"])
    check(moved < 0.01, f"the view moved by {moved:.1%} of its width")


def unknown(page, ui):
    """Parts of an address that name nothing are said, and a trace that is not open selects none."""
    for fragment, names in [
        ("trace=nope&event_id=1", ["trace=nope"]),
        ("view=x&order=best", ["view=x", "order=best"]),
        ("tracks=nope", ["tracks=nope"]),
    ]:
        page.goto(ui.address("/timeline") + "&" + fragment)
        page.reload()
        settled(page)
        text = f"document.body.innerText.includes('mean nothing here: {', '.join(names)}')"
        until(page, text, timeout=10_000)
        check(not page.evaluate("window.tracesql.state().selection"), f"{fragment} selects")


def drive(browser, ui, pictures_only):
    # Movements take no time then.
    page = window(browser, ui, reduced_motion="reduce", viewport={"width": 1600, "height": 900})
    page.goto(ui.address("/timeline"))
    settled(page)
    oracle = Oracle(ui)
    compared = pictures(page, oracle)
    if not pictures_only:
        selecting(page, oracle, ui)
        launch(page, ui)
        keys(page)
        search(page, ui)
        debug_track(page, ui)
        address(page, ui)
        unknown(page, ui)
    is_clean(page, ui, check, "the timeline")
    page.context.close()
    return compared


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address", nargs="+")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--pictures-only", action="store_true")
    args = parser.parse_args()
    compared = []
    with browser_of(args.chromium) as browser:
        for one in args.address:
            compared.append(drive(browser, Ui(one), args.pictures_only))
    print(f"ok: {json.dumps({'compared': compared})}")


if __name__ == "__main__":
    main()
