"""Checks of the flame graph of a report's page: zooming, the search, and the other views of the
stacks. `report.py` calls them with a page that is open."""

import re

from checks import check, exact_ns, open_tab

BARS = ".flame button"


def zoom(page):
    bars = page.locator(BARS)
    bars.first.wait_for()
    all_bars = bars.count()
    check(all_bars > 3, "the flame graph has no frames")
    named = [bar for bar in bars.all()[1:] if bar.text_content()]
    named[len(named) // 2].click()
    check(page.get_by_role("button", name="Whole graph").is_visible(), "a click does not zoom")
    page.get_by_role("button", name="Whole graph").click()
    check(bars.count() == all_bars, "zooming out does not show the whole graph")


def status(page):
    """What the line above the graph says about a search: frames, exact sum, percent."""
    line = page.locator("#panel-flame .path")
    text, exact = line.text_content(), line.get_attribute("title")
    found = re.match(r"([\d,]+) frames? match(?:es)?, .+, ([\d.]+) % of all\.", text)
    check(found and exact, f"the search says {text!r}, {exact!r}")
    return exact_ns(found[1]), exact_ns(exact), float(found[2])


def measures(page):
    choice = page.locator("#panel-flame select")
    if choice.count() == 0:
        return [(None, "host_ns")]
    names = {"Host time": "host_ns", "Device time": "device_ns"}
    return [(t, names[t]) for t in choice.locator("option").all_inner_texts() if t in names]


def search(page, expected):
    """The search gives the sums that SQL gives, in every measure and every view of the stacks.
    `expected` is {text: {measure: sum}}, with the sum of all under ""."""
    field = page.get_by_label("Find frames")
    for title, measure in measures(page):
        if title:
            page.locator("#panel-flame select").select_option(title)
        for text, sums in expected.items():
            if not text or measure not in sums:
                continue
            field.fill(text)
            whole = expected[""][measure]
            frames, exact, percent = status(page)
            where = f"{measure} of {text}"
            check(exact == sums[measure], f"{where} is {exact}, and {sums[measure]} by SQL")
            share = 100 * exact / whole
            check(abs(percent - share) < 0.06, f"{where} is {percent} %, and {share} % by SQL")
            if exact > 0:
                check(frames > 0, f"{where} is in no frame")
                marked = page.locator(f"{BARS}.match, {BARS}.near").count()
                check(marked > 0, f"{where} is marked nowhere")
            page.get_by_label("Callers below").check()
            check(status(page)[:2] == (frames, exact), f"{where} differs among callers")
            page.get_by_label("Callers below").uncheck()
    check(page.evaluate("location.hash").startswith("#flame"), "the address names no search")
    field.fill("")


def narrow_hits(page, data):
    """A frame that is too narrow to be drawn is found, and the drawn frame around it is marked."""
    section = data["sections"]["flame"]
    rows = [row for row in section["rows"] if row[0] == 0]
    total = [row[5] for row in rows]
    for at in range(len(rows) - 1, 0, -1):
        total[rows[at][2]] += total[at]
    names = [section["names"][row[3]] for row in rows]
    known = {n: sum(t for m, t in zip(names, total) if n.lower() in m.lower()) for n in set(names)}
    small = [n for n in known if 0 < known[n] < total[0] / 3000 and not n.startswith("(")]
    if not small:
        return
    page.get_by_label("Find frames").fill(sorted(small)[0])
    frames, exact, _ = status(page)
    check(frames > 0 and exact > 0, f"{small[0]} is not found")
    check(page.locator(f"{BARS}.match").count() == 0, f"{small[0]} is drawn")
    check(page.locator(f"{BARS}.near").count() > 0, f"nothing is marked around {small[0]}")
    page.get_by_label("Find frames").fill("")


def views(page):
    """Without Python, with the callers below, and unfolded: the whole stays the same."""

    def whole():
        lines = page.locator(BARS).first.get_attribute("title").split("\n")
        return next(line for line in lines if line.endswith(" of all"))

    before, bars = whole(), page.locator(BARS).count()
    page.get_by_label("Hide Python frames").check()
    check(page.locator(f"{BARS}.k-python").count() == 0, "Python frames are still there")
    check(whole() == before, f"without Python the whole is {whole()} instead of {before}")
    page.get_by_label("Callers below").check()
    check(whole() == before, f"of callers the whole is {whole()} instead of {before}")
    page.get_by_label("Hide Python frames").uncheck()
    page.get_by_label("Callers below").uncheck()
    page.get_by_label("Fold leading frames").uncheck()
    check(page.locator(BARS).count() >= bars, "unfolding hides frames")
    page.get_by_label("Fold leading frames").check()
    check(page.locator(BARS).count() == bars, "the graph is not what it was")
    box = page.locator(".flame").bounding_box()
    deepest = max(
        b["y"] + b["height"] for b in (x.bounding_box() for x in page.locator(BARS).all()[-40:])
    )
    check(deepest <= box["y"] + box["height"] + 1, "the deepest frames are out of sight")
    check(page.locator("#panel-flame .kinds span").count() > 1, "the colours have no legend")


def all_checks(page, data, expected):
    open_tab(page, "Flame graph")
    zoom(page)
    views(page)
    search(page, expected)
    open_tab(page, "Flame graph")
    if "host_ns" in [m for _, m in measures(page)][:1]:
        narrow_hits(page, data)
