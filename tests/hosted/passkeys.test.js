// Passkeys on the pages, with the virtual authenticators of Chromium. An app on the host of the
// project's pages registers a passkey for this host through the API.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shownBy } from "../sdk/support/authenticator.js";
import { PASSWORD, world } from "./support/world.js";

const w = world({ config: { magic_link_enabled: true, passkey_enabled: true } });

/** A visitor with a device; without `autofill`, the browser does not offer passkeys in fields. */
async function visitor(t, { autofill = false } = {}) {
  const it = await w.visitor(t);
  if (!autofill) await it.page.addInitScript(() => (PublicKeyCredential.isConditionalMediationAvailable = async () => false));
  const devtools = await it.context.newCDPSession(it.page);
  await devtools.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
  const touches = (enabled) => devtools.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
  return { ...it, devtools, touches, credentials: async () => (await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials };
}

/** Registers a passkey for the pages' host in this browser. */
async function register(it, { email }) {
  const { access_token: token } = await w.signIn(email);
  // This page does not start a ceremony.
  await it.open("error");
  const { projectId, publishableClientKey } = w.gateway;
  const headers = {
    "content-type": "application/json", "x-service-access-type": "client", "x-service-project-id": projectId,
    "x-service-publishable-client-key": publishableClientKey, "x-service-access-token": token,
  };
  const status = await it.page.evaluate(async ([headers, rp_id]) => {
    const post = (path, body) => fetch(`/api/v1/auth/passkey/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const { options_json, code } = await (await post("initiate-passkey-registration", {})).json();
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON({ ...options_json, rp: { ...options_json.rp, id: rp_id } });
    const credential = (await navigator.credentials.create({ publicKey })).toJSON();
    const answer = await post("register", { code, credential });
    return answer.ok ? "ok" : `${answer.status} ${await answer.text()}`;
  }, [headers, new URL(w.origin).hostname]);
  assert.equal(status, "ok");
  const [credential, ...others] = await it.credentials();
  assert.deepEqual([credential.rpId, credential.isResidentCredential, others.length], [new URL(w.origin).hostname, true, 0]);
}

test("a passkey of the pages' host signs in by the button", async (t) => {
  const it = await visitor(t);
  const person = await w.person();
  await register(it, person);
  await it.open("sign-in");
  await it.presses(it.texts.passkey.sign_in);
  await it.hasSignedIn();
  await it.is(person.email);
  it.check();
});

test("a passkey signs in by autofill", async (t) => {
  const it = await visitor(t, { autofill: true });
  const person = await w.person();
  await register(it, person);
  // The authenticator responds to the page's conditional request without a click.
  const asked = it.page.waitForRequest((request) => request.method() === "POST" && new URLSearchParams(request.postData() ?? "").get("mediation") === "conditional");
  await it.open("sign-in");
  await asked;
  await it.hasSignedIn();
  await it.touches(false);
  await it.is(person.email);
  it.check();
});

test("the button takes over from autofill", async (t) => {
  const it = await visitor(t, { autofill: true });
  const person = await w.person();
  await register(it, person);
  // Without a touch, autofill waits, as it does until somebody chooses from its list. The device is
  // touched right before the button's request begins, because a request that has begun without a
  // touch never gets one.
  await it.touches(false);
  await it.page.exposeFunction("touch", () => it.touches(true));
  await it.page.addInitScript(() => {
    const get = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = async (options) => {
      if (options.mediation !== "conditional") await globalThis.touch();
      const asked = get(options);
      globalThis.mediation = options.mediation;
      return asked;
    };
  });
  await it.open("sign-in");
  await it.page.waitForFunction(() => globalThis.mediation === "conditional");
  await it.presses(it.texts.passkey.sign_in);
  await it.hasSignedIn();
  await it.touches(false);
  await it.is(person.email);
  it.check();
});

test("without a passkey on the device, the page says so, and signs in otherwise", async (t) => {
  const it = await visitor(t);
  const { email } = await w.person();
  await it.open("sign-in");
  await it.presses(it.texts.passkey.sign_in);
  await it.reads(it.texts.passkey.failed);
  await it.types(it.texts.field.email, email);
  await it.types(it.texts.field.password, PASSWORD);
  await it.presses(it.texts.sign_in.submit);
  await it.hasSignedIn();
  await it.is(email);
  it.check();
});

test("a removed passkey is refused", async (t) => {
  const it = await visitor(t);
  const person = await w.person();
  await register(it, person);
  const { access_token: token } = await w.signIn(person.email);
  const { items } = await w.client("GET", "/passkeys?user_id=me", undefined, token);
  assert.equal(items.length, 1);
  await w.client("DELETE", `/passkeys/me/${items[0].id}`, undefined, token);
  await it.open("sign-in");
  await it.presses(it.texts.passkey.sign_in);
  await it.reads(it.texts.errors.PASSKEY_AUTHENTICATION_FAILED);
  await it.isNobody();
  it.check();
});

test("a passkey is the second factor after a password", async (t) => {
  const it = await visitor(t);
  const person = await w.person();
  await register(it, person);
  await w.addApp(person);
  await it.signsIn(person.email, PASSWORD);
  await it.sees(it.texts.mfa.heading);
  await it.presses(it.texts.passkey.use);
  await it.hasSignedIn();
  await it.is(person.email);
  it.check();
});

test("after a passkey, the second factor is the app's code", async (t) => {
  const it = await visitor(t);
  const person = await w.person();
  await register(it, person);
  const { secret } = await w.addApp(person);
  await it.open("sign-in");
  await it.presses(it.texts.passkey.sign_in);
  await it.sees(it.texts.mfa.heading);
  assert.equal(await it.page.getByRole("button", { name: it.texts.passkey.use }).count(), 0, "not the passkey again");
  await it.types(it.texts.mfa.code, await shownBy(secret));
  await it.presses(it.texts.mfa.submit);
  await it.hasSignedIn();
  await it.is(person.email);
  it.check();
});
