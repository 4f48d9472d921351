// The apps that a user has given access, on the user's page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { relyingParty } from "../support/clients.js";
import { confirm, consoleOf, heading, isAccessible } from "../support/console.js";

const it = consoleOf();
const rp = relyingParty(it);

const apps = (t, user, options = {}) => it.open(t, `${it.home}/users/${user.id}?part=apps`, options);
const row = (page, name) => page.locator(".rows tbody tr", { hasText: name });

test("support sees which apps a user has given access, to what, and since when", async (t) => {
  await it.started;
  const user = await it.newUser();
  const [notes, letters, own] = await Promise.all([
    rp.newClient(),
    rp.newClient({ name: "Letters" }),
    rp.newClient({ name: "Back office", is_first_party: true }),
  ]);
  await rp.consent(notes, user);
  await rp.consent(letters, user, "openid teams permissions");
  await rp.consent(own, user);
  const visited = await it.open(t, `${it.home}/users/${user.id}`);
  const { page } = visited;
  await page.getByRole("link", { name: "Apps", exact: true }).click();
  await page.getByRole("heading", { name: "Apps with access" }).waitFor();
  const cells = async (name) => (await row(page, name).locator("td").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  assert.deepEqual((await cells("Notes")).slice(0, 2), ["Notes", "Who the user is, name and picture, email address stays signed in"]);
  assert.equal((await cells("Letters"))[1], "Who the user is, teams, permissions");
  assert.match(await row(page, "Notes").locator("time").first().getAttribute("title"), / UTC$/);
  assert.equal(await row(page, "Back office").count(), 0, "one's own app needs no consent");
  await isAccessible(page, "apps with access");

  // The page shows the name that the user saw, and the current one.
  await it.call("PATCH", `/internal/oauth-clients/${notes.id}`, { name: "Sheets", is_disabled: true });
  await page.reload();
  await row(page, "Notes").getByText("now named Sheets").waitFor();
  await row(page, "Notes").getByText("switched off").waitFor();
  await row(page, "Letters").getByRole("link").click();
  await heading(page, "Letters");
  // The list of sessions marks the sessions of apps.
  await page.goto(`${it.gateway.url}${it.home}/users/${user.id}?part=sessions`);
  await row(page, "In the app Letters").waitFor();
  visited.check();
});

test("an app is listed with the resources that it may use", async (t) => {
  await it.started;
  const user = await it.newUser();
  const scopes = [{ name: "notes:read", description: "Read your notes" }, { name: "notes:write", description: "Change your notes" }];
  const notes = await rp.newResource({ scopes });
  const letters = await rp.newResource({ identifier: "https://letters.example.com", name: "Letters", scopes: [] });
  await rp.consent(await rp.newClient(), user, "openid notes:read notes:write", [notes.identifier, letters.identifier]);
  const visited = await apps(t, user);
  const { page } = visited;
  const uses = async () => (await row(page, "Notes").locator(".use").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  await row(page, "Notes").waitFor();
  const ofLetters = `Letters: use in the user’s name ${letters.identifier}`;
  assert.deepEqual(await uses(), [`Notes server: Read your notes; Change your notes ${notes.identifier}`, ofLetters]);
  await isAccessible(page, "an app with resources");
  // Of a deleted resource, only what the grant says is known.
  await it.call("DELETE", `/internal/oauth-resources/${notes.id}`);
  await page.reload();
  await row(page, "Notes").waitFor();
  assert.deepEqual(await uses(), [`${notes.identifier}: notes:read; notes:write a deleted resource`, ofLetters]);
  visited.check();
});

test("ending an app's access ends its sessions, after a question", async (t) => {
  await it.started;
  const user = await it.newUser();
  const [notes, letters] = await Promise.all([rp.newClient(), rp.newClient({ name: "Letters" })]);
  const tokens = await rp.consent(notes, user);
  const others = await rp.consent(letters, user);
  const visited = await apps(t, user);
  const { page } = visited;
  const end = page.getByRole("button", { name: "End access Notes" });
  await end.click();
  const dialog = page.getByRole("dialog");
  assert.match(await dialog.innerText(), new RegExp(`ends the sessions of ${user.primary_email} in Notes`));
  await isAccessible(page, "ending access");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await rp.userinfo(tokens), 200);
  await end.click();
  await confirm(page, "End access");
  await row(page, "Notes").waitFor({ state: "detached" });
  await row(page, "Letters").waitFor();
  assert.deepEqual([await rp.userinfo(tokens), (await rp.refresh(notes, tokens)).error], [401, "invalid_grant"]);
  assert.equal(await rp.userinfo(others), 200, "other apps keep their access");
  // Giving and ending access are both in the audit log, and can be selected there.
  await page.goto(`${it.gateway.url}${it.home}/users/${user.id}?part=activity`);
  await page.getByLabel("Event").selectOption("App lost access");
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length === 1);
  await page.getByLabel("Event").selectOption("Gave an app access");
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length === 2);
  visited.check();
});

test("an app whose client was deleted can be removed from the list", async (t) => {
  await it.started;
  const user = await it.newUser();
  const notes = await rp.newClient();
  await rp.consent(notes, user);
  await it.call("DELETE", `/internal/oauth-clients/${notes.id}`);
  const visited = await apps(t, user);
  const { page } = visited;
  await row(page, "Notes").getByText("deleted").waitFor();
  assert.equal(await row(page, "Notes").getByRole("link").count(), 0);
  await page.getByRole("button", { name: "End access Notes" }).click();
  assert.match(await page.getByRole("dialog").innerText(), /only removes the app from the user’s list/);
  await confirm(page, "End access");
  await page.getByRole("heading", { name: "No app has access" }).waitFor();
  visited.check();
});
