// The list of a project's OAuth clients.

import { list } from "../components/list.js";
import { named, state } from "../components/parts.js";
import { h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";
import { texts as t } from "../texts.js";
import { guide, ownerOf, PATH, PROJECT, shownHost, sourceOf, stateOf } from "./client-common.js";

/**
 * Where redirect URIs lead: their hosts, or the schemes of native apps, whose hosts mean nothing
 * (`shown_host` of the API).
 */
export function hostsOf(uris) {
  const host = (uri) => {
    const { protocol, host: whole, hostname } = new URL(uri);
    return { "https:": whole, "http:": hostname }[protocol] ?? protocol;
  };
  return [...new Set(uris.map((uri) => (URL.canParse(uri) ? host(uri) : uri)))];
}

export async function part({ api, router, to, create }) {
  const { config } = await api.get(PROJECT);
  return list({
    api,
    router,
    path: PATH,
    label: words.title,
    href: (client) => to(`/oauth-clients/${client.id}`),
    columns: [
      { label: words.client, class: "wide", cell: (client) => named(client.name, { max: 60, more: sourceOf(client) }) },
      { label: words.returnsTo, class: "wide", cell: returnsTo },
      { label: words.kind, class: "fit", cell: kindOf },
      { label: t.state, class: "fit end", cell: (client) => state(...stateOf(client, config)) },
    ],
    none: { ...words.none, action: [h("p", {}, words.first), h("div", {}, create("button")), h("p", { class: "small" }, guide())] },
  });
}

const kindOf = (client) => [words.short[ownerOf(client)], h("small", {}, words.types[client.client_type])];

function returnsTo({ redirect_uris: uris }) {
  const [first, ...more] = hostsOf(uris);
  return [shownHost(first), more.length > 0 && h("small", {}, words.moreHosts(more.length))];
}
