// Sign-in with Apple in native apps: npm's `jose` signs the tokens with RS256, as Apple does, and
// the gateway fetches the keys over HTTP.

import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { SignJWT, createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify } from "jose";

import { configure, startGateway } from "../sdk/support/gateway.js";

const BUNDLE = "com.example.app";
const it = { asked: [] };

before(async () => {
  const pairs = await Promise.all(["one", "two"].map(async (kid) => ({ kid, ...(await generateKeyPair("RS256")) })));
  const keys = await Promise.all(pairs.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" })));
  it.pairs = pairs;
  it.apple = createServer((request, response) => {
    it.asked.push(request.url);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys }));
  });
  await new Promise((resolve) => it.apple.listen(0, "127.0.0.1", resolve));
  const standIn = `http://127.0.0.1:${it.apple.address().port}`;
  it.gateway = await startGateway({ GATELET_ALLOW_PRIVATE_ISSUERS: "1", GATELET_PROVIDER_STAND_IN: standIn });
  const apple = { id: "apple", client_id: "com.example.services", client_secret: "s", apple_bundle_ids: [BUNDLE] };
  await configure(it.gateway, { oauth_providers: [apple] });
});

after(async () => {
  it.apple?.close();
  it.apple?.closeAllConnections();
  await it.gateway?.stop();
});

function token({ pair = it.pairs[0], kid = pair.kid, audience = BUNDLE, life = "10m", ...claims } = {}) {
  const jwt = new SignJWT({ email: "ada@example.com", email_verified: true, nonce_supported: true, ...claims });
  return jwt.setProtectedHeader({ alg: "RS256", kid }).setIssuer("https://appleid.apple.com").setAudience(audience)
    .setSubject("001234.abcdef.0123").setIssuedAt().setExpirationTime(life).setJti(randomUUID()).sign(pair.privateKey);
}

async function signIn(body) {
  const response = await fetch(`${it.gateway.url}/api/v1/auth/oauth/callback/apple/native`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-stack-access-type": "client",
      "x-stack-project-id": it.gateway.projectId,
      "x-stack-publishable-client-key": it.gateway.publishableClientKey,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, ...(await response.json()) };
}

test("a native app signs in, each token once, with keys that are fetched once", async () => {
  const nonce = randomUUID();
  const id_token = await token({ nonce: createHash("sha256").update(nonce).digest("hex") });
  const first = await signIn({ id_token, nonce, full_name: "Ada Lovelace" });
  assert.deepEqual([first.status, first.is_new_user], [200, true], JSON.stringify(first));
  const keys = createRemoteJWKSet(new URL(`${it.gateway.url}/api/v1/projects/${it.gateway.projectId}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(first.access_token, keys);
  assert.deepEqual([payload.sub, payload.email], [first.user_id, "ada@example.com"]);
  assert.equal((await signIn({ id_token, nonce })).code, "INVALID_APPLE_CREDENTIALS");
  const second = await signIn({ id_token: await token({ pair: it.pairs[1] }) });
  assert.deepEqual([second.status, second.is_new_user, second.user_id], [200, false, first.user_id]);
  assert.deepEqual(it.asked, ["/appleid.apple.com/auth/keys"]);
});

test("tokens with a wrong audience, key or nonce and expired tokens are refused", async () => {
  const { privateKey } = await generateKeyPair("RS256");
  const wrong = [
    { audience: "com.example.services" },
    { audience: "com.example.other" },
    { pair: { kid: "one", privateKey } },
    { kid: "two" },
    { life: "-2m" },
    { nonce: "a nonce that the caller does not send" },
  ];
  for (const claims of wrong) {
    const answer = await signIn({ id_token: await token(claims) });
    assert.deepEqual([answer.status, answer.code], [400, "INVALID_APPLE_CREDENTIALS"], JSON.stringify(claims));
  }
});
