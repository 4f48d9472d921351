// The keys with which apps and servers call the API.

import { confirm, showOnce } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { list } from "../components/list.js";
import { button, code, head, heading, id, secret, facts, shown, state, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

const AREAS = ["auth", "emails", "keys", "projects", "teams", "users", "webhooks"];
const PERMISSIONS = AREAS.flatMap((area) => [`${area}:read`, `${area}:write`]);
// The end of the year 9999, which means that a set of keys never expires, and the start of that
// year. Sets that expire in the year 9999 are shown as valid forever.
const NEVER = 253_402_300_799_000;
const FAR = 253_370_764_800_000;
const DAY = 86_400_000;
const KINDS = [
  ["publishable_client_key", "client"],
  ["secret_server_key", "server"],
  ["super_secret_admin_key", "admin"],
];

function stateOf(set) {
  if (set.manually_revoked_at_millis) return ["aside", t.keys.revoked];
  if (set.expires_at_millis < Date.now()) return ["aside", t.keys.expired];
  return ["done", t.keys.valid];
}

export async function view(context) {
  const { api, projectId, session, refresh } = context;
  const revoke = async (set) => {
    const act = () => api.patch(path`/internal/api-keys/${set.id}`, { revoked: true });
    const local = session.local?.project_id === projectId ? session.local : null;
    const isOwn = local && set.super_secret_admin_key?.last_four === local.super_secret_admin_key.slice(-4);
    const text = isOwn ? t.keys.revokeOwnText(Boolean(local.keys_file)) : t.keys.revokeText;
    if (await confirm({ title: t.keys.revoke, text, name: set.description || set.id, act })) await refresh();
  };
  return h(
    "div",
    {},
    head(t.keys.title, { lead: t.keys.lead }),
    session.local?.project_id === projectId && own(session.local),
    list({
      api,
      path: "/internal/api-keys",
      isPaged: false,
      label: t.keys.title,
      columns: [
        {
          label: t.description,
          class: "wide",
          cell: (set) => [
            shown(set.description, { max: 80 }),
            set.permissions && h("small", {}, shown(set.permissions.join(", "), { max: 160 })),
          ],
        },
        {
          label: t.keys.keys,
          class: "wide",
          cell: (set) =>
            KINDS.filter(([name]) => set[name]).map(([name, kind]) =>
              h("small", {}, `${t.keys.kinds[kind]} …`, h("code", {}, set[name].last_four)),
            ),
        },
        { label: t.state, class: "fit", cell: (set) => state(...stateOf(set)) },
        {
          label: t.expires,
          class: "fit",
          cell: (set) => time(set.expires_at_millis >= FAR ? null : set.expires_at_millis),
        },
        {
          label: "",
          class: "end actions",
          cell: (set) =>
            stateOf(set)[0] === "done" &&
            button(t.keys.revoke, () => revoke(set), { class: "danger small-button", "aria-label": `${t.keys.revoke} ${set.description}` }),
        },
      ],
      none: t.keys.none,
    }),
    heading(t.keys.create),
    creation(context),
  );
}

/** The keys of the gateway's first project. */
function own(local) {
  return h(
    "section",
    {},
    facts(
      [t.keys.project, id(local.project_id)],
      [t.keys.kinds.client, id(local.publishable_client_key), h("small", { class: "muted" }, t.keys.clientHelp)],
      [t.keys.kinds.server, secret(local.secret_server_key), h("small", { class: "muted" }, t.keys.serverHelp)],
      [t.keys.kinds.admin, secret(local.super_secret_admin_key), h("small", { class: "muted" }, t.keys.adminHelp)],
    ),
    local.keys_file ? [h("p", { class: "muted" }, t.keys.file), code(`. ${local.keys_file}`)] : h("p", { class: "muted" }, t.keys.memory),
  );
}

function creation({ api, refresh }) {
  const body = (given) => ({
    description: given.description ?? "",
    expires_at_millis: given.days ? Date.now() + given.days * DAY : NEVER,
    ...Object.fromEntries(KINDS.map(([name, kind]) => [`has_${name}`, (given.kinds ?? []).includes(kind)])),
    ...(given.permissions?.length && { permissions: given.permissions }),
  });
  return form({
    fields: [
      { name: "description", label: t.description, required: true, help: t.keys.descriptionHelp },
      {
        name: "kinds",
        label: t.keys.keys,
        type: "choices",
        initial: ["client", "server"],
        options: KINDS.map(([, kind]) => [kind, t.keys.kinds[kind]]),
      },
      {
        name: "permissions",
        label: t.keys.permissions,
        type: "choices",
        help: t.keys.permissionsHelp,
        options: PERMISSIONS.map((permission) => [permission, permission]),
      },
      { name: "days", label: t.keys.days, type: "number", min: 1, help: t.keys.daysHelp },
    ],
    verb: t.keys.create,
    ...posts(api, "/internal/api-keys", body),
    done: async (set) => {
      await showOnce(
        t.keys.created,
        t.keys.createdText,
        KINDS.map(([name, kind]) => [t.keys.kinds[kind], set[name]]),
      );
      await refresh();
    },
  });
}
