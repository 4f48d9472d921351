// Runs before the page is drawn. Sets the chosen theme, and adds the class `js`, which tells the
// styles that scripts are enabled.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme) root.dataset.theme = theme;
  } catch {
    // Storage is disabled, so the system's theme is used.
  }
})();
