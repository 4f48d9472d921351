// "This wasn't me" from end to end. An intruder changes the password with a stolen session. The
// owner follows the link in the email to the page and presses the button. After that, only the
// owner has access.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PASSWORD, newAddress, ok, world } from "../support/world.js";
import { launch } from "./chromium.js";
import { isAccessible, visit } from "./visit.js";

const w = world();
const APP = "https://app.example.com";
const STOLEN = "the intruder's own words";
const NEW = "a better horse battery";
const CHANGED = "Your account was changed";
let browser;

before(async () => {
  await w.started;
  browser = await launch();
});
after(() => browser?.close());

/** A verified account with the owner's session and an intruder's. */
async function taken() {
  const owner = await w.signedUp(newAddress("owner"));
  const user = await w.server().getUser(owner.user.id);
  await user.update({ primaryEmailVerified: true });
  const intruder = await w.signedIn(owner.email);
  return { owner, intruder };
}

/** Configures pages of the project's app, one of them for the reset link. */
async function withPages() {
  const answer = await fetch(`${w.gateway.url}/api/v1/internal/projects/current`, {
    method: "PATCH",
    headers: {
      "content-type": "application/json",
      "x-service-access-type": "admin",
      "x-service-project-id": w.gateway.projectId,
      "x-service-super-secret-admin-key": w.gateway.superSecretAdminKey,
    },
    body: JSON.stringify({ config: { domains: [{ domain: APP, handler_path: "/auth" }] } }),
  });
  assert.equal(answer.status, 200, await answer.text());
}

/** Opens the notice in the gateway's inbox; returns its button's URL. */
async function linkInInbox(t, address) {
  const mail = await w.inbox.changed(address);
  const it = await visit(t, browser, `${w.gateway.url}/inbox?to=${encodeURIComponent(address)}`, { startPage: w.gateway.startPage });
  await it.page.locator(".rows a.row", { hasText: mail.subject }).first().click();
  const frame = it.page.frameLocator("iframe");
  await frame.getByRole("heading", { name: CHANGED }).waitFor();
  await frame.getByText("The password was changed.").waitFor();
  const link = await frame.getByRole("link", { name: "This wasn’t me" }).getAttribute("href");
  assert.ok(mail.text.includes(link), "the text has the same URL");
  it.check();
  return link;
}

const isIn = async ({ app }) => (await app.getUser()) !== null;

test("the owner follows the email, presses the button, and is alone in the account", async (t) => {
  await withPages();
  const { owner, intruder } = await taken();
  ok({ status: (await intruder.user.updatePassword({ oldPassword: PASSWORD, newPassword: STOLEN })) ? "error" : "ok" });
  assert.equal(await w.tryPassword(owner.email, PASSWORD), "EMAIL_PASSWORD_MISMATCH");
  const link = await linkInInbox(t, owner.email);

  // Opening the page, as mail scanners do, does not change anything.
  assert.equal((await fetch(link)).status, 200);
  const it = await visit(t, browser, link);
  await it.page.getByRole("heading", { name: "Wasn’t this you?" }).waitFor();
  assert.match(await it.page.innerText("main"), new RegExp(owner.email));
  assert.equal(await isIn(intruder), true, "nothing happens before the button is pressed");
  assert.equal(await w.tryPassword(owner.email, STOLEN), "ok");

  await it.page.getByRole("button", { name: "This wasn’t me" }).click();
  await it.page.getByRole("heading", { name: "Everybody else is locked out of your account" }).waitFor();
  it.check();
  assert.equal(await isIn(intruder), false);
  assert.equal(await isIn(owner), false);
  for (const password of [PASSWORD, STOLEN]) assert.equal(await w.tryPassword(owner.email, password), "EMAIL_PASSWORD_MISMATCH");

  const reset = await w.inbox.next(owner.email);
  assert.match(reset.subject, /password/i);
  const back = new URL(reset.text.match(/https?:\S+/)[0]);
  assert.equal(back.origin + back.pathname, `${APP}/auth/password-reset`);
  ok(await w.client().resetPassword({ code: back.searchParams.get("code"), password: NEW }));
  assert.equal(await w.tryPassword(owner.email, NEW), "ok");
  assert.equal(await isIn(intruder), false);

  // The link works only once: neither reloading the page nor the browser's history locks the
  // account again.
  const again = await visit(t, browser, link);
  await again.page.getByRole("heading", { name: "This link has already been used" }).waitFor();
  await it.page.goBack();
  await it.page.getByRole("heading", { name: "This link has already been used" }).waitFor();
  assert.equal(await w.tryPassword(owner.email, NEW), "ok");
});

test("the page is accessible, fits a phone, and works by keyboard alone", async (t) => {
  const { owner, intruder } = await taken();
  assert.equal(await intruder.user.updatePassword({ oldPassword: PASSWORD, newPassword: STOLEN }), undefined);
  const link = (await w.inbox.changed(owner.email)).text.match(/https?:\S+not-me-link\S+/)[0];
  for (const colorScheme of ["light", "dark"]) {
    const it = await visit(t, browser, link, { colorScheme, viewport: { width: 1280, height: 900 }, bypassCSP: true });
    for (const width of [1280, 768, 390, 320]) {
      await it.page.setViewportSize({ width, height: 800 });
      await isAccessible(it.page, `${colorScheme}, ${width} px`);
    }
  }
  const it = await visit(t, browser, link, { javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
  await it.page.keyboard.press("Tab");
  await it.page.keyboard.press("Enter");
  await it.page.getByRole("heading", { name: "Everybody else is locked out of your account" }).waitFor();
  it.check();
  assert.equal(await isIn(intruder), false);
});

test("unknown links and links without a code change nothing and give advice", async (t) => {
  const link = `${w.gateway.url}/api/v1/auth/not-me-link?code=${"0".repeat(45)}`;
  const it = await visit(t, browser, link);
  await it.page.getByRole("heading", { name: "This link no longer works" }).waitFor();
  assert.match(await it.page.innerText("main"), /Forgot password/);
});
