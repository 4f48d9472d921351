// The page of the account: clicks through what people do there during the life of an account.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shownBy } from "../sdk/support/authenticator.js";
import { linkOf } from "../sdk/support/inbox.js";
import { filled } from "./support/visitor.js";
import { PASSWORD, newAddress, world } from "./support/world.js";

const w = world({ config: { passkey_enabled: true, client_user_deletion_enabled: true } });

/** A visitor with a device that can hold passkeys. */
async function visitor(t, options) {
  const it = await w.visitor(t, options);
  // The test presses the button, so the browser must not offer the passkey without being asked.
  await it.page.addInitScript(() => (PublicKeyCredential.isConditionalMediationAvailable = async () => false));
  const devtools = await it.context.newCDPSession(it.page);
  await devtools.send("WebAuthn.enable");
  const device = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", { options: device });
  const credentials = async () => (await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
  const receives = (credential) => devtools.send("WebAuthn.addCredential", { authenticatorId, credential });
  return { ...it, credentials, receives, done: (text) => it.reads(it.texts.account.done[text]) };
}

/** A field of a section. */
const field = (it, section, label) => it.page.locator(`#${section}`).getByLabel(label, { exact: true });

for (const language of ["en", "de"]) {
  test(`a passkey is added, signs in on another device, and the account is deleted (${language})`, async (t) => {
    const it = await visitor(t, { language });
    const { account } = it.texts;
    const email = newAddress();
    await it.signsUp(email, PASSWORD);
    await it.hasSignedIn();
    await it.page.goto(linkOf(await w.inbox.next(email)).url.href);
    await it.presses(it.texts.verify.submit);
    await it.sees(it.texts.verify.done_title);
    await it.open("account-settings");
    await it.presses(account.passkeys.add);
    await it.done("passkeys_added");
    const [passkey, ...others] = await it.credentials();
    assert.deepEqual([passkey.rpId, others.length], [new URL(w.origin).hostname, 0]);

    // The passkey is synchronized to a second device.
    const phone = await visitor(t, { language });
    await phone.receives(passkey);
    await phone.open("sign-in");
    await phone.presses(phone.texts.passkey.sign_in);
    await phone.hasSignedIn();
    await phone.presses(account.sessions.end_others);
    await phone.done("sessions_others_ended");
    await it.page.reload();
    await it.page.waitForURL((url) => url.pathname === "/handler/sign-in");

    await field(phone, "deletion", filled(account.deletion.label, { wanted: email })).fill("nobody@example.com");
    await phone.presses(account.deletion.submit);
    await phone.reads(filled(account.deletion.mistyped, { wanted: email }));
    await field(phone, "deletion", filled(account.deletion.label, { wanted: email })).fill(email);
    await phone.presses(account.deletion.submit);
    await phone.sees(account.deletion.done_title);
    await phone.isNobody();
    const { items } = await w.server("GET", "/users?limit=200");
    assert.ok(items.every(({ primary_email }) => primary_email !== email));
    it.check();
    phone.check();
  });
}

test("an authenticator app is set up, and asked for at the next sign-in", async (t) => {
  const it = await visitor(t);
  const { account, mfa } = it.texts;
  const { email } = await w.person();
  await it.signsIn(email, PASSWORD);
  await it.hasSignedIn();
  await it.presses(account["second-step"].add);
  await it.page.locator("svg.qr").waitFor();
  const secret = (await it.page.locator(".secret").first().textContent()).replaceAll(" ", "");
  const decoded = Buffer.from([...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("").match(/.{8}/g).map((bits) => Number.parseInt(bits, 2)));
  await it.page.locator("[name=totp]").fill(await shownBy(decoded));
  await it.page.locator("form:has([name=totp]) button.main").click();
  const codes = await it.page.locator(".codes code").allTextContents();
  assert.ok(codes.length >= 8, `${codes}`);

  await it.signsOut();
  await it.signsIn(email, PASSWORD);
  await it.sees(mfa.heading);
  await it.page.getByText(mfa.recovery, { exact: true }).click();
  await it.types(mfa.recovery_code, codes[0]);
  await it.presses(mfa.submit_recovery);
  await it.hasSignedIn();
  await it.reads(`${filled(account["second-step"].codes_left, { n: codes.length - 1 })} ${account["second-step"].codes_help}`);
  it.check();
});

for (const language of ["en", "de"]) {
  test(`an app with access is listed with its resources, and removed (${language})`, async (t) => {
    const it = await w.visitor(t, { language });
    const { account, authorize } = it.texts;
    const person = await w.person();
    const client = await w.admin("POST", "/internal/oauth-clients", { name: "Desk", client_type: "public", redirect_uris: ["https://desk.example.com/callback"] });
    const notes = { identifier: `https://mcp.example.com/${language}`, name: "<Notes>", scopes: [{ name: "notes:read", description: "Read your notes" }, { name: "notes:write", description: "Write" }] };
    const letters = { identifier: `https://letters.example.com/${language}`, name: "Letters" };
    for (const one of [notes, letters]) one.id = (await w.admin("POST", "/internal/oauth-resources", one)).id;
    await w.allow(person, client, "openid notes:read", [notes.identifier, letters.identifier]);
    await it.signsIn(person.email, PASSWORD);
    await it.hasSignedIn();
    const section = it.page.locator("#grants");
    const shown = async () => {
      await section.locator("summary").click();
      const pairs = section.locator(".acts > p");
      const lists = await section.locator(".acts > ul").evaluateAll((all) => all.map((one) => [...one.children].map((item) => item.textContent)));
      return [(await pairs.allInnerTexts()).map((text) => text.replace(/\s+/g, " ")), lists];
    };
    const of = (name) => filled(account.grants.resource, { resource: name });
    const own = [authorize.scopes.openid];
    assert.deepEqual(await shown(), [
      [`${of("<Notes>")} ${notes.identifier}`, `${of("Letters")} ${letters.identifier}`],
      [own, ["Read your notes"], [authorize.resource_use]],
    ]);
    // Of a deleted resource, only what the grant says is known.
    await w.admin("DELETE", `/internal/oauth-resources/${notes.id}`);
    await it.page.reload();
    assert.deepEqual(await shown(), [[of(notes.identifier), `${of("Letters")} ${letters.identifier}`], [own, ["notes:read"], [authorize.resource_use]]]);
    await it.presses(`${account.grants.remove}: Desk`);
    await it.page.waitForFunction(() => !document.querySelector("#grants"));
    it.check();
  });
}
