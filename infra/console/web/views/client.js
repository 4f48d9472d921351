// An OAuth client: what to enter in the app or, if it describes itself, the description; its
// settings, switching it off and deleting it.

import { head, named, state, tabs } from "../components/parts.js";
import { path } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";
import { PATH, PROJECT, stateOf } from "./client-common.js";

const PARTS = {
  setup: () => import("./client-setup.js"),
  urls: async () => ({ part: (await import("./client-settings.js")).urls }),
  access: () => import("./client-access.js"),
  look: async () => ({ part: (await import("./client-settings.js")).look }),
  tokens: async () => ({ part: (await import("./client-settings.js")).tokens }),
  danger: () => import("./client-danger.js"),
};

/** The parts that differ if a client describes itself. */
const DESCRIBED = Object.fromEntries(
  Object.entries({ setup: "part", urls: "urls", look: "look" }).map(([name, part]) => [
    name,
    async () => ({ part: (await import("./client-described.js"))[part] }),
  ]),
);

export async function view(context) {
  const { api, to, parameters, query } = context;
  const place = `${PATH}${path`/${parameters.client}`}`;
  const resource = api.resource(place);
  const [client, { config }] = await Promise.all([resource.read(), api.get(PROJECT)]);
  const isDescribed = client.source !== "created";
  const parts = isDescribed ? { ...PARTS, ...DESCRIBED } : PARTS;
  const labels = isDescribed ? { ...words.parts, setup: words.description } : words.parts;
  const current = Object.hasOwn(PARTS, query.get("part")) ? query.get("part") : "setup";
  const tab = (name) => [to(`/oauth-clients/${client.id}`, { part: name === "setup" ? "" : name }), labels[name], name];
  const top = h("div");
  /** Shows name and state, which forms change. */
  const show = (now) => fill(top, head(named(now.name, { max: 120 }), { lead: state(...stateOf(now, config)) }));
  show(client);
  const { part } = await parts[current]();
  const content = await part({ ...context, client, config, place, resource, show });
  return h("div", {}, top, tabs(Object.keys(PARTS).map(tab), current, words.tabs), content);
}
