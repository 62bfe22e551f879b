// Elements of the page. Texts go in as text and never as HTML, because names in traces can be
// anything.

// Properties that are set as styles, because the policy of a page forbids style attributes.
const STYLES = ["width", "left", "top", "height", "background", "paddingLeft"];

/**
 * An element with properties and children. `onNAME` listens to an event; children that are null,
 * undefined or false are left out.
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    const isAria = name.startsWith("aria-");
    if (value === undefined || value === null || (value === false && !isAria)) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (STYLES.includes(name)) element.style[name] = value;
    else element.setAttribute(name, value === true && !isAria ? "" : String(value));
  }
  element.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false));
  return element;
}

/** A small square that shows a colour. */
export function swatch(colour) {
  return el("span", { class: "swatch", background: colour });
}
