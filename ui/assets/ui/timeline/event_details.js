// What the drawer shows of an event: its columns, args, parents, launch, flows, and the events of
// the same name.
import { el } from "../../web/base/elements.js";
import { exact, grouped, many, ns } from "../../web/base/format.js";
import { textOf, visible } from "../base/text.js";
import { argsTree } from "./args_tree.js";
import { literal, sqlLink } from "./sql.js";

const MAX_LIST = 60;

/** The unit of a column of `events`, from the end of its name. */
const unitOf = (name) => (name.endsWith("_ns") ? "ns" : name.endsWith("_bytes") ? "bytes" : "text");

/**
 * Contents for an event; `go(trace, event_id)` selects another event, `tl` knows the tracks. `same`
 * is the answer of POST /api/same_name, which comes later.
 */
export function eventDetails(tl, answer, go, same) {
  const trace = Number(String(answer.key).split(":")[0]);
  const link = (id, text) =>
    el("button", { type: "button", class: "tl-link", onclick: () => go(trace, id) }, text);
  return el(
    "div",
    { class: "tl-details" },
    columns(tl, answer),
    args(answer),
    launch(answer, link),
    list("Parents", answer.parents, (p) => eventLine(link, p)),
    list("Launched device work", answer.launched, (w) => eventLine(link, w)),
    list("Flows", answer.flows, (flow) => flowLine(link, flow, answer)),
    sameNameLater(tl, trace, answer, same),
  );
}

function section(title, ...content) {
  return el("section", { class: "tl-part" }, el("h3", {}, title), ...content);
}

function columns(tl, { event, key, start, end }) {
  const own = Object.entries(event).filter(([name, value]) => name !== "args" && value !== null);
  const none = Object.entries(event).filter(([, value]) => value === null);
  const line = ([name, value]) => [el("dt", {}, name), el("dd", {}, valueOf(name, value))];
  const track = tl.model.tracks.get(key);
  const first = [
    ["track", track ? track.label : key],
    ["start since the origin", `${grouped(start)} ns`],
    ["end since the origin", `${grouped(end)} ns`],
  ].flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, textOf(text))]);
  const left = none.length
    ? el("p", { class: "quiet small" }, `Not recorded: ${none.map(([name]) => name).join(", ")}`)
    : null;
  return section("Columns", el("dl", { class: "tl-columns" }, first, own.flatMap(line)), left);
}

function valueOf(name, value) {
  const unit = unitOf(name);
  if (unit === "text" || !/^-?\d+$/.test(String(value)))
    return textOf(typeof value === "object" ? JSON.stringify(value) : String(value));
  const text = exact(value, unit);
  const isLength = !["ts_ns", "end_ns"].includes(name);
  return isLength && Math.abs(Number(value)) >= 1000 && unit === "ns"
    ? `${text} (${ns(Number(value))})`
    : text;
}

function args({ args }) {
  const isEmpty = !args || (typeof args === "object" && !Object.keys(args).length);
  return section("Args", isEmpty ? el("p", { class: "quiet" }, "None") : argsTree(args));
}

function launch({ launch: found }, link) {
  if (!found) return null;
  const line = (name, value) => [el("dt", {}, name), el("dd", {}, value)];
  const none = (id, text) => (id === null || id === undefined ? "not known" : link(id, text));
  return section(
    "Launch",
    el(
      "dl",
      { class: "tl-columns" },
      line("call", none(found.launch_id, `event ${found.launch_id}`)),
      line("operator", none(found.op_id, `event ${found.op_id}`)),
      line("link", textOf(found.link ?? "none")),
      found.link_reason ? line("reason", textOf(found.link_reason)) : null,
      line(
        "delay",
        found.delay_ns === null || found.delay_ns === undefined
          ? "not known"
          : `${exact(found.delay_ns, "ns")} from launch to start`,
      ),
    ),
  );
}

function list(title, items, make) {
  if (!items || !items.length) return null;
  const left = items.length > MAX_LIST ? `, the first ${MAX_LIST} are listed` : "";
  return section(
    `${title} (${grouped(items.length)}${left})`,
    el(
      "ul",
      { class: "tl-list" },
      items.slice(0, MAX_LIST).map((item) => el("li", {}, make(item))),
    ),
  );
}

function eventLine(link, { event_id: id, name, cat, start, end }) {
  const length = start !== null && end !== null && end !== undefined ? ns(end - start) : "";
  const note = [cat, length].filter(Boolean).join(", ");
  return [link(id, textOf(name ?? `event ${id}`, 200)), el("span", { class: "quiet" }, ` ${note}`)];
}

function flowLine(link, { kind, name, from, to }, answer) {
  const isOut = from.event_id === answer.event.event_id;
  const other = isOut ? to : from;
  const title = [kind, name].filter(Boolean).map((text) => visible(text, 200));
  return [
    `${isOut ? "to" : "from"} `,
    link(other.event_id, `event ${other.event_id}`),
    el("span", { class: "quiet" }, ` ${[...new Set(title)].join(", ")}`),
  ];
}

function sameNameLater(tl, trace, answer, coming) {
  const place = section("Events of this name", el("p", { class: "quiet" }, "…"));
  coming.then(
    (same) => place.replaceWith(...[sameName(tl, trace, answer, same)].filter(Boolean)),
    (error) => place.lastChild.replaceWith(el("p", { class: "notice bad" }, visible(error.message))),
  );
  return place;
}

function sameName(tl, trace, { event }, same) {
  if (!same || !same.calls) return null;
  const line = (name, value, title) => [el("dt", {}, name), el("dd", { title }, value)];
  const time = (value) => (value === null || value === undefined ? "–" : ns(value));
  const title = (value) => (value === null || value === undefined ? "" : exact(value, "ns"));
  const cat = event.cat === null || event.cat === undefined ? "IS NULL" : `= ${literal(event.cat)}`;
  const sql = [
    `SELECT * FROM events WHERE trace_id = ${literal(tl.model.traces[trace].trace_id)}`,
    `  AND name = ${literal(event.name)} AND cat ${cat} ORDER BY dur_ns DESC`,
  ].join("\n");
  return section(
    "Events of this name",
    el(
      "dl",
      { class: "tl-columns" },
      line("calls", many(same.calls, "call")),
      line("total", time(same.total_ns), title(same.total_ns)),
      line("mean", time(same.mean_ns), title(same.mean_ns)),
      line("longest", time(same.max_ns), title(same.max_ns)),
      same.rank_of_this
        ? line("this one", `number ${grouped(same.rank_of_this)} by duration`)
        : null,
    ),
    el("a", { href: sqlLink(sql) }, "All of them in SQL"),
  );
}
