"""Checks of the charts of a report's page: tooltips, legends, zooming, keys, the sunburst, the heat
map. `report.py` calls them with a page that is open."""

from checks import check, exact_ns, open_tab

TOOLTIP = ".tooltip:not([hidden])"


def settle(page):
    """Waits until what was done so far is drawn."""
    frame = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    page.evaluate(frame)


def pixels(chart):
    """What a chart shows, as a text that differs when the picture differs."""
    settle(chart.page)
    return chart.locator("canvas").evaluate("(canvas) => canvas.toDataURL()")


def hover(chart, across, down=0.5):
    """Points at a place of a chart, given as shares of its width and height."""
    chart.scroll_into_view_if_needed()
    settle(chart.page)
    box = chart.bounding_box()
    chart.page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])


def tip(page):
    """The title of the tooltip and its lines as {label: value}; None if it is not shown."""
    box = page.locator(TOOLTIP)
    if box.count() == 0:
        return None
    lines = {}
    for line in box.locator(".tip > div").all():
        label, value = line.locator("span:not(.swatch)").all_text_contents()
        lines[label] = value
    return box.locator("strong").text_content(), lines


def rows_of(page, data, section):
    """The rows of a section for the trace that is shown, as dictionaries."""
    names = [c["name"] for c in data["sections"][section]["columns"]]
    trace = int(page.evaluate("document.getElementById('trace').value"))
    rows = data["sections"][section]["rows"]
    return [dict(zip(names, row)) for row in rows if row[0] == trace]


def step_bars(page, data):
    """Each bar has a tooltip with its total; the legend hides a series and shows it again."""
    steps = rows_of(page, data, "steps")
    if not steps:
        return
    open_tab(page, "Steps and devices")
    panel = page.locator("#panel-steps")
    chart = panel.locator(".chart")
    found = {}
    for at in range(8, 100):
        hover(chart, at / 100)
        if tip(page):
            title, lines = tip(page)
            found[title] = exact_ns(lines["total"])
    if steps[0]["first_step"] is not None and len(steps) < 20:
        wanted = {f"step {s['first_step']}": s["total_ns"] for s in steps if s["steps"] == 1}
        check(
            wanted.items() <= found.items(),
            f"tooltips of bars say {found}, wanted {wanted}",
        )
    check(found, "bars have no tooltips")
    page.mouse.move(1, 1)
    check(tip(page) is None, "the tooltip stays when the pointer leaves")
    legend(page, panel, chart)


def legend(page, panel, chart):
    buttons = panel.locator(".chart-legend button")
    if buttons.count() < 2:
        return
    before = pixels(chart)
    name = buttons.first.text_content()
    buttons.first.click()
    check(buttons.first.get_attribute("aria-pressed") == "false", f"{name} is not marked hidden")
    check(pixels(chart) != before, f"hiding {name} changes nothing")
    hover(chart, 0.5)
    check(name not in (tip(page) or ("", {}))[1], f"the tooltip still names {name}")
    buttons.first.click()
    page.mouse.move(1, 1)
    check(pixels(chart) == before, f"showing {name} again does not restore the chart")
    for button in buttons.all():
        button.click()
    pressed = panel.locator('.chart-legend button[aria-pressed="true"]').count()
    check(pressed == 1, f"the legend leaves {pressed} series instead of the last one")


def memory_lines(page, data):
    """Values at a point, zooming by wheel, keys and double click, and the tooltip by keys."""
    open_tab(page, "Memory")
    panel = page.locator("#panel-memory_curve").first
    if panel.count() == 0 or panel.locator(".chart").count() == 0:
        return
    chart = panel.locator(".chart")
    whole = pixels(chart)
    hover(chart, 0.6)
    title, lines = tip(page)
    check(title.startswith("after ") and "allocated" in lines, f"the tooltip says {title} {lines}")

    seen = panel.locator(".zoom-range")
    share = "(range) => parseFloat(range.style.width)"
    check(seen.evaluate(share) == 100, "a new chart does not show all")
    hover(chart, 0.5)
    page.mouse.wheel(0, -400)
    pixels(chart)
    check(seen.evaluate(share) < 60, "the wheel does not zoom in")
    part = pixels(chart)
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 100, steps=4)
    page.mouse.up()
    page.mouse.move(1, 1)
    check(pixels(chart) != part, "a drag does not move the part in sight")
    hover(chart, 0.5)
    chart.dblclick()
    page.mouse.move(1, 1)
    check(pixels(chart) == whole, "a double click does not show all again")

    chart.focus()
    page.keyboard.press("ArrowRight")
    first = tip(page)
    page.keyboard.press("ArrowRight")
    check(first and tip(page) and tip(page) != first, "arrow keys do not go from point to point")
    page.keyboard.press("+")
    pixels(chart)
    check(seen.evaluate(share) == 50, "the key + does not zoom in")
    page.keyboard.press("-")
    page.keyboard.press("Escape")
    check(tip(page) is None, "Escape does not hide the tooltip")
    handle = panel.locator(".zoom-handle").last
    handle.focus()
    page.keyboard.press("ArrowLeft")
    pixels(chart)
    check(seen.evaluate(share) == 98, "a key on a handle does not move it")


def sunburst(page):
    """A frame says what it is, a click goes inside, a click on the middle goes back."""
    open_tab(page, "Sunburst")
    panel = page.locator("#panel-call_graph")
    chart = panel.locator(".chart")
    if chart.count() == 0:
        return
    hover(chart, 0.5, 0.5)
    check(tip(page) is None, "the middle has a tooltip")
    box = chart.bounding_box()
    inner = min(box["width"], box["height"]) / 2 * 0.2
    at = {"x": box["width"] / 2 + inner, "y": box["height"] / 2 + 2}
    chart.hover(position=at)
    title, lines = tip(page)
    names = panel.locator(".toplist button").all_text_contents()
    check(title in names, f"the frame at the right is {title}, not one of {names}")
    check({"exact", "of all", "itself"} <= set(lines), f"the tooltip says only {lines}")
    path = panel.locator(".crumbs").locator("b, button")
    depth = path.count()
    before = pixels(chart)
    chart.click(position=at)
    if path.count() == depth:
        return  # A frame with nothing inside.
    found = path.all_text_contents()
    check(path.count() > depth and title.startswith(found[depth]), f"{found} is not inside {title}")
    check(pixels(chart) != before, "a click on a frame draws nothing new")
    while path.count() > depth:
        inside = path.count()
        chart.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
        check(path.count() < inside, "a click on the middle does not go back")
    page.mouse.move(1, 1)
    check(pixels(chart) == before, "going back does not draw the same again")


def busy_map(page, data):
    """Each row of the heat map says which device it is and how busy that was."""
    open_tab(page, "Ranks")
    panel = page.locator("#panel-busy_devices")
    check(panel.count() == 1, "there is no heat map of several ranks")
    names = [c["name"] for c in data["sections"]["device_timeline"]["columns"]]
    rows = [dict(zip(names, r)) for r in data["sections"]["device_timeline"]["rows"]]
    traces = list(dict.fromkeys(r["trace_id"] for r in rows))
    chart = panel.locator(".chart")
    for i, trace in enumerate(traces):
        hover(chart, 0.45, (i + 0.5) * 26 / chart.bounding_box()["height"])
        title, lines = tip(page)
        rank = data["traces"][trace]["rank"]
        check(title.startswith(f"rank {rank}"), f"row {i} is {title}")
        busy = [r["busy_time_ns"] for r in rows if r["trace_id"] == trace]
        check(exact_ns(lines["exact"]) in busy, f"{lines['exact']} is not among {busy[:5]}")


def themes(page):
    """Dark draws charts anew in other colours."""
    open_tab(page, "Memory")
    chart = page.locator(".chart").first
    if chart.count() == 0:
        return
    light = pixels(chart)
    page.locator("#theme").click()
    check(pixels(chart) != light, "a chart looks the same in dark and in light")
    page.locator("#theme").click()
    check(pixels(chart) == light, "the way back from dark changes a chart")


def narrow(page):
    """Charts follow the width of the window, and nothing makes the page wider than it."""
    size = page.viewport_size
    page.set_viewport_size({"width": 500, "height": 900})
    for key in page.evaluate("[...document.querySelectorAll('[role=tab]')].map((t) => t.id)"):
        page.locator(f"#{key}").click()
        wide = page.evaluate("document.documentElement.scrollWidth")
        check(wide <= 500, f"{key} is {wide} pixels wide in a window of 500")
        for chart in page.locator(".chart").all():
            pixels(chart)
            same = "(c) => c.querySelector('canvas').width === Math.round(c.clientWidth)"
            check(chart.evaluate(same), f"a chart of {key} does not follow its size")
    page.set_viewport_size(size)


def all_charts(page, data, has_tab):
    if has_tab(page, "Steps and devices"):
        step_bars(page, data)
    if has_tab(page, "Memory"):
        memory_lines(page, data)
        themes(page)
    if has_tab(page, "Sunburst"):
        sunburst(page)
    if has_tab(page, "Ranks") and rows_of(page, data, "device_timeline"):
        busy_map(page, data)
    narrow(page)
