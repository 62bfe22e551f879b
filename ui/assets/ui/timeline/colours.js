// What colours of events mean: name, category, step or duration.
import { colour } from "../../web/charts/theme.js";

const HUES = 20;
const STEPS = 12;
const DURATIONS = 12;
const CATEGORIES = 14;
/** Categories from this one on are striped, because hues alone would be too similar. */
const STRIPED = CATEGORIES / 2;

export const MODES = [
  ["name", "Name"],
  ["category", "Category"],
  ["step", "Step at the start"],
  ["duration", "Duration"],
];

const hashes = new Map();

/** A number of 32 bits for a text, the same in every session (FNV-1a). */
export function hashOf(text) {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  let hash = 0x811c9dc5;
  const length = Math.min(text.length, 1000);
  for (let i = 0; i < length; i += 1) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  hash ^= hash >>> 15;
  if (hashes.size < 100_000 && text.length < 1000) hashes.set(text, hash >>> 0);
  return hash >>> 0;
}

const isDark = () => document.documentElement.getAttribute("data-theme") === "dark";

// Light enough for dark text on it, in both themes.
function shade(hue, level) {
  return isDark() ? `hsl(${hue} ${38 + level * 6}% ${58 + level * 9}%)` : lightShade(hue, level);
}

const lightShade = (hue, level) => `hsl(${hue} ${62 - level * 6}% ${70 + level * 9}%)`;

/** The colour of text on events. */
export const textColour = () => (isDark() ? "#0d1117" : "#1b2130");

// For events outside of all steps, and names without a category.
const neutral = () => (isDark() ? "#8b95a7" : "#c3c9d4");

/** The colours of a mode as CSS colours; the last one of steps and categories is for none. */
function tintsOf(mode) {
  if (mode === "step") return [...range(STEPS, (i) => shade((i * 67) % 360, i % 2)), neutral()];
  if (mode === "duration") return range(DURATIONS, durationTint);
  if (mode === "category") return [...range(CATEGORIES, categoryTint), neutral()];
  return range(HUES * 2, (i) => shade((Math.floor(i / 2) * 360) / HUES, i % 2));
}

const categoryTint = (i) => shade(((i % STRIPED) * 51.4) % 360, 0.6);

// From pale to strong; the longest are the most striking.
function durationTint(i) {
  const share = i / (DURATIONS - 1);
  const light = isDark() ? 40 + 30 * share : 88 - 34 * share;
  return `hsl(${220 - 200 * share} ${25 + 45 * share}% ${light}%)`;
}

const range = (count, make) => Array.from({ length: count }, (_, i) => make(i));

function striped(context, tint) {
  const size = 6;
  const tile = new OffscreenCanvas(size, size);
  const pen = tile.getContext("2d");
  pen.fillStyle = tint;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = colour("panel");
  pen.globalAlpha = 0.55;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const at of [-size, 0, size]) {
    pen.moveTo(at, size);
    pen.lineTo(at + size, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

/** The scheme of colours; `stepAt(trace, time)` gives the number of the step or null. */
export function colouring(stepAt) {
  let mode = "name";
  let categories = new Map();
  let tints = null;

  const self = {
    /** Changes when tiles must be painted again. */
    version: 0,
    mode: () => mode,
    setMode(next) {
      mode = MODES.some(([key]) => key === next) ? next : "name";
      self.refresh();
    },
    /** `byName` gives the category of names, and `order` lists categories. */
    setCategories(byName, order) {
      categories = new Map([...byName].map(([name, c]) => [name, order.indexOf(c) % CATEGORIES]));
      self.refresh();
    },
    refresh() {
      tints = null;
      self.version += 1;
    },
    tint(index) {
      tints = tints || tintsOf(mode);
      return tints[index];
    },
    isStriped: (index) => mode === "category" && index >= STRIPED && index < CATEGORIES,
    /** Fills for a context, by the numbers that `indexer` gives. */
    fills(context) {
      tints = tints || tintsOf(mode);
      return tints.map((tint, i) => (self.isStriped(i) ? striped(context, tint) : tint));
    },
    /** A function that gives the number of the colour of entry i of a block. */
    indexer(block, trace) {
      if (mode === "step")
        return (i) => {
          const step = stepAt(trace, block.start[i]);
          return step === null ? STEPS : Math.abs(Number(step)) % STEPS;
        };
      if (mode === "duration") return (i) => durationIndex(block.end[i] - block.start[i]);
      if (mode === "category")
        return (i) => categories.get(block.names[block.name[i]]) ?? CATEGORIES;
      const hash = block.names.map((name) => hashOf(name) % (HUES * 2));
      return (i) => hash[block.name[i]];
    },
  };
  return self;
}

function durationIndex(duration) {
  if (duration < 1000) return 0;
  return Math.min(DURATIONS - 1, Math.floor((Math.log10(duration) - 3) * 2));
}

/** The legend of durations: [index, text]. */
export const DURATION_LEGEND = [
  [0, "below 3 µs"],
  [4, "100 µs"],
  [6, "1 ms"],
  [8, "10 ms"],
  [11, "above 300 ms"],
];
