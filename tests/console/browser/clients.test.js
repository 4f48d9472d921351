// OAuth clients: the list, creating one, and hostile names and URIs.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { operations } from "../../../infra/console/web/core/openapi.js";
import { relyingParty } from "../support/clients.js";
import { consoleOf, go, heading, isAccessible } from "../support/console.js";

const it = consoleOf();
const rp = relyingParty(it);
const PARTS = ["setup", "urls", "access", "look", "tokens", "danger"];

const read = (id) => it.call("GET", `/internal/oauth-clients/${id}`);

test("an app works with what the console shows once its client is created", async (t) => {
  await it.started;
  const visited = await it.open(t, it.home);
  const { page } = visited;
  await go(page, "OAuth clients");
  await heading(page, "OAuth clients");
  await page.getByRole("heading", { name: "No OAuth clients yet" }).waitFor();
  await page.locator(".empty").getByRole("link", { name: "Create client" }).click();
  await heading(page, "Create client");
  await page.getByLabel("Name").fill("Notes");
  await page.getByLabel("Redirect URIs").fill("https://notes.example.com/callback\n\n  http://localhost:3000/callback  ");
  await page.getByRole("button", { name: "Create client" }).click();
  const dialog = page.getByRole("dialog", { name: "Client created" });
  await dialog.waitFor();
  await isAccessible(page, "a new client");
  const [issuer, id, secret, discovery] = await dialog.locator("code").allTextContents();
  assert.equal(await dialog.getByRole("button", { name: "Copy", exact: true }).count(), 4);
  const metadata = await (await fetch(discovery)).json();
  assert.equal(metadata.issuer, issuer);
  assert.ok(await rp.isKnown(id, secret), "the secret is the client's");
  // A link that left the page would lose the secret.
  const guide = dialog.getByRole("link", { name: /new tab/ });
  const [tab] = await Promise.all([visited.context.waitForEvent("page"), guide.click()]);
  await tab.getByRole("heading", { name: "OpenID provider", level: 1 }).waitFor();
  await tab.close();
  await dialog.getByRole("button", { name: "I have saved it" }).click();
  await heading(page, "Notes");
  assert.equal(new URL(page.url()).pathname, `${it.home}/oauth-clients/${id}`);

  const client = await read(id);
  assert.deepEqual(client.redirect_uris, ["https://notes.example.com/callback", "http://localhost:3000/callback"]);
  assert.deepEqual([client.is_first_party, client.client_type], [false, "confidential"]);
  // Everything but the secret can be read again.
  await page.reload();
  await page.getByRole("button", { name: "Replace secret" }).waitFor();
  const main = await page.innerText("main");
  for (const value of [issuer, id, discovery, `••••${secret.slice(-4)}`]) assert.ok(main.includes(value), value);
  assert.ok(!(await page.content()).includes(secret));
  const endpoints = page.locator("details", { hasText: "Endpoints" });
  await endpoints.locator("summary").click();
  const shown = await endpoints.innerText();
  for (const name of ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"]) assert.ok(shown.includes(metadata[name]), name);
  visited.check();
});

test("a public client of one's own has no secret", async (t) => {
  await it.started;
  const visited = await it.open(t, `${it.home}/oauth-clients?new=1`);
  const { page } = visited;
  await page.getByLabel("Name").fill("Field app");
  await page.getByRole("radio", { name: "Your own" }).check();
  await page.getByRole("radio", { name: "On a device or in a browser" }).check();
  await page.getByLabel("Redirect URIs").fill("com.example.field:/callback");
  await page.getByRole("button", { name: "Create client" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  assert.doesNotMatch(await dialog.innerText(), /secret/i);
  assert.equal(await dialog.locator("code").count(), 3);
  const id = await dialog.locator("code").nth(1).textContent();
  await dialog.getByRole("button", { name: "Continue" }).click();
  await page.getByText("None: a public client uses PKCE instead.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Replace secret" }).count(), 0);
  const { is_first_party: isOwn, client_type: type } = await read(id);
  assert.deepEqual([isOwn, type], [true, "public"]);
  await page.getByRole("link", { name: "Tokens" }).click();
  await page.getByLabel("Signature of tokens").waitFor();
  assert.equal(await page.getByLabel("The app may leave out PKCE").count(), 0, "only PKCE protects a public client");
  visited.check();
});

test("what the API refuses is said at the field, with the line in question", async (t) => {
  await it.started;
  const { page } = await it.open(t, `${it.home}/oauth-clients?new=1`);
  const problem = (label) => page.locator(".field", { has: page.getByLabel(label, { exact: true }) }).locator(".problem");
  const create = page.getByRole("button", { name: "Create client" });
  await create.click();
  await problem("Name").filter({ hasText: "is required" }).waitFor();
  assert.ok(await page.getByLabel("Name").evaluate((element) => element === document.activeElement));
  await page.getByLabel("Name").fill("Notes");
  const uris = page.getByLabel("Redirect URIs");
  const typed = "https://notes.example.com/callback\n\nhttp://notes.example.com/callback";
  await uris.fill(typed);
  await create.click();
  await problem("Redirect URIs").filter({ hasText: "http://notes.example.com/callback must be an https URL" }).waitFor();
  assert.equal(await problem("Name").isHidden(), true);
  assert.deepEqual([await uris.inputValue(), await uris.getAttribute("aria-invalid")], [typed, "true"]);
  assert.ok(await uris.evaluate((element) => element === document.activeElement), "the field has the focus");
  await isAccessible(page, "a refused client");
});

test("the list says what each client is, and reads page by page", async (t) => {
  await it.started;
  const before = (await it.call("GET", "/internal/oauth-clients?limit=100")).items.length;
  await rp.newClient({ name: "Several", redirect_uris: ["https://a.example.com:8443/x", "https://a.example.com:8443/y", "https://b.example.com/", "http://127.0.0.1:3000/cb"] });
  await rp.newClient({ name: "Native", client_type: "public", is_first_party: true, redirect_uris: ["com.example.app://bank.example/cb"] });
  const off = await rp.newClient({ name: "Asleep" });
  await it.call("PATCH", `/internal/oauth-clients/${off.id}`, { is_disabled: true });
  for (let index = before + 3; index < 60; index += 1) await rp.newClient({ name: `Client ${index}` });
  const visited = await it.open(t, `${it.home}/oauth-clients`);
  const { page } = visited;
  const rows = page.locator(".rows tbody tr");
  await page.getByRole("button", { name: "Load more" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length === 60);
  const cells = async (name) => (await rows.filter({ hasText: name }).locator("td").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  assert.deepEqual(await cells("Several"), ["Several", "a.example.com:8443 and 2 more", "Somebody else’s Confidential", "On"]);
  assert.deepEqual(await cells("Native"), ["Native", "com.example.app:", "Your own Public", "On"]);
  assert.equal((await cells("Asleep"))[3], "Switched off");
  await rows.filter({ hasText: "Native" }).getByRole("link").click();
  await heading(page, "Native");
  visited.check();
});

test("a client is created, and its secret replaced, by keyboard alone", async (t) => {
  await it.started;
  const visited = await it.open(t, `${it.home}/oauth-clients?new=1`);
  const { page } = visited;
  await page.getByLabel("Name").waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  const tabTo = async (text) => {
    for (let presses = 0; (await focused()) !== text; presses += 1) {
      assert.ok(presses < 60, `Tab does not reach ${text}`);
      await page.keyboard.press("Tab");
    }
  };
  await page.getByLabel("Name").focus();
  await page.keyboard.type("Keyboard");
  // A group of choices is one stop for the Tab key.
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("https://keys.example.com/callback");
  await tabTo("Create client");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Client created" }).waitFor();
  await tabTo("I have saved it");
  await page.keyboard.press("Enter");
  await heading(page, "Keyboard");
  assert.equal(await focused(), "Keyboard", "the heading of the new page has the focus");
  const id = new URL(page.url()).pathname.split("/").at(-1);
  assert.equal((await read(id)).is_first_party, true);
  await tabTo("Replace secret");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.value), "86400000", "the usual choice has the focus");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await focused(), "Replace secret", "the focus returns");
  // The arrow keys move from row to row of the list.
  await go(page, "OAuth clients");
  await page.locator(".rows a.row").nth(1).waitFor();
  await page.locator(".rows a.row").first().focus();
  await page.keyboard.press("ArrowDown");
  const second = await page.locator(".rows a.row").nth(1).innerText();
  await page.keyboard.press("Enter");
  await heading(page, second.trim());
  visited.check();
});

const HOSTILE = `"><script>document.title='broken'</script><img src=x onerror="document.title='broken'">{{7*7}}`;

test("hostile names and very long URIs are shown as text, and fit", { timeout: 900_000 }, async (t) => {
  await it.started;
  const label = (letter) => letter.repeat(60);
  const host = `${label("a")}.${label("b")}.${label("c")}.owner.example`;
  const path = "p".repeat(2048 - `https://${host}/`.length);
  const all = [
    await rp.newClient({ name: HOSTILE.slice(0, 100) }),
    await rp.newClient({ name: "x".repeat(100), redirect_uris: [`https://${host}/${path}`] }),
    await rp.newClient({ name: "مرحبا ".repeat(15).trim(), redirect_uris: ["https://xn--mgbh0fb.example/cb"] }),
    await rp.newClient({ name: "👩‍🚀🇩🇪🏳️‍🌈".repeat(8), client_type: "public" }),
  ];
  const user = await it.newUser({ display_name: HOSTILE });
  for (const client of all) await rp.consent(client, user);
  const visited = await it.open(t, "/console/projects", { viewport: { width: 360, height: 740 } });
  const { page } = visited;
  const paths = [
    "/oauth-clients",
    ...all.flatMap(({ id }) => PARTS.map((part) => `/oauth-clients/${id}?part=${part}`)),
    ...["apps", "sessions", "activity"].map((part) => `/users/${user.id}?part=${part}`),
  ];
  for (const where of paths) {
    await page.goto(`${it.gateway.url}${it.home}${where}`);
    await page.locator("#console[data-view] h1").waitFor();
    await page.waitForFunction(() => !document.querySelector(".more [role=status]"));
    assert.doesNotMatch(await page.title(), /^broken/, where);
    assert.equal(await page.locator("#console script, #console img").count(), 0, where);
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 740 });
      const found = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(found <= width, `${where} is ${found} px wide in ${width}`);
    }
    await page.setViewportSize({ width: 360, height: 740 });
  }
  for (const { id, name } of all) {
    await page.goto(`${it.gateway.url}${it.home}/oauth-clients/${id}`);
    await heading(page, name);
  }
  // The end of a host name must be visible, because it shows whose host it is.
  await page.goto(`${it.gateway.url}${it.home}/oauth-clients`);
  const shown = page.locator(".rows tr", { hasText: "xxxxx" }).locator("td").nth(1);
  await page.locator(".rows a.row").first().waitFor();
  while (!(await shown.count())) {
    const rows = await page.locator(".rows tr").count();
    await page.getByRole("button", { name: "Load more" }).click();
    await page.waitForFunction((before) => document.querySelectorAll(".rows tr").length > before, rows);
  }
  assert.match(await shown.innerText(), /^….*owner\.example$/);
  visited.check();
});

test("every setting of a client that the API has is in the console", async () => {
  await it.started;
  const document = await (await fetch(`${it.gateway.url}/openapi.json`)).json();
  const operation = operations(document).find(({ id }) => id === "openid-client-update");
  const name = operation.requestBody.content["application/json"].schema.$ref.split("/").pop();
  const known = Object.keys(document.components.schemas[name].properties);
  const sources = ["clients", "client-common", "client-access", "client-danger", "client-settings"];
  const texts = await Promise.all(sources.map((file) => readFile(new URL(`../../../infra/console/web/views/${file}.js`, import.meta.url), "utf8")));
  assert.ok(known.length > 15);
  assert.deepEqual(
    known.filter((field) => !new RegExp(`\\b${field}\\b`).test(texts.join("\n"))),
    [],
  );
});
