// Malformed requests, which are sent to Gatelet and to npm's `oidc-provider` by an identical
// client. Both services must reject a request in the same way, with the same error. If the services
// respond differently, the case gives the reason: `differs` is on purpose.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { REDIRECT_URI, VERIFIER, basic, query, startBoth } from "./support/both.js";
import { world } from "./support/world.js";

const w = world();
let both;

before(async () => {
  await w.started;
  both = await startBoth(w);
});
after(() => Promise.all((both ?? []).map((side) => side.stop())));

/** Runs a case at both; `ours` is our answer, if it is another one on purpose. */
function compare(name, { ours, differs }, run) {
  test(name, async () => {
    const [own, theirs] = await Promise.all(both.map((side) => run(side)));
    if (process.env.SHOW) console.log(`${own === theirs ? "same" : "DIFF"}\t${name}\t${own}\t${theirs}`);
    assert.equal(own, ours ?? theirs);
    if (differs) assert.notEqual(own, theirs, `no longer differs: ${differs}`);
  });
}

const UNKNOWN = "3f0e3c1a-9c0b-4a54-8d1c-0b5f6a7e8d90";

const VERIFIERS = { ours: "400 invalid_grant", differs: "a verifier that cannot be is one that does not fit, RFC 7636 §4.6" };
const GRANT = { ours: "400 unauthorized_client", differs: "the project has this grant, but not for its OAuth clients" };
const ASSERTION = { ours: "400 invalid_client", differs: "RFC 7521 §4.2.1 names this error" };
const IN_BODY = { ours: "400 invalid_client", differs: "401 is for clients that used the header, RFC 6749 §5.2" };
const IN_HEADER = { ours: "401 invalid_client Basic", differs: "a client that used the header gets 401, RFC 6749 §5.2" };
const NO_TOKEN = { ours: "401 Bearer", differs: "a request without a token gets no error, RFC 6750 §3.1" };

// Changes to an ordinary authorization request.
for (const [name, changes, expected = {}] of [
  ["nothing", {}],
  ["an unknown parameter", { frobnicate: "1" }],
  ["an empty state", { state: "" }],
  ["no client", { client_id: undefined }],
  ["an empty client", { client_id: "" }],
  ["an unknown client", { client_id: UNKNOWN }],
  ["a client that cannot be", { client_id: "nonsense" }],
  ["two clients", { client_id: [UNKNOWN, UNKNOWN] }],
  ["no redirect URI", { redirect_uri: undefined }],
  ["another redirect URI", { redirect_uri: "https://evil.example/callback" }],
  ["a redirect URI with a slash more", { redirect_uri: `${REDIRECT_URI}/` }],
  ["a redirect URI with a query", { redirect_uri: `${REDIRECT_URI}?x=1` }],
  ["a redirect URI with a fragment", { redirect_uri: `${REDIRECT_URI}#x` }],
  ["a redirect URI with a user", { redirect_uri: "https://notes.example.com@evil.example/callback" }],
  ["a redirect URI in capitals", { redirect_uri: REDIRECT_URI.replace("notes", "NOTES") }],
  ["two redirect URIs", { redirect_uri: [REDIRECT_URI, REDIRECT_URI] }],
  ["no response type", { response_type: undefined }],
  ["the implicit flow", { response_type: "token" }],
  ["an ID token at once", { response_type: "id_token" }],
  ["the hybrid flow", { response_type: "code id_token" }],
  ["no response", { response_type: "none" }],
  ["a response type in capitals", { response_type: "CODE" }],
  ["two response types", { response_type: ["code", "code"] }],
  ["the answer in the fragment", { response_mode: "fragment" }, { ours: "client: invalid_request", differs: "the fragment is for flows that we do not have" }],
  ["the answer as a message", { response_mode: "web_message" }, { ours: "client: invalid_request", differs: "no RFC has their name of the error" }],
  ["two response modes", { response_mode: ["query", "query"] }],
  ["a scope that the client may not have", { scope: "openid profile" }],
  ["an unknown scope", { scope: "openid frobnicate" }],
  ["no scope", { scope: undefined, nonce: undefined }],
  ["a nonce without an ID token", { scope: "email" }, { ours: "accepted", differs: "what means nothing is ignored, as RFC 6749 §3.1 wants" }],
  ["two scopes", { scope: ["openid", "openid"] }],
  ["no PKCE", { code_challenge: undefined, code_challenge_method: undefined }],
  ["a method without a challenge", { code_challenge: undefined }],
  ["a challenge without a method", { code_challenge_method: undefined }],
  ["the method plain", { code_challenge_method: "plain" }],
  ["an unknown method", { code_challenge_method: "S512" }],
  ["a short challenge", { code_challenge: "short" }],
  ["a long challenge", { code_challenge: "a".repeat(129) }],
  ["a challenge with other characters", { code_challenge: `${"a".repeat(42)}+` }],
  ["two challenges", { code_challenge: ["a".repeat(43), "a".repeat(43)] }],
  ["two states", { state: ["a", "b"] }],
  ["two nonces", { nonce: ["a", "b"] }],
  ["no page, without a session", { prompt: "none" }],
  ["no page, without a session, as a form", { prompt: "none", response_mode: "form_post" }],
  ["no page, and one", { prompt: "none login" }],
  ["an unknown prompt", { prompt: "sometimes" }],
  ["a prompt in capitals", { prompt: "NONE" }],
  ["two prompts", { prompt: ["login", "login"] }],
  ["an age in words", { max_age: "soon" }],
  ["a negative age", { max_age: "-1" }],
  ["an age with a fraction", { max_age: "1.5" }],
  ["a very high age", { max_age: "99999999999999999999" }],
  ["a request object", { request: "eyJhbGciOiJub25lIn0.e30." }],
  ["a request object elsewhere", { request_uri: "https://notes.example.com/request" }],
  ["registration", { registration: "{}" }],
  ["a hint that is no token", { id_token_hint: "nonsense" }, {}],
  ["claims that are not JSON", { claims: "nonsense" }],
  ["an unknown display", { display: "hologram" }],
  ["unknown factors", { acr_values: "urn:example:eye" }],
  ["a resource", { resource: "https://api.example.com" }],
  ["a resource that is no URL", { resource: "nonsense" }],
]) {
  compare(`authorization, ${name}`, expected, (side) => side.authorize(changes));
}

compare("authorization as a form, a short challenge", {}, (side) => side.authorize({ code_challenge: "short" }, { method: "POST" }));
compare("authorization as a form, another redirect URI", {}, (side) => side.authorize({ redirect_uri: "https://evil.example/" }, { method: "POST" }));

/** Sends a token request for a new code, with these changes. */
async function token(side, { headers = {}, ...changes }, { method = "POST", as } = {}) {
  const fields = query({ grant_type: "authorization_code", code: await side.newCode(side.client), redirect_uri: REDIRECT_URI, code_verifier: VERIFIER, ...changes });
  const all = Object.entries({ authorization: basic(side.client), ...headers }).filter(([, value]) => value !== undefined);
  const url = as === "query" ? `${side.token}?${fields}` : side.token;
  const body = method === "GET" ? undefined : { query: "", json: JSON.stringify(Object.fromEntries(fields)) }[as] ?? fields;
  return side.ask(url, { method, headers: Object.fromEntries(all), body });
}

/** The fields of a refresh with a new token. */
const refresh = async (side, owner) => ({ grant_type: "refresh_token", refresh_token: (await side.newTokens(owner)).refresh_token });
const [NO_HEADER, JSON_BODY] = [{ authorization: undefined }, { "content-type": "application/json" }];

// Token requests, each of which uses a new code.
for (const [name, make, expected = {}] of [
  ["nothing", () => ({})],
  ["an unknown parameter", () => ({ frobnicate: "1" })],
  ["no grant type", () => ({ grant_type: undefined })],
  ["an unknown grant type", () => ({ grant_type: "frobnicate" })],
  ["a password", () => ({ grant_type: "password", username: "ada", password: "x" })],
  ["two grant types", () => ({ grant_type: ["authorization_code", "authorization_code"] })],
  ["no code", () => ({ code: undefined })],
  ["an empty code", () => ({ code: "" })],
  ["another code", () => ({ code: "nonsense" })],
  ["two codes", () => ({ code: ["a", "b"] })],
  ["the code of another client", async (side) => ({ code: await side.newCode(side.other) })],
  ["a refresh token as the code", async (side) => ({ code: (await side.newTokens()).refresh_token })],
  ["no redirect URI", () => ({ redirect_uri: undefined }), { ours: "400 invalid_grant", differs: "none is one that does not fit; OAuth 2.1 leaves the parameter out" }],
  ["another redirect URI", () => ({ redirect_uri: `${REDIRECT_URI}/` })],
  ["no verifier", () => ({ code_verifier: undefined })],
  ["another verifier", () => ({ code_verifier: `${VERIFIER}x` })],
  ["a short verifier", () => ({ code_verifier: "short" }), VERIFIERS],
  ["a long verifier", () => ({ code_verifier: "a".repeat(129) }), VERIFIERS],
  ["a verifier with other characters", () => ({ code_verifier: `${"a".repeat(43)} +` }), VERIFIERS],
  ["two verifiers", () => ({ code_verifier: [VERIFIER, VERIFIER] })],
  ["no client", () => ({ headers: NO_HEADER })],
  ["a confidential client without a secret", (side) => ({ headers: NO_HEADER, client_id: side.client.id }), IN_BODY],
  ["a wrong secret", (side) => ({ headers: { authorization: basic({ ...side.client, client_secret: "wrong" }) } })],
  ["an empty secret", (side) => ({ headers: { authorization: basic({ ...side.client, client_secret: "" }) } }), IN_HEADER],
  ["a wrong secret in the body", (side) => ({ headers: NO_HEADER, client_id: side.client.id, client_secret: "wrong" }), IN_BODY],
  ["an unknown client", (side) => ({ headers: { authorization: basic({ ...side.client, id: UNKNOWN }) } })],
  ["an unknown client in the body", () => ({ headers: NO_HEADER, client_id: UNKNOWN, client_secret: "x" }), IN_BODY],
  ["a client that cannot be", (side) => ({ headers: { authorization: basic({ ...side.client, id: "nonsense" }) } })],
  ["a header that is not base64", () => ({ headers: { authorization: "Basic %%%" } }), IN_HEADER],
  ["a header without a colon", () => ({ headers: { authorization: `Basic ${btoa("nonsense")}` } }), IN_HEADER],
  ["a header of another scheme", () => ({ headers: { authorization: "Bearer nonsense" } })],
  ["the secret in the header and the body", (side) => ({ client_id: side.client.id, client_secret: side.client.client_secret })],
  ["another client in the body", (side) => ({ client_id: side.other.id })],
  ["an assertion of an unknown type", (side) => ({
    headers: NO_HEADER, client_id: side.client.id, client_assertion: "x", client_assertion_type: "nonsense",
  }), ASSERTION],
  ["a signed assertion", (side) => ({
    headers: NO_HEADER, client_id: side.client.id, client_assertion: "x.y.z", client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  }), ASSERTION],
  ["client credentials of such a client", () => ({ grant_type: "client_credentials" }), GRANT],
  ["a device code of such a client", () => ({ grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: "x" }), GRANT],
  ["no refresh token", () => ({ grant_type: "refresh_token" })],
  ["another refresh token", () => ({ grant_type: "refresh_token", refresh_token: "nonsense" })],
  ["the refresh token of another client", (side) => refresh(side, side.other)],
  ["a code as the refresh token", async (side) => ({ grant_type: "refresh_token", refresh_token: await side.newCode(side.client) })],
  ["more scopes than before", async (side) => ({ ...(await refresh(side)), scope: "openid profile" })],
  ["an unknown scope", async (side) => ({ ...(await refresh(side)), scope: "frobnicate" })],
  ["an empty scope", async (side) => ({ ...(await refresh(side)), scope: "" })],
  ["an empty secret in the body, too", () => ({ client_secret: "" })],
  ["two refresh tokens", () => ({ grant_type: "refresh_token", refresh_token: ["a", "b"] })],
]) {
  compare(`token, ${name}`, expected, async (side) => token(side, await make(side)));
}

compare("token, as JSON", { ours: "200", differs: "every operation takes JSON, too" }, (side) => token(side, { headers: JSON_BODY }, { as: "json" }));
compare("token, as text", {}, (side) => token(side, { headers: { "content-type": "text/plain" } }));
compare("token, in the query", {}, (side) => token(side, {}, { as: "query" }));
compare("token, by GET", { ours: "405", differs: "the path exists" }, (side) => token(side, {}, { method: "GET", as: "query" }));
compare("token, a second use of a code", {}, async (side) => {
  const code = await side.newCode(side.client);
  assert.equal(await token(side, { code }), "200");
  return token(side, { code });
});
compare("token, a refresh token after a second use of its code", {}, async (side) => {
  const code = await side.newCode(side.client);
  const body = query({ grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER });
  const { refresh_token } = await (await fetch(side.token, { method: "POST", headers: { authorization: basic(side.client) }, body })).json();
  await token(side, { code });
  return token(side, { grant_type: "refresh_token", refresh_token });
});

const bearer = (token) => ({ headers: { authorization: `Bearer ${token}` } });

// Requests to the userinfo endpoint.
for (const [name, make, expected = {}] of [
  ["a token", async (side) => bearer((await side.newTokens()).access_token)],
  ["no token", () => ({})],
  ["another token", () => bearer("nonsense")],
  ["an empty token", () => bearer(""), NO_TOKEN],
  ["another scheme", (side) => ({ headers: { authorization: basic(side.client) } }), NO_TOKEN],
  ["an ID token", async (side) => bearer((await side.newTokens()).id_token)],
  ["a refresh token", async (side) => bearer((await side.newTokens()).refresh_token)],
  ["a token in a form", async (side) => ({ method: "POST", body: query({ access_token: (await side.newTokens()).access_token }) }), { ours: "401 Bearer", differs: "a token in the body is optional, RFC 6750 §2.2" }],
]) {
  compare(`userinfo, ${name}`, expected, async (side) => side.ask(side.userinfo, await make(side)));
}
