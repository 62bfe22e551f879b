// The open traces, and how far reading them has come.
import { el } from "../../web/base/elements.js";
import { many } from "../../web/base/format.js";
import { textOf } from "../base/text.js";

/** A bar that shows how much is read, as { element, show(progress) }. */
export function readingBar() {
  const bar = el("progress", { "aria-label": "Reading the traces" });
  const text = el("p", { role: "status" }, "Reading …");
  const element = el("div", { class: "reading" }, bar, text);

  function show(progress) {
    const { files, files_done: done, read_pct: pct, name } = progress || {};
    if (files) {
      bar.max = files * 100;
      bar.value = done * 100 + (pct ?? 0);
    } else bar.removeAttribute("value");
    const parts = [];
    if (files > 1) parts.push(`${done} of ${many(files, "file")}`);
    if (pct !== undefined && pct !== null) parts.push(`${pct} %`);
    text.replaceChildren(`Reading: ${parts.join(", ") || "…"} `, name ? textOf(name, 200) : "");
  }

  return { element, show };
}
