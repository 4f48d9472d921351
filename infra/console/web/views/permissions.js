// The permissions that the project defines for its users and for members of teams.

import { deletion } from "../components/dialog.js";
import { form } from "../components/form.js";
import { list } from "../components/list.js";
import { head, shown, tabs } from "../components/parts.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

const PATHS = { team: "/team-permission-definitions", project: "/project-permission-definitions" };

export async function view(context) {
  const { to, query } = context;
  const scope = query.get("scope") === "project" ? "project" : "team";
  const edited = query.get("edit");
  const whole = PATHS[scope];
  if (edited !== null) return one({ ...context, scope, whole, permission: edited });
  const create = (kind) => h("a", { class: kind, href: to("/permissions", { scope, edit: "+" }) }, t.permissions.create);
  const tab = (name, text) => [to("/permissions", { scope: name === "team" ? "" : name }), text, name];
  return h(
    "div",
    {},
    head(t.permissions.title, {
      lead: t.permissions.lead,
      actions: [create("button main")],
    }),
    tabs([tab("team", t.permissions.ofTeams), tab("project", t.permissions.ofProject)], scope, t.permissions.title),
    all({ ...context, scope, whole, create }),
  );
}

function all({ api, to, whole, scope, create }) {
  return list({
    api,
    path: whole,
    label: t.permissions.title,
    search: "query",
    searchLabel: t.permissions.search,
    href: (permission) => (permission.id.startsWith("$") ? null : to("/permissions", { scope, edit: permission.id })),
    columns: [
      { label: t.permissions.permission, class: "name", cell: (permission) => h("code", {}, shown(permission.id)) },
      { label: t.description, class: "wide", cell: (permission) => shown(permission.description, { max: 100 }) },
      {
        label: t.permissions.contains,
        class: "wide",
        cell: (permission) => shown(permission.contained_permission_ids.join(", "), { max: 120 }),
      },
    ],
    none: { ...t.permissions.none, action: create("button") },
  });
}

async function one({ api, router, to, whole, scope, permission }) {
  const isNew = permission === "+";
  const place = `${whole}${path`/${permission}`}`;
  const definitions = api.resource(whole);
  const read = async () => (await definitions.read()).items.find(({ id }) => id === permission);
  const values = isNew ? undefined : await read();
  if (!isNew && !values) return h("div", {}, head(t.permissions.title), h("p", {}, t.permissions.gone));
  const back = () => router.go(to("/permissions", { scope }));
  return h(
    "div",
    { class: "narrow" },
    head(isNew ? t.permissions.create : shown(permission), { lead: t.permissions.scopes[scope] }),
    form({
      fields: [
        { name: "id", label: t.id, required: true, help: t.permissions.idHelp },
        { name: "description", label: t.description, nullable: true },
        { name: "contained_permission_ids", label: t.permissions.contains, type: "lines", help: t.permissions.containsHelp },
      ],
      values,
      verb: isNew ? t.permissions.create : t.save,
      cancel: back,
      reread: isNew ? undefined : read,
      send: (body) => (isNew ? api.post(whole, body) : definitions.change(body, place)),
      request: (body) => api.request(isNew ? "POST" : "PATCH", isNew ? whole : place, { body }),
      done: back,
    }),
    !isNew &&
      deletion({
        title: t.permissions.delete,
        text: t.permissions.deleteText,
        name: permission,
        act: () => api.delete(place),
        done: back,
      }),
  );
}
