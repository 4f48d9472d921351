// Signing in as a user of the project `internal`, whose teams own projects.

import { form } from "../components/form.js";
import { head, note } from "../components/parts.js";
import { fill, h } from "../core/dom.js";
import { url } from "../core/router.js";
import { texts as t } from "../texts.js";

/** Whether the page comes from this machine, so that the printed link would open it. */
const isHere = () => ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

export async function view({ session, router, forgetProjects }) {
  const place = h("div");
  const opened = async () => {
    forgetProjects();
    await router.go(url("/projects"));
  };

  const bySecondFactor = (email, attempt) =>
    fill(
      place,
      form({
        fields: [{ name: "code", label: t.signIn.code, help: t.signIn.codeHelp, required: true, autocomplete: "one-time-code" }],
        verb: t.signIn.verb,
        send: (_, { code }) => session.secondFactor(email, attempt, code.trim()),
        done: opened,
      }),
    );

  fill(
    place,
    form({
      fields: [
        { name: "email", label: t.signIn.email, input: "email", autocomplete: "username", required: true },
        { name: "password", label: t.signIn.password, input: "password", autocomplete: "current-password", required: true },
      ],
      verb: t.signIn.verb,
      send: (_, { email, password }) => session.signIn(email.trim(), password),
      done: (attempt, { email }) => (attempt ? bySecondFactor(email, attempt) : opened()),
    }),
  );
  return h(
    "div",
    { class: "narrow" },
    head(t.signIn.title, { lead: t.signIn.lead }),
    !session.local && isHere() && note("waiting", t.signIn.link, " ", h("code", {}, "gateway pages")),
    place,
    h("p", { class: "muted small" }, t.signIn.first, " ", h("code", {}, "gateway user create ada@example.com")),
  );
}
