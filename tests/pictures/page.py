"""The report page as a PNG, which carries the text that it shows."""

import io

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

WIDTH = 1400
HEIGHT = 900
# The key of the text in the PNG.
TEXT = "Shown text"


def open_page(tools, page_file, chromium):
    """Open a report in a light window. Return the browser and its page."""
    browser = tools.chromium.launch(
        executable_path=str(chromium), args=["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    )
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, offline=True, color_scheme="light"
    )
    page = context.new_page()
    page.goto(page_file.resolve().as_uri())
    page.locator("[role=tab]").first.wait_for()
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(300)
    return browser, page


def shown_text(page):
    """The text of all elements that begin within the window, one line each."""
    lines = page.evaluate(
        """() => {
          const found = [];
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const text = node.textContent.replace(/\\s+/g, " ").trim();
            const element = node.parentElement;
            if (!text || element.closest("script, style, [hidden]")) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            const box = range.getBoundingClientRect();
            if (box.width && box.height && box.top < window.innerHeight) found.push(text);
          }
          return found;
        }"""
    )
    return "\n".join(lines)


def picture(page_file, chromium):
    """Return a picture of the first tab as PNG, and the text that it shows."""
    with sync_playwright() as tools:
        browser, page = open_page(tools, page_file, chromium)
        text = shown_text(page)
        shot = page.screenshot()
        browser.close()
    # With 256 colours that are spread over all colours of the page, no colour changes visibly, and
    # the file is a third as large.
    image = Image.open(io.BytesIO(shot)).convert("RGB")
    image = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    info = PngInfo()
    info.add_itxt(TEXT, text, zip=True)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True, pnginfo=info)
    return out.getvalue(), text


def text_of(png):
    """The text and the size of a picture that `picture` made."""
    image = Image.open(io.BytesIO(png))
    image.load()
    return image.text.get(TEXT, ""), image.size
