"""The pages of `tracesql ui` as PNGs, which carry the texts that they show."""

import io
import subprocess
import time
from contextlib import contextmanager

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

from page import TEXT, shown_text

WIDTH, HEIGHT = 1400, 860


@contextmanager
def server(program, inputs, environment):
    """The address of a server over these inputs."""
    command = [str(program), "ui", *map(str, inputs), "--no-open", "--port", "0"]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(10)


def until(page, condition):
    """Waits for a condition. The policy of the pages forbids what playwright has for this."""
    end = time.monotonic() + 60
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise SystemExit(f"pictures: the page never says {condition}")
        page.wait_for_timeout(50)


def picture(address, path, state, chromium, ready, act=None):
    """A picture of a page with a state in its address, as soon as `ready` holds. `act(page)` is
    what a reader does before it."""
    origin, token = address.split("/#")
    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=str(chromium),
            args=["--no-sandbox", "--disable-gpu", "--hide-scrollbars"],
        )
        context = browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="light",
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.goto(f"{origin}{path}#{token}{state}")
        until(page, ready)
        if act:
            act(page)
        # Times differ from run to run.
        page.evaluate(
            "document.querySelectorAll('.result-head .quiet').forEach((e) => { e.hidden = true; })"
        )
        page.wait_for_timeout(400)
        text, shot = shown_text(page), page.screenshot()
        browser.close()
    image = Image.open(io.BytesIO(shot)).convert("RGB")
    image = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    info = PngInfo()
    info.add_itxt(TEXT, text, zip=True)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True, pnginfo=info)
    return out.getvalue()
