// Sign-in with a password and an authenticator app.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";

import { shownBy } from "../support/authenticator.js";
import { asClient } from "../support/gateway.js";
import { PASSWORD, ok, refused, world } from "../support/world.js";

const w = world();

/**
 * The attempt code after a correct password, which in a browser the SDK passes to its page for the
 * second factor.
 */
async function attempt(email) {
  const answer = await asClient(w.gateway, "POST", "/auth/password/sign-in", { email, password: PASSWORD });
  const { code, details } = await answer.json();
  assert.equal(code, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
  return details.attempt_code;
}

test("an authenticator app is required with the password until removed", async () => {
  const { app, email, user } = await w.signedUp();
  assert.equal(user.isMultiFactorRequired, false);
  const secret = randomBytes(20);
  await user.update({ totpMultiFactorSecret: secret });
  assert.equal((await app.getUser()).isMultiFactorRequired, true);
  await assert.rejects(w.client().signInWithCredential({ email, password: PASSWORD, noRedirect: true }));

  const other = w.client();
  const code = await attempt(email);
  const right = await shownBy(secret);
  const wrong = right === "000000" ? "111111" : "000000";
  refused(await other.signInWithMfa(wrong, code, { noRedirect: true }), "INVALID_TOTP_CODE");
  assert.equal(await other.getUser(), null);
  ok(await other.signInWithMfa(await shownBy(secret), code, { noRedirect: true }));
  assert.equal((await other.getUser()).id, user.id);

  await user.update({ totpMultiFactorSecret: null });
  assert.equal((await w.signedIn(email)).user.isMultiFactorRequired, false);
});

test("an attempt signs in once", async () => {
  const { email, user } = await w.signedUp();
  const secret = randomBytes(20);
  await user.update({ totpMultiFactorSecret: secret });
  const code = await attempt(email);
  ok(await w.client().signInWithMfa(await shownBy(secret), code, { noRedirect: true }));
  const again = w.client();
  await assert.rejects(async () => ok(await again.signInWithMfa(await shownBy(secret), code, { noRedirect: true })));
  assert.equal(await again.getUser(), null);
});
