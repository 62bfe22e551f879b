// The names of tracks beside their pictures: a tree of which only the rows in sight exist. Rows
// fold, pin and hide; the arrow keys go from row to row.
import { el } from "../../web/base/elements.js";
import { grouped, many } from "../../web/base/format.js";

/** Rows that are kept outside of the area, in pixels. */
const MARGIN = 120;

function classOf({ kind, isFolded, isWarning }) {
  return ["tl-head", kind, isFolded && "folded", isWarning && "warning"].filter(Boolean).join(" ");
}

// What is known of a track, with exact numbers.
function about({ kind, events, instants, busy_ns: busy }) {
  const counts = [many(events || 0, "event"), instants ? many(instants, "instant") : null];
  const time = busy ? `busy ${grouped(busy)} ns` : null;
  return [kind.replaceAll("_", " "), ...counts, time].filter(Boolean).join(" · ");
}

/** The list of `tl`; `act(name, row)` is called with fold, pin or hide. */
export function trackList(tl, act) {
  const inner = el("div", { class: "tl-rows", role: "tree", "aria-label": "Tracks" });
  const fixed = el("div", { class: "tl-rows-fixed", role: "tree", "aria-label": "Pinned tracks" });
  const made = new Map();
  let focused = null;

  function button(text, label, row, name, isPressed) {
    return el(
      "button",
      {
        type: "button",
        title: label,
        tabindex: "-1",
        "aria-label": `${label}: ${row.label}`,
        "aria-pressed": isPressed,
        onclick: (event) => {
          event.stopPropagation();
          act(name, row);
        },
      },
      text,
    );
  }

  function element(row) {
    const isTrack = row.kind === "track";
    const canFold = !isTrack || row.track.isCounter || (row.track.lanes || 1) > 1;
    const twist = el("span", { class: "tl-twist", "aria-hidden": "true" }, canFold ? "▾" : "");
    const own = el(
      "div",
      {
        class: classOf(row),
        role: "treeitem",
        tabindex: "-1",
        "aria-level": row.level,
        "aria-expanded": canFold ? String(!row.isFolded) : null,
        "data-id": row.id,
        title: [row.label, row.title, isTrack && about(row.track)].filter(Boolean).join("\n"),
        onclick: () => {
          focused = row.id;
          if (canFold) act("fold", row);
        },
        onkeydown: (event) => key(event, row),
      },
      twist,
      el("bdi", { class: "tl-name" }, row.label),
      row.note ? el("span", { class: "tl-note" }, row.note) : null,
      isTrack
        ? el(
            "span",
            { class: "tl-tools" },
            button("↑", row.isPinned ? "Unpin" : "Pin", row, "pin", Boolean(row.isPinned)),
            row.isPinned ? null : button("×", "Hide", row, "hide"),
          )
        : null,
    );
    own.style.paddingLeft = `${4 + 11 * (row.level - 1)}px`;
    return own;
  }

  function key(event, row) {
    // The buttons of a row have keys of their own.
    if (event.target !== event.currentTarget) return;
    const { rows } = tl.layout;
    const at = rows.findIndex((r) => r.id === row.id);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to !== undefined) focus(rows[Math.min(Math.max(0, to), rows.length - 1)]);
    else if (event.key === "ArrowRight" && row.isFolded) act("fold", row);
    else if (event.key === "ArrowLeft" && !row.isFolded) act("fold", row);
    else if (event.key === "Enter" || event.key === " ") act("fold", row);
    else if (event.code === "KeyP" && row.track) act("pin", row);
    else if (event.key === "Delete" && row.track) act("hide", row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function focus(row) {
    focused = row.id;
    tl.scrollToRow(row.id);
    draw();
    made.get(row.id)?.element.focus({ preventScroll: true });
  }

  /** Puts the rows in sight in their places. */
  function draw() {
    inner.style.height = `${tl.layout.height}px`;
    fixed.style.height = `${tl.layout.fixedHeight}px`;
    fixed.hidden = tl.layout.fixedHeight === 0;
    const hasFocus = document.activeElement?.dataset?.id;
    const wanted = tl.layout.inSight(tl.scroll, tl.size.height, MARGIN);
    const names = new Set(wanted.map(({ row }) => row.id));
    for (const [id, { element }] of made)
      if (!names.has(id)) {
        element.remove();
        made.delete(id);
      }
    wanted.forEach(({ row }) => put(row));
    const first = made.has(focused) ? focused : wanted[0]?.row.id;
    for (const [id, { element }] of made) element.tabIndex = id === first ? 0 : -1;
    if (hasFocus && made.has(hasFocus) && document.activeElement?.dataset?.id !== hasFocus)
      made.get(hasFocus).element.focus({ preventScroll: true });
  }

  function put(row) {
    const isFixed = Boolean(row.isPinned && tl.layout.fixedHeight);
    const known = made.get(row.id);
    let own = known?.element;
    if (!known || known.row !== row) {
      const next = element(row);
      if (own) own.replaceWith(next);
      own = next;
      made.set(row.id, { row, element: own });
    }
    const box = isFixed ? fixed : inner;
    if (own.parentElement !== box) box.append(own);
    own.style.top = `${row.top}px`;
    own.style.height = `${row.height}px`;
  }

  return { inner, fixed, draw };
}
