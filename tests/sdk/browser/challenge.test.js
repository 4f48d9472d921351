// Proof of work with ALTCHA's widget in a browser: in the SDK's Turnstile flow and in a custom
// form, in light and dark mode, with the keyboard, and with names for screen readers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { configure } from "../support/gateway.js";
import { PASSWORD, newAddress, version, world } from "../support/world.js";
import { stage } from "./stage.js";
import { isAccessible } from "./visit.js";

const w = world();
/** The older version lacks bot challenges. */
const knowsChallenges = version !== "2.8.77";
const here = stage(w, {
  folder: new URL("challenge/", import.meta.url),
  prepare: async (gateway) => {
    await configure(gateway, { bot_challenge: { provider: "altcha", sign_up: "always" } });
    return { challengeUrl: `${gateway.url}/api/v1/auth/challenge?project_id=${gateway.projectId}` };
  },
});

/** A fresh browser; `asked` records its requests to the service. */
async function visitor(t, options = {}) {
  const context = await here.browser.newContext(options);
  t.after(() => context.close());
  const page = await context.newPage();
  const [complaints, asked] = [[], []];
  page.on("pageerror", (error) => complaints.push(`${error}`));
  page.on("request", (request) => {
    const { protocol, hostname, pathname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "localhost" && hostname !== "127.0.0.1") complaints.push(`asked ${request.url()}`);
    if (pathname.startsWith("/api/") && request.method() !== "OPTIONS") asked.push(`${request.method()} ${pathname}`);
  });
  await page.goto(here.site.url);
  await page.waitForSelector("body[data-ready]");
  const outcome = (text) => page.waitForFunction((text) => document.getElementById("outcome").textContent.includes(text), text);
  const fill = async (form, email) => {
    await page.fill(`#${form} [name=email]`, email);
    await page.fill(`#${form} [name=password]`, PASSWORD);
  };
  return { page, asked, outcome, fill, check: () => assert.deepEqual(complaints, []) };
}

/** Whether an account can sign in, which proves the sign-up. */
const exists = async (email) => (await w.tryPassword(email, PASSWORD)) === "ok";

test("the SDK signs up after the widget has solved the challenge", { skip: !knowsChallenges }, async (t) => {
  const [it, email] = [await visitor(t), newAddress()];
  await it.fill("sign-up", email);
  await it.page.click("#sign-up button");
  const overlay = it.page.locator("[data-stack-turnstile-overlay]");
  await overlay.getByRole("checkbox").waitFor();
  assert.equal(await exists(email), false);
  assert.deepEqual(it.asked, ["POST /api/v1/auth/password/sign-up"], "no work is done before the service requires it");
  await overlay.getByText("I'm not a robot").click();
  await it.outcome("ok");
  assert.equal(await overlay.count(), 0);
  assert.equal(await exists(email), true);
  assert.deepEqual(it.asked.slice(1, 3), ["GET /api/v1/auth/challenge", "POST /api/v1/auth/password/sign-up"]);
  it.check();
});

test("an SDK without bot challenges reports that it is too old", { skip: knowsChallenges }, async (t) => {
  const [it, email] = [await visitor(t), newAddress()];
  await it.fill("sign-up", email);
  await it.page.click("#sign-up button");
  await it.outcome("BOT_CHALLENGE_REQUIRED");
  assert.equal(await exists(email), false);
});

test("with challenges on suspicion, normal use needs none", async (t) => {
  await configure(w.gateway, { bot_challenge: { sign_up: "when-suspicious" } });
  t.after(() => configure(w.gateway, { bot_challenge: { sign_up: "always" } }));
  const [it, email] = [await visitor(t), newAddress()];
  await it.fill("sign-up", email);
  await it.page.click("#sign-up button");
  await it.outcome("ok");
  assert.equal(await exists(email), true);
  assert.ok(!it.asked.includes("GET /api/v1/auth/challenge"), "no work is done");
  it.check();
});

for (const colorScheme of ["light", "dark"]) {
  test(`a custom form works with the keyboard alone, in ${colorScheme}`, async (t) => {
    const [it, email] = [await visitor(t, { colorScheme }), newAddress()];
    await isAccessible(it.page, `the form in ${colorScheme}`);
    const checkbox = it.page.locator("#own").getByRole("checkbox", { name: "I'm not a robot" });
    await it.page.focus("#own [name=email]");
    await it.page.keyboard.type(email);
    await it.page.keyboard.press("Tab");
    await it.page.keyboard.type(PASSWORD);
    await it.page.keyboard.press("Tab");
    assert.equal(await checkbox.evaluate((box) => box === document.activeElement), true, "the widget comes after the password");
    await it.page.keyboard.press("Space");
    // The label changes with the state, so that screen readers announce the state.
    await it.page.locator("#own").getByRole("checkbox", { name: "Verified", checked: true }).waitFor();
    await isAccessible(it.page, `the solved form in ${colorScheme}`);
    await it.page.keyboard.press("Tab");
    await it.page.keyboard.press("Enter");
    await it.outcome("ok");
    assert.equal(await exists(email), true);
    it.check();
  });
}

test("a form with an unsolved widget is rejected", async (t) => {
  const [it, email] = [await visitor(t), newAddress()];
  await it.page.evaluate(() => document.getElementById("widget").remove());
  await it.fill("own", email);
  await it.page.click("#own button");
  await it.outcome("BOT_CHALLENGE_FAILED");
  assert.equal(await exists(email), false);
});
