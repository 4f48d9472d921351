// Resources: their list, creating and deleting them, their scopes, settings and set-up.

import assert from "node:assert/strict";
import { test } from "node:test";

import { relyingParty } from "../support/clients.js";
import { confirm, consoleOf, go, heading, isAccessible } from "../support/console.js";

const it = consoleOf();
const rp = relyingParty(it);
const IDENTIFIER = "https://mcp.example.com/mcp";

const read = (id) => it.call("GET", `/internal/oauth-resources/${id}`);
/** Opens a part of a resource's page. */
const open = (t, { id }, part = "setup") => it.open(t, `${it.home}/oauth-resources/${id}?part=${part}`);
/** The name and the description of a scope, by its position. */
const scope = (page, index) => page.locator(".scope-row").nth(index).getByRole("textbox");
const saved = async (page) => {
  const request = page.waitForRequest((one) => one.method() === "PATCH");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.locator("form").getByText("Saved", { exact: true }).waitFor();
  return (await request).postDataJSON();
};

test("a token is for the resource that the console has created, as its page says", async (t) => {
  await it.started;
  const visited = await it.open(t, it.home);
  const { page } = visited;
  await go(page, "Resources");
  await heading(page, "Resources");
  const none = page.locator(".empty");
  await none.getByText(/an API or MCP server that gets its own access tokens/).waitFor();
  const guide = await none.getByRole("link", { name: /^Guide/ }).getAttribute("href");
  assert.equal((await fetch(new URL(guide, it.gateway.url))).status, 200);
  await none.getByRole("link", { name: "Create resource" }).click();
  await heading(page, "Create resource");
  await page.getByLabel("Name", { exact: true }).fill("Notes server");
  await page.getByLabel("Identifier").fill(IDENTIFIER);
  await page.getByRole("button", { name: "Add scope" }).click();
  assert.ok(await scope(page, 0).first().evaluate((element) => element === document.activeElement));
  await page.keyboard.type("notes:read");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Read your notes");
  // A row without texts is no scope.
  await page.getByRole("button", { name: "Add scope" }).click();
  await isAccessible(page, "a new resource");
  await page.getByRole("button", { name: "Create resource" }).click();
  await heading(page, "Notes server");

  const { items: [resource] } = await it.call("GET", "/internal/oauth-resources");
  assert.deepEqual([resource.identifier, resource.scopes], [IDENTIFIER, [{ name: "notes:read", description: "Read your notes" }]]);
  const shown = async (label) => {
    const fact = page.locator("dt", { hasText: label instanceof RegExp ? label : new RegExp(`^${label} \\(`) });
    return (await fact.locator("+ dd").innerText()).split(/\s/)[0];
  };
  const metadata = JSON.parse(await page.locator("pre").innerText());
  assert.deepEqual(metadata, {
    resource: IDENTIFIER,
    resource_name: "Notes server",
    authorization_servers: [`${it.gateway.url}/api/v1/projects/${it.gateway.projectId}`],
    scopes_supported: ["notes:read"],
    bearer_methods_supported: ["header"],
  });
  assert.equal(await shown(/^URL$/), "https://mcp.example.com/.well-known/oauth-protected-resource/mcp");
  const tokens = await rp.consent(await rp.newClient(), await it.newUser(), "openid notes:read", [IDENTIFIER]);
  const [head, claims] = tokens.access_token.split(".").slice(0, 2).map((part) => JSON.parse(Buffer.from(part, "base64url")));
  const texts = await Promise.all(["Issuer", "Audience", "Scopes", "Algorithm", "Type"].map((label) => shown(label)));
  assert.deepEqual(texts, [claims.iss, claims.aud, claims.scope, head.alg, head.typ]);
  const { keys } = await (await fetch(await shown(/^JWKS URL$/))).json();
  assert.ok(keys.some(({ kid }) => kid === head.kid));
  visited.check();
});

test("the list shows each resource with the number of its scopes", async (t) => {
  await it.started;
  await rp.newResource({ identifier: "https://list.example.com", name: "Listed" });
  const visited = await it.open(t, `${it.home}/oauth-resources`);
  const { page } = visited;
  const row = page.locator(".rows tbody tr", { hasText: "Listed" });
  await row.waitFor();
  assert.deepEqual(await row.locator("td").allInnerTexts(), ["Listed", "https://list.example.com", "1"]);
  await row.getByRole("link").click();
  await heading(page, "Listed");
  visited.check();
});

test("scopes are added, changed and removed", async (t) => {
  await it.started;
  const resource = await rp.newResource({ identifier: "https://scopes.example.com" });
  const visited = await open(t, resource, "scopes");
  const { page } = visited;
  await scope(page, 0).last().fill("Read everything");
  await page.getByRole("button", { name: "Add scope" }).click();
  await scope(page, 1).first().fill("notes:write");
  await scope(page, 1).last().fill("Change your notes");
  const both = [{ name: "notes:read", description: "Read everything" }, { name: "notes:write", description: "Change your notes" }];
  assert.deepEqual(await saved(page), { scopes: both });
  await page.getByRole("button", { name: "Remove scope notes:read" }).click();
  assert.equal(await page.evaluate(() => document.activeElement.value), "notes:write", "the next row has the focus");
  assert.deepEqual(await saved(page), { scopes: [both[1]] });
  await page.getByRole("button", { name: "Remove scope notes:write" }).click();
  await page.getByText("clients ask to use the resource as a whole").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Add scope");
  await isAccessible(page, "no scopes");
  assert.deepEqual(await saved(page), { scopes: [] });
  assert.deepEqual((await read(resource.id)).scopes, []);
  visited.check();
});

test("what the API refuses is said at the row, and nothing typed is lost", async (t) => {
  await it.started;
  const { page } = await it.open(t, `${it.home}/oauth-resources?new=1`);
  const create = page.getByRole("button", { name: "Create resource" });
  await page.getByLabel("Name", { exact: true }).fill("Letters");
  await page.getByLabel("Identifier").fill("http://letters.example.com");
  await create.click();
  await page.locator(".field", { has: page.getByLabel("Identifier") }).getByText(/must be an https URL/).waitFor();
  await page.getByLabel("Identifier").fill("https://letters.example.com");
  for (let rows = 0; rows < 3; rows += 1) await page.getByRole("button", { name: "Add scope" }).click();
  const problem = (index) => page.locator(".scope-row").nth(index).locator(".problem:not([hidden])");
  const isAt = (input) => input.evaluate((element) => element === document.activeElement && element.getAttribute("aria-invalid") === "true");
  // The first row is empty, so the API does not count it.
  await scope(page, 1).first().fill("letters:read");
  await scope(page, 1).last().fill("Read your letters");
  await scope(page, 2).first().fill("email");
  await scope(page, 2).last().fill("Send letters");
  await create.click();
  await problem(2).getByText("must not be a scope that every project supports").waitFor();
  assert.ok(await isAt(scope(page, 2).first()));
  await isAccessible(page, "a refused scope");
  await scope(page, 2).first().fill("letters:send");
  await scope(page, 1).last().fill("");
  await create.click();
  await problem(1).getByText(/must be one line/).waitFor();
  assert.ok(await isAt(scope(page, 1).last()));
  assert.equal(await page.locator("[aria-invalid]").count(), 1);
  await scope(page, 1).last().fill("Read your letters");
  await create.click();
  await heading(page, "Letters");
  // An identifier names one resource.
  await page.goto(`${it.gateway.url}${it.home}/oauth-resources?new=1`);
  await page.getByLabel("Name", { exact: true }).fill("Other letters");
  await page.getByLabel("Identifier").fill("https://letters.example.com");
  await create.click();
  await page.locator(".note.failed", { hasText: "OAUTH_RESOURCE_ALREADY_EXISTS" }).waitFor();
});

test("settings are saved, and send only what has changed", async (t) => {
  await it.started;
  const resource = await rp.newResource({ identifier: "https://settings.example.com" });
  const visited = await open(t, resource, "settings");
  const { page } = visited;
  await page.getByLabel("Name").fill("Minutes");
  await page.getByLabel("Access tokens expire after").fill("120");
  await page.getByText("= 2 minutes").waitFor();
  assert.deepEqual(await saved(page), { name: "Minutes", access_token_seconds: 120 });
  await heading(page, "Minutes");
  visited.check();
  await page.getByLabel("Signature of tokens").selectOption("RS256");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.locator(".problem", { hasText: "RS256 needs an RSA key" }).waitFor();
});

test("a resource is deleted after its name", async (t) => {
  await it.started;
  const resource = await rp.newResource({ identifier: "https://gone.example.com", name: "Gone soon" });
  const visited = await open(t, resource, "danger");
  const { page } = visited;
  await page.getByRole("button", { name: "Delete resource" }).click();
  const dialog = page.getByRole("dialog");
  assert.match(await dialog.innerText(), /Existing tokens work until they expire/);
  await isAccessible(page, "deleting a resource");
  assert.ok(await dialog.getByRole("button", { name: "Delete resource" }).isDisabled());
  await confirm(page, "Delete resource", "Gone soon");
  await heading(page, "Resources");
  await assert.rejects(read(resource.id), /404/);
  visited.check();
});
