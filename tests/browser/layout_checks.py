"""Checks of the layout of a report's page in windows from phones to large screens. `report.py`
calls them with a page that is open."""

from checks import check

WIDTHS = (420, 768, 1100, 1400, 1900, 2560)

# Words of headings and of titles of cards that lie on more than one line.
BROKEN_WORDS = """() => {
    const broken = [];
    for (const head of document.querySelectorAll('main th button, main .card .label, main h2')) {
        const texts = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const { data } = texts.currentNode;
            for (const { 0: word, index } of data.matchAll(/[^\\s-]+/g)) {
                const range = document.createRange();
                range.setStart(texts.currentNode, index);
                range.setEnd(texts.currentNode, index + word.length);
                const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
                if (lines.size > 1) broken.push(word);
            }
        }
        if (head.scrollWidth > head.clientWidth + 1) broken.push(`${head.textContent} is cut`);
    }
    return broken;
}"""

# Tables whose last column cannot be reached, or that scroll without a hint.
CUT_TABLES = """() => [...document.querySelectorAll('main .grid')].filter((grid) => {
    const box = grid.closest('.edges');
    const last = grid.querySelector('th:last-child');
    if (!last || !grid.clientWidth) return false;
    const isWide = grid.scrollWidth > grid.clientWidth + 1;
    const isMarked = box.classList.contains('more-right') &&
        getComputedStyle(box.querySelector('.scroll-hint')).display !== 'none';
    grid.scrollLeft = grid.scrollWidth;
    const end = last.getBoundingClientRect().right;
    const isCut = end > grid.getBoundingClientRect().right + 1;
    grid.scrollLeft = 0;
    return isCut || isWide !== isMarked;
}).map((grid) => grid.getAttribute('aria-label'))"""

# Paragraphs with lines of more than about 100 characters: the mean width of a letter is measured.
LONG_LINES = """() => [...document.querySelectorAll('main p, main .message, footer')].filter((p) => {
    const pen = document.createElement('canvas').getContext('2d');
    const style = getComputedStyle(p);
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const text = p.textContent.trim();
    const letter = pen.measureText(text).width / text.length;
    return text.length > 120 && p.getBoundingClientRect().width / letter > 115;
}).map((p) => p.textContent.slice(0, 60))"""


def widths(page):
    """No word of a heading is broken, no column is cut, nothing is wider than the window, and the
    window is used."""
    size = page.viewport_size
    tabs = page.evaluate("[...document.querySelectorAll('[role=tab]')].map((t) => t.id)")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for key in tabs:
            page.locator(f"#{key}").click()
            page.evaluate("document.querySelectorAll('main details').forEach((d) => d.open = true)")
            page.evaluate(
                "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))"
            )
            where = f"{key} in a window of {width} pixels"
            broken = page.evaluate(BROKEN_WORDS)
            check(not broken, f"{where} breaks {broken[:5]}")
            cut = page.evaluate(CUT_TABLES)
            check(not cut, f"{where} cuts the tables {cut}, or gives no hint that they scroll")
            lines = page.evaluate(LONG_LINES)
            check(not lines, f"{where} has long lines: {lines[:3]}")
            wide = page.evaluate("document.documentElement.scrollWidth")
            check(wide <= width, f"{where} is {wide} pixels wide")
            used = page.evaluate(
                "Math.max(...[...document.querySelectorAll('main .panel')]"
                ".map((p) => p.getBoundingClientRect().right))"
            )
            check(used > 0.95 * width - 30, f"{where} ends at {used}")
    tab_bar(page)
    page.set_viewport_size(size)


def tab_bar(page):
    """In a narrow window the bar of tabs shows that it scrolls."""
    page.set_viewport_size({"width": 420, "height": 900})
    page.locator("[role=tab]").first.click()
    bar = page.locator("#tabs")
    if bar.evaluate("(b) => b.scrollWidth > b.clientWidth + 1"):
        check(
            bar.evaluate("(b) => b.parentElement.classList.contains('more-right')"),
            "tabs are out of sight, and nothing shows it",
        )
