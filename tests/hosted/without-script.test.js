// The pages without JavaScript: sign-up, sign-in, codes, a forgotten password and the second
// factor.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shownBy } from "../sdk/support/authenticator.js";
import { linkOf, typedCodeOf } from "../sdk/support/inbox.js";
import { filled } from "./support/visitor.js";
import { PASSWORD, newAddress, world } from "./support/world.js";

const w = world({ config: { magic_link_enabled: true, passkey_enabled: true, second_factor: { remember_device_days: 30 } } });

/** A visitor whose browser runs no script. */
async function visitor(t) {
  const it = await w.visitor(t, { javaScriptEnabled: false });
  const scripts = [];
  it.page.on("response", (response) => response.request().resourceType() === "script" && scripts.push(response.url()));
  return { ...it, check: () => assert.deepEqual([it.complaints, scripts], [[], []]) };
}

test("a person signs up, verifies the address, signs out and in", async (t) => {
  const it = await visitor(t);
  const { texts } = it;
  const email = newAddress();
  await it.signsUp("ada", PASSWORD);
  await it.page.locator("#email:invalid").waitFor();
  await it.signsUp(email, PASSWORD);
  await it.hasSignedIn();
  await it.page.goto(linkOf(await w.inbox.next(email)).url.href);
  await it.presses(texts.verify.submit);
  await it.sees(texts.verify.done_title);
  await it.is(email);
  await it.signsOut();
  await it.signsIn(email, "another password");
  await it.reads(texts.errors.EMAIL_PASSWORD_MISMATCH);
  await it.signsIn(email, PASSWORD);
  await it.hasSignedIn();
  await it.is(email);
  it.check();
});

test("a person signs in with a code, typed with the Enter key, and with the link", async (t) => {
  const it = await visitor(t);
  const { texts } = it;
  const { email } = await w.person();
  await it.asksForCode(email);
  await it.types(texts.code.label, typedCodeOf(await w.inbox.next(email)));
  await it.page.keyboard.press("Enter");
  await it.hasSignedIn();
  await it.is(email);
  await it.signsOut();

  await it.asksForCode(email);
  await w.inbox.next(email);
  await it.presses(texts.code.again);
  await it.sees(texts.code.heading);
  await it.page.goto(linkOf(await w.inbox.next(email)).url.href);
  await it.presses(texts.magic.submit);
  await it.hasSignedIn();
  await it.is(email);
  it.check();
});

test("a person who forgot the password sets a new one", async (t) => {
  const it = await visitor(t);
  const { texts } = it;
  const { email } = await w.person();
  await it.open("forgot-password");
  await it.types(texts.field.email, email);
  await it.presses(texts.forgot.submit);
  await it.sees(texts.forgot.sent_title);
  await it.page.goto(linkOf(await w.inbox.next(email)).url.href);
  await it.types(texts.field.new_password, "tribal lantern wheel");
  await it.presses(texts.reset.submit);
  await it.sees(texts.reset.done_title);
  await it.signsIn(email, "tribal lantern wheel");
  await it.hasSignedIn();
  await it.is(email);
  it.check();
});

test("a person signs in with a second factor, and with a recovery code", async (t) => {
  const it = await visitor(t);
  const { texts } = it;
  const person = await w.person();
  const { secret, codes } = await w.addApp(person);
  await it.signsIn(person.email, PASSWORD);
  await it.sees(texts.mfa.heading);
  await it.types(texts.mfa.code, await shownBy(secret));
  await it.presses(texts.mfa.submit);
  await it.hasSignedIn();
  await it.is(person.email);
  await it.signsOut();

  await it.signsIn(person.email, PASSWORD);
  await it.sees(texts.mfa.heading);
  await it.page.getByText(texts.mfa.recovery, { exact: true }).click();
  await it.types(texts.mfa.recovery_code, codes[1]);
  await it.presses(texts.mfa.submit_recovery);
  await it.hasSignedIn();
  await it.is(person.email);
  it.check();
});

test("what needs a script is not offered without one", async (t) => {
  const it = await visitor(t);
  await it.open("sign-in");
  assert.equal(await it.page.getByRole("button", { name: it.texts.passkey.sign_in }).count(), 0);
  await w.configure({ bot_challenge: { provider: "altcha", sign_up: "always" } });
  t.after(() => w.configure({ bot_challenge: { provider: "off" } }));
  await it.open("sign-up");
  await it.reads(it.texts.challenge.script);
  it.check();
});

test("without passwords and codes, the page says that passkeys need a script", async (t) => {
  const it = await visitor(t);
  await w.configure({ credential_enabled: false, magic_link_enabled: false });
  t.after(() => w.configure({ credential_enabled: true, magic_link_enabled: true }));
  await it.open("sign-in");
  await it.reads(it.texts.passkey.script);
  await it.open("sign-up");
  assert.notEqual(await it.page.locator("main").innerText(), "", "a page");
  assert.equal(await it.page.getByText(filled(it.texts.sign_up.heading, { project: "Development" })).count(), 0, "no promise of an account that cannot be created");
});
