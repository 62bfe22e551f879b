// Puts the parts of the timeline onto the page and connects them.
import { el } from "../../web/base/elements.js";
import { NONE, grouped, ns } from "../../web/base/format.js";
import { hideTooltip } from "../../web/charts/tooltip.js";
import { onState, state } from "../base/address.js";
import { onTheme } from "../base/theme.js";
import { addressReader } from "./address_reader.js";
import { areaOfDrag } from "./area_of_drag.js";
import { loadCategories } from "./categories.js";
import { drawerOf } from "./drawer.js";
import { showFinding } from "./findings.js";
import { showHelp } from "./help.js";
import { hitAt } from "./hit.js";
import { hoverOf } from "./hover.js";
import { listenToKeys } from "./keys.js";
import { listActions } from "./lists.js";
import { showLocal } from "./local_details.js";
import { overviewOf } from "./overview.js";
import { openInPerfetto } from "./perfetto.js";
import { notesOf } from "./notes.js";
import { listenToPointer } from "./pointer.js";
import { rulerOf } from "./ruler.js";
import { listsOf, stateWriter } from "./saved_state.js";
import { searchOf } from "./search.js";
import { selectionOf } from "./selection.js";
import { testHook } from "./test_hook.js";
import { timelineOf } from "./timeline.js";
import { toolbarOf } from "./toolbar.js";
import { trackList } from "./track_list.js";

/** Builds the timeline of a model into `main`; `ask` asks the server. */
export async function buildTimeline(main, model, ask) {
  const { element: note, say } = notesOf();
  const tl = timelineOf(model, listsOf(state()), ask, say);
  tl.timeText = (time) => `${ns(time)} (${grouped(time)} ns)`;
  const lists = listActions(tl);
  const drawer = drawerOf(() => tl.resize());
  const writer = stateWriter(tl);
  const selection = selectionOf(tl, { ask, drawer, say, changed: () => writer.write() });
  const choose = (event, isShown) => {
    if (!tl.model.tracks.get(event.key)?.isLocal) return selection.event(event, isShown);
    tl.selection = { ...event, kind: "event" };
    showLocal(tl, drawer, event, selection.select);
    return tl.redraw();
  };
  const hover = hoverOf(tl, ask);
  tl.search = searchOf(tl, {
    ask,
    choose: (hit) => choose(hit, true),
    changed: () => writer.write(),
  });
  const ruler = rulerOf(tl);
  const overview = overviewOf(tl, (finding) => {
    tl.moveToSpan(finding.start, finding.end ?? finding.start);
    showFinding(drawer, finding);
  });
  const names = trackList(tl, lists.ofRow);
  const toolbar = toolbarOf(tl, tl.search.form, (name, value) => actions[name]?.(value, name));
  if (model.status.note) say(model.status.note);

  const actions = {
    filter: (value, name) => lists.choose(name, value),
    order: (value, name) => lists.choose(name, value),
    unhide: (value, name) => lists.choose(name, value),
    colour: setColour,
    "fold-all": () => lists.foldAll(true),
    "unfold-all": () => lists.foldAll(false),
    perfetto: () => openInPerfetto(tl, ask),
    help: showHelp,
  };

  const failed = (error) => say(error.message);

  async function setColour(mode) {
    if (mode === "category" && !tl.categories.length) await loadCategories(tl, ask).catch(failed);
    tl.colours.setMode(mode);
    tl.changed();
  }

  const side = el("div", { class: "tl-side" }, names.inner, names.fixed);
  const area = el("div", { class: "tl-area" }, tl.scene.canvas);
  const bar = el("div", { class: "tl-scroll", "aria-hidden": "true", tabindex: "-1" }, el("div"));
  main.replaceChildren(
    toolbar.element,
    toolbar.legend,
    el("div", { class: "tl-corner tl-corner-top" }, "Overview"),
    overview.canvas,
    el(
      "div",
      { class: "tl-corner" },
      el("span", { class: "tl-span", title: "Time in sight" }, NONE),
    ),
    ruler.canvas,
    side,
    area,
    bar,
    note,
    drawer.element,
  );
  const spanText = main.querySelector(".tl-span");
  tl.frames.push(ruler.paint, overview.paint, names.draw, showScroll, () => {
    spanText.textContent = ns(Math.round(tl.view.span()));
  });

  // The bar beside the tracks is a box that scrolls; its place and the scroll follow each other.
  function showScroll() {
    bar.firstChild.style.height = `${tl.layout.height}px`;
    if (Math.abs(bar.scrollTop - tl.scroll) >= 1) bar.scrollTop = tl.scroll;
    names.inner.style.transform = `translateY(${-tl.scroll}px)`;
  }
  bar.addEventListener("scroll", () => {
    if (Math.abs(bar.scrollTop - tl.scroll) >= 1) tl.scrollTo(bar.scrollTop);
  });
  side.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      tl.scrollBy(event.deltaMode === 1 ? event.deltaY * 24 : event.deltaY);
    },
    { passive: false },
  );

  tl.moveToSpan = (start, end) => {
    const room = Math.max((end - start) * 1.4, 100);
    tl.moveTo((start + end - room) / 2, (start + end + room) / 2);
  };

  listenToPointer(tl, tl.scene.canvas, {
    click(x, y) {
      tl.stopMoving();
      const event = hitAt(tl, x, y)?.event;
      if (event) choose(event);
      else selection.clear();
    },
    area(drag) {
      const { start, end, keys } = areaOfDrag(tl, drag);
      selection.area(start, end, keys);
    },
    hover: hover.update,
    leave: hover.leave,
  });

  let centred = null;
  // Once centres the selection, twice makes it fill the view.
  function focus() {
    const { selection: own } = tl;
    if (!own) return;
    const isAgain = centred === own || own.kind === "area";
    centred = own;
    if (own.key) tl.scrollToEvent(own);
    const [middle, half] = [(own.start + own.end) / 2, tl.view.span() / 2];
    if (isAgain) tl.moveToSpan(own.start, own.end);
    else tl.moveTo(middle - half, middle + half);
  }

  const onSelection = (act) => () => tl.selection && act(tl.selection);
  listenToKeys(tl, {
    KeyF: focus,
    KeyM: onSelection((own) => tl.marks.mark(own, false)),
    "Shift+KeyM": onSelection((own) => tl.marks.mark(own, true)),
    Delete: () => tl.marks.remove(tl.selection),
    ".": () => selection.neighbour(true),
    ",": () => selection.neighbour(false),
    BracketRight: () => selection.along(true),
    BracketLeft: () => selection.along(false),
    Enter: () => tl.search.go(1),
    "Shift+Enter": () => tl.search.go(-1),
    "/": () => tl.search.input.focus(),
    "?": showHelp,
    Escape: () => {
      hideTooltip();
      selection.clear();
    },
    KeyR: selection.areaFromEvent,
    KeyQ: () => drawer.toggle(),
    Digit0: () => tl.moveTo(0, tl.view.length),
  });

  tl.onChange.push(() => {
    hover.leave();
    toolbar.update();
    writer.write();
  });
  onTheme(() => {
    tl.colours.refresh();
    tl.scene.picture.clear();
    toolbar.update();
    tl.redraw();
  });
  new ResizeObserver(() => tl.resize()).observe(area);
  tl.resize();
  // Findings take longer than the busy shares.
  for (const findings of [false, true]) ask("/api/marks", { findings }).then(overview.set, () => {});

  const apply = addressReader(tl, { ask, say, selection, setColour });
  onState(apply);
  await apply(state());
  window.tracesql = testHook(tl);
  return tl;
}
