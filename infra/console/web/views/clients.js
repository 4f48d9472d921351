// Lists and creates a project's OAuth clients, and decides which clients may describe themselves.

import { head, tabs } from "../components/parts.js";
import { h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";

const PARTS = {
  all: () => import("./clients-list.js"),
  described: () => import("./clients-described.js"),
};

export async function view(context) {
  const { to, query } = context;
  if (query.has("new")) return (await import("./clients-create.js")).creation(context);
  const current = Object.hasOwn(PARTS, query.get("part")) ? query.get("part") : "all";
  const create = (kind) => h("a", { class: kind, href: to("/oauth-clients", { new: "1" }) }, words.create);
  const tab = (name) => [to("/oauth-clients", { part: name === "all" ? "" : name }), words.lists[name], name];
  const { part } = await PARTS[current]();
  return h(
    "div",
    {},
    head(words.title, { lead: words.lead, actions: [create("button main")] }),
    tabs(Object.keys(PARTS).map(tab), current, words.title),
    await part({ ...context, create }),
  );
}
