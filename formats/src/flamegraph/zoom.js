// Zooming, searching and resizing. Without scripts the drawing is complete at its own width.
(() => {
  "use strict";
  const MARGIN = 10;
  const CHARACTER = 6.65;
  const PADDING = 6;
  const MIN_CUT = 8;
  const svg = document.currentScript?.ownerSVGElement ?? document.documentElement;
  const height = Number(svg.getAttribute("height"));
  const drawnWidth = Number(svg.getAttribute("width"));
  const isDocument = svg === document.documentElement;
  const part = (id) => svg.querySelector(`#${id}`);
  const details = part("details");
  const back = part("back");
  const find = part("find");

  // A frame comes before the frames inside it.
  const frames = [...svg.querySelectorAll("g.f")].map((element) => {
    const rect = element.querySelector("rect");
    const title = element.querySelector("title").textContent.split("\n");
    const names = title.slice(0, title.findIndex((line, at) => at > 0 && line.endsWith(" of all")));
    return {
      element,
      rect,
      title,
      name: title[0],
      names: names.join("\n").toLowerCase(),
      level: Number(element.dataset.level),
      left: Number(element.dataset.left),
      value: Number(element.dataset.value),
    };
  });
  const root = frames[0];
  let top = root;
  let wanted = "";

  // The text for a frame of this width; flamegraph/labels.rs has the same rules.
  function label(name, width) {
    const room = Math.max(Math.floor((width - PADDING) / CHARACTER), 0);
    const fits = (text) => [...text].length <= room;
    if (fits(name)) return name;
    let kept = name;
    const at = name.indexOf("): ");
    if (at > 0 && name.slice(0, at).includes(".py(")) {
      const file = name.slice(name.lastIndexOf("/", at) + 1);
      kept = name.slice(at + 3);
      if (fits(file)) return file;
      if (fits(kept)) return kept;
    }
    return room < MIN_CUT ? "" : `${[...kept].slice(0, room - 1).join("")}…`;
  }

  function setText(frame, x, text) {
    let element = frame.element.querySelector("text");
    if (!text) return element?.remove();
    if (!element) {
      element = document.createElementNS(svg.namespaceURI, "text");
      element.setAttribute("y", Number(frame.rect.getAttribute("y")) + 12);
      frame.element.append(element);
    }
    element.setAttribute("x", x + 3);
    element.textContent = text;
  }

  const isAbove = (frame) =>
    frame.level < top.level &&
    frame.left <= top.left &&
    frame.left + frame.value >= top.left + top.value;
  const isInside = (frame) =>
    frame.level >= top.level &&
    frame.left >= top.left &&
    frame.left + frame.value <= top.left + top.value;

  function draw() {
    const width = isDocument ? Math.max(window.innerWidth, 400) : drawnWidth;
    if (isDocument) {
      svg.setAttribute("width", width);
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      back.setAttribute("x", width - 80);
      find.setAttribute("x", width - MARGIN);
    }
    const scale = (width - 2 * MARGIN) / top.value;
    for (const frame of frames) {
      const above = isAbove(frame);
      const x = above ? MARGIN : MARGIN + (frame.left - top.left) * scale;
      const wide = above ? width - 2 * MARGIN : frame.value * scale;
      const isShown = (above || isInside(frame)) && wide > 0.1;
      frame.element.style.display = isShown ? "" : "none";
      frame.element.classList.toggle("above", above);
      if (!isShown) continue;
      frame.rect.setAttribute("x", x.toFixed(2));
      frame.rect.setAttribute("width", (wide > 4 ? wide - 0.5 : wide).toFixed(2));
      setText(frame, x, label(frame.name, wide));
    }
    back.setAttribute("visibility", top === root ? "hidden" : "visible");
    describe();
  }

  // Marks the frames that match; frames inside another match do not count twice.
  function search() {
    const text = window.prompt("Find frames whose name contains", wanted);
    if (text === null) return;
    wanted = text.toLowerCase();
    svg.classList.toggle("search", wanted !== "");
    let [count, value, end, level] = [0, 0, 0, Infinity];
    for (const frame of frames) {
      const isHit = wanted !== "" && frame.names.includes(wanted);
      frame.element.classList.toggle("hit", isHit);
      if (!isHit) continue;
      count += 1;
      if (frame.level > level && frame.left < end) continue;
      value += frame.value;
      end = frame.left + frame.value;
      level = frame.level;
    }
    const share = ((value / root.value) * 100).toFixed(2);
    details.textContent = wanted ? `“${text}”: ${count} drawn frames, ${share} % of all` : " ";
  }

  function describe(frame) {
    const width = svg.getBoundingClientRect().width;
    details.textContent = frame ? label(frame.title.join(" · "), width) : " ";
  }

  for (const frame of frames) {
    frame.element.addEventListener("click", () => {
      top = frame;
      draw();
    });
    frame.element.addEventListener("mouseenter", () => describe(frame));
  }
  back.addEventListener("click", () => {
    top = root;
    draw();
  });
  find.addEventListener("click", search);
  window.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "f") return;
    event.preventDefault();
    search();
  });
  window.addEventListener("resize", draw);
  find.setAttribute("visibility", "visible");
  draw();
})();
