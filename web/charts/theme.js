// Colours and fonts of charts. They are custom properties of the page's style, read when a chart is
// drawn, so that light and dark need nothing else.

const known = new Map();

/**
 * The colour that the page calls `--name`. A frame asks hundreds of times, so answers are kept until
 * the running script ends.
 */
export function colour(name) {
  const found = known.get(name);
  if (found !== undefined) return found;
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  if (!known.size) queueMicrotask(() => known.clear());
  known.set(name, value);
  return value;
}

/** A font of the page for a canvas. */
export function font(size = 12, weight = "normal") {
  return `${weight} ${size}px ${colour("sans")}`;
}

/** A colour as [red, green, blue] from 0 to 255. */
export function channels(name) {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  context.fillStyle = colour(name);
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

/** What fills an area of a series: the colour `tint`, with stripes if it is hatched. */
export function paintOf(context, { tint, isHatched }) {
  if (!isHatched) return colour(tint);
  const size = 8;
  const tile = document.createElement("canvas");
  tile.width = size;
  tile.height = size;
  const pen = tile.getContext("2d");
  pen.fillStyle = colour(tint);
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = colour("line");
  pen.lineWidth = 2.5;
  pen.beginPath();
  for (const at of [-size, 0, size]) {
    pen.moveTo(at, size);
    pen.lineTo(at + size, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}
