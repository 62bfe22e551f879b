// Names on events. What is cut is remembered, because measuring texts is slow.
import { font } from "../../web/charts/theme.js";
import { visible } from "../base/text.js";
import { textColour } from "./colours.js";
import { eachShown, laneY } from "./shown_events.js";

/** Narrower rectangles have no text, in pixels. */
const LEAST_WIDTH = 26;
const INSET = 4;
/** So many texts are written in one frame. */
const MAX_TEXTS = 3000;

const widths = new Map();
const shownNames = new Map();

function remember(map, key, make) {
  const known = map.get(key);
  if (known !== undefined) return known;
  if (map.size > 20_000) map.clear();
  const made = make();
  map.set(key, made);
  return made;
}

/** A name with its unseen characters visible, cut to a length that no rectangle exceeds. */
const shownName = (name) => remember(shownNames, name, () => visible(name, 300));

const widthOf = (context, text) => remember(widths, text, () => context.measureText(text).width);

/** A text that fits into `room` pixels, or an empty one. */
export function fitting(context, text, room) {
  const width = widthOf(context, text);
  if (width <= room) return text;
  const letters = Math.floor((text.length * room) / width) - 1;
  if (letters < 2) return "";
  let cut = `${text.slice(0, letters)}…`;
  if (widthOf(context, cut) > room) cut = `${text.slice(0, Math.floor(letters * 0.8))}…`;
  return widthOf(context, cut) > room ? "" : cut;
}

/** Sets font and colour of texts on events. */
export function beginLabels(context) {
  context.font = font(11.5);
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = textColour();
  context.direction = "ltr";
  return { left: MAX_TEXTS };
}

/** Writes names on the events of a row whose top is at `y`; `context` has CSS pixels. */
export function drawLabels(context, tl, row, y, budget) {
  if (row.isFolded || row.track.isCounter) return;
  const { view, size } = tl;
  const scale = view.scale();
  const least = LEAST_WIDTH / scale;
  eachShown(tl, row.track, (block, i, lane) => {
    const [start, end] = [block.start[i], block.end[i]];
    if (end - start < least || budget.left <= 0) return;
    const middle = laneY(row, lane, y) + 9;
    if (middle < 0 || middle > size.height) return;
    const left = Math.max(0, (start - view.start) * scale);
    const room = Math.min(size.width, (end - view.start) * scale) - left - 2 * INSET;
    if (room < LEAST_WIDTH - 2 * INSET) return;
    const text = fitting(context, shownName(block.names[block.name[i]]), room);
    if (!text) return;
    budget.left -= 1;
    context.fillText(text, left + INSET, middle);
  });
}
