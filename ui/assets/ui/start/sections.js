// The sections of the report with the statement behind each.
import { el } from "../../web/base/elements.js";
import { api } from "../base/session.js";
import { errorText, notice, sqlBlock } from "../parts/panel.js";

/** The sections, which are asked for when the box is first opened. */
export function reportSections() {
  const place = el("div", { class: "sections" }, el("p", { class: "quiet small" }, "Computing …"));
  const box = el("details", { class: "plain" }, el("summary", {}, "Show the sections"), place);
  const load = async () => {
    try {
      const { sections } = await api("/api/report");
      place.replaceChildren(...Object.values(sections).filter(isShown).map(section));
    } catch (error) {
      place.replaceChildren(notice(errorText(error), true));
    }
  };
  box.addEventListener("toggle", load, { once: true });
  return box;
}

const isShown = ({ status }) => status !== "not_applicable";

function section({ title, about, sql, status, rows }) {
  const count = status === "ok" ? "" : `, ${status}`;
  const box = el(
    "details",
    { class: "section" },
    el(
      "summary",
      {},
      el("strong", {}, title),
      el("span", { class: "quiet small" }, ` ${rows ? rows.length : 0} rows${count}`),
    ),
    el("p", { class: "small quiet" }, about),
  );
  box.addEventListener("toggle", () => box.append(sqlBlock(sql)), { once: true });
  return box;
}
