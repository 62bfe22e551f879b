// The ruler: times, steps of the first trace, marks, hits of the search. A drag zooms to a part.
import { ns } from "../../web/base/format.js";
import { colour, font } from "../../web/charts/theme.js";
import { timeTicks } from "../../web/charts/ticks.js";
import { fitting } from "./labels.js";
import { stepsInSight } from "./overlay.js";
import { dragOver, stripCanvas } from "./strip_canvas.js";

const TICK_ROOM = 130;
const STEP_HEIGHT = 16;

/** The ruler of `tl`. */
export function rulerOf(tl) {
  let drag = null;
  const label = "Ruler of time. Drag to zoom to a part.";
  const ruler = stripCanvas("tl-ruler", { role: "img", "aria-label": label }, draw);

  function draw(context, width, height) {
    drawTicks(context, width, height);
    drawSteps(context, width, height);
    for (const { start, end, tint } of tl.marks.all())
      flag(context, tl.view.x(start), tl.view.x(end), tint, height);
    drawSelection(context, height);
    if (drag) drawDragged(context, height);
  }

  function drawTicks(context, width, height) {
    const { start, end } = tl.view;
    let ticks = timeTicks(start, end, width / TICK_ROOM);
    context.font = font(11.5);
    const wide = Math.max(
      ...ticks.values.slice(0, 3).map((v) => width_of(context, ticks.label(v))),
    );
    if (wide > TICK_ROOM - 16) ticks = timeTicks(start, end, width / (wide + 24));
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const value of ticks.values) {
      const x = Math.round(tl.view.x(value)) + 0.5;
      if (x < -200 || x > width) continue;
      context.fillStyle = colour("line");
      context.fillRect(x, 0, 1, height);
      context.fillStyle = colour("quiet");
      context.fillText(ticks.label(value), x + 5, 9);
    }
  }

  const width_of = (context, text) => context.measureText(text).width;

  // Steps that are too narrow for their number are bands only.
  function drawSteps(context, width, height) {
    const trace = tl.model.traces.find((t) => tl.model.steps.has(t.index));
    if (!trace) return;
    const steps = stepsInSight(tl, trace.index);
    if (steps.length > width / 2) return;
    context.textAlign = "left";
    for (const { step, start, end } of steps) {
      const [left, right] = [Math.max(0, tl.view.x(start)), Math.min(width, tl.view.x(end))];
      context.fillStyle = colour(Number(step) % 2 ? "line" : "accent-soft");
      context.fillRect(left, height - STEP_HEIGHT, Math.max(1, right - left - 1), STEP_HEIGHT);
      const text = fitting(context, `Step ${step}`, right - left - 8) || `${step}`;
      if (right - left < 6 + 7 * text.length) continue;
      context.fillStyle = colour("ink");
      context.fillText(text, left + 4, height - STEP_HEIGHT / 2);
    }
  }

  function flag(context, left, right, tint, height) {
    context.fillStyle = colour(tint);
    context.fillRect(Math.round(left), 0, Math.max(2, right - left), 3);
    context.beginPath();
    context.moveTo(left, 0);
    context.lineTo(left + 9, 5);
    context.lineTo(left, 10);
    context.fill();
    context.fillRect(Math.round(left), 0, 1, height);
  }

  function drawSelection(context, height) {
    const { selection } = tl;
    if (!selection) return;
    const [left, right] = [tl.view.x(selection.start), tl.view.x(selection.end)];
    context.fillStyle = colour("accent");
    context.globalAlpha = 0.22;
    context.fillRect(left, 0, Math.max(2, right - left), height);
    context.globalAlpha = 1;
  }

  function drawDragged(context, height) {
    const [left, right] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    context.fillStyle = colour("accent");
    context.globalAlpha = 0.3;
    context.fillRect(left, 0, right - left, height);
    context.globalAlpha = 1;
    context.fillStyle = colour("ink");
    context.textAlign = "center";
    const text = ns(Math.round((right - left) / tl.view.scale()));
    context.fillText(text, (left + right) / 2, height / 2);
  }

  dragOver(ruler.canvas, {
    begin: (x) => (drag = { from: x, to: x }),
    move: (state, x) => {
      state.to = x;
      tl.redraw();
    },
    end: (state) => {
      drag = null;
      if (Math.abs(state.to - state.from) > 3)
        tl.moveTo(tl.view.time(state.from), tl.view.time(state.to));
      tl.redraw();
    },
  });
  return ruler;
}
