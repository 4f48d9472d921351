// The account of the console's user in the project `internal`: factors, passkeys, password and
// sessions.

import { confirm, showOnce } from "../components/dialog.js";
import { form } from "../components/form.js";
import { table } from "../components/list.js";
import { button, code, failure, head, heading, link, shown, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { create, isSupported } from "../core/passkeys.js";
import { url } from "../core/router.js";
import { texts as t } from "../texts.js";
import { account as a } from "../texts-account.js";
import { liveSessions } from "./user-sessions.js";

export async function view(context) {
  const { session, router } = context;
  if (!session.email) {
    await router.go(url("/sign-in", { next: url("/account") }));
    return h("span");
  }
  const api = session.internal;
  const [user, apps, passkeys, ways] = await Promise.all([
    api.get("/users/me"),
    api.get("/auth/mfa/authenticators"),
    api.get("/passkeys", { user_id: "me" }),
    session.ways(),
  ]);
  const own = { ...context, api, user, ways };
  return h(
    "div",
    {},
    head(a.own.title, { lead: a.own.lead(session.email) }),
    authenticators(own, apps.items),
    passkeysOf(own, passkeys.items),
    user.has_password && password(own),
    sessions(own),
  );
}

/** The columns of a table of credentials, with a button that removes one. */
function columns({ refresh }, label, verb, text, place) {
  const remove = (item) => async () => {
    const act = () => place(item);
    if (await confirm({ title: verb, text, name: item.name ?? a.own.unnamed, act })) await refresh();
  };
  return [
    { label, class: "wide", cell: (item) => shown(item.name ?? a.own.unnamed, { max: 80 }) },
    { label: t.created, class: "fit", cell: (item) => time(item.created_at_millis) },
    { label: t.lastUsed, class: "fit", cell: (item) => time(item.last_used_at_millis) },
    { label: "", class: "end actions", cell: (item) => button(verb, remove(item), { class: "danger small-button" }) },
  ];
}

function authenticators(context, apps) {
  const { api } = context;
  const place = h("div");
  const begin = async () => {
    try {
      fill(place, setup(context, await api.post("/auth/mfa/authenticators")));
      place.querySelector("input")?.focus();
    } catch (error) {
      fill(place, failure(error));
    }
  };
  const remove = (app) => api.delete(path`/auth/mfa/authenticators/${app.id}`);
  return h(
    "section",
    {},
    heading(a.own.apps, { actions: [button(a.own.addApp, begin)] }),
    h("p", { class: "muted" }, a.own.appsText),
    place,
    apps.length
      ? table({
          rows: apps,
          label: a.own.apps,
          columns: columns(context, a.own.app, a.own.removeApp, a.own.removeAppText, remove),
        })
      : h("p", { class: "muted" }, a.own.noApp),
  );
}

/** The secret for an authenticator app, and the form that proves the app has it. */
function setup({ api, refresh }, begun) {
  return h(
    "div",
    {},
    h("p", {}, a.own.secret, " ", link(begun.otpauth_url, a.own.openApp)),
    code(begun.secret_base32.replace(/.{4}(?=.)/g, "$& ")),
    form({
      fields: [
        {
          name: "totp",
          label: a.own.appCode,
          help: a.own.appCodeHelp,
          required: true,
          autocomplete: "one-time-code",
        },
        { name: "name", label: a.own.appName, help: a.own.appNameHelp },
      ],
      verb: a.own.addApp,
      send: (body) => api.post("/auth/mfa/authenticators/verify", { ...body, code: begun.code }),
      done: async ({ recovery_codes: codes }) => {
        if (codes) await showOnce(a.own.recovery, a.own.recoveryText, [[a.own.recovery, codes.join(" ")]]);
        await refresh();
      },
    }),
  );
}

function passkeysOf(context, passkeys) {
  const { api, ways, refresh } = context;
  const problem = h("div");
  const add = async () => {
    fill(problem);
    try {
      await create(api);
      await refresh();
    } catch (error) {
      fill(problem, failure(error));
    }
  };
  const canAdd = ways.passkey_enabled && isSupported();
  const remove = (passkey) => api.delete(path`/passkeys/me/${passkey.id}`);
  return h(
    "section",
    {},
    heading(a.own.passkeys, { actions: canAdd && [button(a.own.addPasskey, add)] }),
    h("p", { class: "muted" }, a.own.passkeysText),
    !ways.passkey_enabled &&
      h("p", {}, a.own.noPasskeys, " ", h("code", {}, "gateway project set internal config.passkey_enabled=true")),
    ways.passkey_enabled && !canAdd && h("p", {}, a.own.noPasskeySite),
    problem,
    passkeys.length
      ? table({
          rows: passkeys,
          label: a.own.passkeys,
          columns: columns(context, t.user.passkey, t.user.deletePasskey, t.user.deletePasskeyText, remove),
        })
      : h("p", { class: "muted" }, t.user.noPasskey),
  );
}

function password({ session, refresh }) {
  const of = (name, label, autocomplete, help) => ({ name, label, help, input: "password", autocomplete, required: true });
  return h(
    "section",
    {},
    heading(a.own.password),
    form({
      fields: [
        of("old_password", a.own.oldPassword, "current-password"),
        of("new_password", a.own.newPassword, "new-password", a.own.passwordHelp),
      ],
      verb: a.own.changePassword,
      send: (body) => session.changePassword(body),
      done: refresh,
    }),
  );
}

function sessions({ api, refresh }) {
  return h(
    "section",
    {},
    heading(t.sessions.title),
    liveSessions({
      api,
      refresh,
      user: "me",
      mark: (session) => session.is_current_session && a.own.current,
      canEnd: (session) => !session.is_current_session,
    }),
  );
}
