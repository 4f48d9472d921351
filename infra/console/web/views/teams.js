// Lists and creates a project's teams.

import { form } from "../components/form.js";
import { list } from "../components/list.js";
import { head, shown, time } from "../components/parts.js";
import { userId } from "../core/api.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

export async function view(context) {
  const { api, router, to, query } = context;
  if (query.has("new")) return creation(context);
  const create = (kind) => h("a", { class: kind, href: to("/teams", { new: "1" }) }, t.teams.create);
  return h(
    "div",
    {},
    head(t.teams.title, { actions: [create("button main")] }),
    list({
      api,
      router,
      path: "/teams",
      label: t.teams.title,
      search: "query",
      searchLabel: t.teams.search,
      choices: [
        {
          name: "order",
          label: t.order,
          options: t.teams.orders,
          query: (order) => ({ order_by: "created_at", desc: order === "newest" || null }),
        },
      ],
      href: (team) => to(`/teams/${team.id}`),
      columns: [
        { label: t.teams.name, class: "wide", cell: (team) => shown(team.display_name, { max: 80 }) },
        { label: t.id, class: "fit teams-id", cell: (team) => h("code", {}, team.id.slice(0, 8)) },
        { label: t.created, class: "fit end", cell: (team) => time(team.created_at_millis) },
      ],
      none: { ...t.teams.none, action: create("button") },
    }),
  );
}

function creation({ api, router, to }) {
  return h(
    "div",
    { class: "narrow" },
    head(t.teams.create),
    form({
      fields: [
        { name: "display_name", label: t.teams.name, required: true },
        { name: "creator_user_id", label: t.teams.creator, help: t.teams.creatorHelp },
      ],
      verb: t.teams.create,
      send: async (body) =>
        api.post("/teams", body.creator_user_id ? { ...body, creator_user_id: await userId(api, body.creator_user_id) } : body),
      request: (body) => api.request("POST", "/teams", { body }),
      cancel: () => router.go(to("/teams")),
      done: (team) => router.go(to(`/teams/${team.id}`)),
    }),
  );
}
