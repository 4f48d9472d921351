// Runs before the page is drawn: sets the chosen theme, and adds the class `js` to tell the styles
// that scripts are enabled.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme) root.dataset.theme = theme;
  } catch {
    // Storage is disabled: use the system's theme.
  }
})();
