// A provider rotates its keys while the gateway caches the earlier ones.

import assert from "node:assert/strict";
import { test } from "node:test";

import { until } from "../sdk/support/until.js";
import { world } from "./support/world.js";

const w = world();

test("keys are cached, and refetched after a rotation", async () => {
  const ada = w.provider.account("ada", { email: "ada@example.com", email_verified: true });
  const first = await w.signIn(ada);
  assert.ok(w.provider.asked().includes("GET /jwks"));
  await w.signIn(ada);
  assert.ok(!w.provider.asked().includes("GET /jwks"), "the keys are cached");

  w.provider.rotateKeys();
  // If a key is missing, the gateway requests the keys again, but at most once every half minute.
  const again = () => w.signIn(ada).catch(() => null);
  const { me } = await until(again, "a sign-in after the rotation", { timeout: 180_000, pause: 1_000 });
  assert.equal(me.id, first.me.id);
  assert.ok(w.provider.asked().includes("GET /jwks"));
});
