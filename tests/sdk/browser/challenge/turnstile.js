// Has the SDK, which knows Cloudflare Turnstile alone, show the widget of ALTCHA: it takes `window.turnstile` where there is one, and the
// "site key" is where challenges come from.

import "altcha";

const widgets = new Map();

window.turnstile = {
  /** Of the two ways in which the SDK asks, the one that nobody sees does no work: the service says when a challenge is needed. */
  render(container, { sitekey, size, callback, "error-callback": failed }) {
    const id = crypto.randomUUID();
    if (size === "invisible") {
      callback("");
      return id;
    }
    const widget = document.createElement("altcha-widget");
    widget.setAttribute("challenge", sitekey);
    widget.addEventListener("statechange", ({ detail: { state, payload } }) => {
      if (state === "verified") callback(payload);
      if (state === "error") failed?.("altcha");
    });
    container.append(widget);
    widgets.set(id, widget);
    return id;
  },
  remove(id) {
    widgets.get(id)?.remove();
    widgets.delete(id);
  },
};
