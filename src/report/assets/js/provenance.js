// Where the figures come from: inputs, coverage, issues, settings.
import { el } from "../../../../web/base/elements.js";
import { dateOf, exact, many, words } from "../../../../web/base/format.js";
import { DATA, TRACES, rows, section, state } from "./data.js";
import { panel, panelOr } from "./panels.js";
import { tableOf } from "./table.js";

export function provenanceTab() {
  const trace = TRACES[state.trace];
  const [input] = rows("traces");
  const columns = section("traces").columns;
  return [
    panel(
      "traces",
      input
        ? el(
            "dl",
            { class: "record full" },
            columns.flatMap((c) => [
              el("dt", {}, words(c.name)),
              el("dd", {}, inputValue(c, input, trace)),
            ]),
            el("dt", {}, "tracesql"),
            el("dd", {}, DATA.tracesql_version),
          )
        : null,
      DATA.traces_left_out.length
        ? el("p", { class: "notice" }, leftOut(DATA.traces_left_out))
        : null,
    ),
    el(
      "section",
      { class: "panel" },
      el(
        "header",
        {},
        el("h2", {}, "Settings"),
        el("p", { class: "small" }, "Thresholds and parameters that are not at their defaults."),
      ),
      DATA.settings_changed.length
        ? el(
            "dl",
            { class: "record full" },
            DATA.settings_changed.flatMap((s) => [
              el("dt", {}, s.name),
              el("dd", {}, `${s.value} (default ${s.default})`),
            ]),
          )
        : el("p", { class: "quiet" }, "All settings are at their defaults."),
    ),
    panelOr("coverage", () => tableOf("coverage", { wide: true })),
    panelOr("issues", () =>
      tableOf("issues", {
        wide: true,
        only: ["severity", "code", "count", "skipped_count", "first_event_id", "example", "detail"],
      }),
    ),
  ];
}

// A value of the table of inputs. Times of the clock have their date.
function inputValue(column, input, trace) {
  if (column.name === "trace_id") return trace.trace_id;
  const text = exact(input[column.name], column.unit);
  const base = column.name === "start_ns" ? input.base_time_ns || 0 : 0;
  const isInstant = ["start_ns", "base_time_ns"].includes(column.name);
  const date = isInstant ? dateOf(input[column.name], base) : null;
  return date ? `${date} (${text})` : text;
}

// Which traces of the store are not in the page, and how to have them in it.
function leftOut(names) {
  const are = names.length === 1 ? "is" : "are";
  const first = `${names.slice(0, 20).join(", ")}${names.length > 20 ? " …" : ""}`;
  return (
    `${many(names.length, "trace")} of the store ${are} left out of this page: ${first}. ` +
    "tracesql report STORE --trace NAME selects traces, and --max-traces N allows more of them."
  );
}
