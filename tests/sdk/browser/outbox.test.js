// Uses the gateway's page /outbox as people do.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openInternal } from "../support/gateway.js";
import { until } from "../support/until.js";
import { world } from "../support/world.js";
import { launch } from "./chromium.js";
import { isAccessible, visit } from "./visit.js";

const w = world();
const HOUR = 3_600_000;
let browser;

before(async () => {
  await w.started;
  browser = await launch();
});
after(() => browser?.close());

/** Schedules an email to a new user in an hour. */
async function scheduled(fields) {
  const { email, user } = await w.signedUp();
  await w.server().sendEmail({ userIds: [user.id], scheduledAt: new Date(Date.now() + HOUR), ...fields });
  return email;
}

/** Asserts that the page is accessible in both themes at three widths. */
async function looksRight(page, what) {
  for (const colorScheme of ["light", "dark"]) {
    // Disables transitions between colors, which take 120 ms.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await isAccessible(page, `${what}, ${colorScheme}, ${width} px`);
    }
  }
}

/** The list in a fresh browser. */
async function open(t, path = "/outbox") {
  const it = await visit(t, browser, `${w.gateway.url}${path}`, { startPage: w.gateway.startPage });
  const { page } = it;
  const choose = async (subject, state) => {
    await page.locator(".rows a.row", { hasText: subject }).click();
    await page.getByRole("heading", { name: subject }).waitFor();
    await isIn(state);
  };
  const isIn = (state) => page.locator("#heading .state", { hasText: new RegExp(`^${state}$`) }).waitFor();
  return { ...it, choose, isIn, act: (name) => page.getByRole("button", { name }).click(), unfold: (name) => page.locator("summary", { hasText: name }).click() };
}

test("an email is viewed, paused, resumed, sent now and found in the inbox", async (t) => {
  const email = await scheduled({ subject: "Paused and resumed", html: "<p id=hello>Hello <script>document.title='broken'</script></p>" });
  const it = await open(t);
  assert.ok((await it.page.innerText("main")).includes(email), "the recipient is shown by address");
  await it.choose("Paused and resumed", "scheduled");
  assert.match(await it.page.frameLocator("iframe").locator("#hello").textContent(), /^Hello/);
  assert.match(await it.page.textContent("#facts"), /rendered/);
  await it.unfold("Source");
  assert.match(await it.page.textContent("#facts pre"), /<p id=hello>/);
  await it.act("Pause");
  await it.isIn("paused");
  await it.act("Resume");
  await it.isIn("scheduled");
  await it.act("Send now");
  await it.isIn("sent");
  assert.equal((await w.inbox.next(email)).subject, "Paused and resumed");
  assert.equal(await it.page.getByRole("button", { name: "Cancel email" }).count(), 0);
  assert.doesNotMatch(await it.page.title(), /broken/);
  it.check();
});

test("an email with a render error explains it, is edited, and sent as edited", async (t) => {
  const email = await scheduled({ subject: "Before", html: "<p>{{ variables.word }}</p>" });
  const it = await open(t);
  await it.choose("Before", "render error");
  assert.match(await it.page.textContent("#preview"), /could not be rendered[^]*undefined/, "the error is where the preview would be");
  assert.equal((await it.page.textContent("#notes")).trim(), "");
  await looksRight(it.page, "a render error");
  await it.unfold("Edit");
  await it.page.getByLabel("Subject").fill("After");
  await it.page.getByLabel("Variables").fill('{ "word": ');
  await it.page.getByText("Updates are paused until you save").waitFor();
  await it.act("Save");
  await it.page.getByRole("alert").filter({ hasText: "not a JSON object" }).waitFor();
  const variables = it.page.getByLabel("Variables");
  assert.equal(await variables.evaluate((field) => document.getElementById(field.getAttribute("aria-errormessage")).textContent.includes("not a JSON object")), true, "the error is beside the field");
  assert.deepEqual([await variables.getAttribute("aria-invalid"), await variables.evaluate((field) => field === document.activeElement)], ["true", true]);
  assert.equal(await it.page.getByLabel("Subject").inputValue(), "After", "nothing that was typed is lost");
  await looksRight(it.page, "a refused edit");
  await variables.fill("[1]");
  await it.act("Save");
  await it.page.getByRole("alert").filter({ hasText: "must be" }).waitFor();
  assert.match(await it.page.locator(".field", { has: variables }).innerText(), /must be/);
  await it.page.getByLabel("Variables").fill('{ "word": "Welcome" }');
  await it.act("Save");
  await it.page.getByRole("heading", { name: "After" }).waitFor();
  await it.isIn("scheduled");
  await it.act("Send now");
  const mail = await w.inbox.next(email);
  assert.equal(mail.subject, "After");
  assert.match(mail.html, /Welcome/);
  assert.deepEqual(it.complaints.filter((text) => !text.includes("409")), []);
});

test("the search finds parts of subjects and addresses, in any case", async (t) => {
  const email = await scheduled({ subject: "Größe der Sendung", html: "<p>x</p>" });
  const other = await scheduled({ subject: "Something else", html: "<p>x</p>" });
  const it = await open(t);
  const shown = () => it.page.locator(".rows a.row").allTextContents();
  for (const [query, found] of [["GRÖSSE", []], ["größe DER", ["Größe der Sendung"]], [email.toUpperCase(), ["Größe der Sendung"]], [other.split("@")[0], ["Something else"]]]) {
    await it.page.fill("#q", query);
    await it.page.waitForURL((url) => url.searchParams.get("q") === query);
    // The list shows the emails that the search in the URL finds.
    await until(async () => (await shown()).join() === found.join(), `the emails for ${query}`);
    // Opening the URL of a search shows the same emails.
    const opened = await open(t, `/outbox?q=${encodeURIComponent(query)}`);
    assert.deepEqual(await opened.page.locator(".rows a.row").allTextContents(), found, query);
  }
  await it.page.fill("#q", "nobody has this");
  await it.page.getByRole("heading", { name: "No email matches" }).waitFor();
  it.check();
});

test("an email cancelled before rendering is shown as skipped", async (t) => {
  await scheduled({ subject: "Broken, then dropped", html: "<p>{{ variables.word }}</p>" });
  const it = await open(t);
  await it.choose("Broken, then dropped", "render error");
  await it.act("Cancel email");
  await it.isIn("skipped");
  assert.match(await it.page.textContent("#notes"), /was not sent[^]*manually cancelled/);
  assert.match(await it.page.textContent("#preview"), /skipped before it was rendered/);
  assert.doesNotMatch(await it.page.textContent("main"), /could not be rendered/);
});

test("an entry with its forms open is accessible, and fits", async (t) => {
  await scheduled({ subject: "Editable", html: "<p>x</p>" });
  const it = await open(t);
  await it.choose("Editable", "scheduled");
  await it.unfold("Reschedule");
  await it.unfold("Edit");
  assert.ok(await it.page.getByLabel("Send at").isVisible() && await it.page.getByLabel("Variables").isVisible());
  await looksRight(it.page, "open forms");
  it.check();
});

test("a cancelled email is skipped, in grey, and the list filters by state", async (t) => {
  await scheduled({ subject: "Cancelled", html: "<p>x</p>" });
  await scheduled({ subject: "Kept", html: "<p>x</p>" });
  const it = await open(t);
  await it.choose("Cancelled", "scheduled");
  await it.act("Cancel email");
  await it.isIn("skipped");
  assert.match(await it.page.textContent("#notes"), /manually cancelled/);
  assert.ok(await it.page.locator("#heading .state.aside").count(), "the state is shown as set aside, not as failed");
  await it.page.goto(`${w.gateway.url}/outbox`);
  await it.page.selectOption("#status", "skipped");
  await it.page.locator(".rows a.row", { hasText: "Kept" }).waitFor({ state: "detached" });
  assert.deepEqual([...new Set(await it.page.locator(".rows .state").allTextContents())], ["skipped"]);
  assert.match(it.page.url(), /status=skipped/);
  it.check();
});

test("a conflicting edit is rejected with a message, and keeps its input", async (t) => {
  await scheduled({ subject: "Contended", html: "<p>x</p>" });
  const it = await open(t);
  await it.choose("Contended", "scheduled");
  await it.unfold("Edit");
  const id = new URL(it.page.url()).pathname.split("/").at(-1);
  const headers = { "content-type": "application/json", "x-service-access-type": "server", "x-service-project-id": w.gateway.projectId, "x-service-secret-server-key": w.gateway.secretServerKey };
  const other = await fetch(`${w.gateway.url}/api/v1/emails/outbox/${id}`, { method: "PATCH", headers, body: JSON.stringify({ variables: { x: 1 } }) });
  assert.equal(other.status, 200);
  await it.page.getByLabel("Subject").fill("Overwritten");
  await it.act("Save");
  await it.page.getByRole("alert").filter({ hasText: "has changed since" }).waitFor();
  assert.equal(await it.page.getByLabel("Subject").inputValue(), "Overwritten");
  assert.equal(await it.page.textContent("h1"), "Contended");
});

test("emails are listed for all projects, and for a single one", async (t) => {
  await scheduled({ subject: "Of the first project", html: "<p>x</p>" });
  await openInternal(w.gateway);
  const headers = { "content-type": "application/json", "x-service-access-type": "client", "x-service-project-id": "internal", "x-service-publishable-client-key": w.gateway.internalClientKey };
  const body = JSON.stringify({ email: "owner@example.com", callback_url: "http://localhost:3000/" });
  const sent = await fetch(`${w.gateway.url}/api/v1/auth/otp/send-sign-in-code`, { method: "POST", headers, body });
  assert.equal(sent.status, 200, await sent.text());
  const it = await open(t);
  await it.page.locator(".rows tr", { hasText: "owner@example.com" }).waitFor();
  await it.page.locator(".rows tr", { hasText: "Of the first project" }).waitFor();
  await it.page.selectOption("#project", "internal");
  await it.page.locator(".rows tr", { hasText: "Of the first project" }).waitFor({ state: "detached" });
  await it.page.locator(".rows tr", { hasText: "owner@example.com" }).locator("a.row").click();
  await it.isIn("sent");
  it.check();
});
