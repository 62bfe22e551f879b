// The whole result of a statement as a file that the server writes.
import { el } from "../../web/base/elements.js";
import { api } from "../base/session.js";
import { saveBlob } from "../parts/csv.js";
import { errorText } from "../parts/panel.js";

const FORMATS = [
  ["parquet", "Parquet", "parquet"],
  ["arrow", "Arrow (IPC stream)", "arrows"],
  ["csv", "CSV of all rows", "csv"],
];

/**
 * The choice of a file format for a statement, as an element. `say(text, isBad)` tells what
 * happened.
 */
export function exportChoice(sql, parameters, say) {
  const first = el("option", { value: "" }, "Export …");
  const options = FORMATS.map(([format, text]) => el("option", { value: format }, text));
  const select = el("select", { "aria-label": "Export the whole result" }, first, options);
  select.addEventListener("change", async () => {
    const found = FORMATS.find(([format]) => format === select.value);
    select.value = "";
    if (!found) return;
    select.disabled = true;
    say(`Writing ${found[1]} …`);
    try {
      const body = { format: found[0], sql, parameters };
      const response = await api("/api/export", body, { as: "response" });
      saveBlob(`result.${found[2]}`, await response.blob());
      say("");
    } catch (error) {
      say(errorText(error), true);
    }
    select.disabled = false;
  });
  return select;
}
