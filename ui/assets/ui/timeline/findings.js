// What the drawer shows of a finding: message, advice, its evidence as SQL.
import { el } from "../../web/base/elements.js";
import { textOf } from "../base/text.js";
import { sqlLink } from "./sql.js";

/** Fills the drawer with a finding. */
export function showFinding(drawer, finding) {
  const { rule, severity, message, advice, evidence } = finding;
  drawer.fill(
    [el("span", { class: `tl-severity ${severity}` }, severity), " ", textOf(rule, 200)],
    [evidence ? el("a", { href: sqlLink(evidence) }, "Evidence in SQL") : null],
    el("p", {}, textOf(message)),
    advice ? el("p", { class: "quiet" }, textOf(advice)) : null,
  );
}
