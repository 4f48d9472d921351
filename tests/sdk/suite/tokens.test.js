// Tokens, their transport formats, and the project's public settings.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PASSWORD, newAddress, ok, version, world } from "../support/world.js";

const w = world();

/** The older version has only `getAuthHeaders`. */
const HAS_AUTHORIZATION_HEADER = version !== "2.8.77";

function claims(token) {
  return JSON.parse(Buffer.from(token.split(".")[1], "base64url"));
}

test("the project reflects its settings", async () => {
  const before = await w.client().getProject();
  assert.equal(before.id, w.gateway.projectId);
  assert.equal(before.displayName, "Development");
  assert.equal(before.config.signUpEnabled, true);
  assert.equal(before.config.credentialEnabled, true);
  assert.equal(before.config.magicLinkEnabled, true);
  assert.deepEqual(before.config.oauthProviders, []);

  await (await w.admin().getProject()).update({ displayName: "Renamed" });
  assert.equal((await w.client().getProject()).displayName, "Renamed");
  assert.equal((await w.server().getProject()).displayName, "Renamed");
});

test("sign-up fails if the project disables it", async () => {
  const project = await w.admin().getProject();
  await project.update({ config: { signUpEnabled: false } });
  const email = newAddress();
  const attempt = w.client().signUpWithCredential({ email, password: PASSWORD, noVerificationCallback: true, noRedirect: true });
  await assert.rejects(attempt, (error) => error.errorCode === "SIGN_UP_NOT_ENABLED");
  await project.update({ config: { signUpEnabled: true } });
  await w.signedUp(email);
});

test("an access token names user, project and session, and lasts ten minutes", async () => {
  const { app, email, user } = await w.signedUp();
  const token = claims(await app.getAccessToken());
  const [session] = await user.getActiveSessions();
  assert.equal(token.sub, user.id);
  assert.equal(token.aud, w.gateway.projectId);
  assert.equal(token.project_id, w.gateway.projectId);
  assert.equal(token.refresh_token_id, session.id);
  assert.equal(token.email, email);
  assert.equal(token.exp - token.iat, 600);
});

test("a token can be verified with the project's published keys", async () => {
  const { app } = await w.signedUp();
  const [head, body, signature] = (await app.getAccessToken()).split(".");
  const answer = await fetch(`${w.gateway.url}/api/v1/projects/${w.gateway.projectId}/.well-known/jwks.json`);
  const { kid } = JSON.parse(Buffer.from(head, "base64url"));
  const jwk = (await answer.json()).keys.find((key) => key.kid === kid);
  const key = await crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, ["verify"]);
  const check = (signed) => crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, Buffer.from(signature, "base64url"), Buffer.from(signed));
  assert.equal(await check(`${head}.${body}`), true);
  assert.equal(await check(`${head}.${body}x`), false);
});

test("a server reads tokens as JSON, as a header, and as the legacy header", async () => {
  const { app, user } = await w.signedUp();
  const json = await app.getAuthJson();
  assert.deepEqual(json, { accessToken: await app.getAccessToken(), refreshToken: await app.getRefreshToken() });
  const legacy = await app.getAuthHeaders();
  const stores = [json, { headers: new Headers(legacy) }];
  if (HAS_AUTHORIZATION_HEADER) {
    const authorization = await app.getAuthorizationHeader();
    assert.match(authorization, /^Bearer \S+$/);
    stores.push({ headers: { authorization } });
  }

  const server = w.server({ tokenStore: null });
  for (const tokenStore of stores) {
    const seen = await server.getUser({ tokenStore });
    assert.equal(seen?.id, user.id);
    assert.equal(seen.serverMetadata, null);
  }
  const nobody = { accessToken: "", refreshToken: "0".repeat(45) };
  assert.equal(await server.getUser({ tokenStore: nobody }), null);
});

test("a signed-out user has no tokens", async () => {
  const app = w.client();
  assert.deepEqual(await app.getAuthJson(), { accessToken: null, refreshToken: null });
  assert.deepEqual(await app.getAuthHeaders(), { "x-stack-auth": JSON.stringify({ accessToken: null, refreshToken: null }) });
  if (HAS_AUTHORIZATION_HEADER) assert.equal(await app.getAuthorizationHeader(), null);
  assert.equal(await app.getPartialUser({ from: "token" }), null);
});

test("the partial user of a token matches the user", async () => {
  const { app, email, user } = await w.signedUp();
  const partial = await app.getPartialUser({ from: "token" });
  assert.equal(partial.id, user.id);
  assert.equal(partial.primaryEmail, email);
  assert.equal(partial.primaryEmailVerified, false);
  assert.equal(partial.isRestricted, false);
  assert.equal(partial.isMultiFactorRequired, false);
});

test("a lost access token is renewed by the refresh token, which stays the same", async () => {
  const { app, user } = await w.signedUp();
  const refreshToken = await app.getRefreshToken();
  const back = w.returning(refreshToken);
  assert.equal((await back.getUser())?.id, user.id);
  assert.equal(await back.getRefreshToken(), refreshToken);
  assert.equal(claims(await back.getAccessToken()).sub, user.id);
});

test("a forged access token is rejected, and refreshing recovers", async () => {
  const { app, user } = await w.signedUp();
  const { accessToken, refreshToken } = await app.getAuthJson();
  const [head, body] = accessToken.split(".");
  const forged = `${head}.${body}.${Buffer.alloc(64, 7).toString("base64url")}`;
  const alone = w.client({ tokenStore: { accessToken: forged, refreshToken: "0".repeat(45) } });
  assert.equal(await alone.getUser(), null);
  const back = w.client({ tokenStore: { accessToken: forged, refreshToken } });
  assert.equal((await back.getUser())?.id, user.id);
});

test("a client with a wrong key gets an error that the SDK knows", async () => {
  const app = w.client({ publishableClientKey: `pck_${"0".repeat(45)}` });
  await assert.rejects(app.getProject(), (error) => error.errorCode === "INVALID_PUBLISHABLE_CLIENT_KEY");
  const server = w.server({ secretServerKey: `ssk_${"0".repeat(45)}` });
  await assert.rejects(server.listUsers(), (error) => error.errorCode === "INVALID_SECRET_SERVER_KEY");
  const other = w.client({ projectId: "3142e763-b230-44b5-8636-aa62f7489c26" });
  await assert.rejects(other.getProject(), (error) => error.errorCode === "CURRENT_PROJECT_NOT_FOUND");
  ok(await w.client().sendForgotPasswordEmail(newAddress(), { callbackUrl: "http://localhost/" }));
});

test("a client without a key is accepted, as the project does not require one", async () => {
  const app = w.client({ publishableClientKey: undefined });
  const email = newAddress();
  ok(await app.signUpWithCredential({ email, password: PASSWORD, noVerificationCallback: true, noRedirect: true }));
  const back = w.client({ publishableClientKey: undefined, tokenStore: { accessToken: "", refreshToken: await app.getRefreshToken() } });
  assert.equal((await back.getUser())?.primaryEmail, email);
});

test("the SDK works with tokens signed with RS256", async () => {
  const { url, projectId, superSecretAdminKey } = w.gateway;
  const headers = {
    "content-type": "application/json", "x-stack-access-type": "admin",
    "x-stack-project-id": projectId, "x-stack-super-secret-admin-key": superSecretAdminKey,
  };
  const send = async (method, path, body) => {
    const answer = await fetch(`${url}/api/v1/internal/${path}`, { method, headers, body: JSON.stringify(body) });
    assert.ok(answer.ok, await answer.text());
  };
  await send("POST", "signing-keys", {});
  await send("PATCH", "projects/current", { access_token_algorithm: "RS256" });
  const { app, user } = await w.signedUp();
  const token = await app.getAccessToken();
  assert.equal(JSON.parse(Buffer.from(token.split(".")[0], "base64url")).alg, "RS256");
  assert.equal((await app.getUser()).id, user.id);
  await user.update({ displayName: "Ada" });
  assert.equal((await w.server().getUser(user.id)).displayName, "Ada");
  await user.signOut();
  assert.equal(await app.getUser(), null);
});
