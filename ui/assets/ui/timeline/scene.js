// The canvas of the tracks: one frame draws rows, pictures, names, selection, arrows, marks.
import { el } from "../../web/base/elements.js";
import { drawArrows } from "./arrows.js";
import { beginLabels, drawLabels } from "./labels.js";
import { drawArea, drawDrag, drawGround, drawMarks, drawOutline, drawPointer } from "./overlay.js";
import { tracksPicture } from "./tracks_picture.js";

/** The canvas of `tl`; `draw()` draws a frame, `resize()` takes the size of its box. */
export function sceneOf(tl) {
  const canvas = el("canvas", {
    class: "tl-canvas",
    tabindex: "0",
    role: "application",
    "aria-label": "Tracks. Press question mark for the keys.",
  });
  const context = canvas.getContext("2d");
  const picture = tracksPicture(tl);

  function resize() {
    const { clientWidth: width, clientHeight: height } = canvas.parentElement;
    const ratio = devicePixelRatio || 1;
    tl.size = { width, height, ratio };
    tl.view.width = Math.max(1, width);
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }

  function draw() {
    const { width, height, ratio } = tl.size;
    if (!width || !height) return;
    const inSight = tl.layout.inSight(tl.scroll, height);
    const fixed = inSight.filter(({ row }) => isFixed(row));
    const moving = inSight.filter(({ row }) => !isFixed(row));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    picture.begin(context);
    const budget = beginLabels(context);
    const top = tl.layout.fixedHeight;
    clipped(0, top, width, height - top, () => drawRows(moving, budget));
    clipped(0, 0, width, top, () => drawRows(fixed, budget));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawOver();
  }

  const isFixed = (row) => row.isPinned && tl.layout.fixedHeight > 0;

  function clipped(x, y, width, height, act) {
    if (height <= 0) return;
    const { ratio } = tl.size;
    context.save();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    act();
    context.restore();
  }

  function drawRows(rows, budget) {
    const { ratio, height } = tl.size;
    const tracks = rows.filter(({ row }) => row.kind === "track");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    rows.forEach(({ row, y }) => drawGround(context, tl, row, y));
    context.setTransform(1, 0, 0, 1, 0, 0);
    tracks.forEach(({ row, y }) => picture.draw(context, row, y, height));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    beginLabels(context);
    tracks.forEach(({ row, y }) => drawLabels(context, tl, row, y, budget));
  }

  function drawOver() {
    drawMarks(context, tl);
    const { selection } = tl;
    if (selection?.kind === "area") drawArea(context, tl, selection);
    if (tl.hovered) drawOutline(context, tl, tl.hovered, false);
    if (selection?.kind === "event") drawOutline(context, tl, selection, true);
    drawArrows(context, tl);
    if (tl.drag) drawDrag(context, tl, tl.drag);
    else drawPointer(context, tl);
  }

  return { canvas, draw, resize, picture };
}
