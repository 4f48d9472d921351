// A real limit of the service: the SDK reaches the limit, waits as requested, and succeeds.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asClient } from "../support/gateway.js";
import { CALLBACK, newAddress, ok, world } from "../support/world.js";

const WINDOW_SECONDS = 4;
const w = world({ GATELET_LIMIT_SEND_CODE_RECIPIENT: `1/${WINDOW_SECONDS}` });

test("an email beyond the limit is sent once the limit allows it", async () => {
  const email = newAddress();
  const app = w.client();
  const sent = [];
  for (let mail = 0; mail < 3; mail += 1) {
    ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
    sent.push(Date.now());
  }
  // Each window allows one email, so there is a whole window between the first email and the third
  // one.
  assert.ok(sent[2] - sent[0] >= WINDOW_SECONDS * 1000 - 100, `three emails in ${sent[2] - sent[0]} ms`);
  const refused = await asClient(w.gateway, "POST", "/auth/otp/send-sign-in-code", { email, callback_url: CALLBACK });
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  assert.match(refused.headers.get("ratelimit-policy"), /^"send-code";q=1;w=4$/);
});
