// How a user signs in: addresses, password, factors, passkeys, and accounts at providers.

import { confirm } from "../components/dialog.js";
import { form, posts, saves } from "../components/form.js";
import { table } from "../components/list.js";
import { button, empty, fold, heading, shown, state, tag, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

export async function part(context) {
  const { api, user } = context;
  const [channels, passkeys, accounts] = await Promise.all(
    ["/contact-channels", "/passkeys", "/oauth-providers"].map((list) => api.get(list, { user_id: user.id })),
  );
  return h(
    "div",
    {},
    addresses(context, channels.items),
    password(context),
    factors(context, passkeys.items),
    providers(context, accounts.items),
  );
}

/** A button that sends a request after confirmation, then shows the page again. */
function action({ refresh }, { label, title, text, verb, act, name, isDanger }) {
  const ask = async () => {
    if (await confirm({ title, text, verb: verb ?? label, act, name })) await refresh();
  };
  return button(label, ask, { class: isDanger ? "danger small-button" : "small-button" });
}

function addresses(context, channels) {
  const { api, user, refresh } = context;
  const at = (channel) => path`/contact-channels/${user.id}/${channel.id}`;
  const change = (channel, label, text, body) => action(context, { label, title: label, text, act: () => api.patch(at(channel), body) });
  const columns = [
    {
      label: t.users.email,
      class: "wide",
      cell: (channel) => [
        shown(channel.value),
        h(
          "div",
          {},
          state(channel.is_verified ? "done" : "waiting", channel.is_verified ? t.users.isVerified : t.users.isNotVerified),
          " ",
          channel.is_primary && tag(t.user.primary),
          " ",
          channel.used_for_auth && tag(t.user.signsIn),
        ),
      ],
    },
    {
      label: "",
      class: "end actions",
      cell: (channel) =>
        h(
          "div",
          { class: "buttons" },
          !channel.is_verified && change(channel, t.user.verify, t.user.verifyText, { is_verified: true }),
          !channel.is_primary && change(channel, t.user.makePrimary, t.user.makePrimaryText, { is_primary: true }),
          change(
            channel,
            channel.used_for_auth ? t.user.stopSignIn : t.user.startSignIn,
            channel.used_for_auth ? t.user.stopSignInText : t.user.startSignInText,
            { used_for_auth: !channel.used_for_auth },
          ),
          action(context, {
            label: t.delete,
            title: t.user.deleteAddress,
            text: t.user.deleteAddressText,
            name: channel.value,
            isDanger: true,
            act: () => api.delete(at(channel)),
          }),
        ),
    },
  ];
  return h(
    "section",
    {},
    heading(t.user.addresses),
    channels.length ? table({ columns, rows: channels, label: t.user.addresses }) : empty(t.user.noAddress),
    fold(
      t.user.addAddress,
      form({
        fields: [
          { name: "value", label: t.users.email, input: "email", required: true },
          { name: "is_verified", label: t.users.verified, type: "switch", help: t.users.verifiedHelp },
          { name: "used_for_auth", label: t.users.usedForSignIn, type: "switch", isSent: true, help: t.users.usedForSignInHelp },
        ],
        verb: t.user.addAddress,
        ...posts(api, "/contact-channels", (body) => ({ ...body, type: "email", user_id: user.id })),
        done: refresh,
      }),
    ),
  );
}

function password({ api, user, place, refresh }) {
  return h(
    "section",
    {},
    heading(t.users.password),
    h("p", { class: "muted" }, user.has_password ? t.user.hasPassword : t.user.hasNoPassword),
    fold(
      t.user.setPassword,
      form({
        fields: [
          {
            name: "password",
            label: t.user.newPassword,
            input: "password",
            autocomplete: "new-password",
            required: true,
            help: t.user.passwordHelp,
          },
        ],
        verb: t.user.setPassword,
        send: (body) => api.patch(place, body),
        request: (body) => api.request("PATCH", place, { body }),
        done: refresh,
      }),
    ),
  );
}

function factors(context, passkeys) {
  const { api, user, place } = context;
  const resource = api.resource(place);
  const columns = [
    { label: t.user.passkey, class: "wide", cell: (passkey) => [shown(passkey.name, { max: 80 }), h("small", {}, shown(passkey.rp_id))] },
    { label: t.created, class: "fit", cell: (passkey) => time(passkey.created_at_millis) },
    { label: t.lastUsed, class: "fit", cell: (passkey) => time(passkey.last_used_at_millis) },
    {
      label: "",
      class: "end actions",
      cell: (passkey) =>
        action(context, {
          label: t.delete,
          title: t.user.deletePasskey,
          text: t.user.deletePasskeyText,
          name: passkey.name,
          isDanger: true,
          act: () => api.delete(path`/passkeys/${user.id}/${passkey.id}`),
        }),
    },
  ];
  return h(
    "section",
    {},
    heading(t.user.factors),
    h(
      "p",
      {},
      state(user.requires_totp_mfa ? "done" : "aside", user.requires_totp_mfa ? t.user.hasTotp : t.user.hasNoTotp),
      " ",
      user.requires_totp_mfa &&
        action(context, {
          label: t.user.removeTotp,
          title: t.user.removeTotp,
          text: t.user.removeTotpText,
          name: user.primary_email ?? user.id,
          isDanger: true,
          act: () => api.patch(place, { totp_secret_base64: null }),
        }),
    ),
    form({
      // There is no switch for passkeys, because turning it off would delete them without asking;
      // the list below deletes single passkeys.
      fields: [{ name: "otp_auth_enabled", label: t.user.otp, type: "switch", help: t.user.otpHelp }],
      values: user,
      ...saves(resource),
    }),
    heading(t.user.passkeysTitle, { level: "h3" }),
    passkeys.length ? table({ columns, rows: passkeys, label: t.user.passkey }) : h("p", { class: "muted" }, t.user.noPasskey),
  );
}

function providers(context, accounts) {
  const { api, user } = context;
  const columns = [
    { label: t.user.provider, class: "wide", cell: (account) => shown(account.provider_config_id) },
    {
      label: t.user.account,
      class: "wide",
      cell: (account) => [shown(account.account_id, { max: 80 }), account.email && h("small", {}, shown(account.email))],
    },
    {
      label: t.state,
      class: "fit",
      cell: (account) => [account.allow_sign_in && tag(t.user.signsIn), " ", account.allow_connected_accounts && tag(t.user.connected)],
    },
    {
      label: "",
      class: "end actions",
      cell: (account) =>
        action(context, {
          label: t.user.unlink,
          title: t.user.unlink,
          text: t.user.unlinkText,
          name: account.provider_config_id,
          isDanger: true,
          act: () => api.delete(path`/oauth-providers/${user.id}/${account.id}`),
        }),
    },
  ];
  return h(
    "section",
    {},
    heading(t.user.accounts),
    accounts.length ? table({ columns, rows: accounts, label: t.user.accounts }) : h("p", { class: "muted" }, t.user.noAccount),
  );
}
