// Tokens signed with RS256. npm's openid-client finds the project's key set from the issuer alone,
// and npm's jose verifies the tokens like a service that accepts only RSA signatures.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createRemoteJWKSet, jwtVerify } from "jose";
import * as client from "openid-client";

import { PASSWORD, world } from "./support/world.js";

const w = world();

test("a service that accepts only RSA signatures verifies users", async () => {
  const { url, projectId } = w.gateway;
  const made = await w.admin("POST", "/internal/signing-keys", {});
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const chosen = await w.admin("PATCH", "/internal/projects/current", { access_token_algorithm: "RS256" });
  assert.equal(chosen.status, 200, JSON.stringify(chosen.body));

  const issuer = `${url}/api/v1/projects/${projectId}`;
  const config = await client.discovery(new URL(issuer), projectId, undefined, client.None(), { execute: [client.allowInsecureRequests] });
  const { jwks_uri, id_token_signing_alg_values_supported } = config.serverMetadata();
  assert.deepEqual(id_token_signing_alg_values_supported, ["ES256", "RS256"]);
  const keys = createRemoteJWKSet(new URL(jwks_uri));
  const expected = { issuer, audience: projectId, typ: "at+jwt", algorithms: ["RS256"] };

  const ada = await w.signUp("ada@example.com");
  const { payload, protectedHeader } = await jwtVerify(ada.access_token, keys, expected);
  assert.deepEqual([payload.sub, payload.client_id], [ada.user_id, projectId]);
  assert.equal(protectedHeader.kid, made.body.keys[0].id);
  assert.equal((await w.me(ada.access_token)).id, ada.user_id);

  // The standard grant also issues RS256 tokens.
  const refreshed = await client.refreshTokenGrant(config, ada.refresh_token);
  assert.equal((await jwtVerify(refreshed.access_token, keys, expected)).payload.sub, ada.user_id);
  const again = await w.client("POST", "/auth/password/sign-in", { email: "ada@example.com", password: PASSWORD });
  assert.equal((await jwtVerify(again.body.access_token, keys, expected)).payload.sub, ada.user_id);
});
