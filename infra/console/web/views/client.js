// An OAuth client: what to enter in the app, its settings, switching it off and deleting it.

import { head, named, state, tabs } from "../components/parts.js";
import { path } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";
import { PATH, stateOf } from "./client-common.js";

const PARTS = {
  setup: () => import("./client-setup.js"),
  urls: async () => ({ part: (await import("./client-settings.js")).urls }),
  access: () => import("./client-access.js"),
  look: async () => ({ part: (await import("./client-settings.js")).look }),
  tokens: async () => ({ part: (await import("./client-settings.js")).tokens }),
  danger: () => import("./client-danger.js"),
};

export async function view(context) {
  const { api, to, parameters, query } = context;
  const place = `${PATH}${path`/${parameters.client}`}`;
  const resource = api.resource(place);
  const client = await resource.read();
  const current = Object.hasOwn(PARTS, query.get("part")) ? query.get("part") : "setup";
  const tab = (name) => [to(`/oauth-clients/${client.id}`, { part: name === "setup" ? "" : name }), words.parts[name], name];
  const top = h("div");
  /** Shows name and state, which forms change. */
  const show = (now) => fill(top, head(named(now.name, { max: 120 }), { lead: state(...stateOf(now)) }));
  show(client);
  const { part } = await PARTS[current]();
  const content = await part({ ...context, client, place, resource, show });
  return h("div", {}, top, tabs(Object.keys(PARTS).map(tab), current, words.tabs), content);
}
