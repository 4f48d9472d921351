// Lists and creates a project's resources: APIs and MCP servers with their own access tokens.

import { form, posts } from "../components/form.js";
import { list } from "../components/list.js";
import { head, named, shown } from "../components/parts.js";
import { h } from "../core/dom.js";
import { count } from "../core/format.js";
import { resources as words } from "../texts-oauth-resources.js";
import { fields, guide, PATH } from "./resource-common.js";

export async function view(context) {
  const { api, to, query } = context;
  if (query.has("new")) return creation(context);
  const create = (kind) => h("a", { class: kind, href: to("/oauth-resources", { new: "1" }) }, words.create);
  return h(
    "div",
    {},
    head(words.title, { lead: words.lead, actions: [create("button main")] }),
    list({
      api,
      path: PATH,
      isPaged: false,
      label: words.title,
      href: (resource) => to(`/oauth-resources/${resource.id}`),
      columns: [
        { label: words.resource, class: "wide", cell: (resource) => named(resource.name, { max: 60 }) },
        { label: words.identifier, class: "wide", cell: (resource) => h("code", {}, shown(resource.identifier, { max: 80 })) },
        { label: words.scopeCount, class: "fit end number", cell: (resource) => count(resource.scopes.length) },
      ],
      none: { ...words.none, action: [h("div", {}, create("button")), h("p", { class: "small" }, guide())] },
    }),
  );
}

function creation({ api, router, to }) {
  return h(
    "div",
    { class: "narrow" },
    head(words.create),
    form({
      fields: [fields.name, fields.identifier, fields.scopes],
      verb: words.create,
      cancel: () => router.go(to("/oauth-resources")),
      ...posts(api, PATH),
      done: (resource) => router.go(to(`/oauth-resources/${resource.id}`)),
    }),
  );
}
