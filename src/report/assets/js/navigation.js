// Navigation between tabs. Tabs name each other by key, so that none imports another.
import { state } from "./data.js";

const listeners = [];

/** Calls `act` when another tab or another trace is to be shown. */
export function onNavigate(act) {
  listeners.push(act);
}

/** Shows a tab of the chosen trace and writes both into the address of the page. */
export function openTab(key) {
  state.tab = key;
  history.replaceState(null, "", `#${key}${state.trace ? `@${state.trace}` : ""}`);
  listeners.forEach((act) => act());
  scrollTo(0, 0);
}
