"""A server of `tracesql ui` in a browser: pages, what they must not do, and SQL as the oracle."""

import json
import time
import urllib.request
from contextlib import contextmanager

from playwright.sync_api import sync_playwright

# What every page runs before its own scripts: it keeps what the policy of the page refused.
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refused.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


class Ui:
    """The pages at the address that the program printed."""

    def __init__(self, address):
        self.origin, self.token = address.strip().split("/#token=")
        self.problems, self.elsewhere, self.allowed = [], [], []

    def post(self, path, body):
        """The answer of an address below /api, asked without the browser."""
        request = urllib.request.Request(
            f"{self.origin}/api/{path}",
            json.dumps(body).encode() if body is not None else None,
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def rows(self, sql):
        """The rows of a statement."""
        return self.post("query", {"sql": sql})["rows"]

    def address(self, page, state=""):
        """The address of a page for a browser that has no token yet."""
        own = f"&{state}" if state else ""
        return f"{self.origin}{page}#token={self.token}{own}"

    def watch(self, page):
        """Notes errors of a page and requests to other hosts."""
        page.on("console", lambda m: self.note(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: self.note(str(e)))

        def look(route):
            url = route.request.url
            if url.startswith((f"{self.origin}/", "blob:", "data:")):
                route.continue_()
            else:
                self.elsewhere.append(url)
                route.abort()

        page.route("**/*", look)
        page.add_init_script(WATCH)
        return page

    def note(self, text):
        if not any(part in text for part in self.allowed):
            self.problems.append(text)


def until(page, condition, timeout=30_000):
    """Waits until a condition in JavaScript holds. `wait_for_function` of playwright evaluates its
    text in the page, which the policy of our pages forbids."""
    end = time.monotonic() + timeout / 1000
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {timeout} ms: {condition}")
        page.wait_for_timeout(25)


@contextmanager
def browser_of(chromium):
    """Chromium without a window."""
    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser
        browser.close()


def window(browser, ui, **options):
    """A page in a window of its own."""
    options = {
        "viewport": {"width": 1360, "height": 900},
        "color_scheme": "light",
        "accept_downloads": True,
        **options,
    }
    return ui.watch(browser.new_context(**options).new_page())


def is_clean(page, ui, check, name):
    """Nothing failed, nothing was refused, nothing went elsewhere, and no name became a script."""
    refused = page.evaluate("window.refused")
    check(not refused, f"{name}: the policy refused {refused[:5]}")
    check(not ui.elsewhere, f"{name} asks {ui.elsewhere[:5]}")
    check(not ui.problems, f"{name}: on the console: {ui.problems[:5]}")
    check(
        page.evaluate(
            "window.pwned === undefined && !document.querySelector('main script, main iframe')"
        ),
        f"{name}: a name became more than text",
    )
