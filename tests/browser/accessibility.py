#!/usr/bin/env python3
"""Runs axe-core on every tab of a page of `tracesql report` or `tracesql compare`, in light and in
dark, in a wide and in a narrow window. It stops at the first finding that axe-core calls serious or
critical.

    accessibility.py PAGE.html [--chromium /usr/bin/chromium]

axe-core comes with the Python package axe_playwright_python. It runs through the browser's
debugging protocol, which the policy of the page does not concern.
"""

import argparse
import shutil
from importlib.resources import files
from pathlib import Path

from playwright.sync_api import sync_playwright

from checks import check

GRAVE = ("serious", "critical")


def audit(page, where):
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    grave = [v for v in found["violations"] if v["impact"] in GRAVE]
    lines = [
        f"{v['impact']} {v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}"
        f" ({len(v['nodes'])} elements): {v['nodes'][0]['failureSummary']}"
        for v in grave
    ]
    check(not grave, f"{where}: " + "\n".join(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument(
        "--chromium", default=shutil.which("chromium") or shutil.which("google-chrome")
    )
    args = parser.parse_args()
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    audits = 0
    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=args.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for theme, width in (("light", 1400), ("dark", 1400), ("light", 420)):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
            page.goto(args.page.resolve().as_uri())
            page.evaluate(axe)
            for key in page.evaluate(
                "[...document.querySelectorAll('[role=tab]')].map((t) => t.id)"
            ):
                page.locator(f"#{key}").click()
                page.evaluate(
                    "document.querySelectorAll('main details').forEach((d) => d.open = true)"
                )
                row = page.locator(".grid tbody tr:not(.space):not(.rest)").first
                if row.count() and width > 1000:
                    row.click()
                if key == "tab-flame" and page.get_by_label("Find frames").count():
                    page.get_by_label("Find frames").fill("a")
                audit(page, f"{key}, {theme}, {width} pixels wide")
                audits += 1
            page.close()
        browser.close()
    print(f"ok: {audits} audits")


if __name__ == "__main__":
    main()
