// npm's `oauth4webapi`: each step of a sign-in separately, responses as posted forms, and silent
// renewal with `prompt=none`.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as oauth from "oauth4webapi";

import { startApp } from "./support/app.js";
import { SCOPE, world } from "./support/world.js";

const w = world();
const INSECURE = { [oauth.allowInsecureRequests]: true };

/** The project's metadata. */
async function server() {
  const issuer = new URL(w.issuer());
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, INSECURE));
}

/** A new client of a stranger on the web, whose consent is remembered. */
async function newRelyingParty(t, fields) {
  const app = await startApp(t, { isOnWeb: true });
  const { id, client_secret } = await w.newClient({ redirect_uris: [app.redirectUri], ...fields });
  return { app, as: await server(), client: { client_id: id }, authentication: oauth.ClientSecretPost(client_secret) };
}

/** A request of a client, and what it remembers for the answer. */
async function newRequest({ as, client, app }, more = {}) {
  const [verifier, state, nonce] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState(), oauth.generateRandomNonce()];
  const url = new URL(as.authorization_endpoint);
  url.search = new URLSearchParams({
    client_id: client.client_id, redirect_uri: app.redirectUri, response_type: "code", scope: SCOPE, state, nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256", ...more,
  });
  return { url: url.href, verifier, state, nonce };
}

/** The tokens for an answer, after all of the library's checks, and the claims of the ID token. */
async function redeem({ as, client, app, authentication }, answer, { verifier, state, nonce }) {
  const checked = oauth.validateAuthResponse(as, client, answer, state);
  const response = await oauth.authorizationCodeGrantRequest(as, client, authentication, checked, app.redirectUri, verifier, INSECURE);
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, { expectedNonce: nonce, requireIdToken: true });
  await oauth.validateApplicationLevelSignature(as, response, INSECURE);
  return { tokens, claims: oauth.getValidatedIdTokenClaims(tokens) };
}

/** The next answer, from the query. */
const query = async ({ app }) => new URL((await app.next()).url);
/** The next answer, from the body of a form. */
async function posted({ app }) {
  const request = await app.next();
  assert.deepEqual([request.method, request.headers.get("content-type"), new URL(request.url).search], ["POST", "application/x-www-form-urlencoded", ""]);
  return new URLSearchParams(await request.text());
}
const refused = (error) => ({ name: "AuthorizationResponseError", error });

test("a client gets its answer as a form, uses and renews its tokens", async (t) => {
  const [rp, it] = [await newRelyingParty(t), await w.newcomer(t)];
  const request = await newRequest(rp, { response_mode: "form_post" });
  await it.signsUpAt(request.url);
  await it.isAskedBy("Notes", "notes.localhost");
  await it.allows();
  const { tokens, claims } = await redeem(rp, await posted(rp), request);
  assert.equal(claims.email, it.email);

  const { as, client, authentication } = rp;
  const info = await oauth.userInfoRequest(as, client, tokens.access_token, INSECURE);
  assert.equal((await oauth.processUserInfoResponse(as, client, claims.sub, info)).email, it.email);
  const renewed = await oauth.refreshTokenGrantRequest(as, client, authentication, tokens.refresh_token, INSECURE);
  const { refresh_token } = await oauth.processRefreshTokenResponse(as, client, renewed);
  assert.notEqual(refresh_token, tokens.refresh_token);
  it.check();
});

test("a user who refuses is sent back with a form", async (t) => {
  const [rp, it] = [await newRelyingParty(t), await w.newcomer(t)];
  const request = await newRequest(rp, { response_mode: "form_post" });
  await it.signsUpAt(request.url);
  await it.denies();
  const answer = await posted(rp);
  assert.throws(() => oauth.validateAuthResponse(rp.as, rp.client, answer, request.state), refused("access_denied"));
  it.check();
});

test("a client signs in silently where its user has consented, and only there", async (t) => {
  const [rp, it] = [await newRelyingParty(t), await w.newcomer(t)];
  const asks = async (browser, party, more) => {
    const request = await newRequest(party, { prompt: "none", ...more });
    await browser.page.goto(request.url);
    return { request, answer: await query(party) };
  };
  const isRefused = async (error, browser, party = rp, more = {}) => {
    const { request, answer } = await asks(browser, party, more);
    assert.throws(() => oauth.validateAuthResponse(party.as, party.client, answer, request.state), refused(error));
  };
  const first = await newRequest(rp, { scope: "openid email" });
  await it.signsUpAt(first.url);
  await it.allows();
  const { claims } = await redeem(rp, await query(rp), first);

  const silent = await asks(it, rp, { scope: "openid email" });
  const again = await redeem(rp, silent.answer, silent.request);
  assert.deepEqual([again.claims.sub, again.claims.auth_time], [claims.sub, claims.auth_time]);
  assert.equal(again.tokens.refresh_token, undefined, "nobody asked for offline_access");

  await isRefused("login_required", await w.newcomer(t));
  await isRefused("consent_required", it, rp, { scope: "openid email teams" });
  await isRefused("consent_required", it, await newRelyingParty(t, { name: "Another" }));
  it.check();
});

test("a silent renewal gets its answer as a form, too", async (t) => {
  const rp = await newRelyingParty(t);
  const it = await w.newcomer(t);
  const request = await newRequest(rp, { prompt: "none", response_mode: "form_post" });
  await it.page.goto(request.url);
  const answer = await posted(rp);
  assert.throws(() => oauth.validateAuthResponse(rp.as, rp.client, answer, request.state), refused("login_required"));
  it.check();
});

test("a hint of another user's ID token is not answered with this one's", async (t) => {
  const [rp, it, other] = [await newRelyingParty(t), await w.newcomer(t), await w.newcomer(t)];
  const tokensOf = async (browser) => {
    const request = await newRequest(rp);
    await browser.signsUpAt(request.url);
    await browser.allows();
    return redeem(rp, await query(rp), request);
  };
  await tokensOf(it);
  const { tokens } = await tokensOf(other);
  const request = await newRequest(rp, { prompt: "none", id_token_hint: tokens.id_token });
  await it.page.goto(request.url);
  const answer = await query(rp);
  assert.throws(() => oauth.validateAuthResponse(rp.as, rp.client, answer, request.state), refused("login_required"));
});
