// Code shared by the pages of OAuth clients.

import { link, note, shown } from "../components/parts.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";

export const PATH = "/internal/oauth-clients";
/** The project, whose settings say which clients may describe themselves. */
export const PROJECT = "/internal/projects/current";
const GUIDE = "/docs/api/openid";
/** The longest host that is shown whole, in characters. */
const MAX_HOST = 32;

/** Whether the project's settings accept where a client comes from. */
export function isAccepted({ source, metadata_url: url }, config) {
  if (source === "document") {
    const { oauth_client_documents_enabled: isOn, oauth_client_document_hosts: hosts } = config;
    return isOn && (!hosts.length || hosts.includes(new URL(url).hostname));
  }
  return source !== "registration" || config.oauth_client_registration_enabled;
}

/** The state of a client: a tone and words. */
export function stateOf(client, config) {
  if (client.is_disabled) return ["aside", words.off];
  if (!isAccepted(client, config)) return ["waiting", words.notAccepted];
  return client.redirect_uris.length ? ["done", words.on] : ["waiting", words.unfinished];
}

export const ownerOf = (client) => (client.is_first_party ? "own" : "other");

/** Why nobody can sign in to a client, if so. */
export function missing({ client, config, to }) {
  const at = (part, text) => link(to(`/oauth-clients/${client.id}`, { part }), text);
  if (client.is_disabled) return note("waiting", words.isOff, " ", at("danger", words.isOffLink), ".");
  if (!isAccepted(client, config))
    return note("waiting", words.isNotAccepted, " ", link(to("/oauth-clients", { part: "described" }), words.isNotAcceptedLink), ".");
  return client.redirect_uris.length ? null : note("waiting", words.addRedirect, " ", at("urls", words.addRedirectLink), ".");
}

/** A host; of a long one, the end, because that says whose it is. */
export function shownHost(host) {
  const cut = host && host.length > MAX_HOST ? `…${host.slice(-MAX_HOST)}` : host;
  return cut === host ? shown(host) : h("span", { class: "host", title: host }, shown(cut));
}

/** How a client that nobody has created became known. */
export function sourceOf({ source, metadata_url: url }) {
  if (source === "document") return h("small", {}, words.describedAt, " ", shownHost(new URL(url).host));
  return source === "registration" && h("small", {}, words.registeredItself);
}

/**
 * The project's metadata and its URL, which software needs in order to use the project as its
 * OpenID provider.
 */
export async function metadataOf(api, projectId) {
  const metadata = await api.get(path`/projects/${projectId}/.well-known/openid-configuration`);
  return { ...metadata, discovery: `${metadata.issuer}/.well-known/openid-configuration` };
}

/** The link to the guide; it opens a new tab where leaving the page would lose a secret. */
export const guide = ({ isApart = false } = {}) =>
  link(GUIDE, isApart ? `${words.guide} ${words.newTab}` : words.guide, isApart ? { target: "_blank", rel: "noopener" } : {});

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
  logo: { name: "logo_url", label: words.logo, help: words.logoHelp, input: "url", nullable: true },
};

/** The field for the algorithm that signs tokens, which says where to create a missing RSA key. */
export async function algorithm({ api, to }, help) {
  const { keys } = await api.get("/internal/signing-keys");
  const create = [" ", words.noRsaKey, " ", link(to("/settings/sessions"), words.createRsaKey), "."];
  const isMissing = !keys.length;
  return {
    name: "signing_algorithm",
    label: words.algorithm,
    type: "choice",
    options: words.algorithms,
    help: [help, isMissing && create],
    refusal: isMissing && words.needsRsaKey,
  };
}

/** The body with `is_first_party` as in the API. */
export const sent = ({ owner, ...body }) => ({ ...body, ...(owner && { is_first_party: owner === "own" }) });
