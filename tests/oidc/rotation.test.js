// A provider rotates its keys while the gateway caches the earlier ones.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { world } from "./support/world.js";

/** How soon the gateway may refetch the keys when one is missing, plus a margin. */
const AGAIN_MILLIS = 31_000;

const w = world();

test("keys are cached, and refetched after a rotation", async () => {
  const ada = w.provider.account("ada", { email: "ada@example.com", email_verified: true });
  const first = await w.signIn(ada);
  assert.ok(w.provider.asked().includes("GET /jwks"));
  await w.signIn(ada);
  assert.ok(!w.provider.asked().includes("GET /jwks"), "the keys are cached");

  await sleep(AGAIN_MILLIS);
  w.provider.rotateKeys();
  assert.equal((await w.signIn(ada)).me.id, first.me.id);
  assert.ok(w.provider.asked().includes("GET /jwks"));
});
