// A flame graph on a canvas: frames as bars, as wide as their share. Only bars in sight are drawn.
import { el } from "../../web/base/elements.js";
import { surface } from "../../web/charts/surface.js";
import { shortened } from "../../web/charts/axis.js";
import { colour } from "../../web/charts/theme.js";
import { hideTooltip, showTooltip } from "../../web/charts/tooltip.js";
import { visible } from "../base/text.js";

const ROW = 20;
/** Narrower frames of a parent are drawn together, in pixels. */
const MIN_WIDTH = 1;
/** Narrower frames have no text, in pixels. */
const MIN_TEXT_WIDTH = 26;

/**
 * A flame graph, as { element, show({ tree, hits, paint }), zoom(node), redraw() }.
 *
 * @param {object} flame
 * @param {string} flame.label what screen readers say
 * @param {boolean} [flame.isUpward] callers lie above what they call
 * @param {boolean} [flame.isRootHidden] the bar of the root is left out
 * @param {Function} flame.describe (node) to the content of a tooltip
 * @param {Function} flame.say (node or null) tells of the chosen frame
 * @param {Function} [flame.open] (node) by a double click on a frame or by Enter
 */
export function flameGraph({ label, isUpward, isRootHidden, describe, say, open }) {
  const view = { tree: null, hits: null, paint: null, top: 0, chosen: null, bars: [], depth: 1 };
  const board = surface("flame-board", label, draw);
  const space = el("div", { class: "flame-space" });
  const element = el("div", { class: "flame-scroll" }, board.element, space);
  const canvas = board.element;
  canvas.setAttribute("aria-description", "Arrow keys go from frame to frame, Enter zooms in");
  element.addEventListener("scroll", () => board.redraw(), { passive: true });

  // The path from the root to the zoomed frame stands above it, each as wide as the whole.
  function levels() {
    const path = [];
    for (let at = view.top; at >= 0; at = view.tree.parent[at]) path.unshift(at);
    return isRootHidden ? path.slice(1) : path;
  }

  function layout() {
    const { tree } = view;
    const first = levels().length - 1;
    let deepest = Math.max(first, 0);
    const stack = [[view.top, first]];
    while (stack.length) {
      const [node, level] = stack.pop();
      deepest = Math.max(deepest, level);
      for (const child of tree.children[node]) stack.push([child, level + 1]);
    }
    view.depth = deepest + 1;
    space.style.height = `${view.depth * ROW}px`;
    // The board is as high as the part in sight, so that no canvas is too large.
    const most = parseFloat(getComputedStyle(element).maxHeight) || 600;
    canvas.style.height = `${Math.min(most, view.depth * ROW)}px`;
    if (isUpward) element.scrollTop = element.scrollHeight;
  }

  function draw(context, width, height) {
    if (!view.tree) return;
    view.bars = [];
    const pen = { context, width, height, scroll: element.scrollTop };
    context.font = `11.5px ${colour("mono")}`;
    context.textBaseline = "middle";
    pen.ink = colour("ink");
    pen.panel = colour("panel");
    pen.faint = colour("idle");
    const path = levels();
    path.slice(0, -1).forEach((node, level) => bar(pen, node, 0, width, level, true));
    if (isRootHidden && view.top === 0) inside(pen, 0, 0, width, -1);
    else below(pen, view.top, 0, width, path.length - 1);
  }

  function below(pen, node, left, wide, level) {
    bar(pen, node, left, wide, level, false);
    inside(pen, node, left, wide, level);
  }

  function inside(pen, node, left, wide, level) {
    const { tree } = view;
    const [top, bottom] = [pen.scroll / ROW - 1, (pen.scroll + pen.height) / ROW + 1];
    const own = isUpward ? view.depth - 1 - level : level;
    // Below the part in sight there is nothing to draw; above it, frames inside may be.
    if (isUpward ? own < top : own > bottom) return;
    const whole = tree.size(node) || 1;
    let at = left;
    for (const [i, child] of tree.children[node].entries()) {
      const part = (wide * tree.size(child)) / whole;
      if (part < MIN_WIDTH) {
        small(pen, tree.children[node].slice(i), at, wide / whole, level + 1);
        return;
      }
      below(pen, child, at, part, level + 1);
      at += part;
    }
  }

  const topOf = (pen, level) => (isUpward ? view.depth - 1 - level : level) * ROW - pen.scroll;

  function bar(pen, node, left, wide, level, isAbove) {
    const { context } = pen;
    const y = topOf(pen, level);
    if (y < -ROW || y > pen.height) return;
    const isQuiet = isAbove || (view.hits && !view.hits.has(node));
    context.fillStyle = isQuiet && view.hits ? pen.faint : view.paint(node);
    context.globalAlpha = isAbove ? 0.55 : view.hits && isQuiet ? 0.45 : 1;
    context.fillRect(left, y, Math.max(wide - (wide > 3 ? 1 : 0), 0.6), ROW - 1);
    context.globalAlpha = 1;
    if (view.chosen === node) {
      context.strokeStyle = pen.ink;
      context.lineWidth = 2;
      context.strokeRect(left + 1, y + 1, Math.max(wide - 3, 1), ROW - 3);
    }
    if (wide > MIN_TEXT_WIDTH) {
      context.fillStyle = pen.ink;
      const name = visible(view.tree.nameOf(node), 300);
      context.fillText(shortened(context, name, wide - 9), left + 4, y + ROW / 2);
    }
    view.bars.push({ node, left, right: left + wide, y });
  }

  // Frames that are too narrow to be told apart are one bar.
  function small(pen, nodes, left, scale, level) {
    const y = topOf(pen, level);
    const size = nodes.reduce((sum, node) => sum + view.tree.size(node), 0);
    if (y < -ROW || y > pen.height || size * scale < 0.3) return;
    pen.context.fillStyle = pen.faint;
    pen.context.fillRect(left, y, size * scale, ROW - 1);
  }

  function barAt({ clientX, clientY }) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    return view.bars.find((b) => y >= b.y && y < b.y + ROW && x >= b.left && x < b.right) || null;
  }

  function choose(node) {
    view.chosen = node;
    say(node);
    board.redraw();
  }

  canvas.addEventListener("pointermove", (event) => {
    const found = barAt(event);
    canvas.classList.toggle("can-click", Boolean(found));
    if (found) showTooltip(describe(found.node), event.clientX, event.clientY);
    else hideTooltip();
  });
  canvas.addEventListener("pointerleave", hideTooltip);
  canvas.addEventListener("click", (event) => {
    const found = barAt(event);
    if (!found) return;
    choose(found.node);
    zoom(found.node);
  });
  canvas.addEventListener("dblclick", (event) => {
    const found = barAt(event);
    if (found && open) open(found.node);
  });
  canvas.addEventListener("keydown", key);

  function key(event) {
    if (!view.tree || event.ctrlKey || event.metaKey || event.altKey) return;
    const { tree } = view;
    const at = view.chosen ?? view.top;
    const inner = isUpward ? "ArrowUp" : "ArrowDown";
    const outer = isUpward ? "ArrowDown" : "ArrowUp";
    const next = {
      [inner]: () => tree.children[at][0],
      [outer]: () => tree.parent[at],
      ArrowLeft: () => sibling(at, -1),
      ArrowRight: () => sibling(at, 1),
    }[event.key];
    if (next) {
      const found = next();
      if (found !== undefined && found >= 0) choose(found);
      bringIntoSight();
    } else if (event.key === "Enter") zoom(at);
    else if (event.key === "Escape") zoom(0);
    else return;
    event.preventDefault();
  }

  function sibling(node, by) {
    if (node <= 0) return undefined;
    const list = view.tree.children[view.tree.parent[node]];
    return list[list.indexOf(node) + by];
  }

  function bringIntoSight() {
    const bar = view.bars.find((b) => b.node === view.chosen);
    const y = bar ? bar.y : isUpward ? -ROW : canvas.clientHeight;
    if (y < 0) element.scrollTop += y;
    else if (y + ROW > canvas.clientHeight) element.scrollTop += y + ROW - canvas.clientHeight;
  }

  /** Makes a frame as wide as the graph. */
  function zoom(node) {
    view.top = node;
    hideTooltip();
    layout();
    board.redraw();
  }

  /** Shows another tree; `hits` is a set of found nodes or null, `paint(node)` a colour. */
  function show({ tree, hits, paint }) {
    if (tree !== view.tree) Object.assign(view, { tree, top: 0, chosen: null });
    Object.assign(view, { hits, paint });
    layout();
    board.redraw();
  }

  return { element, show, zoom, redraw: board.redraw };
}
