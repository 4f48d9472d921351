// npm's `jose`: services verify the tokens of OAuth clients with the project's keys. The audience
// distinguishes these tokens from those of the project's apps.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import * as client from "openid-client";

import { startApp } from "./support/app.js";
import { world } from "./support/world.js";

const w = world();

/** Signs a new user in to a new client; returns the client and its tokens. */
async function signIn(t, fields) {
  const [app, it] = [await startApp(t), await w.newcomer(t)];
  const made = await w.newClient({ redirect_uris: [app.redirectUri], ...fields });
  const config = await client.discovery(new URL(w.issuer()), made.id, made.client_secret, undefined, { execute: [client.allowInsecureRequests] });
  if (fields?.signing_algorithm) config.clientMetadata().id_token_signed_response_alg = fields.signing_algorithm;
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const code_challenge = await client.calculatePKCECodeChallenge(pkceCodeVerifier);
  const url = client.buildAuthorizationUrl(config, { redirect_uri: app.redirectUri, scope: "openid email", code_challenge, code_challenge_method: "S256" });
  await it.signsUpAt(url.href);
  await it.allows();
  return { id: made.id, ...(await client.authorizationCodeGrant(config, await app.next(), { pkceCodeVerifier })) };
}

/** The project's keys, as its metadata says. */
async function keys() {
  const metadata = await (await fetch(`${w.issuer()}/.well-known/openid-configuration`)).json();
  return createRemoteJWKSet(new URL(metadata.jwks_uri));
}

/** What a service of the project demands of the tokens that it gets. */
const ownService = () => ({ issuer: w.issuer(), audience: w.gateway.projectId, typ: "at+jwt", algorithms: ["ES256"] });
const userinfo = () => `${w.issuer()}/oauth2/userinfo`;

test("a stranger's client gets tokens for itself and for the userinfo endpoint", async (t) => {
  const { id, id_token, access_token } = await signIn(t);
  const issuer = w.issuer();
  const found = await keys();
  const { payload } = await jwtVerify(id_token, found, { issuer, audience: id, typ: "JWT", algorithms: ["ES256"], requiredClaims: ["sid", "auth_time", "at_hash"] });
  const access = await jwtVerify(access_token, found, { issuer, audience: userinfo(), typ: "at+jwt", algorithms: ["ES256"], requiredClaims: ["jti"] });
  assert.deepEqual([access.payload.client_id, access.payload.scope, access.payload.sub], [id, "openid email", payload.sub]);
  // An ID token is not accepted as an access token, nor the other way round.
  await assert.rejects(jwtVerify(id_token, found, { issuer, typ: "at+jwt" }), { claim: "typ" });
  await assert.rejects(jwtVerify(access_token, found, { issuer, audience: id }), { claim: "aud" });
});

test("a service of the project refuses the tokens of a stranger's client", async (t) => {
  const { id_token, access_token } = await signIn(t);
  await assert.rejects(jwtVerify(access_token, await keys(), ownService()), { code: "ERR_JWT_CLAIM_VALIDATION_FAILED", claim: "aud" });
  await assert.rejects(jwtVerify(id_token, await keys(), ownService()), { code: "ERR_JWT_CLAIM_VALIDATION_FAILED" });
  await assert.rejects(w.client("GET", "/users/me", undefined, access_token), /401/);
});

test("a service of the project accepts the tokens of the project's own client", async (t) => {
  const { id_token, access_token } = await signIn(t, { is_first_party: true });
  const { payload } = await jwtVerify(access_token, await keys(), ownService());
  assert.equal((await w.client("GET", "/users/me", undefined, access_token)).id, payload.sub);
  await assert.rejects(jwtVerify(id_token, await keys(), ownService()), { code: "ERR_JWT_CLAIM_VALIDATION_FAILED" });
});

test("a client for RS256 gets tokens that are verified with the RSA key", async (t) => {
  await w.admin("POST", "/internal/signing-keys", {});
  const { id, id_token, access_token } = await signIn(t, { signing_algorithm: "RS256" });
  const issuer = w.issuer();
  assert.equal((await jwtVerify(id_token, await keys(), { issuer, audience: id, typ: "JWT", algorithms: ["RS256"] })).payload.azp, id);
  await jwtVerify(access_token, await keys(), { issuer, audience: userinfo(), typ: "at+jwt" });
  assert.equal(decodeJwt(access_token).client_id, id);
});
