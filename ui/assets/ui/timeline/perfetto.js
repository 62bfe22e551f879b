// Hands a trace to the page of Perfetto by a message between windows. Perfetto's page is remote,
// so it is opened only after a question; the bytes go from window to window and over no network.
import { el } from "../../web/base/elements.js";
import { bytes } from "../../web/base/format.js";

const ORIGIN = "https://ui.perfetto.dev";
const PING_MS = 200;
/** The page has so long to answer, in milliseconds. */
const PATIENCE_MS = 60_000;

/** Asks, then exports and hands over; `ask` asks the server. */
export function openInPerfetto(tl, ask) {
  const traces = tl.model.traces.filter((t) => !t.isLocal);
  const choice = el(
    "select",
    { "aria-label": "Trace" },
    traces.map((t) => el("option", { value: t.index }, t.label)),
  );
  const part = el("input", { type: "checkbox" });
  const status = el("p", { role: "status", class: "quiet" });
  const open = el("button", { type: "button", class: "ghost primary" }, "Open ui.perfetto.dev");
  const cancel = el("button", { type: "button", class: "ghost" }, "Cancel");
  const dialog = el(
    "dialog",
    { class: "tl-dialog", "aria-label": "Open in Perfetto" },
    el("h2", {}, "Open in Perfetto"),
    el(
      "p",
      {},
      "This opens https://ui.perfetto.dev, a page on the internet, in a new tab. The trace is " +
        "given to that tab as a message. It stays in your browser and is not uploaded.",
    ),
    traces.length > 1 ? el("label", {}, "Trace ", choice) : null,
    el("label", {}, part, " Only the part in sight"),
    status,
    el("div", { class: "tl-dialog-buttons" }, cancel, open),
  );
  const controller = new AbortController();
  dialog.addEventListener("close", () => {
    controller.abort();
    dialog.remove();
  });
  cancel.addEventListener("click", () => dialog.close());
  open.addEventListener("click", async () => {
    open.disabled = true;
    // The window opens in the click itself, else the browser would block it.
    const target = window.open(ORIGIN);
    const trace = traces[Number(choice.value)] || traces[0];
    const say = (text) => {
      status.textContent = text;
    };
    try {
      if (!target)
        throw new Error("The browser did not open a new tab. Allow pop-ups for this page.");
      await handOver(tl, ask, {
        target,
        trace,
        isPart: part.checked,
        say,
        signal: controller.signal,
      });
      dialog.close();
    } catch (error) {
      if (error.name !== "AbortError") say(error.message);
      open.disabled = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
}

async function handOver(tl, ask, { target, trace, isPart, say, signal }) {
  const body = { format: "chrome", trace: trace.trace_id };
  if (isPart)
    Object.assign(body, { start: Math.floor(tl.view.start), end: Math.ceil(tl.view.end) });
  say("Exporting …");
  const response = await ask("/api/export", body, { signal, as: "response" });
  const buffer = await response.arrayBuffer();
  say(`${bytes(buffer.byteLength)} exported. Waiting for Perfetto …`);
  await answered(target, signal);
  const perfetto = { buffer, title: trace.label, fileName: `${trace.trace_id}.json.gz` };
  target.postMessage({ perfetto }, ORIGIN, [buffer]);
}

// Perfetto's page answers PONG once it listens.
function answered(target, signal) {
  return new Promise((resolve, reject) => {
    const until = Date.now() + PATIENCE_MS;
    const timer = setInterval(() => {
      if (signal.aborted) end(() => reject(signal.reason));
      else if (target.closed)
        end(() => reject(new Error("The tab of Perfetto was closed before it answered.")));
      else if (Date.now() > until) end(() => reject(new Error("Perfetto did not answer.")));
      else target.postMessage("PING", ORIGIN);
    }, PING_MS);
    const listen = (event) => {
      if (event.origin === ORIGIN && event.data === "PONG") end(resolve);
    };
    function end(act) {
      clearInterval(timer);
      removeEventListener("message", listen);
      act();
    }
    addEventListener("message", listen);
  });
}
