// The account of the user of the project `internal` who uses the console: factors, passkeys,
// password, sessions.

import { confirm, showOnce } from "../components/dialog.js";
import { form } from "../components/form.js";
import { table } from "../components/list.js";
import { button, code, failure, head, heading, link, shown, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { create, isSupported } from "../core/passkeys.js";
import { url } from "../core/router.js";
import { texts as t } from "../texts.js";
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
    head(t.account.title, { lead: t.account.lead(session.email) }),
    authenticators(own, apps.items),
    passkeysOf(own, passkeys.items),
    user.has_password && password(own),
    sessions(own),
  );
}

/** The columns of a table of credentials, each of which can be removed. */
function columns({ refresh }, label, verb, text, place) {
  const remove = (item) => async () => {
    const act = () => place(item);
    if (await confirm({ title: verb, text, verb, name: item.name ?? t.account.unnamed, act })) await refresh();
  };
  return [
    { label, class: "wide", cell: (item) => shown(item.name ?? t.account.unnamed, { most: 80 }) },
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
    heading(t.account.apps, { actions: [button(t.account.addApp, begin)] }),
    h("p", { class: "muted" }, t.account.appsText),
    place,
    apps.length
      ? table({
          rows: apps,
          label: t.account.apps,
          columns: columns(context, t.account.app, t.account.removeApp, t.account.removeAppText, remove),
        })
      : h("p", { class: "muted" }, t.account.noApp),
  );
}

/** The secret for an app, and the form that proves that the app has it. */
function setup({ api, refresh }, begun) {
  return h(
    "div",
    {},
    h("p", {}, t.account.secret, " ", link(begun.otpauth_url, t.account.openApp)),
    code(begun.secret_base32.replace(/.{4}(?=.)/g, "$& ")),
    form({
      fields: [
        {
          name: "totp",
          label: t.account.appCode,
          help: t.account.appCodeHelp,
          required: true,
          autocomplete: "one-time-code",
        },
        { name: "name", label: t.account.appName, help: t.account.appNameHelp },
      ],
      verb: t.account.addApp,
      send: (body) => api.post("/auth/mfa/authenticators/verify", { ...body, code: begun.code }),
      done: async ({ recovery_codes: codes }) => {
        if (codes) await showOnce(t.account.recovery, t.account.recoveryText, [[t.account.recovery, codes.join(" ")]]);
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
    heading(t.account.passkeys, { actions: canAdd && [button(t.account.addPasskey, add)] }),
    h("p", { class: "muted" }, t.account.passkeysText),
    !ways.passkey_enabled &&
      h("p", {}, t.account.noPasskeys, " ", h("code", {}, "gateway project set internal config.passkey_enabled=true")),
    ways.passkey_enabled && !canAdd && h("p", {}, t.account.noPasskeySite),
    problem,
    passkeys.length
      ? table({
          rows: passkeys,
          label: t.account.passkeys,
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
    heading(t.account.password),
    form({
      fields: [
        of("old_password", t.account.oldPassword, "current-password"),
        of("new_password", t.account.newPassword, "new-password", t.account.passwordHelp),
      ],
      verb: t.account.changePassword,
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
      mark: (session) => session.is_current_session && t.account.current,
      canEnd: (session) => !session.is_current_session,
    }),
  );
}
