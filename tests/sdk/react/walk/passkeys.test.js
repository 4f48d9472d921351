// Passkeys on the ready-made pages: they are registered in the account settings, used on the
// sign-in page, and removed again. The device is one of Chromium's virtual authenticators.

import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "../support/world.js";

const w = world({ config: { passkey_enabled: true } });

/** Gives the person's browser a device with a fingerprint reader. */
async function device(it) {
  const devtools = await it.page.context().newCDPSession(it.page);
  await devtools.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
  return async () => (await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials.length;
}

test("a passkey is registered, signs in, and is removed", async (t) => {
  const it = await w.member(t);
  const passkeys = await device(it);
  await it.settings("Emails & Auth");
  await it.click("Add new passkey");
  await it.sees("Passkey registered");
  assert.equal(await passkeys(), 1);
  await it.picture("passkey");
  it.check("registration");

  await it.open("/handler/sign-out");
  await it.is("nobody");
  await it.open("/handler/sign-in");
  await it.click("Sign in with Passkey");
  await it.is(`${it.email} verified`);
  it.check("sign-in with a passkey");

  await it.settings("Emails & Auth");
  await it.click("Delete Passkey");
  await it.click("Disable");
  await it.sees("Register a passkey");
  it.check("removal");
  await it.open("/handler/sign-out");
  await it.is("nobody");
  await it.open("/handler/sign-in");
  it.expects("400 POST /api/v1/auth/passkey/sign-in");
  const refused = it.page.waitForResponse((response) => response.url().endsWith("/auth/passkey/sign-in"));
  await it.click("Sign in with Passkey");
  assert.equal((await (await refused).json()).code, "PASSKEY_AUTHENTICATION_FAILED");
  it.check("sign-in with a removed passkey");
});
