// Colours of frames: by name, so that a function looks the same everywhere, or by change.

const isDark = () => document.documentElement.getAttribute("data-theme") === "dark";

/** A stable number of a text from 0 to 1 (FNV-1a). */
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value ^= text.charCodeAt(i);
    value = Math.imul(value, 0x01000193);
  }
  return (value >>> 0) / 2 ** 32;
}

// Frames of one namespace or file have one hue, and differ a little in lightness.
const family = (name) => /^(.*?)(::|\.py|\(|: )/.exec(name)?.[1] || name;

/** The fill of a frame by its name; the root has none. */
export function nameColour(name) {
  if (name === "") return isDark() ? "hsl(220 12% 32%)" : "hsl(220 14% 88%)";
  const hue = Math.round(360 * hash(family(name)));
  const shade = Math.round(8 * hash(name));
  return isDark() ? `hsl(${hue} 34% ${25 + shade}%)` : `hsl(${hue} 58% ${76 + shade}%)`;
}

/**
 * How much larger a frame is than in the base: from −1 (only in the base) over 0 to 1 (not in the
 * base).
 */
export function changeOf(total, base) {
  return total + base > 0 ? (total - base) / (total + base) : 0;
}

/** The fill of a frame by its change: blue is less, red is more, grey is alike. */
export function changeColour(change) {
  const part = Math.min(1, Math.abs(change) * 2.2);
  const hue = change > 0 ? 8 : 214;
  const [grey, strong] = isDark() ? [30, 42] : [88, 66];
  return `hsl(${hue} ${Math.round(10 + 62 * part)}% ${Math.round(grey + (strong - grey) * part)}%)`;
}
