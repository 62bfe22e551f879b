// The strip on top shows all of the time: how busy devices and host are, borders of steps,
// findings, hits of the search, and the part in sight, which can be dragged.
import { pct } from "../../web/base/format.js";
import { colour, font } from "../../web/charts/theme.js";
import { hideTooltip, showTooltip, tooltipContent } from "../../web/charts/tooltip.js";
import { visible } from "../base/text.js";
import { dragOver, stripCanvas } from "./strip_canvas.js";

const SEVERITIES = { high: "high", medium: "medium", low: "low" };
const MARK_HEIGHT = 9;
/** A click this close to a finding means it, in pixels. */
const NEAR = 5;

/** The overview of `tl`; `openFinding(finding)` is called for a click on one. */
export function overviewOf(tl, openFinding) {
  const label = "Overview of all of the time. Drag to move the part in sight.";
  const strip = stripCanvas("tl-overview", { role: "img", "aria-label": label }, draw);
  let known = { findings: [], busy: null };
  // The width when it was last drawn: asking the browser makes it lay out the page.
  let width = 1;
  const x = (time) => (time / tl.view.length) * width;
  const time = (at) => (at / width) * tl.view.length;
  let [ground, drawnOf] = [null, null];

  function draw(context, wide, height) {
    width = wide;
    const scale = strip.canvas.width / wide;
    const shown = [known, tl.hits.list, strip.canvas.width, strip.canvas.height, scale, colour("ink")];
    if (!drawnOf || shown.some((value, i) => value !== drawnOf[i])) {
      ground = new OffscreenCanvas(strip.canvas.width, strip.canvas.height);
      const under = ground.getContext("2d");
      under.setTransform(scale, 0, 0, scale, 0, 0);
      drawGround(under, wide, height);
      drawnOf = shown;
    }
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(ground, 0, 0);
    context.restore();
    drawView(context, wide, height);
  }

  // What does not change while the view moves.
  function drawGround(context, wide, height) {
    const room = height - MARK_HEIGHT;
    drawSteps(context, wide, height);
    const shares = [
      ["Devices", known.busy?.device, "compute"],
      ["Host", known.busy?.host, "host"],
    ].filter(([, list]) => list?.length);
    shares.forEach(([name, list, tint], i) => {
      const part = room / shares.length;
      drawBusy(context, list, MARK_HEIGHT + i * part, part, tint);
      context.font = font(10.5);
      context.textAlign = "left";
      context.textBaseline = "top";
      context.strokeStyle = colour("panel");
      context.lineWidth = 3;
      context.strokeText(name, 4, MARK_HEIGHT + i * part + 1);
      context.fillStyle = colour("ink");
      context.fillText(name, 4, MARK_HEIGHT + i * part + 1);
    });
    drawHits(context, height);
    known.findings.filter(isPlaced).forEach((finding) => drawFinding(context, finding));
  }

  const isPlaced = (finding) => finding.start !== null && finding.start !== undefined;

  function drawSteps(context, wide, height) {
    const steps = [...tl.model.steps.values()][0] || [];
    if (steps.length > wide / 3) return;
    context.fillStyle = colour("line");
    for (const { start } of steps) context.fillRect(Math.round(x(start)), 0, 1, height);
  }

  function drawBusy(context, list, top, height, tint) {
    const bucket = known.busy.step;
    context.fillStyle = colour(tint);
    context.globalAlpha = 0.75;
    list.forEach((share, i) => {
      const left = x(i * bucket);
      const tall = share * (height - 2);
      context.fillRect(
        left,
        top + height - 1 - tall,
        Math.max(0.5, x((i + 1) * bucket) - left),
        tall,
      );
    });
    context.globalAlpha = 1;
  }

  function drawHits(context, height) {
    context.fillStyle = colour("data");
    for (const hit of tl.hits.list) context.fillRect(Math.round(x(hit.start)), height - 6, 1.5, 6);
  }

  function drawFinding(context, { severity, start }) {
    const at = x(start);
    context.fillStyle = colour(SEVERITIES[severity] || "quiet");
    context.beginPath();
    context.moveTo(at - 4, 0);
    context.lineTo(at + 4, 0);
    context.lineTo(at, MARK_HEIGHT - 1);
    context.fill();
  }

  function drawView(context, wide, height) {
    const [left, right] = [x(tl.view.start), x(tl.view.end)];
    context.fillStyle = colour("page");
    context.globalAlpha = 0.62;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, wide - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = colour("accent");
    context.lineWidth = 1.5;
    const across = Math.max(3, right - left);
    context.strokeRect(Math.min(left, wide - 3) + 0.75, 0.75, across - 1.5, height - 1.5);
  }

  const findingsAt = (at, event) =>
    event.offsetY > MARK_HEIGHT + 3
      ? []
      : known.findings.filter((f) => isPlaced(f) && Math.abs(x(f.start) - at) <= NEAR);

  // A drag within the part in sight moves it, elsewhere it takes a new part.
  dragOver(strip.canvas, {
    begin: (at, event) => {
      const [finding] = findingsAt(at, event);
      if (finding) {
        openFinding(finding);
        return null;
      }
      const [left, right] = [x(tl.view.start), x(tl.view.end)];
      const isInside = at >= left - 3 && at <= right + 3 && right - left < width * 0.98;
      return { isInside, from: at, last: at };
    },
    move: (state, at) => {
      if (state.isInside)
        tl.view.pan(((at - state.last) / width) * tl.view.length * tl.view.scale());
      else if (Math.abs(at - state.from) > 3) tl.view.show(time(state.from), time(at));
      state.last = at;
      tl.changed();
    },
    end: (state, at) => {
      if (state.isInside || Math.abs(at - state.from) > 3) return;
      tl.view.centre(time(at));
      tl.changed();
    },
  });

  strip.canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) return;
    const at = event.offsetX;
    const [finding] = findingsAt(at, event);
    const title = finding ? visible(finding.message, 400) : tl.timeText(Math.round(time(at)));
    showTooltip(tooltipContent(title, finding ? [] : sharesAt(at)), event.clientX, event.clientY);
  });
  strip.canvas.addEventListener("pointerleave", hideTooltip);

  function sharesAt(at) {
    if (!known.busy) return [];
    const i = Math.floor(time(at) / known.busy.step);
    const share = (tint, name, list) =>
      list?.length && i < list.length && [tint, name, pct(100 * list[i])];
    const lines = [
      share("compute", "Devices busy", known.busy.device),
      share("host", "Host busy", known.busy.host),
    ];
    return lines.filter(Boolean);
  }

  return {
    ...strip,
    /** Takes findings, or busy shares, or both. */
    set(answer) {
      known = { ...known, ...answer };
      tl.redraw();
    },
  };
}
