// What the traces tell, what they do not, and how to record it.
import { el } from "../../web/base/elements.js";
import { grouped, many, pct } from "../../web/base/format.js";
import { viewLink } from "../parts/links.js";

/** The query of the panel: kinds of information over all traces. */
export const COVERAGE =
  "SELECT information, status, count(*) AS traces, sum(events) AS events,\n" +
  "    sum(candidates) AS candidates, max(views) AS views, max(how_to_record) AS how_to_record\n" +
  "FROM coverage\nGROUP BY information, status\nORDER BY information, status";

const ORDER = ["missing", "partial", "present", "not applicable"];

/** The rows of `COVERAGE` as elements: what is missing with advice, and the rest as one line. */
export function coverageList(rows) {
  const lacking = rows
    .filter(({ status }) => status === "missing" || status === "partial")
    .sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  const present = rows.filter(({ status }) => status === "present");
  const names = present.map(({ information }) => information.replaceAll("_", " "));
  return [
    lacking.length
      ? el("div", { class: "coverage" }, lacking.map(line))
      : el("p", { class: "quiet" }, "Nothing that could be recorded is missing."),
    names.length ? el("p", { class: "small quiet" }, `Recorded: ${names.join(", ")}.`) : null,
  ].filter(Boolean);
}

function line({ information, status, traces, events, candidates, views, how_to_record: how }) {
  return el(
    "div",
    { class: "coverage-line" },
    el("span", { class: `badge ${status === "missing" ? "medium" : "low"}` }, status),
    el(
      "div",
      {},
      el("strong", {}, information.replaceAll("_", " ")),
      el("span", { class: "quiet small" }, ` ${share(events, candidates)}${ofTraces(traces)}`),
      how ? el("div", { class: "small" }, "Record it: ", el("code", {}, how)) : null,
      views ? el("div", { class: "small quiet" }, "For ", ...viewNames(views)) : null,
    ),
  );
}

const ofTraces = (traces) => (Number(traces) > 1 ? ` (${many(traces, "trace")})` : "");

function share(events, candidates) {
  if (!candidates) return "";
  const part = pct((100 * Number(events)) / Number(candidates));
  return `${grouped(events)} of ${grouped(candidates)} events, ${part}`;
}

// The list names views, with remarks in between.
function viewNames(text) {
  return text.split(/([a-z]\w+_\w+|\b[a-z]\w+(?=;|$))/).map((piece, i) => {
    return i % 2 ? el("a", { href: viewLink(piece) }, el("code", {}, piece)) : piece;
  });
}
