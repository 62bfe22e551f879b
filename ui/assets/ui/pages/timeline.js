// The page of the timeline: waits until the traces are read, then shows their tracks.
import { el } from "../../web/base/elements.js";
import { frame } from "../base/frame.js";
import { api, events, ready } from "../base/session.js";
import { visible } from "../base/text.js";
import { modelOf } from "../timeline/model.js";
import { buildTimeline } from "../timeline/page.js";

const main = frame({ title: "Timeline", page: "timeline" });
main.classList.add("timeline");
const message = el("p", { class: "notice tl-message", role: "status" }, "Reading the traces …");
main.append(message);
let isBegun = false;

async function begin() {
  if (isBegun) return;
  isBegun = true;
  message.textContent = "Building the timeline …";
  try {
    await show(modelOf(await api("/api/tracks")));
  } catch (error) {
    message.textContent = visible(error.message, 1000);
    message.classList.add("bad");
    main.replaceChildren(message);
  }
}

async function show(model) {
  if (!model.tracks.size) {
    message.textContent = "No open trace has a track with events or counters.";
    window.tracesql = { visible: () => [], state: () => ({ rows: 0 }), ready: Promise.resolve() };
    return;
  }
  await buildTimeline(main, model, api);
}

function follow(state) {
  if (state.status === "open") begin();
  if (state.status !== "failed") return;
  message.textContent = visible(state.error || "The traces cannot be read.", 1000);
  message.classList.add("bad");
}

ready.then(
  (state) => {
    follow(state);
    if (state.status === "reading") events((name, data) => name === "state" && follow(data));
  },
  () => {
    // The frame says what is wrong.
  },
);
