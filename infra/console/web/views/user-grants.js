// The apps that a user has allowed to sign them in.

import { confirm } from "../components/dialog.js";
import { table } from "../components/list.js";
import { button, curlButton, empty, heading, named, shown, tag, time } from "../components/parts.js";
import { allRows, path } from "../core/api.js";
import { h } from "../core/dom.js";
import { capital, visible } from "../core/format.js";
import { grants as g, scopes as scopeNames } from "../texts-grants.js";

/** What scopes let an app learn, in words, and whether they let it stay signed in. */
export function meaning(scopes) {
  const learnt = scopes.filter((scope) => scope !== "offline_access").map((scope) => scopeNames[scope]?.toLowerCase() ?? scope);
  return [capital(learnt.join(", ")), scopes.includes("offline_access") ? g.stays : ""];
}

/** What an app may do with a resource; `resource` is absent once it has been deleted. */
function use({ resource: identifier, scopes }, resource) {
  const meanings = new Map(resource?.scopes.map(({ name, description }) => [name, description]));
  const all = scopes.map((name) => meanings.get(name) ?? name).join("; ");
  return h(
    "div",
    { class: "use" },
    shown(resource?.name ?? identifier, { max: 60 }),
    ": ",
    all ? shown(all, { max: 300 }) : g.whole,
    h("small", {}, resource ? shown(identifier, { max: 100 }) : g.goneResource),
  );
}

export async function part({ api, user, place, to, refresh }) {
  const { items } = await api.get(`${place}/grants`);
  const clients = items.length ? await allRows(api, "/internal/oauth-clients", { limit: 100 }) : [];
  const known = new Map(clients.map((client) => [client.id, client]));
  const hasResources = items.some(({ resources }) => resources.length);
  const { items: defined } = hasResources ? await api.get("/internal/oauth-resources") : { items: [] };
  const resources = new Map(defined.map((resource) => [resource.identifier, resource]));
  const name = user.primary_email ?? user.display_name ?? user.id;
  const end = async (grant) => {
    const sessions = g.endText(h("strong", {}, shown(name)), h("strong", {}, shown(grant.client_name, { max: 100 })));
    const text = known.has(grant.client_id) ? sessions : g.endDeletedText;
    const act = () => api.delete(`${place}${path`/grants/${grant.id}`}`);
    if (await confirm({ title: g.end, text, act })) await refresh();
  };
  const app = (grant) => {
    const client = known.get(grant.client_id);
    const more = [
      client ? client.is_disabled && [" ", tag(g.off)] : [" ", tag(g.deleted)],
      client && client.name !== grant.client_name && h("small", {}, g.nowNamed, " ", shown(client.name, { max: 60 })),
    ];
    return named(grant.client_name, { max: 60, more });
  };
  const may = ({ scopes, resources: granted }) => {
    const [learnt, stays] = meaning(scopes);
    const own = (learnt || !granted.length) && shown(learnt, { max: 300 });
    return [own, stays && h("small", {}, stays), granted.map((one) => use(one, resources.get(one.resource)))];
  };
  const since = ({ created_at_millis: first, updated_at_millis: last }) => [
    time(first),
    last !== first && h("small", {}, g.last, " ", time(last)),
  ];
  const columns = [
    { label: g.app, class: "wide", cell: app },
    { label: g.may, class: "wide", cell: may },
    { label: g.since, class: "fit", cell: since },
    {
      label: "",
      class: "end actions",
      cell: (grant) => button(g.end, () => end(grant), { class: "small-button", "aria-label": `${g.end} ${visible(grant.client_name)}` }),
    },
  ];
  const href = ({ client_id: id }) => (known.has(id) ? to(`/oauth-clients/${id}`) : null);
  return h(
    "div",
    {},
    heading(g.title, { actions: [curlButton(() => api.request("GET", `${place}/grants`))] }),
    h("p", { class: "muted" }, g.lead),
    items.length ? table({ columns, rows: items, label: g.title, href }) : empty(g.none),
  );
}
