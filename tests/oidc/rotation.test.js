// A provider changes its keys while the gateway keeps the ones of before.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { world } from "./support/world.js";

/** How soon the gateway asks for the keys again when one is missing, and a little. */
const AGAIN_MILLIS = 31_000;

const w = world();

test("keys are kept, and a sign-in after their rotation reads the new ones", async () => {
  const ada = w.provider.account("ada", { email: "ada@example.com", email_verified: true });
  const first = await w.signIn(ada);
  assert.ok(w.provider.asked().includes("GET /jwks"));
  await w.signIn(ada);
  assert.ok(!w.provider.asked().includes("GET /jwks"), "the keys are kept");

  await sleep(AGAIN_MILLIS);
  w.provider.rotateKeys();
  assert.equal((await w.signIn(ada)).me.id, first.me.id);
  assert.ok(w.provider.asked().includes("GET /jwks"));
});
