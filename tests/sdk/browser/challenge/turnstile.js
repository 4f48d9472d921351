// Makes the SDK show ALTCHA's widget, although the SDK supports only Cloudflare Turnstile. The SDK
// uses `window.turnstile` if it exists, and the "site key" is the URL of the challenges.

import "altcha";

const widgets = new Map();

window.turnstile = {
  /** The SDK's invisible challenge does no work: the service says when a challenge is needed. */
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
