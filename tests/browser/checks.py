"""What the browser tests share."""

import sys
from pathlib import Path


def check(condition, what):
    if not condition:
        sys.exit(f"{Path(sys.argv[0]).name}: {what}")


def open_tab(page, title):
    page.get_by_role("tab", name=title).first.click()


def has_tab(page, title):
    return page.get_by_role("tab", name=title).count() > 0


def exact_ns(text):
    """The whole number of nanoseconds in a text such as "1,234 ns"."""
    return int(text.split(" ")[0].replace(",", ""))
