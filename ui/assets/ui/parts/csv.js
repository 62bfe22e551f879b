// Results as text for other programs, and files that the browser saves.
import { el } from "../../web/base/elements.js";
import { exactText } from "./values.js";

/** CSV by RFC 4180 of rows that are arrays; every value is exact, NULL is empty. */
export function csv(columns, rows) {
  const cell = (value) => {
    const text = exactText(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const line = (values) => values.map(cell).join(",");
  return [columns.map((c) => c.name), ...rows].map((row) => `${line(row)}\r\n`).join("");
}

/** Lines of tab-separated values, which spreadsheets paste as cells. */
export function tsv(columns, rows) {
  const cell = (value) => exactText(value).replace(/[\t\r\n]/g, " ");
  return [columns.map((c) => c.name), ...rows].map((row) => row.map(cell).join("\t")).join("\n");
}

/** Saves a Blob as a file. */
export function saveBlob(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Copies a text and says so on a button; where that is not allowed the button says so too. */
export async function copyText(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => {
    button.textContent = before;
  }, 1500);
}
