// The page of an OAuth client: its secret, its settings, switching it off and deleting it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { relyingParty } from "../support/clients.js";
import { confirm, consoleOf, heading, isAccessible } from "../support/console.js";

const it = consoleOf();
const rp = relyingParty(it);
const DAY = 86_400_000;

const read = (id) => it.call("GET", `/internal/oauth-clients/${id}`);
/** Opens a part of a client's page. */
const open = (t, { id }, part = "setup") => it.open(t, `${it.home}/oauth-clients/${id}?part=${part}`);
const save = (page) => page.getByRole("button", { name: "Save changes" }).click();

/** Saves a form; returns what it sent. */
async function sent(page) {
  const request = page.waitForRequest((one) => one.method() === "PATCH");
  await save(page);
  await page.locator("form").getByText("Saved", { exact: true }).waitFor();
  return (await request).postDataJSON();
}

test("RS256 without an RSA key leads to where one is created", async (t) => {
  await it.started;
  const client = await rp.newClient();
  const { page } = await open(t, client, "tokens");
  await page.getByLabel("Signature of tokens").selectOption("RS256");
  await save(page);
  await page.locator(".problem", { hasText: "RS256 needs an RSA key" }).waitFor();
  assert.doesNotMatch(await page.innerText("form"), /\/api\/v1/);
  await page.getByRole("link", { name: "create one in the session settings" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard changes" }).click();
  await page.getByRole("button", { name: "Create RSA key" }).click();
  await confirm(page, "Create RSA key");
  await page.goto(`${it.gateway.url}${it.home}/oauth-clients/${client.id}?part=tokens`);
  await page.getByLabel("Signature of tokens").selectOption("RS256");
  assert.equal(await page.getByRole("link", { name: "create one" }).count(), 0);
  assert.deepEqual(await sent(page), { signing_algorithm: "RS256" });
  assert.equal((await read(client.id)).signing_algorithm, "RS256");
});

test("the old secret works as long as one chooses", async (t) => {
  await it.started;
  const client = await rp.newClient();
  const visited = await open(t, client);
  const { page } = visited;
  const dialog = page.getByRole("dialog");
  /** Replaces the secret; returns the new one, and when the old one ends. */
  const replace = async (choice) => {
    await page.getByRole("button", { name: "Replace secret" }).click();
    if (choice) await dialog.getByRole("radio", { name: choice }).check();
    await isAccessible(page, "replacing a secret");
    const text = await dialog.innerText();
    await dialog.getByRole("button", { name: "Replace secret" }).click();
    await dialog.getByRole("heading", { name: "New secret" }).waitFor();
    const [id, secret] = await dialog.locator("code").allTextContents();
    assert.equal(id, client.id);
    await dialog.getByRole("button", { name: "I have saved it" }).click();
    await page.locator("main").getByText(`••••${secret.slice(-4)}`).waitFor();
    const { secrets } = await read(client.id);
    return { secret, text, days: secrets[1] && Math.round((secrets[1].expires_at_millis - Date.now()) / DAY) };
  };
  const usual = await replace();
  assert.equal(usual.days, 1);
  assert.doesNotMatch(usual.text, /earlier secret/);
  assert.deepEqual([await rp.isKnown(client.id, client.client_secret), await rp.isKnown(client.id, usual.secret)], [true, true]);
  const old = page.locator(".facts dd > div", { hasText: `••••${client.client_secret.slice(-4)}` });
  const end = (await read(client.id)).secrets[1].expires_at_millis;
  assert.match(await old.innerText(), /works until/);
  assert.equal(await old.locator("time").getAttribute("datetime"), `${new Date(end).toISOString().slice(0, 19)}Z`);
  // Only one old secret is kept, as the dialog says.
  const week = await replace("for another week");
  assert.equal(week.days, 7);
  assert.match(week.text, new RegExp(`ends in ${client.client_secret.slice(-4)}, stops working now`));
  assert.deepEqual([await rp.isKnown(client.id, client.client_secret), await rp.isKnown(client.id, usual.secret)], [false, true]);
  const leaked = await replace("no longer");
  assert.equal(leaked.days, undefined);
  assert.deepEqual([await rp.isKnown(client.id, week.secret), await rp.isKnown(client.id, leaked.secret)], [false, true]);
  // Cancelling replaces nothing.
  await page.getByRole("button", { name: "Replace secret" }).click();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.ok(await rp.isKnown(client.id, leaked.secret));
  visited.check();
});

test("each group of settings is saved, and sends only what has changed", async (t) => {
  await it.started;
  const client = await rp.newClient({ scopes: ["email", "openid"] });
  const visited = await open(t, client, "urls");
  const { page } = visited;
  const show = async (part) => {
    await page.getByRole("navigation", { name: "Parts of this client" }).getByRole("link", { name: part }).click();
    await page.locator(".tabs [aria-current]", { hasText: part }).waitFor();
  };
  await page.getByLabel("Redirect URIs", { exact: true }).fill("");
  assert.deepEqual(await sent(page), { redirect_uris: [] });
  await page.locator(".head .state", { hasText: "No redirect URI" }).waitFor();
  await show("Set up");
  await page.getByRole("link", { name: "add a redirect URI" }).click();
  await page.getByLabel("Redirect URIs", { exact: true }).fill("https://notes.example.com/cb");
  await page.getByLabel("Redirect URIs after sign-out").fill("https://notes.example.com/bye");
  assert.deepEqual(await sent(page), {
    redirect_uris: ["https://notes.example.com/cb"],
    post_logout_redirect_uris: ["https://notes.example.com/bye"],
  });

  await show("What users see");
  await page.getByLabel("Name").fill("Letters");
  await page.getByLabel("Privacy policy").fill("https://notes.example.com/privacy");
  assert.deepEqual(await sent(page), { name: "Letters", policy_uri: "https://notes.example.com/privacy" });
  await heading(page, "Letters");
  await page.getByLabel("Privacy policy").fill("");
  assert.deepEqual(await sent(page), { policy_uri: null });

  await show("Tokens");
  await page.getByLabel("Access tokens expire after").fill("300");
  await page.getByText("= 5 minutes").waitFor();
  await page.getByLabel("The app may leave out PKCE").check();
  await page.getByText("anybody who steals a code on its way to the app").waitFor();
  assert.deepEqual(await sent(page), { access_token_seconds: 300, pkce_optional: true });

  await show("Access");
  await page.getByRole("checkbox", { name: "Name and picture" }).check();
  assert.deepEqual(await sent(page), { scopes: ["openid", "profile", "email"] });
  await page.getByRole("radio", { name: "Your own" }).check();
  assert.deepEqual(await sent(page), { is_first_party: true });
  visited.check();
});

test("teams are chosen by their names, and permissions from a list", async (t) => {
  await it.started;
  const teams = [];
  for (const name of ["Analytical Engines", "Analytical Engines", "Looms"]) teams.push(await it.call("POST", "/teams", { display_name: name }));
  await it.call("POST", "/project-permission-definitions", { id: "notes" });
  const client = await rp.newClient();
  const visited = await open(t, client, "access");
  const { page } = visited;
  const search = page.getByRole("searchbox");
  const found = page.locator(".picker .buttons button");
  const chosen = page.locator(".picker .chips li");
  assert.equal(await search.isVisible(), false);
  await page.getByRole("radio", { name: "Members of certain teams" }).check();
  await search.fill("analytical");
  await page.getByText("2 teams", { exact: true }).waitFor();
  // Enter must not send the form.
  await search.press("Enter");
  await isAccessible(page, "choosing teams");
  await found.filter({ hasText: teams[0].id.slice(0, 8) }).click();
  assert.ok(await search.evaluate((element) => element === document.activeElement && element.value === ""));
  await search.fill("looms");
  await page.getByText("1 team", { exact: true }).waitFor();
  await found.first().click();
  await chosen.nth(1).waitFor();
  assert.equal((await read(client.id)).allowed_team_ids, null, "nothing is saved before the button is pressed");
  assert.deepEqual((await sent(page)).allowed_team_ids.sort(), [teams[0].id, teams[2].id].sort());

  // Names come from the API, and a deleted team can be removed.
  await it.call("DELETE", `/teams/${teams[2].id}`);
  await page.reload();
  await chosen.filter({ hasText: "Analytical Engines" }).waitFor();
  await chosen.filter({ hasText: "deleted team" }).getByRole("button").click();
  assert.deepEqual(await sent(page), { allowed_team_ids: [teams[0].id] });

  await page.getByRole("radio", { name: "Users with a certain permission" }).check();
  await page.getByLabel("Permission", { exact: true }).selectOption("notes");
  await sent(page);
  const { allowed_team_ids: ids, allowed_permission_id: permission } = await read(client.id);
  assert.deepEqual([ids, permission], [null, "notes"]);
  await page.getByRole("radio", { name: "Every user" }).check();
  await sent(page);
  assert.equal((await read(client.id)).allowed_permission_id, null);
  assert.deepEqual(visited.complaints.filter((text) => !/status of 404/.test(text)), [], "only the deleted team was not found");
});

test("a client that is switched off stops, and goes on when it is switched on", async (t) => {
  await it.started;
  const client = await rp.newClient();
  const user = await it.newUser();
  const tokens = await rp.consent(client, user);
  const visited = await open(t, client, "danger");
  const { page } = visited;
  assert.equal(await rp.userinfo(tokens), 200);
  await page.getByText("The app’s sessions are kept").waitFor();
  await page.getByRole("button", { name: "Switch off" }).click();
  await isAccessible(page, "switching a client off");
  await confirm(page, "Switch off");
  await page.locator(".head .state", { hasText: "Switched off" }).waitFor();
  assert.deepEqual([await rp.userinfo(tokens), (await rp.refresh(client, tokens)).error], [401, "invalid_client"]);
  await page.getByRole("link", { name: "Set up" }).click();
  await page.getByRole("link", { name: "the client is switched off" }).click();
  await page.getByRole("button", { name: "Switch on" }).click();
  await confirm(page, "Switch on");
  await page.locator(".head .state", { hasText: "On" }).waitFor();
  assert.deepEqual([await rp.userinfo(tokens), (await rp.refresh(client, tokens)).status], [200, 200]);
  visited.check();
});

test("a client is deleted after its name, with its sessions", async (t) => {
  await it.started;
  const name = "محرر 👩‍🚀 “Notes”";
  const client = await rp.newClient({ name });
  const tokens = await rp.consent(client, await it.newUser());
  const visited = await open(t, client, "danger");
  const { page } = visited;
  await page.getByRole("button", { name: "Delete client" }).click();
  const dialog = page.getByRole("dialog");
  assert.match(await dialog.innerText(), /Ends all sessions of the app/);
  assert.equal(await dialog.locator("bdi").textContent(), name, "joiners of emoji are not shown as code points");
  await isAccessible(page, "deleting a client");
  await dialog.getByRole("textbox").fill("Notes");
  assert.ok(await dialog.getByRole("button", { name: "Delete client" }).isDisabled());
  await confirm(page, "Delete client", name);
  await heading(page, "OAuth clients");
  await assert.rejects(read(client.id), /404/);
  assert.equal(await rp.userinfo(tokens), 401);
  visited.check();
});

test("what the API refuses is said at the field", async (t) => {
  await it.started;
  const client = await rp.newClient();
  const { page: look } = await open(t, client, "look");
  await look.getByLabel("Logo").fill("http://notes.example.com/logo.png");
  await save(look);
  await look.locator(".field", { has: look.getByLabel("Logo") }).getByText("must be an https URL").waitFor();
  const { page: access } = await open(t, client, "access");
  await access.getByRole("radio", { name: "Members of certain teams" }).check();
  await save(access);
  await access.locator(".field", { has: access.getByRole("searchbox") }).getByText("must have 1 to 20 elements").waitFor();
  assert.ok(await access.getByRole("searchbox").evaluate((element) => element === document.activeElement));
});
