// Keeps the parts of a page that are marked `data-live` up to date. Fetches the page again and
// patches the differences, so that focus, scroll position and open forms are kept. Pauses while the
// user edits something and while the page is hidden. Forms that are marked `data-live-form` are
// sent without leaving the page.

import { showTimes } from "./page.js";

const EVERY_MILLIS = 1500;
const said = document.querySelector("#said");
const wait = document.querySelector("[data-live-paused]");
let etag = null;
let running = false;

/** Whether the user is editing or selecting, which an update would disturb. */
function isEditing() {
  if (document.querySelector("details[data-edit][open], form[data-dirty]")) return true;
  return Boolean(document.activeElement?.closest("[data-live] :is(input, textarea, select)"));
}

function sameKind(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && a.dataset?.key === b.dataset?.key && a.id === b.id;
}

/** Turns `from` into `to` with minimal changes. */
function morph(from, to) {
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  // Changing the URL of the frame would add an entry to the browser's history.
  if (from.nodeName === "IFRAME" && from.getAttribute("src") !== to.getAttribute("src")) {
    from.replaceWith(to);
    return;
  }
  const attributes = [...to.attributes];
  for (const { name, value } of attributes) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  for (const { name } of [...from.attributes]) {
    const isOwn = name === "open" || name === "title" || name === "value";
    if (!isOwn && !to.hasAttribute(name)) from.removeAttribute(name);
  }
  // `showTimes` sets the text of a time.
  if (from.nodeName === "TIME") return;
  morphChildren(from, to);
}

function morphChildren(from, to) {
  const keyed = new Map([...from.children].filter((child) => child.dataset.key).map((child) => [child.dataset.key, child]));
  let place = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const known = wanted.dataset?.key ? keyed.get(wanted.dataset.key) : undefined;
    if (known) {
      keyed.delete(wanted.dataset.key);
      if (known === place) place = place.nextSibling;
      else from.insertBefore(known, place);
      morph(known, wanted);
    } else if (place && !place.dataset?.key && !wanted.dataset?.key && sameKind(place, wanted)) {
      const next = place.nextSibling;
      morph(place, wanted);
      place = next;
    } else {
      from.insertBefore(wanted, place);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

/**
 * If the focused element disappears, moves the focus to the row that takes its place, or to the
 * heading.
 */
function keepFocus(change) {
  const focused = document.activeElement;
  const rows = () => [...document.querySelectorAll(".rows a.row")];
  const row = focused?.closest(".rows tr")?.querySelector("a.row");
  const index = rows().indexOf(row);
  change();
  if (focused && focused !== document.body && !focused.isConnected) {
    const all = rows();
    const next = index >= 0 ? all[Math.min(index, all.length - 1)] : undefined;
    (next ?? document.querySelector("h1")).focus({ preventScroll: true });
  }
}

function show(html, isOwn) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  keepFocus(() => {
    for (const part of document.querySelectorAll("[data-live]")) {
      const wanted = fresh.getElementById(part.id);
      if (wanted) morph(part, wanted);
    }
  });
  if (document.title !== fresh.title) document.title = fresh.title;
  const news = fresh.querySelector("[data-say]")?.textContent;
  if (isOwn && news) said.textContent = news;
  showTimes();
}

async function refresh() {
  const editing = isEditing();
  if (wait) wait.hidden = !editing;
  if (editing || running || document.hidden) return;
  running = true;
  try {
    const headers = { accept: "text/html", ...(etag && { "if-none-match": etag }) };
    const answer = await fetch(location.href, { headers, cache: "no-store" });
    // The user may have begun to edit before the response arrived.
    if (answer.status === 200 && !isEditing()) {
      show(await answer.text(), false);
      etag = answer.headers.get("etag");
    }
  } catch {
    // The gateway does not respond, so the current content is kept.
  } finally {
    running = false;
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-live-form]");
  if (!form) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  // If the form had a button named "action", `form.action` would be this button.
  const url = new URL(form.getAttribute("action") ?? location.href, location.href);
  if (form.getAttribute("method") !== "post") {
    url.search = body;
    const answer = await fetch(url, { headers: { accept: "text/html" }, cache: "no-store" });
    history.replaceState(null, "", answer.url);
    etag = null;
    return show(await answer.text(), true);
  }
  const answer = await fetch(url, { method: "POST", body, headers: { accept: "text/html" }, cache: "no-store" });
  if (answer.ok) for (const fold of document.querySelectorAll("details[data-edit][open]")) if (fold.contains(form)) fold.open = false;
  // A redirect to another page means that the item of this page no longer exists.
  if (answer.redirected && new URL(answer.url).pathname !== location.pathname) {
    location.href = answer.url;
    return undefined;
  }
  etag = null;
  show(await answer.text(), true);
  if (answer.ok) settle(form);
  else form.querySelector('[aria-invalid="true"]')?.focus();
  return undefined;
});

/** Resets a form after its input was saved or discarded, so that it shows the page's values. */
function settle(form) {
  form.reset();
  form.removeAttribute("data-dirty");
}
document.addEventListener("toggle", ({ target }) => {
  if (target.matches?.("details[data-edit]:not([open])")) target.querySelectorAll("form").forEach(settle);
}, true);

// Apply filters while typing.
let timer;
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live-form][role=search]");
  if (form) {
    clearTimeout(timer);
    timer = setTimeout(() => form.requestSubmit(), 150);
    return;
  }
  event.target.closest("form")?.setAttribute("data-dirty", "");
});

// When an email is opened, it is marked as read.
const unread = document.querySelector("form[data-read-on-view]");
if (unread) {
  fetch(unread.getAttribute("action"), { method: "POST", body: new URLSearchParams(new FormData(unread)), headers: { accept: "text/html" } }).then(refresh, () => {});
}

setInterval(refresh, EVERY_MILLIS);
