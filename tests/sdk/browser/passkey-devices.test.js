// Passkeys on devices that cannot verify their users, and passkeys that a server registers for its
// users with the SDK.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ceremony, here, member, post, requireVerification, visitor, w } from "./passkeys.js";
import { startSite } from "./site.js";
import { PASSWORD, version } from "../support/world.js";

/**
 * A device that cannot verify its user, such as a computer without a password. Chromium stores no
 * passkeys on security keys of this kind.
 */
const WITHOUT_LOCK = { hasUserVerification: false, isUserVerified: false };
const UNVERIFIED = "the device did not verify the user, which is required";

/** Starts a ceremony on the page's host, and lets the device answer. */
async function answered(it, kind, path, token) {
  const { body: { code, options_json } } = await post(it.page, path, {}, token);
  if (kind === "create") options_json.rp.id = "localhost";
  else {
    options_json.rpId = "localhost";
    // On such a device, Chromium only uses passkeys that the page names.
    const [{ credentialId }] = await it.credentials();
    options_json.allowCredentials = [{ type: "public-key", id: Buffer.from(credentialId, "base64").toString("base64url") }];
  }
  return { code, options: options_json, response: await ceremony(it.page, kind, options_json) };
}

test("a device that cannot verify its user signs in if that is only preferred", async (t) => {
  const it = await member(t, { first: WITHOUT_LOCK });
  assert.equal((await it.credentials()).length, 1);
  const { code, options, response } = await answered(it, "get", "/auth/passkey/initiate-passkey-authentication");
  assert.equal(options.userVerification, "preferred");
  const signedIn = await post(it.page, "/auth/passkey/sign-in", { code, authentication_response: response });
  assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body));
  const user = await w.server().getUser(signedIn.body.user_id);
  assert.deepEqual([user.primaryEmail, it.errors], [it.email, []]);
});

test("a device that cannot verify its user does not sign in if that is required", async (t) => {
  const it = await member(t, { first: WITHOUT_LOCK });
  const { code, response } = await answered(it, "get", "/auth/passkey/initiate-passkey-authentication");
  await requireVerification(t);
  const refused = await post(it.page, "/auth/passkey/sign-in", { code, authentication_response: response });
  assert.deepEqual([refused.status, refused.body.code, refused.body.details.message], [400, "PASSKEY_AUTHENTICATION_FAILED", UNVERIFIED]);
  // The browser gets the requirement too, so it does not even ask the device.
  await assert.rejects(() => answered(it, "get", "/auth/passkey/initiate-passkey-authentication"), /NotAllowedError/);
  await it.page.click("#passkey-sign-in");
  await it.problem("PASSKEY_WEBAUTHN_ERROR");
});

test("a device that cannot verify its user registers nothing if that is required", async (t) => {
  const it = await visitor(t, { first: WITHOUT_LOCK });
  const email = await it.signUp();
  const { body: { access_token: token } } = await post(it.page, "/auth/password/sign-in", { email, password: PASSWORD });
  const { code, response } = await answered(it, "create", "/auth/passkey/initiate-passkey-registration", token);
  await requireVerification(t);
  const refused = await post(it.page, "/auth/passkey/register", { code, credential: response }, token);
  assert.deepEqual([refused.status, refused.body.code, refused.body.details.message], [400, "PASSKEY_REGISTRATION_FAILED", UNVERIFIED]);
  await it.devtools.send("WebAuthn.clearCredentials", { authenticatorId: it.authenticatorId });
  await it.page.click("#register-passkey");
  await it.problem("PASSKEY_WEBAUTHN_ERROR");
  assert.deepEqual(await it.credentials(), []);
});

test("a server registers a passkey for a user, who signs in with it", async (t) => {
  const { url: baseUrl, projectId, publishableClientKey, secretServerKey } = w.gateway;
  const office = await startSite(version, { baseUrl, projectId, publishableClientKey, secretServerKey }, new URL("back-office/", import.meta.url));
  t.after(() => office.stop());
  const { email, user } = await w.signedUp();
  const it = await visitor(t);
  const register = async (options) => {
    await it.page.goto(office.url);
    await it.page.waitForSelector("[data-ready]");
    return it.page.evaluate(([id, options]) => window.registerPasskey(id, options), [user.id, options]);
  };
  assert.deepEqual(await register(), { status: "ok", code: undefined, hasPasskey: true });
  const excluded = await register({ hostname: "localhost" });
  assert.deepEqual([excluded.status, excluded.code], ["error", "PASSKEY_WEBAUTHN_ERROR"], "the device has a passkey of the user");
  assert.equal((await it.credentials()).length, 1);

  // The SDK acts as the user in sessions of two minutes, which it does not end.
  const sessions = await user.getActiveSessions();
  assert.equal(sessions.filter(({ isCurrentSession }) => !isCurrentSession).length, 3);
  await it.open(here.site.url);
  await it.page.click("#passkey-sign-in");
  await it.is(`${email} unverified`);
});

test("a server without a browser registers no passkey, and the SDK says so", async () => {
  const { user } = await w.signedUp();
  const server = w.server();
  const owner = await server.getUser(user.id);
  const result = await owner.registerPasskey({ hostname: "localhost" });
  assert.deepEqual([result.status, result.error.errorCode], ["error", "PASSKEY_REGISTRATION_FAILED"]);
  assert.equal((await server.getUser(user.id)).passkeyAuthEnabled, false);
});
