// Requests of an MCP client as it could send them itself, without a library or a browser. The user
// signs up and consents through the API, as the hosted pages do.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";

import { PASSWORD, newAddress } from "../../hosted/support/world.js";

export const REDIRECT_URI = "http://127.0.0.1:9402/callback";

/** The parameters of an ordinary authorization request, with changes. */
export function requestOf(client_id, changes = {}) {
  const verifier = randomBytes(32).toString("base64url");
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  const parameters = { client_id, redirect_uri: REDIRECT_URI, response_type: "code", scope: "notes:read", state: "s-1", code_challenge, code_challenge_method: "S256", ...changes };
  return { verifier, parameters };
}

/** Parameters as a form or a query; a list repeats a parameter. */
export const query = (parameters) => new URLSearchParams(Object.entries(parameters).flatMap(([name, values]) => [values].flat().map((value) => [name, value])));

/**
 * The answer to an authorization request: the parameters that go back to the client, or the page
 * that the user sees instead.
 */
export async function authorize(w, parameters) {
  const { authorization_endpoint } = await w.metadata();
  let response = await w.ask(`${authorization_endpoint}?${query(parameters)}`);
  const isPage = ({ headers }) => headers.location && !headers.location.startsWith(parameters.redirect_uri);
  // The pages are on the project's own host.
  while (isPage(response)) response = await w.ask(new URL(response.headers.location, authorization_endpoint));
  const { location } = response.headers;
  return { status: response.status, page: response.body, answer: location && Object.fromEntries(new URL(location).searchParams) };
}

/** A new user consents; returns the code of the client, and what belongs to it. */
export async function newCode(w, client_id, changes) {
  const { verifier, parameters } = requestOf(client_id, { prompt: "consent", ...changes });
  const { access_token, refresh_token } = await w.client("POST", "/auth/password/sign-up", { email: newAddress(), password: PASSWORD, verification_callback_url: "http://localhost:3000/" });
  const { request } = await w.client("POST", "/auth/oauth2/authorizations", { parameters: `${query(parameters)}` });
  const { redirection } = await w.client("POST", "/auth/oauth2/authorizations/complete", { request, consent: "allow" }, access_token, refresh_token);
  const code = new URL(redirection.url).searchParams.get("code");
  assert.ok(code, `a code in ${redirection.url}`);
  return { grant_type: "authorization_code", code, client_id, redirect_uri: parameters.redirect_uri, code_verifier: verifier };
}

/** A token request; returns status and body. */
export async function token(w, fields) {
  const { token_endpoint } = await w.metadata();
  const response = await fetch(token_endpoint, { method: "POST", body: query(fields) });
  return { status: response.status, body: await response.json() };
}

/** A new user's access token for a resource. */
export async function newToken(w, client_id, resource, changes) {
  const { status, body } = await token(w, { ...(await newCode(w, client_id, { resource, ...changes })), resource });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}
