// The button that switches between light and dark. Pages share the choice.

// Some browsers have no storage for pages that are opened from a file.
function remembered() {
  try {
    return localStorage.getItem("tracesql-theme");
  } catch {
    return null;
  }
}

function setTheme(theme) {
  document.documentElement.setAttribute("data-theme", theme);
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
}

export function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const ofSystem = () => (dark.matches ? "dark" : "light");
  setTheme(remembered() || ofSystem());
  dark.addEventListener("change", () => {
    if (!remembered()) setTheme(ofSystem());
  });
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = document.documentElement.getAttribute("data-theme") === "dark";
    const theme = isDark ? "light" : "dark";
    setTheme(theme);
    try {
      localStorage.setItem("tracesql-theme", theme);
    } catch {
      // The choice lasts as long as the page.
    }
  });
}
