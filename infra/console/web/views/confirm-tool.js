// Confirms the sign-in of a command-line tool, such as `gateway login`, or of a device.
//
// The link may come from a stranger whose tool is waiting for it, so the page confirms the sign-in
// only after a click.

import { form } from "../components/form.js";
import { button, facts, failure, head, note, shown, time } from "../components/parts.js";
import { fill, h } from "../core/dom.js";
import { url } from "../core/router.js";
import { account as a } from "../texts-account.js";
import { placeOf } from "./user-sessions.js";

export async function view({ session, router, query }) {
  if (!session.email) {
    await router.go(url("/sign-in", { next: location.pathname + location.search }));
    return h("span");
  }
  const place = h("div");
  const given = query.get("login_code");
  if (given) fill(place, await decision(session, place, given).catch((error) => failure(error)));
  else fill(place, question(session, place));
  return h("div", { class: "narrow" }, head(a.tool.title, { lead: a.tool.lead }), place);
}

/** Asks for the code that the tool shows. */
function question(session, place) {
  return form({
    fields: [{ name: "code", label: a.tool.code, help: a.tool.codeHelp, required: true, placeholder: "WDJB-MJHT" }],
    verb: a.tool.next,
    send: (_, { code }) => decision(session, place, code.trim()),
    done: (content) => fill(place, content),
  });
}

/** Where and when the tool began its sign-in, and the buttons that confirm or refuse it. */
async function decision(session, place, code) {
  const tool = await session.decide(code, "check");
  const problem = h("div");
  const decide = (mode, tone, text) => async () => {
    try {
      await session.decide(code, mode);
      fill(place, note(tone, text));
    } catch (error) {
      fill(problem, failure(error));
    }
  };
  const from = placeOf(tool.place);
  return h(
    "div",
    {},
    facts(
      [a.tool.as, shown(session.email)],
      [a.tool.place, shown(from || a.tool.unknown)],
      [a.tool.started, time(tool.created_at_millis)],
      [a.tool.expires, time(tool.expires_at_millis)],
    ),
    note("waiting", a.tool.warning),
    problem,
    h(
      "div",
      { class: "buttons" },
      button(a.tool.confirm, decide("complete", "done", a.tool.confirmed), { class: "main" }),
      button(a.tool.refuse, decide("deny", "waiting", a.tool.refused)),
    ),
  );
}
