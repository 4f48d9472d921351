// The device flow (RFC 8628) with npm's openid-client: a device without a browser, which its user
// confirms in an app.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as client from "openid-client";

import { world } from "./support/world.js";

const w = world();
const PAGE = "http://localhost:3000/device";

/** Resolves once the device has polled without a decision. */
function polled(config) {
  return new Promise((resolve) => {
    config[client.customFetch] = async (...request) => {
      const response = await fetch(...request);
      if (response.status === 400 && (await response.clone().json()).error === "authorization_pending") resolve();
      return response;
    };
  });
}

/** A device's client. */
function device() {
  const { url, projectId, publishableClientKey } = w.gateway;
  const oauth = `${url}/api/v1/auth/oauth`;
  const server = {
    issuer: `${url}/api/v1/projects/${projectId}`,
    token_endpoint: `${oauth}/token`,
    device_authorization_endpoint: `${oauth}/device_authorization`,
  };
  const config = new client.Configuration(server, projectId, publishableClientKey, client.ClientSecretPost(publishableClientKey));
  client.allowInsecureRequests(config);
  return config;
}

const start = (config) => client.initiateDeviceAuthorization(config, { verification_uri: PAGE });
const decide = (login_code, mode, refresh_token) => w.client("POST", "/auth/cli/complete", { login_code, mode, refresh_token });

test("a device waits, and gets tokens once its user has typed the code and confirmed", async () => {
  const ada = await w.signUp("ada@example.com");
  const config = device();
  const started = await start(config);
  assert.match(started.user_code, /^[A-Z]{4}-[A-Z]{4}$/);
  assert.equal(started.interval, 5);
  const pending = polled(config);
  const tokens = client.pollDeviceAuthorizationGrant(config, started);
  await pending;
  const confirmed = await decide(started.user_code, "complete", ada.refresh_token);
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
  const { access_token, refresh_token } = await tokens;
  assert.equal((await w.me(access_token)).id, ada.user_id);
  assert.notEqual(refresh_token, ada.refresh_token);

  const refreshed = await client.refreshTokenGrant(config, refresh_token);
  assert.equal((await w.me(refreshed.access_token)).id, ada.user_id);
  await assert.rejects(client.pollDeviceAuthorizationGrant(config, { ...started, interval: 1 }), (error) => error.error === "invalid_grant");
});

test("a device learns that its user refused", async () => {
  const bob = await w.signUp("bob@example.com");
  const config = device();
  const started = await start(config);
  assert.equal((await decide(started.user_code, "deny", bob.refresh_token)).status, 200);
  await assert.rejects(client.pollDeviceAuthorizationGrant(config, { ...started, interval: 1 }), (error) => error.error === "access_denied");
});
