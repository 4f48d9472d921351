// The features that every page has: theme, menu, copy buttons, times, keyboard, and links into
// folded parts. Pages work without them.

const $$ = (selector, root = document) => root.querySelectorAll(selector);

// Theme
const theme = document.querySelector("#theme");
theme.value = document.documentElement.dataset.theme ?? "";
theme.addEventListener("change", () => {
  const root = document.documentElement;
  try {
    if (theme.value) localStorage.setItem("theme", theme.value);
    else localStorage.removeItem("theme");
  } catch {
    // Storage is disabled, so the choice is lost when the page is closed.
  }
  if (theme.value) root.dataset.theme = theme.value;
  else delete root.dataset.theme;
});

// Menu on small screens
const bar = document.querySelector(".bar");
const menu = bar.querySelector(".menu");
function openMenu(isOpen) {
  bar.classList.toggle("open", isOpen);
  menu.setAttribute("aria-expanded", String(isOpen));
}
menu.addEventListener("click", () => openMenu(!bar.classList.contains("open")));
bar.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !bar.classList.contains("open")) return;
  openMenu(false);
  menu.focus();
});

// Copy buttons
const said = document.querySelector("#said");
async function copy(button) {
  const text = button.dataset.copy ?? button.parentElement.querySelector("pre, code").textContent;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying is blocked";
  }
  said.textContent = button.textContent;
  setTimeout(() => {
    button.textContent = label;
    said.textContent = "";
  }, 1500);
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copy(button);
});

// Times are relative in lists. Elsewhere, they are local, followed by the relative time.
// Everywhere, hovering shows the local time and UTC. A `datetime` without seconds means a whole
// minute.
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const UNITS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3_600], ["minute", 60]];
function age(date, isMinute) {
  const seconds = Math.round((date - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? (isMinute ? ["minute", 60] : ["second", 1]);
  if (unit === "second" && Math.abs(seconds) < 10) return "just now";
  return words.format(Math.trunc(seconds / size) || 0, unit);
}
const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const localMinute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
export function showTimes(root = document) {
  for (const time of $$("time[datetime]", root)) {
    const date = new Date(time.dateTime);
    const isMinute = /T\d\d:\d\dZ$/.test(time.dateTime);
    const [when, past] = [(isMinute ? localMinute : local).format(date), age(date, isMinute)];
    const text = time.classList.contains("ago") ? past : `${when} (${past})`;
    if (time.textContent !== text) time.textContent = text;
    const title = `${when} · ${time.dateTime.replace("T", " ").replace("Z", " UTC")}`;
    if (time.title !== title) time.title = title;
  }
}
showTimes();
setInterval(showTimes, 10_000);

// Keyboard: up and down in tables of links, / for the search.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const row = event.target.closest?.(".rows tr");
  if (row && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    const links = [...$$("a.row", row.closest("table"))].filter((link) => link.offsetParent !== null);
    const next = links[links.indexOf(row.querySelector("a.row")) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) {
      next.focus();
      event.preventDefault();
    }
  }
  if (event.key === "/" && !event.target.closest("input, textarea, select")) {
    const search = document.querySelector("input[type=search]");
    if (search) {
      search.focus();
      event.preventDefault();
    }
  }
});

// A link to a folded part unfolds it.
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = target?.closest?.("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}
openTarget();
addEventListener("hashchange", openTarget);
