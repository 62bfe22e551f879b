#!/usr/bin/env python3
"""Zoom into the timeline of `tracesql ui` from 10 s to 1 µs, a picture for each factor of ten.

    bench/ui_zoom.py INPUT OUT [--program TRACESQL] [--chromium FILE] [--sheet FILE]

INPUT is a trace or a store, such as one of bench/make_trace.py. The view is centred on the middle
of the longest event of a device, or of the longest event. OUT is a folder for frame-NN.png. Printed
is a line for each frame: the width of the view, the rectangles in sight, and the time until they
were drawn. A frame without rectangles is an error. --sheet writes all frames as one picture.
"""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser" / "ui"))
sys.path.insert(0, str(ROOT / "tests" / "browser"))
sys.dont_write_bytecode = True

from server import Ui, browser_of, until, window  # noqa: E402

WIDTHS_NS = [10**power for power in range(10, 2, -1)]
MIDDLE = """
    SELECT trace_id, ts_ns + dur_ns / 2 FROM events
    WHERE depth IS NOT NULL AND dur_ns BETWEEN 1000 AND 1000000 AND cat IN ('kernel', 'cpu_op')
    ORDER BY cat = 'kernel' DESC, abs(ts_ns - (SELECT avg(ts_ns) FROM events)), event_id LIMIT 1
"""


def zoom(page, ui, out):
    page.goto(ui.address("/timeline"))
    until(page, "window.tracesql !== undefined", 600_000)
    page.evaluate("window.tracesql.ready")
    trace, middle = ui.rows(MIDDLE)[0]
    known = ui.post("tracks", None)["traces"]
    shift = next(int(t["shift_ns"]) for t in known if t["trace_id"] == trace)
    middle = int(middle) - shift
    frames = []
    for number, width in enumerate(WIDTHS_NS):
        begun = time.monotonic()
        start = max(0, middle - width // 2)
        page.evaluate(f"window.tracesql.show({start}, {start + width})")
        page.evaluate("window.tracesql.ready")
        took = 1e3 * (time.monotonic() - begun)
        count = page.evaluate("window.tracesql.visible().length")
        print(f"{width:>14,} ns  {count:>7,} rectangles  {took:7.1f} ms", flush=True)
        if not count:
            sys.exit(f"ui_zoom: nothing is drawn at {width:,} ns")
        frames.append(out / f"frame-{number:02}.png")
        page.screenshot(path=str(frames[-1]))
    return frames


def sheet(frames, file, columns=2, width=700):
    """All frames, smaller, in one picture."""
    images = [Image.open(frame).convert("RGB") for frame in frames]
    height = round(images[0].height * width / images[0].width)
    rows = -(-len(images) // columns)
    whole = Image.new("RGB", (columns * width, rows * height), "white")
    for number, image in enumerate(images):
        place = (number % columns * width, number // columns * height)
        whole.paste(image.resize((width - 6, height - 6)), place)
    whole.quantize(64).save(file, optimize=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input")
    parser.add_argument("out", type=Path)
    parser.add_argument("--program", default=str(ROOT / "target/release/tracesql"))
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--sheet", type=Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    command = [args.program, "ui", args.input, "--no-open", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        ui = Ui(process.stdout.readline())
        with browser_of(args.chromium) as browser:
            view = {"width": 1400, "height": 700}
            page = window(browser, ui, viewport=view, reduced_motion="reduce")
            frames = zoom(page, ui, args.out)
    finally:
        process.terminate()
        process.wait(10)
    if args.sheet:
        sheet(frames, args.sheet)


if __name__ == "__main__":
    main()
