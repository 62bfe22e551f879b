#!/usr/bin/env python3
"""Attacks `tracesql ui` from a page of another origin, and under a name that leads here.

    foreign.py ADDRESS [--chromium /usr/bin/chromium]

Checked: for every kind of request that a page can make (fetch, forms, pictures, scripts, styles,
frames, WebSocket, EventSource, windows, workers), the foreign page reads nothing and no query runs.
"""

import argparse
import shutil
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from checks import check  # noqa: E402
from server import Ui  # noqa: E402

from playwright.sync_api import sync_playwright  # noqa: E402

# Each attack gives what it could read, or null.
ATTACKS = """
async ({ origin, token }) => {
  const found = {};
  const note = async (name, act) => {
    try {
      found[name] = await act();
    } catch {
      found[name] = null;
    }
  };
  const read = async (response) => (response.type === "opaque" ? null : response.text());
  const body = JSON.stringify({ sql: "SELECT 1" });
  const bearer = { Authorization: `Bearer ${token}` };
  const json = { ...bearer, "Content-Type": "application/json" };
  const loaded = (tag, attribute, address) => new Promise((done) => {
    const made = document.createElement(tag);
    made.onload = () => done("loaded");
    made.onerror = () => done(null);
    made[attribute] = address;
    document.body.append(made);
    setTimeout(() => done(null), 1500);
  });
  await note("fetch page", async () => read(await fetch(`${origin}/`)));
  await note("fetch data", async () => read(await fetch(`${origin}/api/state`, { headers: bearer })));
  await note("simple fetch", async () => read(await fetch(`${origin}/api/query`, { method: "POST", body, mode: "no-cors" })));
  await note("fetch query", async () => read(await fetch(`${origin}/api/query`, { method: "POST", body, headers: json })));
  await note("script", () => loaded("script", "src", `${origin}/assets/ui/base/session.js`));
  await note("picture", () => loaded("img", "src", `${origin}/api/state`));
  await note("style", () => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    return new Promise((done) => {
      link.onload = () => done("loaded");
      link.onerror = () => done(null);
      link.href = `${origin}/assets/ui/css/base.css`;
      document.head.append(link);
      setTimeout(() => done(null), 1500);
    });
  });
  await note("frame", async () => {
    const frame = document.createElement("iframe");
    frame.src = `${origin}/`;
    document.body.append(frame);
    await new Promise((done) => setTimeout(done, 1000));
    return frame.contentDocument?.body?.innerText || null;
  });
  await note("socket", () => new Promise((done) => {
    const socket = new WebSocket(origin.replace("http", "ws") + "/api/events");
    socket.onopen = () => done("open");
    socket.onerror = () => done(null);
  }));
  await note("events", () => new Promise((done) => {
    const source = new EventSource(`${origin}/api/events`);
    source.onmessage = (event) => done(event.data);
    source.addEventListener("state", (event) => done(event.data));
    source.onerror = () => { source.close(); done(null); };
  }));
  await note("worker", () => new Promise((done) => {
    const worker = new Worker(`${origin}/assets/ui/base/session.js`);
    worker.onmessage = () => done("runs");
    worker.onerror = () => done(null);
    setTimeout(() => done(null), 1000);
  }));
  await note("window", async () => {
    const opened = window.open(`${origin}/`);
    await new Promise((done) => setTimeout(done, 1500));
    try {
      return opened?.document?.body?.innerText || null;
    } catch {
      return null;
    }
  });
  await note("channel", () => new Promise((done) => {
    const channel = new BroadcastChannel("tracesql-token");
    channel.onmessage = ({ data }) => done(data.token ?? null);
    channel.postMessage({ kind: "ask" });
    setTimeout(() => done(null), 800);
  }));
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: `${origin}/api/query`, enctype: "text/plain", target: "hole" });
  const hole = document.createElement("iframe");
  hole.name = "hole";
  const field = document.createElement("input");
  Object.assign(field, { name: '{"sql": "SELECT 1", "x": "', value: '"}' });
  form.append(field);
  document.body.append(hole, form);
  await note("form", async () => {
    form.submit();
    await new Promise((done) => setTimeout(done, 1000));
    return hole.contentDocument?.body?.innerText || null;
  });
  return found;
}
"""


class Foreign(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>foreign</title><body></body>")

    def log_message(self, *args):
        pass


def attack(page, ui, token, what):
    found = page.evaluate(ATTACKS, {"origin": ui.origin, "token": token})
    read = {name: text[:80] for name, text in found.items() if text}
    check(not read, f"{what} reads {read}")
    check(len(found) >= 14, f"{what} tried only {sorted(found)}")


# Addresses of pages that run SQL. The texts are looked for in what the pages ask.
MARK = "41 + 1 AS planted"
LINKS = [
    f"/sql#sql=SELECT%20{MARK}&run=1",
    f"/timeline#track_sql=SELECT%20{MARK}",
    f"/timeline#find=name%20IN%20(SELECT%20{MARK})&find_mode=sql",
    f"/stacks#stack_sql=SELECT%20{MARK}",
]


def run_by(page, context, ui, fragment):
    """The requests with the marked SQL, after a page opens this address in a tab of its own."""
    asked = []
    note = lambda request: MARK in (request.post_data or "") and asked.append(request.url)
    context.on("request", note)
    with context.expect_page() as opened:
        page.evaluate("(href) => { window.open(href); }", ui.origin + fragment)
    opened.value.locator("main").wait_for()
    opened.value.wait_for_timeout(2500)
    said = opened.value.locator(".frame-trouble").inner_text()
    context.remove_listener("request", note)
    opened.value.close()
    return asked, said


def links(page, own, context, ui):
    for fragment in LINKS:
        asked, said = run_by(page, context, ui, fragment)
        ran = [url for url in asked if "/api/spans" not in url and "/api/complete" not in url]
        check(not ran, f"a link of a foreign page, {fragment}, runs SQL: {ran}")
        check("was not run" in said, f"the page of {fragment} says {said!r}")
    asked, said = run_by(own, context, ui, LINKS[0])
    check(any("/api/query" in url for url in asked), f"our own link runs: {asked}")
    check(said == "", f"our own link says {said!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    args = parser.parse_args()
    ui = Ui(args.address)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = ui.origin.rsplit(":", 1)[1]
    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=args.chromium,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                # A name whose owner lets it lead to this machine.
                "--host-resolver-rules=MAP evil.example 127.0.0.1",
            ],
        )
        context = browser.new_context()
        # The user has the pages open.
        own = context.new_page()
        own.goto(ui.address("/sql"))
        own.locator("#sql").wait_for()
        ui.rows("SELECT 1")

        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        attack(page, ui, "0" * 64, "a foreign page")
        # Even a page that knows the token reads nothing, because browsers name its origin.
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        attack(page, ui, ui.token, "a foreign page with the token")

        page.goto(f"http://127.0.0.1:{server.server_port}/")
        links(page, own, context, ui)

        rebound = context.new_page()
        answer = rebound.goto(f"http://evil.example:{port}/")
        check(answer.status == 403, f"under another name the server answers {answer.status}")
        for path in ("/api/state", "/assets/ui/base/session.js", "/timeline"):
            status = rebound.evaluate(
                "([path, token]) => fetch(path, { headers: { Authorization: `Bearer ${token}` } })"
                ".then((r) => r.status)",
                [path, ui.token],
            )
            check(status == 403, f"{path} under another name is answered with {status}")
        browser.close()
    server.shutdown()
    print("ok: nothing was read")


if __name__ == "__main__":
    main()
