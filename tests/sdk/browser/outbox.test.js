// The page /outbox of the gateway, as a person uses it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { world } from "../support/world.js";
import { launch } from "./chromium.js";

const w = world();
const HOUR = 3_600_000;
let browser;

before(async () => {
  await w.started;
  browser = await launch();
});
after(() => browser?.close());

/** Puts a mail to a new user into the outbox, an hour from now. */
async function scheduled(fields) {
  const { email, user } = await w.signedUp();
  await w.server().sendEmail({ userIds: [user.id], scheduledAt: new Date(Date.now() + HOUR), ...fields });
  return email;
}

/** The page in a browser of its own; `check` fails when it had an error, or asked another host. */
async function open(t, url = `${w.gateway.url}/outbox`) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`${error}`));
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== new URL(url).origin) complaints.push(`asked ${request.url()}`);
  });
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto(url);
  const choose = async (subject, state) => {
    await page.locator("#list button", { hasText: subject }).click();
    await page.locator("#entry h2", { hasText: subject }).waitFor();
    await isIn(state);
  };
  const isIn = (state) => page.waitForFunction((state) => document.querySelector("#entry .state")?.textContent === state, state);
  return { page, choose, isIn, act: (name) => page.click(`[data-act=${name}]`), check: () => assert.deepEqual(complaints, []) };
}

test("a mail is looked at, paused, resumed, sent now and found in the inbox", async (t) => {
  const email = await scheduled({ subject: "Paused and resumed", html: "<p id=hello>Hello <script>document.title='broken'</script></p>" });
  const it = await open(t);
  await it.choose("Paused and resumed", "scheduled");
  const preview = it.page.frameLocator("#preview");
  assert.match(await preview.locator("#hello").textContent(), /^Hello/);
  assert.match(await it.page.textContent("#source"), /<p id=hello>/);
  assert.match(await it.page.textContent("#facts"), /rendered/);
  await it.act("pause");
  await it.isIn("paused");
  await it.act("resume");
  await it.isIn("scheduled");
  await it.act("reschedule");
  await it.page.click("#time [name=now]");
  await it.isIn("sent");
  assert.equal((await w.inbox.next(email)).subject, "Paused and resumed");
  assert.equal(await it.page.isDisabled("[data-act=cancel]"), true);
  it.check();
});

test("a mail is edited, and goes out as it was edited", async (t) => {
  const email = await scheduled({ subject: "Before", html: "<p>{{ variables.word }}</p>" });
  const it = await open(t);
  await it.choose("Before", "render-error");
  assert.match(await it.page.textContent("#failed"), /undefined/);
  await it.act("edit");
  await it.page.fill("#edit [name=subject_source]", "After");
  await it.page.fill("#edit [name=variables]", '{ "word": "Welcome" }');
  await it.page.click("#edit button.main");
  await it.page.locator("#entry h2", { hasText: "After" }).waitFor();
  await it.isIn("scheduled");
  await it.act("reschedule");
  await it.page.click("#time [name=now]");
  const mail = await w.inbox.next(email);
  assert.equal(mail.subject, "After");
  assert.match(mail.html, /Welcome/);
  it.check();
});

test("a cancelled mail is skipped, and the list shows the states that are asked for", async (t) => {
  await scheduled({ subject: "Cancelled", html: "<p>x</p>" });
  await scheduled({ subject: "Kept", html: "<p>x</p>" });
  const it = await open(t);
  await it.choose("Cancelled", "scheduled");
  await it.act("cancel");
  await it.isIn("skipped");
  assert.match(await it.page.textContent("#failed"), /MANUALLY_CANCELLED/);
  await it.page.selectOption("#status", "skipped");
  await it.page.waitForFunction(() => [...document.querySelectorAll("#list .state")].every((state) => state.textContent === "skipped"));
  const subjects = await it.page.$$eval("#list .subject", (all) => all.map((one) => one.textContent));
  assert.ok(subjects.includes("Cancelled") && !subjects.includes("Kept"), `${subjects}`);
  it.check();
});

test("an edit over somebody else's change is refused and told", async (t) => {
  await scheduled({ subject: "Contended", html: "<p>x</p>" });
  const it = await open(t);
  await it.choose("Contended", "scheduled");
  await it.act("edit");
  const id = await it.page.locator("#list button", { hasText: "Contended" }).getAttribute("data-id");
  const headers = { "content-type": "application/json", "x-service-access-type": "server", "x-service-project-id": w.gateway.projectId, "x-service-secret-server-key": w.gateway.secretServerKey };
  const other = await fetch(`${w.gateway.url}/api/v1/emails/outbox/${id}`, { method: "PATCH", headers, body: JSON.stringify({ variables: { x: 1 } }) });
  assert.equal(other.status, 200);
  await it.page.fill("#edit [name=subject_source]", "Overwritten");
  await it.page.click("#edit button.main");
  await it.page.locator("#failed", { hasText: "has changed since" }).waitFor();
  assert.equal(await it.page.textContent("#entry h2"), "Contended");
  it.check();
});

test("what is passed on without a key is for the page alone, and elsewhere the page asks for the admin key", async (t) => {
  await scheduled({ subject: "Behind the door", html: "<p>x</p>" });
  const passed = `${w.gateway.url}/outbox/api`;
  assert.equal((await fetch(passed, { headers: { "sec-fetch-site": "cross-site" } })).status, 403);
  assert.equal((await fetch(passed, { method: "DELETE" })).status, 405);

  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  // As it is for a browser on another machine.
  await page.route("**/outbox/api*", (route) => route.fulfill({ status: 403, body: "This is for the machine of the gateway alone." }));
  await page.goto(`${w.gateway.url}/outbox`);
  await page.fill("#door [name=project]", w.gateway.projectId);
  await page.fill("#door [name=key]", "sak_wrong");
  await page.click("#door button");
  await page.locator("#problem", { hasText: "is not one of project" }).waitFor();
  await page.fill("#door [name=key]", w.gateway.superSecretAdminKey);
  await page.click("#door button");
  await page.locator("#list button", { hasText: "Behind the door" }).click();
  await page.click("[data-act=pause]");
  await page.waitForFunction(() => document.querySelector("#entry .state")?.textContent === "paused");
});
