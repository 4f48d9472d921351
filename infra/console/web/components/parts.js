// Small parts of pages, such as texts, ids, secrets, times, states, headings, notes and tabs.

import { h, newId } from "../core/dom.js";
import { clipped, instant, shortened, visible } from "../core/format.js";
import { toCurl, UnknownUser } from "../core/api.js";
import { texts as t } from "../texts.js";

/** A text from the API, with its direction isolated and invisible characters made visible. */
export function shown(text, { max } = {}) {
  if (text === null || text === undefined || text === "") return h("span", { class: "muted none" }, t.none);
  const whole = visible(text);
  const cut = max ? clipped(whole, max) : whole;
  return h("bdi", { title: cut === whole ? null : clipped(whole, 1000) }, cut);
}

/** A button that copies a text; `page.js`, loaded on every page, does the copying. */
export function copyButton(text, label = t.copy) {
  return h("button", { type: "button", class: "copy quiet", "data-copy": text }, label);
}

/** An id, shortened in the middle unless it has the focus. */
export function id(value) {
  const element = h(
    "code",
    {
      tabindex: "0",
      title: value,
      onfocus: () => {
        element.textContent = value;
      },
      onblur: () => {
        element.textContent = shortened(value);
      },
    },
    shortened(value),
  );
  return h("span", { class: "key" }, element, copyButton(value));
}

/** A name after its first letter, which stands in for a logo, and with `more` below or after it. */
export function named(name, { max, more } = {}) {
  const [{ segment }] = new Intl.Segmenter().segment(visible(name.trim() || "?"));
  const letter = h("span", { class: "tile", "aria-hidden": "true", "data-letter": segment.toUpperCase() });
  return h("span", { class: "named" }, letter, h("span", {}, shown(name, { max }), more));
}

/** A value that is shown in full, with a button that copies it. */
export function copyable(value) {
  return h("span", { class: "key" }, h("code", {}, value), copyButton(value));
}

/** A secret that is shown on demand. */
export function secret(value) {
  const masked = `${value.slice(0, 4)}••••••••`;
  return h("span", { class: "key" }, h("details", {}, h("summary", {}, masked), h("code", {}, value)), copyButton(value));
}

/**
 * A time in milliseconds or as text, shown relative to now; with `isLong`, also in local time. With
 * `isMinute`, without seconds.
 */
export function time(value, { isLong = false, isMinute = false } = {}) {
  if (value === null || value === undefined) return h("span", { class: "muted never" }, t.never);
  const text = instant(value, isMinute);
  return h("time", { datetime: text, class: isLong ? null : "ago" }, text);
}

/** A state in words, in one of four tones. */
export function state(tone, text) {
  return h("span", { class: `state ${tone}` }, text);
}

export function tag(text) {
  return h("span", { class: "tag" }, text);
}

/** Names and values; skips entries without a value. */
export function facts(...entries) {
  const rows = entries.filter((entry) => entry && entry[1] !== undefined);
  return h(
    "dl",
    { class: "facts" },
    rows.map(([name, ...value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

/** A block of code with a button that copies it. */
export function code(text) {
  return h(
    "div",
    { class: "code" },
    h("pre", { tabindex: "0" }, h("code", {}, text)),
    h("button", { type: "button", class: "copy quiet" }, t.copy),
  );
}

/** The heading of a page, with actions at the right. */
export function head(title, { lead, actions = [] } = {}) {
  return h(
    "div",
    { class: "head" },
    h("div", {}, h("h1", { tabindex: "-1" }, title), lead && h("p", {}, lead)),
    h("div", { class: "buttons" }, actions),
  );
}

/** A heading within a page. */
export function heading(text, { level = "h2", actions } = {}) {
  return h("div", { class: "subhead" }, h(level, {}, text), actions && h("div", { class: "buttons" }, actions));
}

/** A part of a page that is shown once its title is pressed. */
export function fold(title, ...content) {
  return h("details", { class: "fold" }, h("summary", {}, title), h("div", {}, content));
}

/** A permission with a button that revokes it. */
export function granted(tag, permission, revoke) {
  const label = { title: t.permissions.revoke, "aria-label": `${t.permissions.revoke} ${permission}` };
  return h(tag, { class: "chip" }, h("code", {}, shown(permission)), button("×", revoke, { class: "quiet", ...label }));
}

export function link(href, text, attributes = {}) {
  return h("a", { href, ...attributes }, text);
}

export function button(text, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

/** Copies a request as a curl command; `make` returns the request when the button is pressed. */
export function curlButton(make) {
  const copy = h("button", { type: "button", class: "copy quiet", "data-copy": "", title: t.curl.help }, t.curl.label);
  // This listener runs before the one in `page.js`, which reads the attribute.
  copy.addEventListener("click", () => {
    copy.dataset.copy = toCurl(make(), location.origin);
  });
  return copy;
}

function failureText(error) {
  if (error instanceof UnknownUser) return t.failed.user(error);
  if (error instanceof DOMException) return t.failed.passkey;
  if (error.status === 0) return t.failed.unreachable;
  return typeof error.status === "number" ? error.message : `${t.failed.internal} ${error.message}`;
}

/** A failure, in the API's words if there are any. */
export function failure(error, { again } = {}) {
  if (error.name === "AbortError") return h("span");
  const wait = error.retryAfter ? ` ${t.failed.retryAfter(error.retryAfter)}` : "";
  return h(
    "div",
    { class: "note failed", role: "alert", id: newId("failure") },
    h("p", {}, h("strong", {}, t.failed.title), " ", shown(failureText(error), { max: 2000 }), wait),
    error.hint && h("p", {}, shown(error.hint)),
    error.code && h("p", { class: "small" }, link(error.documentation, h("code", {}, error.code))),
    again && h("p", {}, button(t.again, again)),
  );
}

/** A note; `tone` is `done`, `waiting` or `failed`. */
export function note(tone, ...content) {
  return h("div", { class: `note ${tone}`, role: tone === "failed" ? "alert" : "status" }, h("p", {}, content));
}

/** What an empty list shows, including how to add the first row. */
export function empty({ title, text, action }) {
  return h("div", { class: "empty" }, h("h2", {}, title), h("p", {}, text), action);
}

/** Tabs that are links. */
export function tabs(entries, current, label) {
  return h(
    "nav",
    { class: "tabs", "aria-label": label },
    entries.map(([href, text, name]) => link(href, text, { "aria-current": name === current && "page" })),
  );
}
