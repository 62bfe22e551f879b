// Stacked bars that lie below each other, with names on the left.
import { BELOW, namesLeft, setLabelFont, valuesBelow, widest } from "./axis.js";
import { plot } from "./plot.js";
import { fillStacks, inSight, stackSums } from "./stack.js";
import { colour } from "./theme.js";

/** Bars are at most this high, in pixels. */
const MAX_HEIGHT = 34;
/** Room for a bar and the gap above it: more bars make the chart higher. */
const MIN_BAND = 24;
const MIN_PLOT = 150;

/** Stacked bars, as an element; the chart is described as that of `stackedBars`. */
export function lyingBars({ names, series, ticks, describe, label }) {
  const count = names.length;
  const stacks = stackSums(series, count);
  const band = (frame) => frame.height / count;
  const valueTicks = (width, state) => ticks(0, stacks(state).most, width / 90);

  function draw(context, frame, state) {
    const found = valueTicks(frame.width, state);
    const scale = frame.width / found.end;
    const high = band(frame);
    valuesBelow(context, frame, found, (value) => frame.left + value * scale, true);
    if (state.hit !== null) {
      context.fillStyle = colour("pointer");
      context.fillRect(frame.left, frame.top + state.hit * high, frame.width, high);
    }
    const size = Math.round(Math.min(MAX_HEIGHT, high * 0.72));
    const bars = names.map((_, bar) => bar);
    fillStacks(context, series, state, bars, scale, (bar, from, to) => {
      const top = Math.round(frame.top + (bar + 0.5) * high - size / 2);
      context.rect(frame.left + from, top, to - from, size);
    });
    namesLeft(context, frame, names, (bar) => frame.top + (bar + 0.5) * high);
  }

  function margins(context, width) {
    setLabelFont(context);
    const left = Math.ceil(Math.min(widest(context, names), width * 0.34)) + 14;
    return { left, right: 24, top: 6, bottom: BELOW };
  }

  return plot({
    label,
    height: Math.max(MIN_PLOT, count * MIN_BAND) + BELOW + 6,
    series,
    margins,
    draw,
    describe: (bar, state) => describe(bar, inSight(series, state)),
    pick: (_, y, frame) =>
      Math.min(Math.max(Math.floor((y - frame.top) / band(frame)), 0), count - 1),
    step: (hit, by) =>
      hit === null ? (by > 0 ? 0 : count - 1) : Math.min(Math.max(hit + by, 0), count - 1),
    place: (bar, frame) => [
      frame.left + Math.min(200, frame.width / 3),
      frame.top + (bar + 0.5) * band(frame),
    ],
  });
}
