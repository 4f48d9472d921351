// Passkeys in a browser, through the SDK's methods and the browser's functions, with Chromium's
// virtual authenticators.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { X509Certificate, createHash } from "node:crypto";
import { createServer } from "node:https";
import { test } from "node:test";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { launch } from "./chromium.js";
import { ceremony, device, here, member, post, requireVerification, signIn, visitor, w } from "./passkeys.js";
import { configure } from "../support/gateway.js";
import { PASSWORD, newAddress } from "../support/world.js";

/** The site on another host; all names below localhost lead to this machine. */
const on = (host) => Object.assign(new URL(here.site.url), { hostname: host }).origin;

test("the SDK registers a passkey, and signs in with it", async (t) => {
  const it = await member(t);
  const [credential, ...others] = await it.credentials();
  assert.deepEqual([credential.isResidentCredential, credential.rpId, others.length], [true, "localhost", 0]);
  await it.page.click("#passkey-sign-in");
  await it.is(`${it.email} unverified`);
  await it.open();
  await it.is(`${it.email} unverified`);
  assert.deepEqual(it.errors, []);
});

test("a device that does not verify its user is refused if that is required", async (t) => {
  const it = await member(t);
  // A virtual authenticator that cannot verify its user does not respond. This authenticator
  // therefore verifies the user, but its response lacks the flag that says so.
  const verifiesUser = (does) => it.devtools.send("WebAuthn.setResponseOverrideBits", { authenticatorId: it.authenticatorId, isBadUV: !does });
  await verifiesUser(false);
  await it.page.click("#passkey-sign-in");
  await it.is(`${it.email} unverified`);
  await it.signOut();
  const { body: started } = await post(it.page, "/auth/passkey/initiate-passkey-authentication", {});
  const authentication_response = await ceremony(it.page, "get", { ...started.options_json, rpId: "localhost" });
  await requireVerification(t);
  const refused = await post(it.page, "/auth/passkey/sign-in", { code: started.code, authentication_response });
  assert.deepEqual([refused.status, refused.body.code], [400, "PASSKEY_AUTHENTICATION_FAILED"]);
  await verifiesUser(true);
  assert.equal((await signIn(it.page)).status, 200);
});

test("a device registers one passkey of a user, and another device a second one", async (t) => {
  const it = await visitor(t);
  const email = await it.signUp();
  await it.register();
  await it.page.click("#register-passkey");
  await it.problem("PASSKEY_WEBAUTHN_ERROR");
  assert.equal((await it.credentials()).length, 1, "the passkey is excluded");

  await it.devtools.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId: it.authenticatorId, enabled: false });
  const other = await it.addDevice({ transport: "usb" });
  await it.open();
  await it.register();
  assert.equal((await it.credentials(other)).length, 1);
  await it.signOut();
  await it.page.click("#passkey-sign-in");
  await it.is(`${email} unverified`);
});

test("a removed passkey is refused, and the SDK reports it", async (t) => {
  const it = await member(t, {
    change: async ({ page }) => {
      await page.click("#remove-passkeys");
      await page.waitForSelector("#remove-passkeys[data-done]");
    },
  });
  assert.equal((await it.credentials()).length, 1, "the device still has it");
  await it.page.click("#passkey-sign-in");
  await it.problem("PASSKEY_AUTHENTICATION_FAILED");
});

test("a passkey of a parent domain signs in on another host", async (t) => {
  const it = await visitor(t, { url: on("app.site.localhost") });
  const { body: account } = await post(it.page, "/auth/password/sign-up", { email: newAddress(), password: PASSWORD });
  const { body: started } = await post(it.page, "/auth/passkey/initiate-passkey-registration", { rp_id: "site.localhost" }, account.access_token);
  assert.equal(started.options_json.rp.id, "site.localhost");
  const credential = await ceremony(it.page, "create", started.options_json);
  const registered = await post(it.page, "/auth/passkey/register", { code: started.code, credential, name: "Laptop" }, account.access_token);
  assert.equal(registered.status, 200, JSON.stringify(registered.body));

  await it.open(on("www.site.localhost"));
  const signedIn = await signIn(it.page, { rp_id: "site.localhost" });
  assert.deepEqual([signedIn.status, signedIn.body.user_id], [200, account.user_id]);
  await assert.rejects(() => signIn(it.page), /NotAllowedError|timed out/, "the host itself has no passkey");
});

/**
 * Serves an empty page at https://HOST for each of the hosts, and the project's related origins
 * where browsers look for them. Returns the flags for a browser to find and trust them.
 */
async function startHosts(t, hosts) {
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "-", "-subj", "/CN=passkeys", "-days", "1"];
  const pem = execFileSync("openssl", request, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const { url, projectId } = w.gateway;
  const server = createServer({ key: pem, cert: pem }, async ({ url: path }, response) => {
    const isList = path === "/.well-known/webauthn";
    const body = isList ? await (await fetch(`${url}/api/v1/projects/${projectId}${path}`)).text() : "<!doctype html><title>A page</title>";
    response.writeHead(200, { "content-type": isList ? "application/json" : "text/html" }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const key = new X509Certificate(pem).publicKey.export({ type: "spki", format: "der" });
  return [
    `--host-resolver-rules=${hosts.map((host) => `MAP ${host}:443 127.0.0.1:${server.address().port}`).join(",")}`,
    `--ignore-certificate-errors-spki-list=${createHash("sha256").update(key).digest("base64")}`,
  ];
}

test("a passkey signs in on another domain of the project, and on no other", async (t) => {
  const flags = await startHosts(t, ["example.com", "example.de", "example.net"]);
  const domains = [{ domain: "https://example.com" }, { domain: "https://example.de" }];
  await configure(w.gateway, { passkey_rp_ids: ["example.com"], domains });
  t.after(() => configure(w.gateway, { passkey_rp_ids: ["site.localhost"], domains: [] }));
  const other = await launch(flags);
  t.after(() => other.close());
  const { page } = await device(await other.newContext());

  await page.goto("https://example.com/");
  const { body: account } = await post(page, "/auth/password/sign-up", { email: newAddress(), password: PASSWORD });
  const { body: started } = await post(page, "/auth/passkey/initiate-passkey-registration", { rp_id: "example.com" }, account.access_token);
  const credential = await ceremony(page, "create", started.options_json);
  const registered = await post(page, "/auth/passkey/register", { code: started.code, credential }, account.access_token);
  assert.equal(registered.status, 200, JSON.stringify(registered.body));

  await page.goto("https://example.de/");
  const signedIn = await signIn(page, { rp_id: "example.com" });
  assert.deepEqual([signedIn.status, signedIn.body.user_id], [200, account.user_id]);
  await page.goto("https://example.net/");
  await assert.rejects(() => signIn(page, { rp_id: "example.com" }), /SecurityError/, "the host is not among the related origins");
});

test("a passkey is offered in the autofill of a form", async (t) => {
  const it = await member(t);
  assert.equal(await it.page.evaluate(() => PublicKeyCredential.isConditionalMediationAvailable()), true);
  const signedIn = await signIn(it.page, { mediation: "conditional" }, { mediation: "conditional" });
  assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body));
});

/** The bytes of a base64url text with one bit flipped. */
function flipped(text, at) {
  const bytes = Buffer.from(text, "base64url");
  bytes[at % bytes.length] ^= 1 << at % 8;
  return bytes.toString("base64url");
}

/** Whether another implementation accepts a response. */
const accepts = (verification) => verification.then(({ verified }) => verified, () => false);

test("another implementation agrees on what is accepted and refused", async (t) => {
  const it = await visitor(t);
  const { body: account } = await post(it.page, "/auth/password/sign-up", { email: newAddress(), password: PASSWORD });
  const site = { expectedOrigin: new URL(it.page.url()).origin, expectedRPID: "localhost", requireUserVerification: false };
  const registration = (await post(it.page, "/auth/passkey/initiate-passkey-registration", {}, account.access_token)).body;
  registration.options_json.rp.id = "localhost";
  const credential = await ceremony(it.page, "create", registration.options_json);
  const { registrationInfo } = await verifyRegistrationResponse({ ...site, response: credential, expectedChallenge: registration.options_json.challenge });
  const body = { code: registration.code, credential };
  assert.equal((await post(it.page, "/auth/passkey/register", body, account.access_token)).status, 200);

  const { body: started } = await post(it.page, "/auth/passkey/initiate-passkey-authentication", {});
  const right = await ceremony(it.page, "get", { ...started.options_json, rpId: "localhost" });
  const parts = ["clientDataJSON", "authenticatorData", "signature"];
  const forged = parts.flatMap((part) => [0, 9, 33, 36].map((at) => ({ ...right, response: { ...right.response, [part]: flipped(right.response[part], at) } })));
  const expected = { ...site, expectedChallenge: started.options_json.challenge, credential: registrationInfo.credential };
  for (const response of [...forged, right]) {
    const theirs = await accepts(verifyAuthenticationResponse({ ...expected, response }));
    const { status } = await post(it.page, "/auth/passkey/sign-in", { code: started.code, authentication_response: response });
    assert.deepEqual([theirs, status], response === right ? [true, 200] : [false, 400]);
  }
});
