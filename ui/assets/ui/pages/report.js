// The page of `tracesql report`, with its own scripts, over the answer of the server.
import { el } from "../../web/base/elements.js";
import { frame } from "../base/frame.js";
import { api } from "../base/session.js";
import { withState } from "../parts/page.js";
import { errorText, notice } from "../parts/panel.js";

// The report's scripts look for elements by these names, which the frame uses too.
const main = frame({ title: "Report", page: "report" });
main.id = "report-page";
document.getElementById("theme").id = "frame-theme";

const waiting = el("p", { class: "notice", role: "status" }, "The report is being computed …");
const place = el("div", { class: "column-of-panels" }, waiting);
main.append(place);
let isStarted = false;

function skeleton(data) {
  const choice = el(
    "label",
    { class: "trace-choice", id: "trace-choice" },
    el("span", {}, "Trace"),
    el("select", { id: "trace", "aria-label": "Trace" }),
  );
  const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Sections", id: "tabs" });
  const holder = el("div", { id: "data", hidden: true });
  holder.textContent = JSON.stringify(data);
  return [
    el(
      "div",
      { class: "report-top" },
      el("div", { class: "edges tabs-edges" }, tabs),
      choice,
      // The frame has a switch of its own.
      el("button", { type: "button", id: "theme", hidden: true }),
    ),
    el("div", { class: "panels", id: "main", role: "tabpanel" }),
    el("footer", { id: "footer" }),
    holder,
  ];
}

// The report's charts are those of another copy of the module, which does not hear of the frame's
// switch between light and dark.
async function followTheme() {
  const { redrawSurfaces } = await import("/web/charts/surface.js");
  const observer = new MutationObserver(() => redrawSurfaces());
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

async function start() {
  isStarted = true;
  try {
    main.replaceChildren(...skeleton(await api("/api/report")));
    await import("/assets/report/js/app.js");
    await followTheme();
  } catch (error) {
    main.replaceChildren(el("div", { class: "column-of-panels" }, notice(errorText(error), true)));
  }
}

function draw({ status, error }) {
  if (status === "failed") waiting.replaceWith(notice(error || "The traces cannot be read.", true));
  else if (status === "reading") waiting.textContent = "The traces are being read …";
  else if (!isStarted) {
    waiting.textContent = "The report is being computed …";
    start();
  }
}

withState(draw).catch((error) => place.append(notice(errorText(error), true)));
