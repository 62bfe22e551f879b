// Mouse, pen and fingers over the tracks: a click selects, a drag selects an area, Shift and a drag
// pan, the wheel scrolls, with Ctrl it zooms, with Shift it pans, two fingers zoom.

/** A press that moves less than this many pixels is a click. */
const CLICK = 4;

/**
 * Listens to the canvas of `tl`. `click(x, y)`, `area(drag)`, `hover()` and `leave()` are called
 * with places in CSS pixels.
 */
export function listenToPointer(tl, canvas, { click, area, hover, leave }) {
  const touches = new Map();
  let press = null;

  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? tl.size.height : 1;
      const [across, down] = [event.deltaX * unit, event.deltaY * unit];
      const { x } = placeOf(event);
      if (event.ctrlKey || event.metaKey) {
        tl.zoomBy(Math.exp(Math.min(Math.max(down, -200), 200) * 0.004), x);
      } else if (event.shiftKey || Math.abs(across) > Math.abs(down)) {
        tl.view.pan(event.shiftKey && !across ? down : across);
        tl.changed();
      } else tl.scrollBy(down);
    },
    { passive: false },
  );

  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    const place = placeOf(event);
    touches.set(event.pointerId, place);
    const isMiddle = event.button === 1;
    if (event.button !== 0 && !isMiddle) return;
    if (isMiddle) event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    if (touches.size > 1) {
      press = null;
      tl.drag = null;
      return;
    }
    const isPan = event.shiftKey || isMiddle || event.pointerType === "touch";
    press = { ...place, last: place, isPan, hasMoved: false };
  });

  canvas.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    tl.pointer = { ...place, clientX: event.clientX, clientY: event.clientY, isInside: true };
    if (touches.size === 2 && touches.has(event.pointerId)) pinch(event.pointerId, place);
    else if (press) moved(place);
    else hover();
    if (touches.has(event.pointerId)) touches.set(event.pointerId, place);
    tl.redraw();
  });

  function pinch(id, place) {
    const [, other] = [...touches].find(([key]) => key !== id);
    const before = touches.get(id);
    const [old, now] = [Math.abs(before.x - other.x), Math.abs(place.x - other.x)];
    if (old > 8 && now > 8) tl.zoomBy(old / now, (place.x + other.x) / 2);
  }

  function moved(place) {
    if (!press.hasMoved && Math.hypot(place.x - press.x, place.y - press.y) < CLICK) return;
    press.hasMoved = true;
    if (press.isPan) {
      tl.view.pan(press.last.x - place.x);
      tl.scrollBy(press.last.y - place.y);
      tl.changed();
      canvas.classList.add("panning");
    } else {
      leave();
      tl.drag = { x0: press.x, y0: press.y, x1: place.x, y1: place.y };
    }
    press.last = place;
  }

  function release(event) {
    touches.delete(event.pointerId);
    canvas.classList.remove("panning");
    const [last, drag] = [press, tl.drag];
    press = null;
    tl.drag = null;
    if (!last) return;
    if (!last.hasMoved && event.type === "pointerup") click(last.x, last.y);
    else if (drag && event.type === "pointerup") area(drag);
    tl.redraw();
  }

  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    tl.pointer = { ...tl.pointer, isInside: false };
    leave();
    tl.redraw();
  });
}
