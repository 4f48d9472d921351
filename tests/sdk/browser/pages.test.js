// Uses the gateway's pages as people do: with mouse or keyboard, on phone or desktop, in light or
// dark mode.

import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";

import { until } from "../support/until.js";
import { newAddress, PASSWORD, world } from "../support/world.js";
import { launch } from "./chromium.js";
import { isAccessible, visit } from "./visit.js";

const w = world();
const HOUR = 3_600_000;
const HOSTILE = `<script>document.title='broken'</script>"><img src=x onerror="document.title='broken'"> javascript:alert(1)`;
let browser;

before(async () => {
  await w.started;
  browser = await launch();
});
after(() => browser?.close());

const open = (t, path, options) => visit(t, browser, `${w.gateway.url}${path}`, { startPage: w.gateway.startPage, ...options });

/** Sends an email to a user; waits for it in the inbox. */
async function received(fields) {
  const { email, user } = await w.signedUp();
  await w.server().sendEmail({ userIds: [user.id], ...fields });
  return w.inbox.next(email);
}

async function askForLinks(count) {
  const headers = {
    "content-type": "application/json",
    "x-service-access-type": "client",
    "x-service-project-id": w.gateway.projectId,
    "x-service-publishable-client-key": w.gateway.publishableClientKey,
  };
  for (let sent = 0; sent < count; sent += 50) {
    const asked = Array.from({ length: Math.min(50, count - sent) }, () => {
      const body = JSON.stringify({ email: newAddress("many"), callback_url: "http://localhost:3000/" });
      return fetch(`${w.gateway.url}/api/v1/auth/otp/send-sign-in-code`, { method: "POST", headers, body });
    });
    for (const answer of await Promise.all(asked)) assert.equal(answer.status, 200, await answer.text());
  }
}

const PAGES = ["/docs", "/docs/getting-started", "/docs/api", "/docs/api/auth-password-sign-up", "/docs/errors", "/inbox", "/outbox", "/no-such-page", "/handler/email-verification?code=x"];

/** Visits every page at three widths, in both themes. */
async function lookAtAll(t, paths) {
  for (const path of paths) {
    for (const colorScheme of ["light", "dark"]) {
      const it = await open(t, path, { colorScheme, viewport: { width: 1280, height: 900 } });
      for (const width of [1280, 768, 360]) {
        await it.page.setViewportSize({ width, height: 800 });
        await isAccessible(it.page, `${path}, ${colorScheme}, ${width} px`);
      }
      // The only error that a browser may report is the status of the page.
      assert.deepEqual(it.complaints.filter((text) => !/the server responded with a status of 40[04]/.test(text)), [], path);
      await it.context.close();
    }
  }
}

test("empty pages are accessible, and fit", (t) => lookAtAll(t, PAGES));

test("the link of a verification email works completely without any app", async (t) => {
  const email = newAddress();
  const app = w.client();
  const verificationCallbackUrl = `${w.gateway.url}/handler/email-verification`;
  assert.equal((await app.signUpWithCredential({ email, password: PASSWORD, verificationCallbackUrl, noRedirect: true })).status, "ok");
  const user = await app.getUser({ or: "throw" });
  const { page } = await open(t, `/inbox?to=${encodeURIComponent(email)}`);
  await page.locator(".rows a.row").first().click();
  await page.locator("dl.facts a[href*='/handler/email-verification?code=']").click();
  await page.getByRole("button", { name: "Verify my address" }).click();
  await page.getByRole("heading", { name: "Your address is verified" }).waitFor();
  assert.equal((await w.server().getUser(user.id)).primaryEmailVerified, true);
  await page.goBack();
  await page.getByRole("button", { name: "Verify my address" }).click();
  await page.getByRole("heading", { name: "This link has already been used" }).waitFor();
});

test("keys and emails are only shown on this machine", async () => {
  const { hostname, port } = new URL(w.gateway.url);
  const get = (path, headers) => new Promise((resolve, reject) => {
    request({ hostname, port, path, headers: { accept: "text/html", ...headers } }, (answer) => {
      let text = "";
      answer.on("data", (part) => { text += part; });
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    }).on("error", reject).end();
  });
  const authorization = `Bearer ${w.gateway.pageKey}`;
  for (const path of ["/console", "/inbox", "/outbox", "/inbox/api/messages"]) {
    assert.equal((await get(path, {})).status, 403, path);
    assert.equal((await get(path, { authorization })).status, 200, path);
    for (const [name, value] of [
      ["host", "evil.test"], ["x-forwarded-for", "127.0.0.1"], ["via", "1.1 proxy"], ["origin", "http://evil.test"], ["origin", "null"],
      ["sec-fetch-site", "cross-site"], ["sec-fetch-site", "same-site"], ["user-agent", "Mozilla/5.0"],
    ]) {
      const answer = await get(path, { authorization, [name]: value });
      assert.equal(answer.status, 403, `${path} with ${name}: ${value}`);
      assert.ok(!answer.text.includes(w.gateway.secretServerKey) && !answer.headers["access-control-allow-origin"]);
    }
  }
  // Documentation is public.
  assert.equal((await get("/docs/api", { host: "evil.test" })).status, 200);
  // Programs get the 404 response of the API.
  const program = await fetch(`${w.gateway.url}/no-such-page`);
  assert.deepEqual([program.status, program.headers.get("content-type")], [404, "application/json; charset=utf-8"]);
});

test("the printed link opens the pages permanently, and the key is not exposed", async (t) => {
  const it = await open(t, "/inbox", { startPage: undefined });
  await it.page.getByRole("heading", { name: "Open this page with its link" }).waitFor();
  for (const colorScheme of ["light", "dark"]) {
    await it.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await isAccessible(it.page, `without the key, ${colorScheme}`);
  }
  assert.doesNotMatch(await it.page.content(), /pck_|ssk_|sak_|page_/);
  await it.page.goto(w.gateway.startPage);
  await it.page.getByRole("heading", { name: "Development" }).waitFor();
  assert.equal(it.page.url(), `${w.gateway.url}/console/${w.gateway.projectId}`);
  assert.equal(await it.page.evaluate(() => document.cookie), "", "scripts cannot read the cookie");
  for (const name of ["Inbox", "Outbox"]) {
    await it.page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
    await it.page.getByRole("heading", { name, exact: true }).waitFor();
  }
  // The key appears neither in the history nor in later requests.
  await it.page.goBack();
  await it.page.goBack();
  assert.equal(it.page.url(), `${w.gateway.url}/console/${w.gateway.projectId}`);
  assert.equal(await it.page.evaluate(() => document.referrer), "");
  // The cookie is kept when the browser is closed. Other servers on this machine also receive the
  // cookie, but cannot get the key from it.
  const cookies = await it.context.cookies();
  assert.deepEqual(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]), [[`gatelet_pages_${new URL(w.gateway.url).port}`, true, "Strict"]]);
  assert.ok(cookies[0].expires > Date.now() / 1000 + 300 * 86_400 && !cookies[0].value.includes(w.gateway.pageKey));
});

test("a link from elsewhere opens a page only after a click", async (t) => {
  const it = await open(t, "/docs");
  await it.page.setContent(`<a href="${w.gateway.url}/inbox">inbox</a>`);
  const elsewhere = await it.context.newPage();
  await elsewhere.goto(`data:text/html,<a href="${w.gateway.url}/inbox">inbox</a>`);
  await elsewhere.click("a");
  await elsewhere.getByRole("heading", { name: "Not available here" }).waitFor();
  await elsewhere.getByRole("link", { name: "Open the page" }).click();
  await elsewhere.getByRole("heading", { name: "Inbox" }).waitFor();
});

test("an email arrives without a reload, and focus and input stay", async (t) => {
  const it = await open(t, "/inbox");
  await received({ subject: "Here already", html: "<p>x</p>" });
  const row = it.page.locator(".rows a.row", { hasText: "Here already" });
  await row.waitFor();
  await row.focus();
  await received({ subject: "Newer", html: "<p>x</p>" });
  await it.page.locator(".rows a.row", { hasText: "Newer" }).waitFor();
  assert.match(await it.page.evaluate(() => document.activeElement.textContent), /Here already/);
  await it.page.keyboard.press("ArrowUp");
  assert.match(await it.page.evaluate(() => document.activeElement.textContent), /Newer/);

  await it.page.fill("#q", "ere alr");
  await it.page.locator(".rows a.row", { hasText: "Newer" }).waitFor({ state: "detached" });
  assert.equal(await it.page.evaluate(() => document.activeElement.id), "q");
  assert.match(it.page.url(), /q=ere\+alr/);
  assert.equal(await it.page.locator(".rows tbody tr").count(), 1);

  // After a row is deleted, the focus is on the row in its place.
  await it.page.fill("#q", "");
  await it.page.locator(".rows a.row", { hasText: "Newer" }).waitFor();
  await it.page.getByRole("button", { name: "Delete Newer" }).click();
  await it.page.locator(".rows a.row", { hasText: "Newer" }).waitFor({ state: "detached" });
  assert.equal(await it.page.evaluate(() => document.activeElement.matches("a.row")), true);
  it.check();
});

test("an email is marked as read when viewed, has a source, and can be deleted", async (t) => {
  await received({ subject: "Looked at", html: "<p>Hello <b>there</b></p>" });
  const it = await open(t, "/inbox");
  const row = it.page.locator("tr.unread", { hasText: "Looked at" });
  await row.locator("a.row").click();
  await it.page.getByRole("heading", { name: "Looked at" }).waitFor();
  assert.match(await it.page.frameLocator("iframe").locator("b").textContent(), /there/);
  await it.page.getByRole("button", { name: "Mark as unread" }).click();
  await it.page.getByRole("button", { name: "Mark as read" }).waitFor();
  await it.page.getByRole("link", { name: "Source" }).click();
  assert.match(await it.page.textContent("pre"), /^Subject: Looked at|\nSubject: Looked at/);
  await it.page.getByRole("link", { name: "Headers" }).click();
  assert.match(await it.page.innerText("table"), /Subject\s+Looked at/);
  await it.page.getByRole("button", { name: "Delete" }).click();
  await it.page.waitForURL(/\/inbox$/);
  assert.equal(await it.page.locator(".rows a.row", { hasText: "Looked at" }).count(), 0);
  it.check();
});

test("hostile subjects, names and bodies are shown as text", async (t) => {
  const { email, user } = await w.signedUp();
  await user.update({ displayName: HOSTILE.slice(0, 100) });
  const html = `${HOSTILE}<form action="/"><button>x</button></form><a href="javascript:document.title='broken'">link</a><p id=safe>safe</p>`;
  await w.server().sendEmail({ userIds: [user.id], subject: HOSTILE, html });
  const mail = await w.inbox.next(email);
  for (const path of ["/inbox", `/inbox/${mail.id}`, `/inbox/${mail.id}?view=source`, "/outbox", `/outbox/${w.gateway.projectId}/${mail.outbox_id}`]) {
    const { page } = await open(t, path);
    assert.ok((await page.innerText("main")).includes("<script>document.title"), path);
    const frame = page.frameLocator("iframe");
    if (await page.locator("iframe").count()) {
      await frame.locator("#safe").waitFor();
      await frame.locator("a").click({ timeout: 2_000 }).catch(() => {});
    }
    assert.doesNotMatch(await page.title(), /^broken/, path);
  }
  const found = await open(t, `/inbox?q=${encodeURIComponent(HOSTILE)}&to=${encodeURIComponent(HOSTILE)}`);
  assert.doesNotMatch(await found.page.title(), /broken/);
  found.check();
});

test("skip link, navigation, theme and rows work by keyboard alone", async (t) => {
  await received({ subject: "By keyboard", html: "<p>x</p>" });
  const { page } = await open(t, "/inbox");
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to content");
  for (const name of ["Gatelet", "Console", "Inbox", "Outbox", "Docs", "API"]) {
    await page.keyboard.press("Tab");
    assert.equal(await focused(), name);
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid", `${name} shows that it has the focus`);
  }
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  await page.reload();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "q");
  await page.keyboard.type("By keyboard");
  await page.waitForURL(/q=By/);
  await page.keyboard.press("Tab");
  while (!/By keyboard/.test(await focused())) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "By keyboard" }).waitFor();
});

test("the reference is searched as you type, and leads to operations and error codes", async (t) => {
  const it = await open(t, "/docs/api");
  await it.page.fill("#search", "outbox patch");
  assert.deepEqual(await it.page.locator("tr[data-words]:visible").evaluateAll((rows) => rows.map(({ id }) => id)), ["emails-outbox-update"]);
  await it.page.keyboard.press("Enter");
  await it.page.keyboard.press("Enter");
  await it.page.getByRole("heading", { name: "Edits, pauses" }).waitFor();
  assert.match(await it.page.innerText("main"), /curl -X PATCH[^]*"is_paused": true/);
  await it.page.getByRole("link", { name: "EMAIL_NOT_EDITABLE" }).first().click();
  await it.page.waitForURL(/\/docs\/errors#EMAIL_NOT_EDITABLE$/);
  assert.ok(await it.page.locator("#EMAIL_NOT_EDITABLE").isVisible());
  it.check();
});

test("no page of the reference is long, and its search and sidebar find operations", { timeout: 900_000 }, async (t) => {
  const it = await open(t, "/docs/api", { viewport: { width: 1280, height: 800 } });
  const height = () => it.page.evaluate(() => document.documentElement.scrollHeight);
  const operations = await it.page.locator("tr[data-words]").evaluateAll((rows) => rows.map(({ id }) => id));
  assert.ok(operations.length > 100, `${operations.length} operations`);
  assert.ok(await height() < 20_000, `the index has ${await height()} px`);
  for (const id of operations) {
    await it.page.goto(`${w.gateway.url}/docs/api/${id}`);
    await it.page.locator("p.route").waitFor();
    assert.ok(await height() < 20_000, `${id} has ${await height()} px`);
  }

  // Finds operations through the search and the sidebar, as a person would.
  await it.page.getByLabel("Search all operations").fill("anonymous sign-up");
  await it.page.keyboard.press("Enter");
  await it.page.locator("tr[data-words]:visible a.row").first().click();
  await it.page.getByRole("heading", { name: "Creates an anonymous user" }).waitFor();
  await it.page.getByRole("navigation", { name: "Operations" }).getByRole("link", { name: "Signs in with email address and password" }).click();
  await it.page.getByRole("heading", { name: "Signs in with email address and password" }).waitFor();
  it.check();
});

test("parts of an email, and pages behind links in emails, are accessible, and fit", async (t) => {
  const { app, email, user } = await w.signedUp();
  await w.server().sendEmail({ userIds: [user.id], subject: "Offers", html: "<p>x</p>", notificationCategoryName: "Marketing" });
  const offer = await w.inbox.next(email);
  await lookAtAll(t, ["html", "text", "headers", "source"].map((view) => `/inbox/${offer.id}?view=${view}`));

  const here = (link) => link.replace(w.gateway.url, "");
  const linkIn = (mail, name) => here(mail.text.match(new RegExp(`https?:\\S+/${name}\\?code=\\w+`))[0]);
  await user.sendVerificationEmail({ callbackUrl: "http://localhost:3000/verify" });
  const verification = await w.inbox.next(email);
  const account = await w.server().getUser(user.id);
  await account.update({ primaryEmailVerified: true });
  await (await app.getUser()).updatePassword({ oldPassword: "correct horse battery", newPassword: "a better horse battery" });
  const told = await w.inbox.changed(email);
  const links = [linkIn(offer, "unsubscribe-link"), linkIn(verification, "release-link"), linkIn(told, "not-me-link")];
  for (const link of links) {
    for (const colorScheme of ["light", "dark"]) {
      const it = await open(t, link, { colorScheme, bypassCSP: true });
      assert.equal(await it.page.getByRole("button").count(), 1, link);
      for (const width of [1280, 768, 360]) {
        await it.page.setViewportSize({ width, height: 800 });
        await isAccessible(it.page, `${link}, ${colorScheme}, ${width} px`);
      }
      // The gateway's pages and the pages behind emailed links have the same colors.
      const colors = await it.page.evaluate(() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector("button")).backgroundColor]);
      const page = await open(t, "/handler/email-verification?code=x", { colorScheme });
      assert.deepEqual(colors, await page.page.evaluate(() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector("button.main")).backgroundColor]));
      await it.context.close();
      await page.context.close();
    }
    // The page loads only files of the gateway, which the policy allows.
    const strict = await open(t, link);
    await strict.page.getByRole("button").waitFor();
    assert.equal(await strict.page.locator("nav").count(), 0, "its readers are users of a project, not developers");
    strict.check();
  }
});

test("the inbox is emptied after typing its name", async (t) => {
  await received({ subject: "Kept at first", html: "<p>x</p>" });
  const it = await open(t, "/inbox");
  const total = async () => (await w.inbox.list({ limit: 0 })).total;
  const all = await total();
  await it.page.locator("summary", { hasText: "Empty the inbox" }).click();
  const button = it.page.getByRole("button", { name: `Delete ${all} email` });
  const field = it.page.getByLabel("Type “inbox” to confirm");
  await button.click();
  assert.equal(await field.evaluate((input) => input.validity.valueMissing && document.activeElement === input), true, "the browser asks for the word");
  await it.page.locator("form", { has: button }).evaluate((form) => { form.noValidate = true; });
  await field.fill("outbox");
  await button.click();
  await it.page.getByRole("alert").filter({ hasText: "Nothing was deleted" }).waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.equal(await total(), all);
  await isAccessible(it.page, "the refused confirmation");
  await field.fill("inbox");
  await button.click();
  await it.page.getByRole("heading", { name: "No email yet" }).waitFor();
  assert.equal(await total(), 0);
});

test("pages with a thousand rows are accessible, fit, and stay quick", { timeout: 1_800_000 }, async (t) => {
  await received({ subject: HOSTILE, html: "<p>x</p>" });
  const { user } = await w.signedUp();
  await w.server().sendEmail({ userIds: [user.id], subject: "Later", html: "<p>x</p>", scheduledAt: new Date(Date.now() + HOUR) });
  await askForLinks(1_000);
  const newest = () => w.inbox.list({ limit: 1 });
  await until(async () => (await newest()).total >= 1_000, "a thousand emails", { timeout: 600_000, pause: 200 });
  const { items } = await newest();
  await lookAtAll(t, [`/inbox/${items[0].id}`, `/outbox/${w.gateway.projectId}/${items[0].outbox_id}`]);
  for (const path of ["/inbox?limit=1000", "/outbox?limit=1000"]) {
    const it = await open(t, path, { viewport: { width: 360, height: 800 } });
    const rows = await it.page.locator(".rows tbody tr").count();
    assert.ok(rows >= 900, `${rows} rows`);
    const [width] = await it.page.evaluate(() => [document.documentElement.scrollWidth]);
    assert.ok(width <= 360, `${path} is ${width} px wide`);
    it.check();
  }
  await lookAtAll(t, ["/inbox", "/outbox"]);
});
