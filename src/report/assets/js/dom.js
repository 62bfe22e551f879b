// Elements. Texts go in as text and never as HTML, because names in traces can be anything.
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || (value === false && !name.startsWith("aria-"))) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "width" || name === "left" || name === "top" || name === "height" || name === "background" || name === "paddingLeft") element.style[name] = value;
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  element.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false));
  return element;
}

// A box with a title, what it shows, and the query behind it.
function panel(key, ...content) {
  const { title, about, sql } = section(key);
  return el("section", { class: "panel", id: `panel-${key}` },
    el("header", {}, el("h2", {}, title), queryOf(sql), el("p", { class: "small" }, about)), ...content);
}

// The panel of a section, or why it is empty; nothing where the section is not about this trace.
function panelOr(key, make) {
  const why = missing(key);
  if (!why) return panel(key, ...[make(rows(key))].flat());
  return why.status === "not_applicable" ? null : panel(key, notice(why));
}

function notice({ status, reason }) {
  return el("p", { class: status === "failed" ? "notice bad" : "notice" }, status === "failed" ? `The query failed: ${reason}` : sentence(reason));
}

function sentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

function queryOf(sql) {
  return el("details", { class: "query" }, el("summary", {}, "SQL"), copyable(sql));
}

function copyable(text) {
  const pre = el("pre", {}, text);
  const button = el("button", { type: "button", class: "ghost", onclick: () => copy(text, button, pre) }, "Copy");
  return el("div", { class: "sql" }, pre, button);
}

// The clipboard is not there for pages opened from a file in some browsers: then the text is
// selected.
async function copy(text, button, pre) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(pre);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

function swatch(colour) {
  return el("span", { class: "swatch", background: colour });
}

// Parts of a whole as one bar: [label, value, colour]; with a legend unless there is one for
// several bars.
function stackBar(title, parts, total, unit, hasLegend = true) {
  const shown = parts.filter(([, value]) => value > 0);
  const share = (value) => (total > 0 ? pct((100 * value) / total) : NONE);
  return el("div", { class: "stacked" },
    el("div", { class: "small quiet" }, title),
    el("div", { class: "stack-bar", role: "img", "aria-label": `${title}: ` + shown.map(([label, value]) => `${label} ${share(value)}`).join(", ") },
      shown.map(([label, value, colour]) => el("span", { width: `${(100 * value) / total}%`, background: colour, title: `${label}: ${exact(value, unit)}, ${share(value)} of ${exact(total, unit)}` }))),
    !hasLegend ? null : el("div", { class: "legend" }, shown.map(([label, value, colour]) => el("span", { title: exact(value, unit) }, swatch(colour), label, el("b", {}, share(value)), human(value, unit)))));
}

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
