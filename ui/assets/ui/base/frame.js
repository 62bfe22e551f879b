// The frame of every page: links to all pages, the open traces, what the server does, light and
// dark.
import { el } from "../../web/base/elements.js";
import { many } from "../../web/base/format.js";
import { events, onTrouble, ready } from "./session.js";
import { visible } from "./text.js";
import { themeSwitch } from "./theme.js";

const PAGES = [
  ["start", "Start", "/"],
  ["sql", "SQL", "/sql"],
  ["views", "Views", "/views"],
  ["timeline", "Timeline", "/timeline"],
  ["stacks", "Stacks", "/stacks"],
  ["compare", "Compare", "/compare"],
  ["report", "Report", "/report"],
];

/** The last part of a path, which tells traces apart. */
export function fileName(path) {
  return String(path).split("/").filter(Boolean).pop() || String(path);
}

/**
 * Builds the header into the page and returns the main element. `page` is the key of the page, and
 * `title` goes into the title of the window.
 */
export function frame({ title, page }) {
  const traces = el("span", { class: "frame-traces" });
  const status = el("span", { class: "frame-status", role: "status" });
  const trouble = el("p", { class: "notice bad frame-trouble", role: "alert", hidden: true });
  const main = el("main", { id: "main", class: `page-${page}`, tabindex: "-1" });
  const header = el(
    "header",
    { class: "top frame" },
    el(
      "div",
      { class: "top-line" },
      el("a", { class: "skip", href: "#main", onclick: (e) => skip(e, main) }, "Skip to content"),
      el(
        "a",
        { class: "brand", href: "/" },
        el("span", { class: "brand-mark", "aria-hidden": "true" }),
        el("span", {}, "tracesql"),
      ),
      navigation(page),
      traces,
      status,
      themeSwitch(),
    ),
  );
  document.title = `${title} · tracesql`;
  document.body.prepend(header, trouble);
  header.parentElement.insertBefore(main, trouble.nextSibling);
  // On narrow windows the links are wider than the window.
  const current = header.querySelector("[aria-current]");
  current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  follow(traces, status);
  onTrouble((message) => {
    trouble.textContent = message;
    trouble.hidden = false;
  });
  return main;
}

// The fragment belongs to the state of the page, so the link moves the focus by script.
function skip(event, main) {
  event.preventDefault();
  main.focus();
}

function navigation(page) {
  const links = PAGES.map(([key, text, href]) =>
    el("a", { href, "aria-current": key === page ? "page" : null }, text),
  );
  return el("nav", { class: "frame-nav", "aria-label": "Pages" }, links);
}

function follow(traces, status) {
  const show = (state) => {
    showTraces(traces, state.traces || []);
    status.textContent = statusOf(state);
    status.classList.toggle("bad", state.status === "failed");
  };
  ready.then((state) => {
    show(state);
    events((name, data) => {
      if (name === "state") show(data);
      if (name === "progress") status.textContent = progressOf(data);
    });
  }, nothing);
}

const nothing = () => {};

function showTraces(element, traces) {
  const names = traces.map((t) => visible(fileName(t.path || t.trace_id), 200));
  const all = names.slice(0, 60).join("\n");
  element.title = names.length > 60 ? `${all}\n… ${many(names.length, "trace")}` : all;
  element.textContent = names.length > 1 ? many(names.length, "trace") : names[0] || "";
}

function statusOf(state) {
  if (state.status === "failed") return visible(state.error || "The traces cannot be read.", 300);
  return state.status === "reading" ? progressOf(state.progress) : "";
}

function progressOf(progress) {
  if (!progress) return "Reading …";
  const { files, files_done: done, read_pct: pct } = progress;
  if (files !== undefined && done >= files) return "";
  const share = pct === undefined || pct === null ? "" : `, ${pct} %`;
  return `Reading: ${done} of ${many(files, "file")}${share}`;
}
