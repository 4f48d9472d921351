// Dialogs that confirm an action, show a secret once, warn of unsaved changes, or show conflicting
// changes.

import { fill, h, newId, say } from "../core/dom.js";
import { visible } from "../core/format.js";
import { texts as t } from "../texts.js";
import { button, copyable, failure, heading } from "./parts.js";

/**
 * Opens a dialog with the result of `content(close)`. Returns the argument of `close`, or
 * `undefined` if the dialog is dismissed.
 */
export function open(title, content) {
  const label = newId("dialog");
  const before = document.activeElement;
  return new Promise((resolve) => {
    const dialog = h("dialog", { class: "dialog", "aria-labelledby": label });
    const close = (result) => {
      dialog.returned = result;
      dialog.close();
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(dialog.returned);
    });
    fill(dialog, h("h2", { id: label }, title), content(close));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Asks for confirmation, then calls `act`. If `act` fails, the dialog stays open and shows the
 * API's error. If `name` is given, the user must type it. Returns whether `act` succeeded.
 */
export function confirm({ title, text, verb = title, name, act }) {
  return open(title, (close) => {
    const problem = h("div");
    const wanted = name === undefined ? null : visible(name).trim();
    const typed = h("input", { id: newId("typed"), autocomplete: "off", spellcheck: "false" });
    const go = h("button", { class: wanted === null ? "main" : "danger", disabled: wanted !== null }, verb);
    typed.addEventListener("input", () => {
      go.disabled = typed.value.trim() !== wanted;
    });
    const submit = async (event) => {
      event.preventDefault();
      go.disabled = true;
      fill(problem, h("p", { class: "muted", role: "status" }, t.working));
      try {
        await act();
        say(t.done);
        close(true);
      } catch (error) {
        fill(problem, failure(error));
        go.disabled = false;
      }
    };
    return h(
      "form",
      { onsubmit: submit },
      h("p", {}, text),
      wanted !== null &&
        h("div", { class: "field" }, h("label", { for: typed.id }, t.confirm.type, " ", h("bdi", { class: "mono" }, wanted)), typed),
      problem,
      h(
        "div",
        { class: "buttons" },
        go,
        button(t.cancel, () => close(false)),
      ),
    );
  });
}

/** A section with a button that deletes the page's item after confirmation. */
export function deletion({ title, text, name, act, done }) {
  const remove = async () => {
    if (await confirm({ title, text, name, act })) await done();
  };
  return h("section", { class: "danger-area" }, heading(title), h("p", {}, text), button(title, remove, { class: "danger" }));
}

/** Shows secrets that the API returns only once, with what else belongs to them. */
export function showOnce(title, text, secrets, { more, verb = t.keptIt } = {}) {
  return open(title, (close) => [
    h("p", {}, text),
    secrets
      .filter(([, value]) => value)
      .map(([name, value]) =>
        h(
          "div",
          { class: "field" },
          h("strong", { class: "small" }, name),
          h("div", {}, copyable(value)),
        ),
      ),
    more,
    h(
      "div",
      { class: "buttons" },
      button(verb, () => close(true), { class: "main" }),
    ),
  ]);
}

/** Asks whether to leave a form with unsaved changes. */
export function mayLeave() {
  return open(t.leave.title, (close) => [
    h("p", {}, t.leave.text),
    h(
      "div",
      { class: "buttons" },
      button(t.leave.stay, () => close(false), { class: "main" }),
      button(t.leave.go, () => close(true)),
    ),
  ]);
}

/**
 * Shows how a form differs from what someone else has saved in the meantime. Returns which values
 * to keep, "theirs" or "mine", or `undefined` if the user cancels.
 */
export function showConflicts(conflicts, labelOf) {
  const printed = (value) =>
    h(
      "bdi",
      { class: "value" },
      visible(
        value === undefined || value === null || value === "" ? t.none : typeof value === "string" ? value : JSON.stringify(value, null, 1),
      ),
    );
  return open(t.conflict.title, (close) => [
    h("p", {}, t.conflict.text),
    h(
      "div",
      { class: "scroll", tabindex: "0" },
      h(
        "table",
        { class: "stacked" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            [t.conflict.field, t.conflict.before, t.conflict.now, t.conflict.mine].map((text) => h("th", { scope: "col" }, text)),
          ),
        ),
        h(
          "tbody",
          {},
          conflicts.map(({ name, before, now, mine }) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, labelOf(name)),
              [
                [t.conflict.before, before],
                [t.conflict.now, now],
                [t.conflict.mine, mine],
              ].map(([label, value]) => h("td", { "data-label": label }, printed(value))),
            ),
          ),
        ),
      ),
    ),
    h(
      "div",
      { class: "buttons" },
      button(t.conflict.take, () => close("theirs"), { class: "main" }),
      button(t.conflict.overwrite, () => close("mine")),
      button(t.cancel, () => close(null)),
    ),
  ]);
}
