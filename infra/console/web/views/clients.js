// Lists and creates a project's OAuth clients.

import { showOnce } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { list } from "../components/list.js";
import { head, named, shown, state } from "../components/parts.js";
import { h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";
import { texts as t } from "../texts.js";
import { fields, guide, metadataOf, ownerOf, PATH, sent, stateOf } from "./client-common.js";

/** The longest host that a list shows whole, in characters. */
const MAX_HOST = 32;

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

/** A host; of a long one, the end, because that says whose it is. */
function shownHost(host) {
  const cut = host && host.length > MAX_HOST ? `…${host.slice(-MAX_HOST)}` : host;
  return cut === host ? shown(host) : h("span", { class: "host", title: host }, shown(cut));
}

export async function view(context) {
  const { api, router, to, query } = context;
  if (query.has("new")) return creation(context);
  const create = (kind) => h("a", { class: kind, href: to("/oauth-clients", { new: "1" }) }, words.create);
  return h(
    "div",
    {},
    head(words.title, { lead: words.lead, actions: [create("button main")] }),
    list({
      api,
      router,
      path: PATH,
      label: words.title,
      href: (client) => to(`/oauth-clients/${client.id}`),
      columns: [
        { label: words.client, class: "wide", cell: (client) => named(client.name, { max: 60 }) },
        { label: words.returnsTo, class: "wide", cell: returnsTo },
        { label: words.kind, class: "fit", cell: kindOf },
        { label: t.state, class: "fit end", cell: (client) => state(...stateOf(client)) },
      ],
      none: { ...words.none, action: [h("p", {}, words.first), h("div", {}, create("button")), h("p", { class: "small" }, guide())] },
    }),
  );
}

const kindOf = (client) => [words.short[ownerOf(client)], h("small", {}, words.types[client.client_type])];

function returnsTo({ redirect_uris: uris }) {
  const [first, ...more] = hostsOf(uris);
  return [shownHost(first), more.length > 0 && h("small", {}, words.moreHosts(more.length))];
}

async function creation({ api, projectId, router, to }) {
  // The metadata is read first, because a failure after the creation would lose the secret.
  const { issuer, discovery } = await metadataOf(api, projectId);
  return h(
    "div",
    { class: "narrow" },
    head(words.create),
    form({
      fields: [
        fields.name,
        fields.owner,
        {
          name: "client_type",
          label: words.type,
          type: "radio",
          initial: "confidential",
          options: words.typeOptions,
          help: words.typeHelp,
        },
        fields.redirects,
      ],
      verb: words.create,
      cancel: () => router.go(to("/oauth-clients")),
      ...posts(api, PATH, sent),
      done: async (client) => {
        await showOnce(
          words.created,
          words.createdText[client.client_type],
          [
            [words.issuer, issuer],
            [words.id, client.id],
            [words.secret, client.client_secret],
            [words.discovery, discovery],
          ],
          { more: h("p", {}, guide({ isApart: true })), verb: client.client_secret ? t.keptIt : words.goOn },
        );
        await router.go(to(`/oauth-clients/${client.id}`));
      },
    }),
  );
}
