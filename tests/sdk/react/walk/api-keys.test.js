// API keys of users and teams in the account settings: created, shown once and revoked. Also tests
// the account settings of a project whose features are switched off.

import assert from "node:assert/strict";
import { test } from "node:test";

import { configure } from "../../support/gateway.js";
import { world } from "../support/world.js";

const w = world({ config: { allow_user_api_keys: true, allow_team_api_keys: true } });

/** A key's owner, looked up as a server; null if the key is invalid. */
async function ownerOf(type, key) {
  const { url, projectId, secretServerKey } = w.gateway;
  const answer = await fetch(`${url}/api/v1/${type}-api-keys/check`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-stack-access-type": "server",
      "x-stack-project-id": projectId,
      "x-stack-secret-server-key": secretServerKey,
    },
    body: JSON.stringify({ api_key: key }),
  });
  return answer.ok ? (await answer.json())[`${type}_id`] : null;
}

/** Creates a key with the dialog; returns it as shown there. */
async function createKey(it, description, expires, picture) {
  const dialog = it.page.getByRole("dialog");
  await it.click("Create API Key");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await it.sees("Description is required");
  await it.page.fill("#description", description);
  await it.page.locator("#expiresIn").selectOption({ label: expires });
  await it.picture(`${picture}-create`);
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await it.sees("Copy it to a safe place. You will not be able to view it again.");
  const key = await dialog.locator("input[readonly]").inputValue();
  await it.picture(`${picture}-shown`);
  const close = dialog.getByRole("button", { name: "Close", exact: true }).last();
  assert.equal(await close.isDisabled(), true, "the dialog only closes after the checkbox is ticked");
  await dialog.getByRole("checkbox").click();
  await close.click();
  await dialog.waitFor({ state: "detached" });
  await it.inRow(description).getByText("valid", { exact: true }).waitFor();
  return key;
}

/** Asserts that the page contains only a key's end, before and after a reload. */
async function isHidden(it, key) {
  for (const again of [false, true]) {
    if (again) await it.page.reload();
    await it.sees(`*******${key.slice(-4)}`);
    assert.ok(!(await it.page.content()).includes(key), "the page does not have the key");
  }
}

async function revokeKey(it, description) {
  await it.act(description, "Revoke");
  const dialog = it.page.getByRole("dialog");
  const revoke = dialog.getByRole("button", { name: "Revoke Key", exact: true });
  assert.equal(await revoke.isDisabled(), true);
  await dialog.getByRole("checkbox").click();
  await revoke.click();
  await it.inRow(description).getByText("revoked", { exact: true }).waitFor();
}

test("a user creates a key, sees it once, and revokes it", async (t) => {
  const it = await w.member(t);
  await it.settings("API Keys");
  await it.sees("Create API Key");
  const key = await createKey(it, "Laptop", "30 days", "user-api-key");
  const other = await createKey(it, "Robot", "Never", "user-api-key-2");
  const id = await it.page.evaluate(async () => (await globalThis.app.getUser()).id);
  assert.deepEqual([await ownerOf("user", key), await ownerOf("user", other)], [id, id]);
  await isHidden(it, key);
  await revokeKey(it, "Laptop");
  assert.deepEqual([await ownerOf("user", key), await ownerOf("user", other)], [null, id]);
  await it.picture("user-api-keys");
  it.check("the keys of a user");
});

test("a team's administrator creates a key of the team, and revokes it", async (t) => {
  const it = await w.member(t);
  await it.settings("Create a team");
  await it.page.locator("#displayName").filter({ visible: true }).fill("Engines");
  await it.click("Create");
  await it.until(() => /^#team-(?!creation$)/.test(new URL(it.page.url()).hash), "the team's page");
  await it.sees("API keys grant programmatic access to your team.");
  const key = await createKey(it, "Deployments", "1 year", "team-api-key");
  const id = new URL(it.page.url()).hash.slice("#team-".length);
  assert.equal(await ownerOf("team", key), id);
  await isHidden(it, key);
  await it.picture("team-api-keys", it.inRow("Deployments"));
  await revokeKey(it, "Deployments");
  assert.equal(await ownerOf("team", key), null);
  it.check("the keys of a team");
});

test("features that are switched off have no tab and no section", async (t) => {
  const it = await w.member(t);
  await it.settings("Create a team");
  await it.page.locator("#displayName").filter({ visible: true }).fill("Engines");
  await it.click("Create");
  await it.sees("API keys grant programmatic access to your team.");
  const tabs = ["API Keys", "Create a team"];
  const shown = async () => {
    await it.settings("Settings");
    await it.sees("Sign out");
    // A payments tab would appear only after the products have been loaded.
    await it.page.waitForLoadState("networkidle");
    return Promise.all([...tabs, "Payments", "Danger zone"].map((name) => it.button(name).filter({ visible: true }).count()));
  };
  assert.deepEqual(await shown(), [1, 1, 0, 1]);

  const flags = (on) => ({ allow_user_api_keys: on, allow_team_api_keys: on, client_team_creation_enabled: on, client_user_deletion_enabled: on });
  await configure(w.gateway, flags(false));
  t.after(() => configure(w.gateway, flags(true)));
  assert.deepEqual(await shown(), [0, 0, 0, 0]);
  await it.picture("settings-with-features-off");
  await it.settings("Engines");
  await it.sees("Team display name");
  await it.page.waitForLoadState("networkidle");
  assert.equal(await it.page.getByText("API Keys").count(), 0);
  it.check("settings without these features");
});
