#!/usr/bin/env python3
"""Measure `tracesql ui`: start, viewports, panning, details, tables, completion, cancelling.

    bench/ui.py INPUT [--program TRACESQL] [--chromium FILE] [--seconds 10] [--json]

INPUT is a trace or a store, such as one of bench/make_trace.py. Printed is one line for each
figure: its name, the value, and the limit that it is meant to keep on 2 cores at 5 million events.
Times of the server come from its own header `Server-Timing`; frames are counted by the browser,
headless and without a GPU. Needs Python with tests/requirements.txt and Chromium.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
sys.path.insert(0, str(ROOT / "tests" / "browser" / "ui"))
sys.dont_write_bytecode = True

from server import Ui, browser_of, until, window  # noqa: E402

ENDLESS = "SELECT count(*) FROM events a, events b, events c WHERE a.name < b.name || c.name"
WIDE = "SELECT event_id, track_id, pid, tid, ts_ns, dur_ns, end_ns, depth, name, cat FROM events"
# Frame times while keys are held, from the browser's own clock.
FRAMES = """
async (count) => {
  const times = [];
  const long = [];
  new PerformanceObserver((list) => long.push(...list.getEntries().map((e) => e.duration)))
    .observe({ type: "longtask" });
  let last = null;
  while (times.length < count) {
    const now = await new Promise((done) => requestAnimationFrame(done));
    if (last !== null) times.push(now - last);
    last = now;
  }
  return { times, long };
}
"""

FIGURES = []


def note(name, value, unit, limit=None):
    FIGURES.append({"name": name, "value": round(value, 2), "unit": unit, "limit": limit})
    wanted = "" if limit is None else f"  (limit {limit:g})"
    print(f"{name:52} {value:10.2f} {unit}{wanted}", flush=True)


def p95(values):
    return sorted(values)[max(0, int(0.95 * len(values)) - 1)]


def milliseconds(act):
    begun = time.monotonic()
    result = act()
    return 1e3 * (time.monotonic() - begun), result


def server_time(ui, path, body):
    """The time of the server for an answer, in milliseconds, and the answer's bytes."""
    request = urllib.request.Request(
        f"{ui.origin}/api/{path}",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {ui.token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=600) as answer:
        size = len(answer.read())
        return float(answer.headers["Server-Timing"].split("dur=")[1]), size


def memory(process):
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def viewports(ui, tracks):
    keys = [t["key"] for t in tracks["tracks"] if t["events"] or t["instants"]][:512]
    end = tracks["end"]
    for share in (1, 0.1, 0.01, 0.001):
        times, sizes = [], []
        for place in range(9):
            start = (end - end * share) * place / 8
            window_ns = end * share
            # A page asks for three screens of 1,600 columns.
            body = {
                "tracks": keys,
                "start": max(0, start - window_ns),
                "end": min(end + 1, start + 2 * window_ns),
                "step": max(1, window_ns / 1600),
                "format": "binary",
            }
            took, size = server_time(ui, "slices", body)
            times.append(took)
            sizes.append(size)
        note(f"viewport of {share:.1%}, server", p95(times), "ms", 15)
        note(f"viewport of {share:.1%}, answer", max(sizes) / 1024, "KiB")


def interactions(ui, tracks):
    rows = ui.rows("SELECT trace_id, event_id FROM events WHERE dur_ns > 0 LIMIT 5")
    times = [
        milliseconds(lambda r=row: ui.post("event", {"trace": r[0], "event_id": r[1]}))[0]
        for row in rows
    ]
    note("details of an event", p95(times), "ms", 100)
    busiest = max(tracks["tracks"], key=lambda t: t["events"])
    area = {"tracks": [busiest["key"]], "start": 0, "end": tracks["end"] / 10}
    note("sums of a tenth of the busiest track", milliseconds(lambda: ui.post("area", area))[0], "ms", 150)
    area = {"tracks": [busiest["key"]], "start": 0, "end": tracks["end"] + 1}
    note("sums of all of the busiest track", milliseconds(lambda: ui.post("area", area))[0], "ms")
    for mode, text in (("contains", "gemm"), ("regex", "^aten::(mm|add)"), ("sql", "dur_ns > 100000")):
        body = {"text": text, "mode": mode}
        note(f"search, {mode}", milliseconds(lambda b=body: ui.post("search", b))[0], "ms", 300)
    body = {"text": "SELECT e. FROM events e", "at": 9}
    ui.post("complete", body)
    times = [milliseconds(lambda: ui.post("complete", body))[0] for _ in range(9)]
    note("completion", p95(times), "ms", 50)
    note("findings, all", milliseconds(lambda: ui.post("findings", None))[0] / 1e3, "s", 8)


def frames(page, count):
    return page.evaluate(FRAMES, count)


def moving(page, ui, seconds):
    page.goto(ui.address("/timeline"))
    until(page, "window.tracesql !== undefined", 600_000)
    page.evaluate("window.tracesql.ready")
    page.locator(".tl-area canvas").focus()
    # Into the middle, so that there is room on both sides.
    page.evaluate("(() => { const s = window.tracesql.state(); const e = s.end; "
                  "window.tracesql.show(0.45 * e, 0.55 * e); })()")
    page.evaluate("window.tracesql.ready")
    page.keyboard.down("KeyD")
    found = frames(page, int(60 * seconds / 2))
    page.keyboard.up("KeyD")
    note("panning, frame, median", statistics.median(found["times"]), "ms", 17)
    note("panning, frame, p95", p95(found["times"]), "ms", 34)
    note("panning, longest task", max(found["long"], default=0), "ms", 100)
    page.evaluate("window.tracesql.ready")
    times, long = [], []
    for key in ("KeyW", "KeyS"):
        page.keyboard.down(key)
        found = frames(page, int(60 * seconds / 4))
        page.keyboard.up(key)
        times += found["times"]
        long += found["long"]
    note("zooming, frame, median", statistics.median(times), "ms", 17)
    note("zooming, frame, p95", p95(times), "ms", 34)
    note("zooming, longest task", max(long, default=0), "ms", 100)
    heap = page.evaluate("performance.memory?.usedJSHeapSize ?? 0") / 2**20
    note("heap of the page", heap, "MiB", 300)


def tables(page, ui):
    page.goto(ui.address("/sql"))
    page.locator("#sql").wait_for()
    sql = f"{WIDE} LIMIT 10000"
    page.locator("#sql").fill(sql)
    begun = time.monotonic()
    page.locator("#sql").press("Control+Enter")
    until(page, "document.querySelectorAll('.result-block tbody tr').length > 10", 60_000)
    note("10,000 rows of 10 columns, query and table", 1e3 * (time.monotonic() - begun), "ms", 300)
    page.evaluate(
        "(() => { const g = document.querySelector('.result-grid'); let y = 0;"
        " const go = () => { y += 200; g.scrollTop = y; if (y < 200000) requestAnimationFrame(go); };"
        " requestAnimationFrame(go); })()"
    )
    found = frames(page, 240)
    note("scrolling a table, frame, median", statistics.median(found["times"]), "ms", 17)
    note("scrolling a table, frame, p95", p95(found["times"]), "ms", 34)


def cancelling(ui, process):
    before, took = None, []
    for n in range(100):
        name = f"cancelled-{n}"
        body = json.dumps({"id": name, "sql": ENDLESS}).encode()
        head = {"Authorization": f"Bearer {ui.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{ui.origin}/api/query", body, head)
        import threading

        def ask(r=request):
            try:
                urllib.request.urlopen(r, timeout=60).read()
            except OSError:
                pass

        running = threading.Thread(target=ask)
        running.start()
        time.sleep(0.05)
        begun = time.monotonic()
        ui.post("cancel", {"id": name})
        running.join()
        took.append(1e3 * (time.monotonic() - begun))
        if n == 19:
            before = memory(process)
    note("cancelling a query", p95(took), "ms", 1000)
    time.sleep(1)
    note("memory after 100 cancelled queries, more than after 20", memory(process) - before, "MiB", 20)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input")
    parser.add_argument("--program", default=str(ROOT / "target/release/tracesql"))
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--seconds", type=float, default=10, help="time of moving")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    # Users have a browser open, and its start says nothing about the program.
    with browser_of(args.chromium) as browser:
        begun = time.monotonic()
        process = subprocess.Popen(
            [args.program, "ui", args.input, "--no-open", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ,
        )
        try:
            ui = Ui(process.stdout.readline())
            note("from start to the address", 1e3 * (time.monotonic() - begun), "ms", 300)
            page = window(browser, ui, viewport={"width": 1600, "height": 900})
            page.goto(ui.address("/timeline"))
            until(page, "window.tracesql !== undefined", 600_000)
            page.evaluate("window.tracesql.ready")
            note("from start to the first picture", time.monotonic() - begun, "s", 2)
            tracks = ui.post("tracks", None)
            events = sum(t["events"] for t in tracks["tracks"])
            note("events with a duration", events, "")
            size = tracks["status"]["bytes"]
            note("index, bytes for each of them", size / max(1, events), "bytes", 28)
            viewports(ui, tracks)
            moving(page, ui, args.seconds)
            page.goto(f"{ui.origin}/sql#sql={quote('SELECT 1')}")
            tables(page, ui)
            page.close()
            interactions(ui, tracks)
            cancelling(ui, process)
            note("memory of the server", memory(process), "MiB")
        finally:
            process.terminate()
            process.wait(10)
    if args.json:
        args.json.write_text(json.dumps(FIGURES, indent=1) + "\n")


if __name__ == "__main__":
    main()
