// Runs before the page is drawn: the chosen theme, and that scripts run.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme) root.dataset.theme = theme;
  } catch {
    // Storage is off: the theme is that of the system.
  }
})();
