// Widths of the columns of a table: no word of a heading is broken, and no figure is cut.
import { human } from "../../../../web/base/format.js";
import { font } from "../../../../web/charts/theme.js";

/** Space left and right of a text in a cell, with the border. */
const PADDING = 23;
/** The first rows decide about the width. */
const MEASURED_ROWS = 200;
const MAX_HEAD_LINES = 2.5;
const MAX_TEXT_WIDTH = 240;
const MIN_NAME_WIDTH = "min(280px, 46vw)";

let pen = null;

function width(text, size, weight) {
  pen = pen || document.createElement("canvas").getContext("2d");
  pen.font = font(size, weight);
  return pen.measureText(text).width;
}

/** The width in pixels that a column needs. `room` is what a cell has in addition to its text. */
export function columnWidth(column, title, rows, room = 0) {
  const words = title.split(" ").map((word) => width(word, 12.5, "600"));
  const texts = new Set(
    rows.slice(0, MEASURED_ROWS).map((r) => human(r[column.name], column.unit)),
  );
  const lines = width(title, 12.5, "600") / MAX_HEAD_LINES;
  const cells = [...texts].map((text) => Math.min(width(text, 14), MAX_TEXT_WIDTH) + room);
  return Math.ceil(Math.max(40, lines + 8, ...words, ...cells)) + PADDING;
}

/** Sets the widths of a table: columns without one share the room that is left. */
export function setWidths(table, cols, widths) {
  cols.forEach((col, i) => {
    if (widths[i] !== null) col.style.width = `${widths[i]}px`;
  });
  const known = widths.reduce((sum, w) => sum + (w || 0), 0);
  const open = widths.filter((w) => w === null).length;
  table.style.minWidth = open ? `calc(${known}px + ${open} * ${MIN_NAME_WIDTH})` : `${known}px`;
}
