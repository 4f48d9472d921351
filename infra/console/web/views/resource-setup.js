// What a resource needs to know to verify access tokens, and the metadata that it serves.

import { code, copyable, curlButton, facts, heading, shown, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { resources as words } from "../texts-oauth-resources.js";
import { texts as t } from "../texts.js";
import { metadataOf } from "./client-common.js";
import { guide } from "./resource-common.js";

/** The metadata of a protected resource (RFC 9728 §2). Empty lists must be absent. */
export function protectedMetadata({ identifier, name, scopes }, issuer) {
  return {
    resource: identifier,
    resource_name: name,
    authorization_servers: [issuer],
    ...(scopes.length > 0 && { scopes_supported: scopes.map((scope) => scope.name) }),
    bearer_methods_supported: ["header"],
  };
}

/** Where a resource serves its metadata (RFC 9728 §3.1). */
export function metadataUrl(identifier) {
  const [, origin, rest] = /^([^/]+:\/\/[^/?]+)(?:\/(?=\?|$))?(.*)$/.exec(identifier);
  return `${origin}/.well-known/oauth-protected-resource${rest}`;
}

export async function part({ api, projectId, resource, place }) {
  const { issuer, jwks_uri: jwks } = await metadataOf(api, projectId);
  const scope = ({ name, description }) => h("div", { class: "use" }, copyable(name), h("small", {}, shown(description)));
  return h(
    "div",
    {},
    h("p", {}, words.setupText, " ", guide()),
    facts(
      [words.issuer, copyable(issuer)],
      [words.audience, copyable(resource.identifier)],
      [words.jwks, copyable(jwks)],
      [words.algorithm, h("code", {}, resource.signing_algorithm)],
      [words.type, h("code", {}, "at+jwt")],
      [words.inScope, resource.scopes.length ? resource.scopes.map(scope) : words.noScopes],
      [t.created, time(resource.created_at_millis, { isLong: true })],
    ),
    h("div", { class: "buttons" }, curlButton(() => api.request("GET", place))),
    heading(words.metadata),
    h("p", {}, words.metadataText),
    facts([words.metadataUrl, copyable(metadataUrl(resource.identifier))]),
    code(JSON.stringify(protectedMetadata(resource, issuer), null, 2)),
  );
}
