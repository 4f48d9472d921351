// A dialog for long work in steps, which shows the progress and lets the user stop the work.

import { fill, h, say } from "../core/dom.js";
import { texts as t } from "../texts.js";
import { open } from "./dialog.js";
import { button, failure, note } from "./parts.js";

/**
 * Opens a dialog for work in steps.
 *
 * - `begin` is the content of the form shown before the start;
 * - `step()` does the next step and returns whether another step follows; if a step fails and the
 *   user retries, `step()` is called again for the same step;
 * - `progress()` returns a text about the work so far, and `finished()` a text about the result.
 *
 * Returns whether any step was done. Closing the dialog also stops the work, after the current
 * step.
 */
export async function work({ title, text, verb, begin, step, progress, finished }) {
  let isStopped = false;
  let steps = 0;
  await open(title, (close) => {
    const said = h("div");
    const buttons = h("div", { class: "buttons" });
    const fields = h("fieldset", { class: "plain" }, begin);
    const go = (label) => h("button", { class: "main" }, label);
    const shut = (label) => button(label, () => close());
    const stop = button(t.work.stop, () => {
      isStopped = true;
      stop.disabled = true;
    });
    const show = (...content) => {
      const hadFocus = buttons.contains(document.activeElement);
      fill(buttons, content);
      if (hadFocus || document.activeElement === document.body) buttons.querySelector("button")?.focus();
    };

    async function run(event) {
      event.preventDefault();
      isStopped = false;
      stop.disabled = false;
      fields.disabled = true;
      const count = h("p", { role: "status" }, progress());
      fill(said, h("progress", { "aria-label": title }), count);
      show(stop);
      try {
        for (let isMore = true; isMore; ) {
          isMore = await step();
          steps += 1;
          count.textContent = progress();
          if (isMore && isStopped) {
            fill(said, note("waiting", `${t.work.stopped} ${progress()}`));
            show(go(t.work.goOn), shut(t.work.close));
            return;
          }
        }
        fill(said, note("done", finished()));
        say(finished());
        show(shut(t.work.close));
      } catch (error) {
        fill(said, failure(error), h("p", {}, `${progress()} ${t.work.failed}`));
        show(go(t.again), shut(t.work.close));
      }
    }

    show(go(verb), shut(t.cancel));
    return h("form", { onsubmit: run }, h("p", {}, text), fields, said, buttons);
  });
  isStopped = true;
  return steps > 0;
}
