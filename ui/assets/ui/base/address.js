// The fragment of the address holds the state of a page as `#key=value&key=value`. Only this
// module reads and writes it. The token of the session is never part of the state.

const listeners = [];

/** The pairs of a fragment as an object of texts. */
export function parse(fragment) {
  const pairs = fragment
    .replace(/^#/, "")
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
    });
  return Object.fromEntries(pairs.map(([key, value]) => [decoded(key), decoded(value)]));
}

/** The fragment for an object of texts, without the sign in front; empty if there is nothing. */
export function format(values) {
  const isThere = ([, value]) => value !== null && value !== undefined;
  const encoded = (text) => encodeURIComponent(String(text));
  return Object.entries(values)
    .filter(isThere)
    .map(([key, value]) => `${encoded(key)}=${encoded(value)}`)
    .join("&");
}

/** The address of another page with a state. */
export function link(page, values = {}) {
  const fragment = format(values);
  return fragment ? `${page}#${fragment}` : page;
}

/** What the address says now: an object of texts. */
export function state() {
  const values = parse(location.hash);
  delete values.token;
  return values;
}

/**
 * Changes keys of the state; null removes a key. With `replace` the browser's history gets no new
 * entry. Listeners are not called, because the caller knows.
 */
export function setState(changes, { replace = false } = {}) {
  const fragment = format({ ...state(), ...changes });
  if (`#${fragment}` === (location.hash || "#")) return;
  const address = `${location.pathname}${location.search}${fragment ? `#${fragment}` : ""}`;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  last = location.hash;
}

/** Calls `listener(state)` when the address changes by a link, by hand, by Back or Forward. */
export function onState(listener) {
  listeners.push(listener);
}

// A text that is not encoded properly is taken as it is.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Back and Forward between entries that differ only in the fragment give both events; listeners
// hear of each address once.
let last = location.hash;
for (const name of ["popstate", "hashchange"])
  addEventListener(name, () => {
    if (location.hash === last && name === "hashchange") return;
    last = location.hash;
    listeners.forEach((listener) => listener(state()));
  });
