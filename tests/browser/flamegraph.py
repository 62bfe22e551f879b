#!/usr/bin/env python3
"""Drive a flame graph in Chromium: its texts fit, it zooms, it is searched, it follows the window.

flamegraph.py GRAPH.svg [--chromium /usr/bin/chromium]
"""

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

from checks import check

FRAMES = """() => [...document.querySelectorAll('g.f')]
  .filter((g) => g.style.display !== 'none')
  .map((g) => {
    const rect = g.querySelector('rect').getBoundingClientRect();
    const text = g.querySelector('text')?.getBoundingClientRect();
    return {
      name: g.querySelector('title').textContent.split('\\n')[0],
      label: g.querySelector('text')?.textContent ?? '',
      left: rect.left, right: rect.right, top: rect.top,
      textRight: text ? text.right : null,
    };
  })"""


def resize(page, width):
    """Makes the window this wide, and waits until the graph has followed."""
    page.set_viewport_size({"width": width, "height": 700})
    page.wait_for_function(
        """(width) => [...document.querySelectorAll('g.f')].some((g) => {
          const box = g.querySelector('rect').getBoundingClientRect();
          return Math.abs(box.right - (width - 10)) < 1 && Math.abs(box.left - 10) < 1;
        })""",
        arg=width,
        timeout=5000,
    )


def frames_fit(page, width):
    """All frames lie in the window, and each text in its frame."""
    resize(page, width)
    frames = page.evaluate(FRAMES)
    check(len(frames) > 10, f"{len(frames)} frames at {width} px")
    for frame in frames:
        inside = frame["left"] >= 9 and frame["right"] <= width - 9
        check(inside, f"{frame['name']} leaves the window of {width} px")
        if frame["textRight"]:
            fits = frame["textRight"] <= frame["right"] + 0.5
            check(fits, f"{frame['label']} leaves its frame at {width} px")
    return frames


def legend_fits(page):
    """No text of the legend overlaps the next colour."""
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('#legend > *')].map((e) => {
          const box = e.getBoundingClientRect();
          return { left: box.left, right: box.right, top: box.top, text: e.textContent };
        })"""
    )
    for one, after in zip(boxes, boxes[1:]):
        same_row = abs(one["top"] - after["top"]) < 8
        free = not same_row or one["right"] <= after["left"] + 0.5
        check(free, f"{one['text']} overlaps {after['text']} in the legend")


def zooms(page):
    """A click makes a frame as wide as the window, and the way back shows all frames."""
    resize(page, 1200)
    before = page.evaluate(FRAMES)
    inner = [f for f in before if f["label"] and 60 < f["right"] - f["left"] < 400]
    check(len(inner) > 2, "no frame to zoom into")
    chosen = inner[len(inner) // 2]
    page.mouse.click((chosen["left"] + chosen["right"]) / 2, chosen["top"] + 8)
    page.locator("#back").wait_for(state="visible")
    after = page.evaluate(FRAMES)
    wide = [f for f in after if f["name"] == chosen["name"] and f["right"] - f["left"] > 1100]
    check(wide, f"{chosen['name']} is not as wide as the window")
    check(len(after) < len(before), "the other frames are still there")
    page.locator("#back").click()
    check(page.evaluate(FRAMES) == before, "the way back shows something else")


def finds(page):
    """A search marks frames and adds up their shares without counting any twice."""
    answers = {"allreduce": None, "all": "100.00 %"}
    for text, share in answers.items():
        page.once("dialog", lambda dialog, text=text: dialog.accept(text))
        page.locator("#find").click()
        hits = page.locator("g.f.hit").count()
        said = page.locator("#details").text_content()
        check(hits > 0 and f"{hits} drawn frames" in said, f"{text}: {hits} hits, {said}")
        check(share is None or share in said, f"{text}: {said}")
    page.once("dialog", lambda dialog: dialog.accept(""))
    page.locator("#find").click()
    check(page.locator("g.f.hit").count() == 0, "an empty search leaves marks")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("graph", type=Path)
    parser.add_argument(
        "--chromium", default=shutil.which("chromium") or shutil.which("google-chrome")
    )
    args = parser.parse_args()
    problems = []
    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=args.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_context(viewport={"width": 1200, "height": 700}).new_page()
        page.on("pageerror", lambda e: problems.append(str(e)))
        page.goto(args.graph.resolve().as_uri())
        legend_fits(page)
        for width in (1200, 800, 1900):
            frames_fit(page, width)
        zooms(page)
        finds(page)
        browser.close()
    check(not problems, f"errors of the script: {problems}")
    print("ok: the flame graph fits, zooms and finds")


if __name__ == "__main__":
    main()
