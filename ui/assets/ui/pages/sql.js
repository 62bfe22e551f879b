// The SQL page: editor, results, history. The address holds the statement, its parameters, and the
// chart.
import { el } from "../../web/base/elements.js";
import { onState, setState, state } from "../base/address.js";
import { frame } from "../base/frame.js";
import { sqlLink } from "../parts/links.js";
import { later, withState } from "../parts/page.js";
import { errorText, notice } from "../parts/panel.js";
import { copyText } from "../parts/csv.js";
import { editor } from "../sql/editor.js";
import { remember } from "../sql/history.js";
import { parameterForm } from "../sql/parameters.js";
import { resultBlock } from "../sql/result_block.js";
import { results } from "../sql/results.js";
import { errorPlace, partsToRun, runAll } from "../sql/runner.js";
import { side } from "../sql/side.js";

const FIRST_SQL = "SELECT name, calls, host_self_ns, device_total_ns\nFROM operators\nLIMIT 100";
// What of a result is chosen, and its keys in the address.
const KEYS = {
  kind: "chart",
  x: "x",
  y: "y",
  by: "by",
  sort: "sort",
  filter: "filter",
  show: "show",
};

const main = frame({ title: "SQL", page: "sql" });
const place = results();
const view = { run: null, ran: null, traces: [] };

const runButton = button("Run", "Run all, or the selection (Ctrl and Enter)", run, "primary");
const cancelButton = button("Cancel", "Stop the running statement (Escape)", cancel);
const copyButton = button("Copy link", "An address with this statement", (own) =>
  copyText(new URL(sqlLink(code.text(), { parameters: form.texts() }), location.href).href, own),
);
const clock = el("span", { class: "quiet small run-status", role: "status" });
const keepAddress = later(() => setState(addressOf(), { replace: true }), 400);

const form = parameterForm({ change: keepAddress, run });
const code = editor({
  change: keepAddress,
  parameters: (names) => {
    form.show(names);
    keepAddress();
  },
  run,
  cancel,
});
const beside = side({ insert: (text) => code.insert(text), open: openSql });

function button(text, title, act, kind = "") {
  const made = el("button", { type: "button", class: `ghost ${kind}`.trim(), title }, text);
  made.addEventListener("click", () => act(made));
  return made;
}

// The parameters of the address are kept until the server has named those of the statement.
function addressOf() {
  const texts = form.texts();
  const old = Object.keys(state()).filter((key) => key.startsWith("p."));
  const gone = form.element.hidden ? [] : old.map((key) => [key, null]);
  const now = Object.entries(texts).map(([name, text]) => [`p.${name}`, text || null]);
  return { sql: code.text() || null, ...Object.fromEntries([...gone, ...now]) };
}

function openSql(sql) {
  code.setText(sql);
  code.focus();
}

function cancel() {
  if (!view.run) return false;
  view.run.cancel();
  return true;
}

// Another statement has other columns, so nothing of its result is chosen yet.
const NOTHING_CHOSEN = Object.fromEntries(Object.values(KEYS).map((key) => [key, null]));
const isSame = (text) => view.ran === null || view.ran === text;

async function run() {
  if (view.run) return;
  const text = code.text();
  if (!text.trim()) return;
  isRunning(true);
  if (!code.statements().length) await code.know();
  const parts = partsToRun(text, code.statements(), code.selection());
  setState({ ...addressOf(), ...(isSame(text) ? {} : NOTHING_CHOSEN), run: "1" });
  view.ran = text;
  place.clear();
  code.markError(null);
  const stopClock = startClock();
  view.run = runAll(parts, parametersOf, {
    started: (_, number) => {
      const which = parts.length > 1 ? `statement ${number + 1} of ${parts.length}` : "";
      clock.dataset.part = which;
    },
    answer: answered,
    failed,
  });
  await view.run.done;
  view.run = null;
  stopClock();
  isRunning(false);
  beside.redrawHistory();
}

// A statement gets only the parameters that it names.
function parametersOf(sql) {
  const all = Object.entries(form.values());
  return Object.fromEntries(all.filter(([name]) => new RegExp(`\\$${name}\\b`).test(sql)));
}

function answered({ sql }, answer) {
  remember({ sql, ms: answer.elapsed_ms, rows: answer.rows.length });
  const { traces } = view;
  const block = resultBlock(
    { sql, parameters: parametersOf(sql), answer },
    { traces, chosen: chosen(), change: keepChoice },
  );
  place.add(sql, block.element, block.stop);
}

function failed(part, error) {
  if (error.isCancelled) {
    place.note(notice(error.message));
    return;
  }
  remember({ sql: part.sql, ms: 0, rows: 0, error: true });
  const found = errorPlace(error, part);
  code.markError(found);
  const box = notice(errorText(error), true);
  if (found) box.append(" ", goTo(found));
  place.note(box);
}

function goTo({ start, end }) {
  const before = code.text().slice(0, start).split("\n");
  const text = `Go to line ${before.length}, column ${before.at(-1).length + 1}`;
  return button(text, "Selects the place in the editor", () => code.goTo(start, end), "link");
}

function chosen() {
  const values = state();
  return Object.fromEntries(Object.entries(KEYS).map(([name, key]) => [name, values[key]]));
}

function keepChoice(choice) {
  const keys = Object.entries(choice).map(([name, value]) => [KEYS[name], value ?? null]);
  setState(Object.fromEntries(keys), { replace: true });
}

// The keys of the editor work on the whole page.
function key(event) {
  if (event.defaultPrevented) return;
  if (event.key === "Escape" && cancel()) event.preventDefault();
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  run();
}

function isRunning(now) {
  runButton.disabled = now;
  cancelButton.disabled = !now;
  place.element.setAttribute("aria-busy", String(now));
}

function startClock() {
  const start = performance.now();
  const show = () => {
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    clock.textContent = `${seconds} s ${clock.dataset.part || ""}`;
  };
  const timer = setInterval(show, 100);
  return () => {
    clearInterval(timer);
    clock.textContent = "";
  };
}

function follow(values) {
  code.setText(values.sql ?? "");
  const own = Object.entries(values).filter(([key]) => key.startsWith("p."));
  form.set(Object.fromEntries(own.map(([key, text]) => [key.slice(2), text])));
}

async function start() {
  isRunning(false);
  const sideButton = button("Reference", "Show or hide the panel beside the editor", () => {
    const isHidden = main.classList.toggle("no-side");
    sideButton.setAttribute("aria-pressed", String(!isHidden));
  });
  sideButton.setAttribute("aria-pressed", "true");
  main.append(
    beside.element,
    el(
      "div",
      { class: "sql-main" },
      code.element,
      form.element,
      el(
        "div",
        { class: "run-line", role: "toolbar", "aria-label": "Run" },
        runButton,
        cancelButton,
        clock,
        el("span", { class: "grow" }),
        copyButton,
        sideButton,
      ),
      place.element,
    ),
  );
  if (innerWidth < 900) sideButton.click();
  const values = state();
  follow(values.sql === undefined ? { ...values, sql: FIRST_SQL } : values);
  addEventListener("keydown", key);
  onState((next) => {
    cancel();
    follow(next);
    view.ran = null;
    if (next.run === "1") setTimeout(run);
    else {
      // What is shown belongs to another statement.
      place.clear();
      code.markError(null);
    }
  });
  await withState(({ traces }) => {
    view.traces = traces;
  });
  if (values.run === "1") await run();
  else code.focus();
}

start().catch((error) => main.prepend(notice(errorText(error), true)));
