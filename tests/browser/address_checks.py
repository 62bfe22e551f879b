"""Checks that the address of a report's page leads to its tabs and rows, and that Back goes one tab
back. `report.py` calls them with a page that is open."""

from urllib.parse import quote

from checks import check, has_tab, open_tab


def shown(page):
    return page.locator("[role=tab][aria-selected=true]").get_attribute("id")


def address(page):
    return page.evaluate("decodeURIComponent(location.hash)")


def tabs(page):
    """A changed address shows its tab, and each tab is an entry of the history."""
    first, last = "tab-overview", "tab-provenance"
    page.evaluate("location.hash = '#overview'")
    page.wait_for_function("document.querySelector('#tab-overview[aria-selected=true]')")
    page.evaluate("location.hash = '#provenance'")
    page.wait_for_function("document.querySelector('#tab-provenance[aria-selected=true]')")
    check(shown(page) == last, "a changed address does not show its tab")
    page.locator(f"#{first}").click()
    check(address(page) == "#overview", f"the address is {address(page)}")
    page.go_back()
    page.wait_for_function("document.querySelector('#tab-provenance[aria-selected=true]')")
    page.go_back()
    page.wait_for_function("document.querySelector('#tab-overview[aria-selected=true]')")
    page.go_forward()
    page.wait_for_function("document.querySelector('#tab-provenance[aria-selected=true]')")
    before = page.evaluate("history.length")
    page.locator(f"#{last}").click()
    check(page.evaluate("history.length") == before, "the same tab again is a new entry")
    page.evaluate("location.hash = '#nosuchtab@77/%'")
    page.wait_for_function("document.querySelector('#tab-overview[aria-selected=true]')")


def items(page, data):
    """A chosen operator is part of the address, which leads to its row again."""
    if not has_tab(page, "Operators"):
        return
    open_tab(page, "Operators")
    rows = page.locator(".grid").first.locator("tbody tr:not(.space):not(.rest)")
    if rows.count() < 3:
        return
    rows.nth(2).click()
    name = page.locator("dl.record dd").first.text_content()
    check(address(page) == f"#operators/{name}", f"the address of {name} is {address(page)}")
    open_tab(page, "Overview")
    page.evaluate("(hash) => { location.hash = hash }", f"#operators/{quote(name, safe='')}")
    page.locator("dl.record").wait_for()
    found = page.locator("dl.record dd").first.text_content()
    check(found == name, f"the address of {name} leads to {found}")
    page.locator(".grid tr[aria-selected=true]").first.wait_for()
    open_tab(page, "Overview")


def several_traces(page, data):
    """The address names the trace, also when it is another one than the first."""
    if len(data["traces"]) < 2:
        return
    page.evaluate("location.hash = '#overview@1'")
    page.wait_for_function("document.getElementById('trace').value === '1'")
    page.go_back()
    page.wait_for_function("document.getElementById('trace').value === '0'")


def empty_tabs(page, data):
    """A tab with nothing to show is grey, and gives the reason."""
    for tab in page.locator("[role=tab].empty").all():
        reason = tab.get_attribute("title")
        check(len(reason) > 25, f"{tab.text_content()} gives no reason: {reason}")
        tab.click()
        text = page.locator("#main .notice").first.text_content()
        check(len(text) > 10, f"{tab.text_content()} is empty without a text")
    page.locator("#tab-overview").click()


def all_checks(page, data):
    tabs(page)
    items(page, data)
    several_traces(page, data)
    empty_tabs(page, data)
