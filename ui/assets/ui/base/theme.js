// Light and dark, as in the report: the choice is kept, and without one the system decides.
import { el } from "../../web/base/elements.js";
import { redrawSurfaces } from "../../web/charts/surface.js";

const KEY = "tracesql-theme";
const listeners = [];

/** Calls `listener()` after the colours of the page changed. */
export function onTheme(listener) {
  listeners.push(listener);
}

// Some browsers have no storage for some pages.
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice lasts as long as the page.
  }
}

const isDark = () => document.documentElement.getAttribute("data-theme") === "dark";

/** The button that switches between light and dark. */
export function themeSwitch() {
  const button = el("button", {
    type: "button",
    class: "ghost",
    id: "theme",
    title: "Switch between light and dark",
    onclick: () => {
      const theme = isDark() ? "light" : "dark";
      remember(theme);
      show(theme);
    },
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const ofSystem = () => (dark.matches ? "dark" : "light");

  function show(theme) {
    document.documentElement.setAttribute("data-theme", theme);
    button.textContent = theme === "dark" ? "Light" : "Dark";
    redrawSurfaces();
    listeners.forEach((listener) => listener());
  }

  dark.addEventListener("change", () => {
    if (!remembered()) show(ofSystem());
  });
  addEventListener("storage", ({ key, newValue }) => {
    if (key === KEY && newValue) show(newValue);
  });
  show(remembered() || ofSystem());
  return button;
}
