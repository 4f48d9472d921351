// Sets a new password with the code from an emailed link. Needs no session.

import { form } from "../components/form.js";
import { head, link, note } from "../components/parts.js";
import { fill, h } from "../core/dom.js";
import { url } from "../core/router.js";
import { account as a } from "../texts-account.js";

/** Whether an error is about the code, so that the user needs a new link. */
const isOfCode = (error) => /^VERIFICATION_CODE_/.test(error.code) || Boolean(error.fields?.code);

export async function view({ session, router, reset }) {
  const place = h("div");
  if (reset.code) await session.checkReset(reset.code).then(() => fill(place, question(session, router, reset, place)), refuse(place));
  else fill(place, broken(a.reset.missing));
  return h("div", { class: "narrow" }, place);
}

/** Shows why the code was refused; passes other failures on. */
const refuse = (place) => (error) => {
  if (!isOfCode(error)) throw error;
  fill(place, broken(a.reset.broken[error.code] ?? a.reset.broken.other, error)).querySelector("h1").focus();
};

/** Why the link does not work, and where to get a new one. */
function broken(text, error) {
  return [
    head(a.reset.title),
    note("failed", text, error?.code && [" ", link(error.documentation, h("code", {}, error.code))]),
    h("p", {}, link(url("/forgot-password"), a.reset.again, { class: "button main" })),
    h("p", { class: "small" }, link(url("/sign-in"), a.forgot.back)),
  ];
}

function question(session, router, reset, place) {
  const given = form({
    fields: [{ name: "password", label: a.reset.password, input: "password", autocomplete: "new-password", required: true }],
    verb: a.reset.verb,
    send: async (_, { password }) => {
      try {
        await session.resetPassword(reset.code, password);
        return true;
      } catch (error) {
        refuse(place)(error);
        return false;
      }
    },
    done: async (isSet) => {
      if (!isSet) return;
      Object.assign(reset, { code: null, isDone: true });
      await router.go(url("/sign-in"));
    },
  });
  return [head(a.reset.title, { lead: a.reset.lead }), given];
}
