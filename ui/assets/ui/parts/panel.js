// Panels, notices and texts of SQL, which all pages share.
import { el } from "../../web/base/elements.js";
import { api } from "../base/session.js";
import { copyText } from "./csv.js";
import { sqlLink } from "./links.js";
import { manyLines, visibleLines } from "./lines.js";

/** Longer texts of SQL stay without colours. */
const MAX_COLOURED = 100_000;

/** A panel with a title; `sql` is the statement behind its content, `about` a sentence. */
export function panel({ title, about, sql, id }, ...content) {
  return el(
    "section",
    { class: "panel", id },
    el(
      "header",
      {},
      el("h2", {}, title),
      sql ? queryOf(sql) : null,
      about ? el("p", { class: "small" }, about) : null,
    ),
    ...content,
  );
}

/** A notice; `isBad` for failures. */
export function notice(text, isBad = false) {
  const role = isBad ? "alert" : undefined;
  return el("p", { class: isBad ? "notice bad" : "notice", role }, manyLines(text, 4000));
}

/** The text of an error of a request, with its help. */
export function errorText(error) {
  const help = error.help ? `\n${error.help}` : "";
  return `${error.message || error}${help}`;
}

/** A statement that a click on "SQL" shows, with a link to the SQL page. */
export function queryOf(sql, title = "SQL") {
  const box = el("details", { class: "query" }, el("summary", {}, title));
  box.addEventListener("toggle", () => {
    if (box.open && box.children.length === 1) box.append(sqlBlock(sql));
  });
  return box;
}

/** A text of SQL in colours, with buttons to copy it and to open it on the SQL page. */
export function sqlBlock(sql) {
  const code = el("code", {}, manyLines(sql, MAX_COLOURED));
  const copy = el("button", { type: "button", class: "ghost" }, "Copy");
  copy.addEventListener("click", () => copyText(sql, copy));
  const open = el("a", { class: "ghost button", href: sqlLink(sql) }, "Run in SQL");
  colour(code, sql);
  return el(
    "div",
    { class: "sql-block" },
    el("pre", { tabindex: "0", role: "group", class: "sql-text", "aria-label": "SQL" }, code),
    el("div", { class: "sql-tools" }, open, copy),
  );
}

async function colour(code, sql) {
  if (sql.length > MAX_COLOURED) return;
  try {
    const { spans } = await api("/api/spans", { text: sql });
    code.replaceChildren(...spanned(sql, spans));
  } catch {
    // The text stays without colours.
  }
}

/** A text as nodes, with `spans` ([start, end, kind] in UTF-16 units) as elements. */
function spanned(text, spans) {
  const nodes = [];
  let at = 0;
  for (const [start, end, kind] of spans) {
    if (start < at || end <= start) continue;
    if (start > at) nodes.push(visibleLines(text.slice(at, start)));
    nodes.push(el("span", { class: `sql-${kind}` }, visibleLines(text.slice(start, end))));
    at = end;
  }
  nodes.push(visibleLines(text.slice(at)));
  return nodes;
}

/** A list of pairs: names with values. */
export function pairs(list) {
  return el(
    "dl",
    { class: "pairs" },
    list.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}
