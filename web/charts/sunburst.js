// A tree as rings: the parts of an arc lie outside of it, next to each other. A click chooses a
// part.
import { surface } from "./surface.js";
import { colour, font } from "./theme.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

/** Shares of the radius: of the hole in the middle, and of each ring. */
const HOLE = 0.16;
const RING_SPAN = 0.82;
const TURN = 2 * Math.PI;
/** Shortened labels have at least this many letters; fewer would not tell parts apart. */
const MIN_LABEL_LENGTH = 9;
/** Labels are not drawn on arcs that are narrower than this, in pixels. */
const MIN_LABEL_ROOM = 11;

/**
 * A sunburst, as { element, redraw }.
 *
 * @param {object} chart
 * @param {Function} chart.parts () to the inner ring: { name, text, value, tint, children, … },
 *     largest first; `text` is the label, `tint` a custom property
 * @param {number} chart.rings how many
 * @param {Function} chart.describe (part) to a tooltip
 * @param {Function} chart.choose (part), called by a click
 * @param {Function} chart.leave called by a click on the middle
 * @param {Function} chart.middle () to the text in the middle
 * @param {string} chart.label what screen readers say
 */
export function sunburst({ parts, rings, describe, choose, leave, middle, label }) {
  let arcs = [];
  let centre = null;
  let hit = null;

  const board = surface("tall", label, (context, width, height) => {
    const radius = Math.min(width, height) / 2 - 2;
    centre = { x: width / 2, y: height / 2, radius, thick: (radius * RING_SPAN) / rings };
    arcs = placed(parts(), rings);
    context.save();
    context.translate(centre.x, centre.y);
    arcs.forEach((arc) => fillArc(context, arc));
    arcs.forEach((arc) => drawLabel(context, arc));
    context.restore();
    context.fillStyle = colour("quiet");
    context.font = font(12, "600");
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(middle(), centre.x, centre.y);
  });

  const inner = (ring) => centre.radius * HOLE + ring * centre.thick;

  function fillArc(context, arc) {
    const [r0, r1] = [inner(arc.ring), inner(arc.ring + 1)];
    context.beginPath();
    context.arc(0, 0, r1, arc.from, arc.to);
    context.arc(0, 0, r0, arc.to, arc.from, true);
    context.closePath();
    context.globalAlpha = arc.part === hit ? 1 : 1 - arc.ring * 0.09;
    context.fillStyle = colour(arc.part.tint);
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colour(arc.part === hit ? "ink" : "panel");
    // Borders of narrow arcs would hide them.
    const wide = (arc.to - arc.from) * r0;
    context.lineWidth = arc.part === hit ? 1.5 : Math.min(1, wide / 4);
    context.stroke();
  }

  // Along the ring where there is more room than across it, else across; never upside down.
  function drawLabel(context, arc) {
    const angle = arc.to - arc.from;
    const radius = inner(arc.ring + 0.5);
    const across = centre.thick - 8;
    // A straight text on a bent ring leaves it unless the arc is short.
    const sagitta = Math.max(0, centre.thick / 2 - 7);
    const along = Math.min(angle * radius - 8, 2 * Math.sqrt(2 * radius * sagitta));
    const isAlong = along > across * 0.9;
    if (isAlong ? centre.thick < MIN_LABEL_ROOM : angle * inner(arc.ring) < MIN_LABEL_ROOM) return;
    const between = (arc.from + arc.to) / 2;
    context.save();
    context.font = font(isAlong ? 11 : 10);
    const text = shortName(context, arc.part.text, isAlong ? along : across);
    context.rotate(between);
    context.translate(radius, 0);
    const turned = ((between % TURN) + TURN) % TURN;
    if (isAlong) context.rotate(turned < Math.PI ? -Math.PI / 2 : Math.PI / 2);
    else if (turned > Math.PI / 2 && turned < 1.5 * Math.PI) context.rotate(Math.PI);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.strokeStyle = "rgba(0, 0, 0, 0.4)";
    context.lineWidth = 2;
    context.lineJoin = "round";
    context.strokeText(text, 0, 0);
    context.fillStyle = "#fff";
    context.fillText(text, 0, 0);
    context.restore();
  }

  // The arc below a point of the window, "middle", or null.
  function under(event) {
    if (!centre) return null;
    const box = board.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - centre.x, event.clientY - box.top - centre.y];
    const ring = Math.floor((Math.hypot(x, y) - centre.radius * HOLE) / centre.thick);
    if (ring < 0) return "middle";
    // Arcs begin at the top.
    const angle = ((((Math.atan2(y, x) + TURN / 4) % TURN) + TURN) % TURN) - TURN / 4;
    const found = arcs.find((a) => a.ring === ring && a.from <= angle && angle < a.to);
    return found ? found.part : null;
  }

  function point(event) {
    const found = under(event);
    board.element.classList.toggle("can-click", found !== null);
    const part = found === "middle" ? null : found;
    if (part !== hit) board.redraw();
    hit = part;
    if (part) showTooltip(describe(part), event.clientX, event.clientY);
    else hideTooltip();
  }

  function stop() {
    hideTooltip();
    if (hit) board.redraw();
    hit = null;
  }

  board.element.addEventListener("pointermove", point);
  board.element.addEventListener("pointerleave", stop);
  board.element.addEventListener("click", (event) => {
    const found = under(event);
    if (found === null) return;
    stop();
    if (found === "middle") leave();
    else choose(found);
  });
  return { element: board.element, redraw: board.redraw };
}

// All arcs with their ring and angles: children have shares of the angle of their parent.
function placed(parts, rings) {
  const arcs = [];
  const add = (list, whole, from, span, ring) => {
    let at = from;
    for (const part of list) {
      const to = at + (span * part.value) / whole;
      arcs.push({ part, ring, from: at, to });
      if (ring + 1 < rings) add(part.children, part.value, at, to - at, ring + 1);
      at = to;
    }
  };
  add(parts, parts.reduce((sum, p) => sum + p.value, 0) || 1, -TURN / 4, TURN, 0);
  return arcs;
}

// A text that fits into the room: whole, or cut if a good part of it remains; else empty.
function shortName(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let end = Math.min(text.length, 80);
  while (end > 0 && context.measureText(`${text.slice(0, end)}…`).width > room) end -= 1;
  return end >= MIN_LABEL_LENGTH ? `${text.slice(0, end)}…` : "";
}
