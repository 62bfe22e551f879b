// Arrows between the selected event and others: from its launch, to what it launched, along flows.
// Never more than a fixed number; the rest is a count.
import { many } from "../../web/base/format.js";
import { colour, font } from "../../web/charts/theme.js";
import { eventById } from "./hit.js";
import { rectangle } from "./shown_events.js";

const MAX_ARROWS = 200;

/**
 * The arrows of a selected event: { list, left }, each with the ends { event_id, key, t, lane } and
 * the `kind`. `answer` is that of POST /api/event, and `launch` the place of its launch or null.
 */
export function arrowsOf(selected, answer, launch) {
  const own = { event_id: selected.id, key: answer.key, lane: answer.lane };
  const all = [];
  if (launch && launch.key)
    all.push({
      kind: "launch",
      from: { event_id: launch.event_id, key: launch.key, lane: launch.lane, t: launch.start },
      to: { ...own, t: answer.start },
    });
  for (const work of answer.launched || [])
    all.push({
      kind: "launch",
      from: { ...own, t: answer.start },
      to: { event_id: work.event_id, key: work.key, lane: work.lane, t: work.start },
      end: work.end,
    });
  for (const { kind, from, to } of answer.flows || []) all.push({ kind: kind || "flow", from, to });
  const isPlaced = ({ from, to }) => isPoint(from) && isPoint(to);
  const list = all.filter(isPlaced).filter(isNew());
  return { list: list.slice(0, MAX_ARROWS), left: Math.max(0, list.length - MAX_ARROWS) };
}

const isPoint = (p) => p && p.key && p.t !== null && p.t !== undefined;

// A flow may say the same as the link of a launch.
function isNew() {
  const known = new Set();
  return ({ from, to }) => {
    const name = `${from.event_id} ${to.event_id}`;
    return !known.has(name) && Boolean(known.add(name));
  };
}

/** Draws arrows; `context` has CSS pixels. */
export function drawArrows(context, tl) {
  const { list, left } = tl.arrows;
  if (!list.length) return;
  context.lineWidth = 1.5;
  for (const arrow of list) drawArrow(context, tl, arrow);
  if (!left) return;
  context.font = font(12, "600");
  context.textAlign = "right";
  context.textBaseline = "bottom";
  context.fillStyle = colour("ink");
  const text = `${many(left, "arrow")} more not drawn`;
  context.fillText(text, tl.size.width - 8, tl.size.height - 6);
}

function drawArrow(context, tl, { kind, from, to }) {
  const [a, b] = [pointOf(tl, from), pointOf(tl, to)];
  if (!a || !b) return;
  const { width, height } = tl.size;
  if (Math.max(a.x, b.x) < 0 || Math.min(a.x, b.x) > width) return;
  if (Math.max(a.y, b.y) < 0 || Math.min(a.y, b.y) > height) return;
  context.strokeStyle = colour(kind === "launch" ? "high" : "copy");
  context.fillStyle = context.strokeStyle;
  const bend = Math.min(120, Math.max(18, Math.abs(b.x - a.x) / 2));
  context.beginPath();
  context.moveTo(a.x, a.y);
  context.bezierCurveTo(a.x + bend, a.y, b.x - bend, b.y, b.x, b.y);
  context.stroke();
  context.beginPath();
  context.moveTo(b.x, b.y);
  context.lineTo(b.x - 7, b.y - 4);
  context.lineTo(b.x - 7, b.y + 4);
  context.fill();
}

// The lane is looked up when the answer does not name it. Far away points are drawn at a bound,
// because canvases are not exact there.
function pointOf(tl, point) {
  const place = tl.layout.place(point.key, tl.scroll);
  if (!place) return null;
  if (point.lane === undefined || point.lane === null)
    point.lane = eventById(tl, point.key, point.event_id, point.t)?.lane;
  const { y, height } = rectangle(tl, place.row, point.lane ?? 0, point.t, point.t, place.y);
  return { x: Math.min(1e5, Math.max(-1e5, tl.view.x(point.t))), y: y + height / 2 };
}
