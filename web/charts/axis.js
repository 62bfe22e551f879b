// Axes: lines of the grid and labels around the plot. Labels that would overlap or leave the canvas
// are left out, moved or shortened.
import { colour, font } from "./theme.js";

/** Height of the labels below a plot. */
export const BELOW = 22;

/** Sets the font of labels; widths of texts are measured with it. */
export function setLabelFont(context) {
  context.font = font();
}

/** The width of the widest of some texts. */
export function widest(context, texts) {
  return texts.reduce((most, text) => Math.max(most, context.measureText(text).width), 0);
}

/** A text that is at most `room` wide, cut with an ellipsis if need be. */
export function shortened(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let [fits, tooLong] = [0, Math.min(text.length, 500)];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) fits = middle;
    else tooLong = middle;
  }
  return fits > 0 ? `${text.slice(0, fits)}…` : "";
}

function line(context, x0, y0, x1, y1, alpha) {
  context.globalAlpha = alpha;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  context.globalAlpha = 1;
}

function start(context, align) {
  setLabelFont(context);
  context.lineWidth = 1;
  context.strokeStyle = colour("line");
  context.fillStyle = colour("quiet");
  context.textAlign = align;
  context.textBaseline = "middle";
}

/** Values up the left side, with lines across the plot. */
export function valuesLeft(context, frame, ticks, place) {
  start(context, "right");
  for (const value of ticks.values) {
    const y = Math.round(place(value)) + 0.5;
    line(context, frame.left, y, frame.right, y, value === 0 ? 1 : 0.6);
    context.fillText(ticks.label(value), frame.left - 8, y);
  }
}

/** The line below a plot. */
export function baseLine(context, frame) {
  start(context, "center");
  line(context, frame.left, frame.bottom + 0.5, frame.right, frame.bottom + 0.5, 1);
}

/** Values below the plot; with lines up the plot if `hasLines`. */
export function valuesBelow(context, frame, ticks, place, hasLines) {
  baseLine(context, frame);
  let free = -Infinity;
  for (const value of ticks.values) {
    const x = Math.round(place(value)) + 0.5;
    if (x < frame.left - 1 || x > frame.right + 1) continue;
    if (hasLines) line(context, x, frame.top, x, frame.bottom, value === 0 ? 1 : 0.6);
    free = labelBelow(context, frame, ticks.label(value), x, free);
  }
}

/** Names below bands of the plot: of neighbours that would overlap one is shown. */
export function namesBelow(context, frame, names, [first, last], centre) {
  start(context, "center");
  const band = centre(1) - centre(0);
  const some = names.slice(first, Math.min(last, first + 400));
  const every = roundCount((widest(context, some) + 14) / band);
  let free = -Infinity;
  for (let i = Math.ceil(first / every) * every; i < last; i += every) {
    const x = centre(i);
    if (x < frame.left || x > frame.right) continue;
    free = labelBelow(context, frame, names[i], x, free);
  }
}

// The first of 1, 2, 5, 10, 20, … that is at least this number.
function roundCount(number) {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(number)));
  return [1, 2, 5, 10].map((by) => by * power).find((count) => count >= number) || 1;
}

// Writes a label and gives where the next one may begin.
function labelBelow(context, frame, text, x, free) {
  const half = context.measureText(text).width / 2;
  const at = Math.min(Math.max(x, half), frame.full - half);
  if (at - half < free) return free;
  context.fillText(text, at, frame.bottom + 13);
  return at + half + 10;
}

/** Names left of rows of the plot, each shortened to the room left of it. */
export function namesLeft(context, frame, names, centre) {
  start(context, "right");
  const every = Math.max(1, Math.ceil(14 / (centre(1) - centre(0))));
  for (let i = 0; i < names.length; i += every) {
    context.fillText(shortened(context, names[i], frame.left - 10), frame.left - 8, centre(i));
  }
}
