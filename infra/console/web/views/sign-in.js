// Signs in a user of the project `internal`, whose teams own projects.

import { form } from "../components/form.js";
import { button, failure, head, link, note } from "../components/parts.js";
import { fill, h } from "../core/dom.js";
import { isSupported } from "../core/passkeys.js";
import { ownPage, url } from "../core/router.js";
import { account as a } from "../texts-account.js";

/** Whether the console runs on this machine, where the printed link can open it. */
const isHere = () => ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** A button that uses a passkey by calling `act`, and passes the result to `done`. */
function passkeyButton(act, done) {
  const problem = h("div");
  const press = async () => {
    fill(problem);
    try {
      await done(await act());
    } catch (error) {
      fill(problem, failure(error));
    }
  };
  return h("div", { class: "or" }, button(a.signIn.passkey, press), problem);
}

export async function view({ session, router, query, reset, forgetProjects }) {
  const place = h("div");
  const { credential_enabled: hasPasswords, passkey_enabled: hasPasskeys } = await session.ways();
  const usesPasskeys = hasPasskeys && isSupported();
  const opened = async () => {
    forgetProjects();
    reset.isDone = false;
    await router.go(ownPage(query.get("next")) ?? url("/projects"));
  };

  const bySecondFactor = (attempt) =>
    fill(
      place,
      form({
        fields: [{ name: "code", label: a.signIn.code, help: a.signIn.codeHelp, required: true, autocomplete: "one-time-code" }],
        verb: a.signIn.verb,
        send: (_, { code }) => session.secondFactor(attempt, code.trim()),
        done: opened,
      }),
      usesPasskeys && passkeyButton(() => session.secondFactorByPasskey(attempt), opened),
    );
  const proceed = (attempt) => (attempt ? bySecondFactor(attempt) : opened());

  fill(
    place,
    hasPasswords &&
      form({
        fields: [
          { name: "email", label: a.signIn.email, input: "email", autocomplete: "username", required: true },
          { name: "password", label: a.signIn.password, input: "password", autocomplete: "current-password", required: true },
        ],
        verb: a.signIn.verb,
        send: (_, { email, password }) => session.signIn(email.trim(), password),
        done: proceed,
      }),
    hasPasswords && h("p", { class: "small" }, link(url("/forgot-password"), a.forgot.title)),
    usesPasskeys && passkeyButton(() => session.signInWithPasskey(), proceed),
  );
  return h(
    "div",
    { class: "narrow" },
    head(a.signIn.title, { lead: a.signIn.lead }),
    reset.isDone && note("done", a.reset.done),
    !session.local && isHere() && note("waiting", a.signIn.link, " ", h("code", {}, "gateway pages")),
    place,
    h("p", { class: "muted small" }, a.signIn.first, " ", h("code", {}, "gateway user create ada@example.com")),
  );
}
