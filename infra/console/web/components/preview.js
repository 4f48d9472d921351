// A frame with the HTML of an email. The frame has a separate content security policy: no scripts,
// no forms and an opaque origin.

import { h, newId } from "../core/dom.js";
import { mails as m } from "../texts-emails.js";

/** The frame; `show(html)` replaces its content. */
export function preview() {
  const name = newId("preview");
  const field = h("input", { type: "hidden", name: "html" });
  const sender = h("form", { method: "post", action: "/console/preview", target: name, hidden: true }, field);
  // An empty frame is not white, because white would dazzle in the dark theme.
  const frame = h("iframe", { class: "frame blank", name, title: m.emails.preview });
  const element = h("div", {}, frame, sender);
  element.show = (html) => {
    field.value = html;
    frame.addEventListener("load", () => frame.classList.remove("blank"), { once: true });
    // A form can only be submitted once it is part of the page.
    if (sender.isConnected) sender.submit();
    else requestAnimationFrame(() => sender.isConnected && sender.submit());
  };
  return element;
}
