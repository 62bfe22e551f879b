// Upright stacked bars with names below.
import { BELOW, baseLine, namesBelow, setLabelFont, valuesLeft, widest } from "./axis.js";
import { plot } from "./plot.js";
import { fillStacks, greatestOfPixels, inSight, stackSums } from "./stack.js";
import { colour } from "./theme.js";

/** Bars are at most this wide, in pixels. */
const MAX_WIDTH = 64;
/** A chart with more bars can be zoomed. */
const MAX_BARS_WITHOUT_ZOOM = 20;

/**
 * Stacked bars, as an element.
 *
 * @param {object} chart
 * @param {string[]} chart.names one for each bar
 * @param {Array} chart.series { name, tint, paint, isHatched, values }: `tint` is the custom
 *     property with the colour on the canvas, `paint` the background in the legend
 * @param {Function} chart.ticks (from, to, count) of the values
 * @param {Function} chart.describe (number of a bar, numbers of the series in sight) to a tooltip
 * @param {string} chart.label what screen readers say
 * @param {string} [chart.kind] a class that sets the height
 */
export function stackedBars({ names, series, ticks, describe, label, kind }) {
  const count = names.length;
  const gap = count > 60 ? 0.04 : 0.22;
  const stacks = stackSums(series, count);
  const valueTicks = (height, state) => ticks(0, stacks(state).most, height / 42);
  const band = (frame, { view }) => frame.width / (count * (view.to - view.from));
  const edge = (bar, frame, state) =>
    frame.left + (bar - state.view.from * count) * band(frame, state);
  const range = ({ view }) => [
    Math.max(0, Math.floor(view.from * count)),
    Math.min(count, Math.ceil(view.to * count)),
  ];

  function draw(context, frame, state) {
    const found = valueTicks(frame.height, state);
    const { sums } = stacks(state);
    const scale = frame.height / found.end;
    const wide = band(frame, state);
    const [first, last] = range(state);
    valuesLeft(context, frame, found, (value) => frame.bottom - value * scale);

    context.save();
    context.beginPath();
    context.rect(frame.left, frame.top - 1, frame.width, frame.height + 2);
    context.clip();
    if (state.hit !== null) {
      context.fillStyle = colour("pointer");
      context.fillRect(edge(state.hit, frame, state), frame.top, Math.max(wide, 1), frame.height);
    }
    const size = Math.min(MAX_WIDTH, wide * (1 - gap));
    const isThin = wide < 1;
    const bars = isThin
      ? greatestOfPixels(sums, first, last, wide)
      : Array.from({ length: last - first }, (_, i) => first + i);
    // Gaps are whole pixels, so that they look alike.
    const between = wide < 4 ? 0 : Math.max(1, Math.round(wide - size));
    fillStacks(context, series, state, bars, scale, (bar, from, to) => {
      const left = isThin
        ? Math.round(frame.left) + Math.floor((bar - first) * wide)
        : Math.round(edge(bar, frame, state) + between / 2);
      const right = Math.round(edge(bar + 1, frame, state) + between / 2) - between;
      context.rect(left, frame.bottom - to, Math.max(right - left, 1), to - from);
    });
    context.restore();

    baseLine(context, frame);
    namesBelow(context, frame, names, [first, last], (bar) => edge(bar + 0.5, frame, state));
  }

  function margins(context, _, height, state) {
    setLabelFont(context);
    const found = valueTicks(height - 34, state);
    const left = Math.ceil(widest(context, found.values.map(found.label))) + 14;
    return { left, right: 12, top: 10, bottom: BELOW };
  }

  return plot({
    label,
    kind,
    series,
    margins,
    draw,
    least: count > MAX_BARS_WITHOUT_ZOOM ? Math.min(0.9, 5 / count) : undefined,
    describe: (bar, state) => describe(bar, inSight(series, state)),
    pick: (x, _, frame, state) => {
      const at = state.view.from * count + (x - frame.left) / band(frame, state);
      return Math.min(Math.max(Math.floor(at), 0), count - 1);
    },
    step: (hit, by, _, state) => {
      const [first, last] = range(state);
      if (hit === null) return by > 0 ? first : last - 1;
      return Math.min(Math.max(hit + by, first), last - 1);
    },
    place: (bar, frame, state) => [edge(bar + 0.5, frame, state), frame.top + frame.height / 3],
  });
}
