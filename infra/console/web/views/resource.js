// A resource: what it needs to know to verify tokens, its scopes and settings, and deleting it.

import { head, named, tabs } from "../components/parts.js";
import { path } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { resources as words } from "../texts-oauth-resources.js";
import { PATH } from "./resource-common.js";

const PARTS = {
  setup: () => import("./resource-setup.js"),
  scopes: async () => ({ part: (await import("./resource-settings.js")).scopes }),
  settings: async () => ({ part: (await import("./resource-settings.js")).settings }),
  danger: () => import("./resource-danger.js"),
};

export async function view(context) {
  const { api, to, parameters, query } = context;
  const place = `${PATH}${path`/${parameters.resource}`}`;
  const stored = api.resource(place);
  const resource = await stored.read();
  const current = Object.hasOwn(PARTS, query.get("part")) ? query.get("part") : "setup";
  const tab = (name) => [to(`/oauth-resources/${resource.id}`, { part: name === "setup" ? "" : name }), words.parts[name], name];
  const top = h("div");
  /** Shows the name, which a form changes. */
  const show = (now) => fill(top, head(named(now.name, { max: 120 })));
  show(resource);
  const { part } = await PARTS[current]();
  const content = await part({ ...context, resource, place, stored, show });
  return h("div", {}, top, tabs(Object.keys(PARTS).map(tab), current, words.tabs), content);
}
