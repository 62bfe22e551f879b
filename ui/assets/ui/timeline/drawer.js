// The drawer below the tracks shows details of the selection. It can be made taller and closed.
import { el } from "../../web/base/elements.js";

const LEAST = 90;
const STEP = 24;

/** A drawer; `changed()` is called when its size changed. */
export function drawerOf(changed) {
  const title = el("h2", { class: "tl-drawer-title" });
  const tools = el("div", { class: "tl-drawer-tools" });
  const body = el("div", {
    class: "tl-drawer-body",
    tabindex: "0",
    role: "group",
    "aria-label": "Details",
  });
  const grip = el("div", {
    class: "tl-grip",
    role: "separator",
    tabindex: "0",
    "aria-orientation": "horizontal",
    "aria-label": "Height of the details",
    onpointerdown: (event) => grip.setPointerCapture(event.pointerId),
    onpointermove: (event) => {
      if (event.buttons & 1) resize(innerHeight - event.clientY);
    },
    onkeydown: (event) => {
      const by = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      resize(element.offsetHeight + by);
    },
  });
  const close = el(
    "button",
    { type: "button", class: "ghost", title: "Close (q)", "aria-label": "Close the details" },
    "×",
  );
  const element = el(
    "section",
    { class: "tl-drawer", hidden: true, "aria-label": "Details" },
    grip,
    el("div", { class: "tl-drawer-head" }, title, tools, close),
    body,
  );
  close.addEventListener("click", () => show(false));

  function resize(height) {
    const most = innerHeight * 0.75;
    element.style.height = `${Math.round(Math.min(most, Math.max(LEAST, height)))}px`;
    changed();
  }

  function show(isShown) {
    if (element.hidden === !isShown) return;
    element.hidden = !isShown;
    changed();
  }

  return {
    element,
    show,
    toggle: () => show(element.hidden),
    /** Shows a title (a text or nodes), links and buttons, and contents. */
    fill(heading, links, ...content) {
      title.replaceChildren(...[heading].flat());
      tools.replaceChildren(...links.filter(Boolean));
      body.replaceChildren(...content.flat().filter(Boolean));
      body.scrollTop = 0;
      show(true);
    },
  };
}
