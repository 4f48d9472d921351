// Code shared by the pages of OAuth clients.

import { link } from "../components/parts.js";
import { path } from "../core/api.js";
import { clients as words } from "../texts-oauth-clients.js";

export const PATH = "/internal/oauth-clients";
const GUIDE = "/docs/api/openid";

/** The state of a client: a tone and words. */
export function stateOf(client) {
  if (client.is_disabled) return ["aside", words.off];
  return client.redirect_uris.length ? ["done", words.on] : ["waiting", words.unfinished];
}

export const ownerOf = (client) => (client.is_first_party ? "own" : "other");

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
};

/** The body with `is_first_party` as in the API. */
export const sent = ({ owner, ...body }) => ({ ...body, ...(owner && { is_first_party: owner === "own" }) });
