// The keys with which apps and servers call the API.

import { confirm, showOnce } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { list } from "../components/list.js";
import { button, code, head, heading, id, secret, facts, shown, state, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { keys as k } from "../texts-keys.js";
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
  if (set.manually_revoked_at_millis) return ["aside", k.revoked];
  if (set.expires_at_millis < Date.now()) return ["aside", k.expired];
  return ["done", k.valid];
}

export async function view(context) {
  const { api, projectId, session, refresh } = context;
  const revoke = async (set) => {
    const act = () => api.patch(path`/internal/api-keys/${set.id}`, { revoked: true });
    const local = session.local?.project_id === projectId ? session.local : null;
    const isOwn = local && set.super_secret_admin_key?.last_four === local.super_secret_admin_key.slice(-4);
    const text = isOwn ? k.revokeOwnText(Boolean(local.keys_file)) : k.revokeText;
    if (await confirm({ title: k.revoke, text, name: set.description || set.id, act })) await refresh();
  };
  return h(
    "div",
    {},
    head(k.title, { lead: k.lead }),
    session.local?.project_id === projectId && own(session.local),
    list({
      api,
      path: "/internal/api-keys",
      isPaged: false,
      label: k.title,
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
          label: k.keys,
          class: "wide",
          cell: (set) =>
            KINDS.filter(([name]) => set[name]).map(([name, kind]) =>
              h("small", {}, `${k.kinds[kind]} …`, h("code", {}, set[name].last_four)),
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
            button(k.revoke, () => revoke(set), { class: "danger small-button", "aria-label": `${k.revoke} ${set.description}` }),
        },
      ],
      none: k.none,
    }),
    heading(k.create),
    creation(context),
  );
}

/** The keys of the gateway's first project. */
function own(local) {
  return h(
    "section",
    {},
    facts(
      [k.project, id(local.project_id)],
      [k.kinds.client, id(local.publishable_client_key), h("small", { class: "muted" }, k.clientHelp)],
      [k.kinds.server, secret(local.secret_server_key), h("small", { class: "muted" }, k.serverHelp)],
      [k.kinds.admin, secret(local.super_secret_admin_key), h("small", { class: "muted" }, k.adminHelp)],
    ),
    local.keys_file ? [h("p", { class: "muted" }, k.file), code(`. ${local.keys_file}`)] : h("p", { class: "muted" }, k.memory),
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
      { name: "description", label: t.description, required: true, help: k.descriptionHelp },
      {
        name: "kinds",
        label: k.keys,
        type: "choices",
        initial: ["client", "server"],
        options: KINDS.map(([, kind]) => [kind, k.kinds[kind]]),
      },
      {
        name: "permissions",
        label: k.permissions,
        type: "choices",
        help: k.permissionsHelp,
        options: PERMISSIONS.map((permission) => [permission, permission]),
      },
      { name: "days", label: k.days, type: "number", min: 1, help: k.daysHelp },
    ],
    verb: k.create,
    ...posts(api, "/internal/api-keys", body),
    done: async (set) => {
      await showOnce(
        k.created,
        k.createdText,
        KINDS.map(([name, kind]) => [k.kinds[kind], set[name]]),
      );
      await refresh();
    },
  });
}
