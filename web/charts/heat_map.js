// Values of rows along a common axis, as colours. However many there are, each pixel is one colour.
import { BELOW, namesLeft, setLabelFont, valuesBelow, widest } from "./axis.js";
import { plot } from "./plot.js";
import { channels, colour } from "./theme.js";

/** The height of a row, in pixels. */
const MAX_ROW = 26;
const MIN_ROW = 3;
/** The plot grows with its rows up to this height. */
const MAX_PLOT = 520;

/**
 * A heat map, as an element. Columns have equal widths.
 *
 * @param {object} chart
 * @param {string[]} chart.names one for each row
 * @param {number} chart.columns how many
 * @param {Float64Array[]} chart.values one for each row: shares from 0 to 1, NaN for none
 * @param {string} chart.tint a custom property: the colour of 1
 * @param {number} chart.end where the horizontal axis ends, which begins at 0
 * @param {Function} chart.ticks (from, to, count) of the horizontal axis
 * @param {Function} chart.describe (row, column) to a tooltip
 * @param {Function} [chart.extent] (row, column) to the first and the last column that show the
 *     same as this one; itself unless given
 * @param {string} chart.label what screen readers say
 */
export function heatMap({ names, columns, values, tint, end, ticks, describe, extent, label }) {
  const count = names.length;
  const row = Math.max(MIN_ROW, Math.min(MAX_ROW, MAX_PLOT / count));
  const picture = document.createElement("canvas");
  const place = (hit) => [Math.floor(hit / columns), hit % columns];
  const sizeOf = (frame, { view }) => frame.width / (columns * (view.to - view.from));

  function draw(context, frame, state) {
    const { view } = state;
    const high = frame.height / count;
    paint(picture, frame, view);
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, frame.left, frame.top, frame.width, frame.height);
    if (high > 8) {
      context.fillStyle = colour("panel");
      for (let r = 1; r < count; r += 1) {
        context.fillRect(frame.left, Math.round(frame.top + r * high), frame.width, 1);
      }
    }
    if (state.hit !== null) {
      const [r, c] = place(state.hit);
      const [first, last] = extent ? extent(r, c) : [c, c];
      const size = sizeOf(frame, state);
      const left = Math.max(frame.left, frame.left + (first - view.from * columns) * size);
      const right = frame.left + (last + 1 - view.from * columns) * size;
      const wide = Math.max(Math.min(right, frame.right) - left, 2);
      context.strokeStyle = colour("ink");
      context.lineWidth = 1.5;
      context.strokeRect(left, frame.top + r * high, wide, high);
    }
    const [from, to] = [view.from * end, view.to * end];
    const x = (value) => frame.left + ((value - from) / (to - from)) * frame.width;
    valuesBelow(context, frame, ticks(from, to, frame.width / 75), x, false);
    namesLeft(context, frame, names, (r) => frame.top + (r + 0.5) * high);
  }

  // One pixel for each pixel of the plot across, and one for each row down. Of the columns of a
  // pixel the mean is shown.
  function paint(canvas, frame, view) {
    const width = Math.max(1, Math.round(frame.width * (devicePixelRatio || 1)));
    canvas.width = width;
    canvas.height = count;
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, count);
    const [low, high] = [channels("hover"), channels(tint)];
    const first = view.from * columns;
    const step = ((view.to - view.from) * columns) / width;
    for (let r = 0; r < count; r += 1) {
      for (let x = 0; x < width; x += 1) {
        const share = mean(values[r], first + x * step, first + (x + 1) * step);
        if (Number.isNaN(share)) continue;
        const at = 4 * (r * width + x);
        for (let c = 0; c < 3; c += 1) image.data[at + c] = low[c] + share * (high[c] - low[c]);
        image.data[at + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
  }

  function margins(context, width) {
    setLabelFont(context);
    const left = Math.ceil(Math.min(widest(context, names), width * 0.34)) + 14;
    return { left, right: 24, top: 6, bottom: BELOW };
  }

  return plot({
    label,
    height: Math.round(row * count) + BELOW + 6,
    margins,
    draw,
    least: Math.min(0.9, 5 / columns),
    describe: (hit) => describe(...place(hit)),
    pick: (x, y, frame, state) => {
      const across = state.view.from * columns + (x - frame.left) / sizeOf(frame, state);
      const c = Math.min(Math.max(Math.floor(across), 0), columns - 1);
      const r = Math.floor(((y - frame.top) / frame.height) * count);
      return Math.min(Math.max(r, 0), count - 1) * columns + c;
    },
    step: (hit, by) => Math.min(Math.max(hit === null ? 0 : hit + by, 0), count * columns - 1),
    place: (hit, frame, state) => {
      const [r, c] = place(hit);
      const x = frame.left + (c + 0.5 - state.view.from * columns) * sizeOf(frame, state);
      return [x, frame.top + ((r + 0.5) / count) * frame.height];
    },
  });
}

// The mean of the values from one place to another, or the one value they lie in.
function mean(list, from, to) {
  const first = Math.floor(from + 1e-9);
  const last = Math.max(first + 1, Math.floor(to + 1e-9));
  let [sum, count] = [0, 0];
  for (let i = first; i < last && i < list.length; i += 1) {
    if (Number.isNaN(list[i])) continue;
    sum += list[i];
    count += 1;
  }
  return count > 0 ? sum / count : NaN;
}
