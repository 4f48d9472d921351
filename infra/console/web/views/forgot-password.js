// Emails a link for setting a new password.
//
// The response is always the same, so that nobody learns whether the address has an account.

import { form } from "../components/form.js";
import { button, code, failure, head, link, note } from "../components/parts.js";
import { fill, h } from "../core/dom.js";
import { BASE, url } from "../core/router.js";
import { account as a } from "../texts-account.js";

export async function view({ session }) {
  const place = h("div");
  const ask = () => fill(place, question(session, place, ask));
  ask();
  return h("div", { class: "narrow" }, place, h("p", { class: "small" }, link(url("/sign-in"), a.forgot.back)));
}

function question(session, place, ask) {
  const send = async (_, { email }) => {
    try {
      await session.sendReset(email.trim());
      return sent(ask);
    } catch (error) {
      if (error.code !== "REDIRECT_URL_NOT_WHITELISTED") throw error;
      return untrusted(error);
    }
  };
  const given = form({
    fields: [{ name: "email", label: a.signIn.email, input: "email", autocomplete: "username", required: true }],
    verb: a.forgot.verb,
    send,
    done: (content) => fill(place, head(a.forgot.title), content).querySelector("h1").focus(),
  });
  return [head(a.forgot.title, { lead: a.forgot.lead }), given];
}

/** The same answer with or without an account. */
const sent = (ask) => [
  note("done", a.forgot.sent),
  h("p", { class: "muted" }, a.forgot.missing),
  h("p", {}, button(a.forgot.another, ask)),
];

/** Why the API refused this address, and what the operator must do. */
function untrusted(error) {
  const domains = JSON.stringify([{ domain: location.origin, handler_path: BASE }]);
  return [
    failure(error),
    h("p", {}, a.forgot.untrusted),
    code(`gateway project set internal \\\n  'config.domains=${domains}'`),
    h("p", {}, link("/docs/guides/console", a.forgot.guide)),
  ];
}
