// Navigation between tabs. Tabs name each other by key, so that none imports another.
import { TRACES, state } from "./data.js";

const FIRST = "overview";
const listeners = [];

/** Calls `act` when another tab or another trace is to be shown. */
export function onNavigate(act) {
  listeners.push(act);
}

/**
 * Shows a tab of the chosen trace, as a new entry of the browser's history. `item` is what the tab
 * selects: the name of a row, or the text that the flame graph searches for.
 */
export function openTab(key, item = "") {
  state.tab = key;
  state.item = item;
  if (address() !== (location.hash || `#${FIRST}`)) history.pushState(null, "", address());
  listeners.forEach((act) => act());
  scrollTo(0, 0);
}

/** Writes what the tab selects into the address of the page, without a new entry. */
export function setItem(item) {
  state.item = item;
  history.replaceState(null, "", address());
}

/** Shows what the address says, now and when it changes: by a link, by hand, by Back. */
export function followAddress() {
  readAddress();
  addEventListener("hashchange", () => {
    readAddress();
    listeners.forEach((act) => act());
  });
}

function address() {
  const trace = state.trace ? `@${state.trace}` : "";
  return `#${state.tab}${trace}${state.item ? `/${encodeURIComponent(state.item)}` : ""}`;
}

function readAddress() {
  const [, tab, trace, item] = /^#(\w+)(?:@(\d+))?(?:\/(.*))?$/.exec(location.hash) || [];
  state.tab = tab || FIRST;
  state.trace = trace && TRACES[trace] ? Number(trace) : 0;
  state.item = decoded(item || "");
}

// A text that is not encoded properly is taken as it is.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
