// npm's `openid-client`: complete sign-ins of a confidential and a public client, with every check
// that the library makes, and responses that the library must reject.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as client from "openid-client";

import { startApp } from "./support/app.js";
import { SCOPE, world } from "./support/world.js";

const w = world();

/** The library's configuration, found at the issuer. */
function discover({ id, client_secret }, authentication = client.ClientSecretBasic(client_secret), options = {}) {
  return client.discovery(new URL(w.issuer()), id, {}, authentication, { execute: [client.allowInsecureRequests], ...options });
}

/** A request for all scopes, and the values with which its answer is checked. */
async function newRequest(config, redirect_uri, more = {}) {
  const [verifier, state, nonce] = [client.randomPKCECodeVerifier(), client.randomState(), client.randomNonce()];
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri, scope: SCOPE, state, nonce, code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256", ...more,
  });
  return { url: url.href, checks: { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true } };
}

/** Reads the user's claims, and renews the tokens twice. */
async function useTokens(config, tokens, email) {
  const { sub } = tokens.claims();
  const info = await client.fetchUserInfo(config, tokens.access_token, sub);
  assert.deepEqual([info.email, info.email_verified, info.teams, info.permissions], [email, false, [], []]);

  const renewed = await client.refreshTokenGrant(config, tokens.refresh_token);
  assert.notEqual(renewed.refresh_token, tokens.refresh_token, "refresh tokens rotate");
  assert.equal(renewed.claims()?.sub ?? sub, sub);
  // If the response is lost, the client can get it again.
  assert.equal((await client.refreshTokenGrant(config, tokens.refresh_token)).refresh_token, renewed.refresh_token);
  const again = await client.refreshTokenGrant(config, renewed.refresh_token, { scope: "openid email" });
  assert.equal((await client.fetchUserInfo(config, again.access_token, sub)).email, email);
  return again;
}

for (const authentication of [client.ClientSecretBasic, client.ClientSecretPost]) {
  test(`a confidential client with ${authentication.name} signs a new user in`, async (t) => {
    const [app, it] = [await startApp(t), await w.newcomer(t)];
    const made = await w.newClient({ redirect_uris: [app.redirectUri] });
    const config = await discover(made, authentication(made.client_secret));
    assert.ok(config.serverMetadata().supportsPKCE());
    const { url, checks } = await newRequest(config, app.redirectUri, { max_age: "300" });
    await it.signsUpAt(url);
    await it.isAskedBy("Notes", "127.0.0.1");
    await it.allows();
    const tokens = await client.authorizationCodeGrant(config, await app.next(), { ...checks, maxAge: 300 });
    const claims = tokens.claims();
    assert.deepEqual([claims.iss, claims.aud, claims.email, claims.acr], [w.issuer(), made.id, it.email, "urn:gatelet:1fa"]);
    assert.deepEqual([tokens.token_type, tokens.scope], ["bearer", SCOPE]);
    await useTokens(config, tokens, it.email);
    it.check();
  });
}

test("a public client finds its user at whatever port it listens", async (t) => {
  const [first, second, it] = [await startApp(t), await startApp(t), await w.newcomer(t)];
  const made = await w.newClient({ name: "Terminal", client_type: "public", redirect_uris: ["http://127.0.0.1/callback"] });
  assert.equal(made.client_secret, null);
  const config = await discover(made, client.None());
  const request = await newRequest(config, first.redirectUri);
  await it.signsUpAt(request.url);
  await it.allows();
  const tokens = await client.authorizationCodeGrant(config, await first.next(), request.checks);
  await useTokens(config, tokens, it.email);

  // Any program on the machine can have sent the request, so consent is not remembered.
  const later = await newRequest(config, second.redirectUri);
  await it.page.goto(later.url);
  await it.isAskedBy("Terminal", "127.0.0.1");
  await it.allows();
  const again = await client.authorizationCodeGrant(config, await second.next(), later.checks);
  assert.equal(again.claims().sub, tokens.claims().sub);
  it.check();
});

test("metadata is also found as RFC 8414 says, with the issuer's path at the end", async (t) => {
  const app = await startApp(t);
  const made = await w.newClient({ redirect_uris: [app.redirectUri] });
  const [openid, oauth] = [await discover(made), await discover(made, undefined, { algorithm: "oauth2" })];
  assert.deepEqual(openid.serverMetadata(), oauth.serverMetadata());
});

test("the library refuses answers of another issuer, state, nonce and verifier", async (t) => {
  const [app, it] = [await startApp(t), await w.newcomer(t)];
  const made = await w.newClient({ redirect_uris: [app.redirectUri] });
  const config = await discover(made);
  const { url, checks } = await newRequest(config, app.redirectUri);
  await it.signsUpAt(url);
  await it.allows();
  const answer = new URL((await app.next()).url);
  const changed = (name, value) => {
    const url = new URL(answer);
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
    return client.authorizationCodeGrant(config, url, checks);
  };
  const isAbout = (name) => ({ cause }) => cause.message.includes(`"${name}"`);
  await assert.rejects(changed("iss", "http://localhost:1/api"), isAbout("iss"));
  await assert.rejects(changed("iss"), isAbout("iss"));
  await assert.rejects(changed("state", "another"), isAbout("state"));
  // So far, the library has not sent a request.
  const wrong = client.authorizationCodeGrant(config, answer, { ...checks, pkceCodeVerifier: client.randomPKCECodeVerifier() });
  await assert.rejects(wrong, { error: "invalid_grant" });

  const another = await newRequest(config, app.redirectUri);
  await it.page.goto(another.url);
  await it.allows();
  const grant = client.authorizationCodeGrant(config, await app.next(), { ...another.checks, expectedNonce: "another" });
  await assert.rejects(grant, isAbout("nonce"));
});

/** Signs a new user in, and uses the code twice; returns what the first use gave. */
async function useTwice(t) {
  const [app, it] = [await startApp(t), await w.newcomer(t)];
  const config = await discover(await w.newClient({ redirect_uris: [app.redirectUri] }));
  const { url, checks } = await newRequest(config, app.redirectUri);
  await it.signsUpAt(url);
  await it.allows();
  const answer = new URL((await app.next()).url);
  const tokens = await client.authorizationCodeGrant(config, answer, checks);
  await assert.rejects(client.authorizationCodeGrant(config, answer, checks), { error: "invalid_grant" });
  return { config, tokens };
}

test("a second use of a code ends the access token of the first", async (t) => {
  const { config, tokens } = await useTwice(t);
  await assert.rejects(client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub), ({ cause }) => cause[0].parameters.error === "invalid_token");
});

test("and its refresh token, with an error that the library reads", async (t) => {
  const { config, tokens } = await useTwice(t);
  await assert.rejects(client.refreshTokenGrant(config, tokens.refresh_token), { error: "invalid_grant" });
});

test("a user who refuses is sent back with the reason", async (t) => {
  const [app, it] = [await startApp(t), await w.newcomer(t)];
  const made = await w.newClient({ redirect_uris: [app.redirectUri] });
  const config = await discover(made);
  const { url, checks } = await newRequest(config, app.redirectUri);
  await it.signsUpAt(url);
  await it.denies();
  await assert.rejects(client.authorizationCodeGrant(config, await app.next(), checks), { error: "access_denied" });
});
