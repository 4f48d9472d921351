// Bot challenges with the SDK in Node.js, where no browser can show them.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { configure } from "../support/gateway.js";
import { CALLBACK, PASSWORD, newAddress, ok, refused, version, world } from "../support/world.js";

const w = world();
before(() => w.started);

const ask = (policy) => configure(w.gateway, {
  bot_challenge: { provider: "altcha", sign_up: policy, send_sign_in_code: policy, oauth: policy },
});

/**
 * Asserts the outcome of a call that needs a challenge: the older SDK does not know the error, the
 * newer one cannot solve the challenge.
 */
async function isAsked(call) {
  if (version === "2.8.77") return assert.rejects(call, /BOT_CHALLENGE_REQUIRED/);
  return refused(await call(), "BOT_CHALLENGE_FAILED");
}

test("with challenges on suspicion, normal use works as without any", async () => {
  await ask("when-suspicious");
  for (let user = 0; user < 5; user += 1) {
    const { email } = await w.signedUp();
    assert.equal(await w.tryPassword(email, PASSWORD), "ok");
    await w.signedUpByLink();
  }
});

test("with challenges always on, a request without one creates and sends nothing", async () => {
  await ask("always");
  const email = newAddress();
  await isAsked(() => w.client().signUpWithCredential({ email, password: PASSWORD, noVerificationCallback: true, noRedirect: true }));
  await isAsked(() => w.client().sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
  assert.equal(await w.tryPassword(email, PASSWORD), "EMAIL_PASSWORD_MISMATCH");
  assert.equal((await w.server().listUsers()).some((user) => user.primaryEmail === email), false);
});

test("a server creates users without challenges", async () => {
  await ask("always");
  const email = newAddress();
  await w.server().createUser({ primaryEmail: email, primaryEmailAuthEnabled: true, password: PASSWORD });
  assert.equal(await w.tryPassword(email, PASSWORD), "ok");
});

test("existing users sign in without a challenge", async () => {
  await ask("when-suspicious");
  const { email } = await w.signedUp();
  await ask("always");
  ok(await w.client().signInWithCredential({ email, password: PASSWORD, noRedirect: true }));
});
