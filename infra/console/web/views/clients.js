// Lists and creates a project's OAuth clients.

import { showOnce } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { list } from "../components/list.js";
import { head, link, named, shown, state } from "../components/parts.js";
import { h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";
import { texts as t } from "../texts.js";

export const PATH = "/internal/oauth-clients";
const GUIDE = "/docs/api/openid";
/** The longest host that a list shows whole, in characters. */
const MAX_HOST = 32;

/** The state of a client: a tone and words. */
export function stateOf(client) {
  if (client.is_disabled) return ["aside", words.off];
  return client.redirect_uris.length ? ["done", words.on] : ["waiting", words.unfinished];
}

export const ownerOf = (client) => (client.is_first_party ? "own" : "other");

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
  return cut === host ? shown(host) : h("span", { title: host }, shown(cut));
}

/**
 * What software needs to use the project as its OpenID provider: its metadata, with the URL of the
 * metadata.
 */
export async function metadataOf(api, projectId) {
  const metadata = await api.get(`/projects/${encodeURIComponent(projectId)}/.well-known/openid-configuration`);
  return { ...metadata, discovery: `${metadata.issuer}/.well-known/openid-configuration` };
}

/** The link to the guide; it opens a new tab where leaving the page would lose a secret. */
export const guide = ({ isApart = false } = {}) =>
  link(GUIDE, isApart ? `${words.guide} ${words.newTab}` : words.guide, isApart ? { target: "_blank", rel: "noopener" } : {});

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
        { label: words.kind, class: "fit", cell: (client) => [words.short[ownerOf(client)], h("small", {}, words.types[client.client_type])] },
        { label: words.returnsTo, class: "wide", cell: returnsTo },
        { label: t.state, class: "fit end", cell: (client) => state(...stateOf(client)) },
      ],
      none: { ...words.none, action: [h("p", {}, words.first), h("div", {}, create("button")), h("p", { class: "small" }, guide())] },
    }),
  );
}

function returnsTo({ redirect_uris: uris }) {
  const [first, ...more] = hostsOf(uris);
  return [shownHost(first), more.length > 0 && h("small", {}, words.moreHosts(more.length))];
}

/** The fields that a client has from the start, and that can be changed later. */
export const fields = {
  name: { name: "name", label: words.name, required: true, help: words.nameHelp },
  owner: { name: "owner", label: words.owner, type: "radio", initial: "other", options: words.ownerOptions },
  redirects: {
    name: "redirect_uris",
    label: words.redirects,
    type: "lines",
    help: words.redirectsHelp,
    placeholder: "https://app.example.com/callback",
  },
};

/** The body with `is_first_party` as in the API. */
export const sent = ({ owner, ...body }) => ({ ...body, ...(owner && { is_first_party: owner === "own" }) });

async function creation({ api, projectId, router, to }) {
  // Read first: a failure after the creation would lose the secret.
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
