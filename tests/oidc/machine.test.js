// Client credentials with npm's openid-client: a server key is exchanged for a token, which other
// services verify with npm's jose.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createRemoteJWKSet, jwtVerify } from "jose";
import * as client from "openid-client";

import { world } from "./support/world.js";

const w = world();

test("a machine exchanges its key, and another service verifies the token", async () => {
  const { url, projectId } = w.gateway;
  const made = await w.admin("POST", "/internal/api-keys", {
    description: "Nightly export", expires_at_millis: Date.now() + 3_600_000, permissions: ["users:read"],
    has_publishable_client_key: false, has_secret_server_key: true, has_super_secret_admin_key: false,
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const issuer = `${url}/api/v1/projects/${projectId}`;
  const key = made.body.secret_server_key;
  const config = new client.Configuration({ issuer, token_endpoint: `${url}/api/v1/auth/oauth/token` }, projectId, key, client.ClientSecretPost(key));
  client.allowInsecureRequests(config);
  const { access_token, scope, expires_in } = await client.clientCredentialsGrant(config);
  assert.deepEqual([scope, expires_in], ["users:read", 600]);

  const keys = (query) => createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json${query}`));
  const expected = { issuer, audience: `${projectId}:machine`, typ: "at+jwt", algorithms: ["ES256"] };
  const { payload } = await jwtVerify(access_token, keys("?include_machines=true"), expected);
  assert.equal(payload.sub, made.body.id);
  // A service that accepts users' tokens has different keys and expects a different audience.
  await assert.rejects(jwtVerify(access_token, keys(""), { issuer, audience: projectId }));

  const headers = { "x-stack-access-type": "server", "x-stack-project-id": projectId, "x-stack-secret-server-key": access_token };
  assert.equal((await fetch(`${url}/api/v1/users`, { headers })).status, 200);
  assert.equal((await fetch(`${url}/api/v1/teams`, { headers })).status, 403);
});
