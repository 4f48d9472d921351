// Data in the console: hostile texts, two administrators at the same time, actions that cannot be
// undone, and a field for every setting.

import assert from "node:assert/strict";
import { test } from "node:test";

import { AREAS, described, ELSEWHERE } from "../../../infra/console/web/core/settings.js";
import { operations } from "../../../infra/console/web/core/openapi.js";
import { confirm, consoleOf, heading, isAccessible } from "../support/console.js";

const it = consoleOf();
const HOSTILE = `<script>document.title='broken'</script><img src=x onerror="document.title='broken'">{{7*7}}`;

test("hostile data is shown as text everywhere", { timeout: 900_000 }, async (t) => {
  await it.started;
  const user = await it.newUser({
    display_name: HOSTILE.slice(0, 200),
    server_metadata: { html: HOSTILE, long: "x".repeat(10_000), rtl: "\u202Egnp.exe", nul: "a\u0000b", emoji: "👩‍🚀".repeat(500) },
    restricted_by_admin: true,
    restricted_by_admin_reason: HOSTILE,
    restricted_by_admin_private_details: `\u202E${HOSTILE}`,
  });
  const rtl = await it.newUser({ display_name: "مرحبا".repeat(40) });
  const team = await it.call("POST", "/teams", {
    display_name: HOSTILE.slice(0, 200),
    creator_user_id: user.id,
    client_metadata: { html: HOSTILE },
  });
  await it.call("POST", "/project-permission-definitions", { id: "hostile", description: HOSTILE });
  await it.call("POST", "/internal/api-keys", {
    description: HOSTILE,
    expires_at_millis: Date.now() + 9e7,
    has_publishable_client_key: true,
    has_secret_server_key: false,
    has_super_secret_admin_key: false,
  });
  const webhook = await it.call("POST", "/internal/webhook-endpoints", {
    url: `https://hooks.example.com/?x=${encodeURIComponent(HOSTILE)}`,
    description: HOSTILE,
  });
  const html = `${HOSTILE}<p id="safe">safe</p><form action="/"><button>x</button></form>`;
  await it.call("POST", "/emails/send-email", {
    user_ids: [user.id],
    subject: HOSTILE.replace("{{7*7}}", ""),
    html: html.replace("{{7*7}}", ""),
  });
  const [email] = (await it.call("GET", "/emails/outbox")).items;
  const draft = await it.call("POST", "/internal/email-drafts", { display_name: HOSTILE, subject_source: HOSTILE, html_source: html });
  await it.call("PATCH", "/internal/projects/current", {
    description: HOSTILE,
    config: {
      sign_up_rules: [
        {
          id: "r",
          display_name: HOSTILE,
          enabled: true,
          priority: 0,
          condition: '"<script>" == email',
          action: { type: "log", message: HOSTILE },
        },
      ],
    },
  });
  const visited = await it.open(t, "/console/projects");
  const { page } = visited;
  for (const path of [
    "",
    "/users",
    `/users/${user.id}`,
    `/users/${user.id}?part=danger`,
    `/users/${user.id}?part=activity`,
    `/users/${rtl.id}`,
    "/teams",
    `/teams/${team.id}`,
    `/teams/${team.id}?part=profile`,
    "/permissions?scope=project",
    "/keys",
    "/webhooks",
    `/webhooks/${webhook.id}?part=settings`,
    "/outbox",
    `/outbox/${email.id}`,
    "/drafts",
    `/drafts/${draft.id}`,
    "/sign-up-rules",
    "/sign-up-rules?edit=r",
    "/audit-log",
    "/settings",
  ]) {
    await page.goto(`${it.gateway.url}${it.home}${path}`);
    await page.locator("#console[data-view] h1").waitFor();
    await page.waitForFunction(() => !document.querySelector(".more [role=status]"));
    assert.doesNotMatch(await page.title(), /^broken/, path);
    assert.equal(await page.locator("#console script, #console img").count(), 0, path);
    const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(width <= window, `${path} is ${width} px wide`);
  }
  await page.goto(`${it.gateway.url}${it.home}/drafts/${draft.id}`);
  await page.frameLocator("iframe").locator("#safe").waitFor();
  assert.doesNotMatch(await page.title(), /^broken/);
  // The heading shows the markup as text.
  await page.goto(`${it.gateway.url}${it.home}/users/${user.id}`);
  await heading(page, HOSTILE.slice(0, 200));
  // The images of the email cannot load, and some drafts cannot be rendered.
  assert.deepEqual(
    visited.complaints.filter((text) => !/the server responded with a status of 40[03]/.test(text)),
    [],
  );
});

test("a form whose values somebody else changed is not saved, but shows the changes", async (t) => {
  await it.started;
  const user = await it.newUser({ display_name: "Before" });
  const first = await it.open(t, `${it.home}/users/${user.id}`);
  const second = await it.open(t, `${it.home}/users/${user.id}`);
  for (const { page } of [first, second]) await heading(page, "Before");
  await first.page.getByLabel("Name").fill("First");
  await first.page.getByLabel("Server metadata").fill('{"by": "first"}');
  await first.page.getByRole("button", { name: "Save changes" }).click();
  await first.page.getByText("Saved", { exact: true }).first().waitFor();

  const { page } = second;
  await page.getByLabel("Name").fill("Second");
  await page.getByRole("button", { name: "Save changes" }).click();
  const dialog = page.getByRole("dialog", { name: "Somebody else saved first" });
  const row = dialog.locator("tbody tr");
  assert.deepEqual(await row.locator("th, td").allInnerTexts(), ["Name", "Before", "First", "Second"]);
  assert.equal(await row.count(), 1, "only what both changed");
  assert.equal((await it.call("GET", `/users/${user.id}`)).display_name, "First", "nothing was saved");
  await dialog.getByRole("button", { name: "Take theirs" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.querySelector("form input").value === "First");
  assert.match(await page.getByLabel("Server metadata").inputValue(), /first/);

  await it.call("PATCH", `/users/${user.id}`, { display_name: "Third" });
  await page.getByLabel("Name").fill("Mine");
  await page.getByRole("button", { name: "Save changes" }).click();
  await dialog.getByRole("button", { name: "Save mine anyway" }).click();
  await page.getByText("Saved", { exact: true }).first().waitFor();
  const after = await it.call("GET", `/users/${user.id}`);
  assert.deepEqual([after.display_name, after.server_metadata], ["Mine", { by: "first" }], "only my field was overwritten");
});

test("two administrators who change a list do not overwrite each other", async (t) => {
  await it.started;
  const rule = (id) => ({ id, enabled: true, priority: 0, condition: "true", action: { type: "log" } });
  await it.call("PATCH", "/internal/projects/current", { config: { sign_up_rules: [rule("one")] } });
  const { page } = await it.open(t, `${it.home}/sign-up-rules?edit=%2B`);
  await heading(page, "Create rule");
  await it.call("PATCH", "/internal/projects/current", { config: { sign_up_rules: [rule("one"), rule("two")] } });
  await page.getByLabel("Id", { exact: true }).fill("three");
  await page.getByRole("button", { name: "Create rule" }).click();
  await heading(page, "Sign-up rules");
  const { config } = await it.call("GET", "/internal/projects/current");
  assert.deepEqual(config.sign_up_rules.map(({ id }) => id).sort(), ["one", "three", "two"]);
});

test("an email that somebody changed meanwhile is not paused unseen", async (t) => {
  await it.started;
  const user = await it.newUser();
  await it.call("POST", "/emails/send-email", {
    user_ids: [user.id],
    subject: "Later",
    html: "<p>x</p>",
    scheduled_at_millis: Date.now() + 9e7,
  });
  const email = (await it.call("GET", "/emails/outbox")).items.find(({ subject_source: subject }) => subject === "Later");
  const { page } = await it.open(t, `${it.home}/outbox/${email.id}`);
  await page.getByRole("button", { name: "Pause" }).click();
  await it.call("PATCH", `/emails/outbox/${email.id}`, { subject_source: "Changed" });
  await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
  await page.getByRole("dialog").locator(".note.failed").waitFor();
  assert.equal((await it.call("GET", `/emails/outbox/${email.id}`)).is_paused, false);
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Pause" }).click();
  await confirm(page, "Pause");
  assert.equal((await it.call("GET", `/emails/outbox/${email.id}`)).is_paused, true);
});

test("deleting a user requires the name, and Escape deletes nothing", async (t) => {
  await it.started;
  const user = await it.newUser();
  const { page } = await it.open(t, `${it.home}/users/${user.id}?part=danger`);
  await page.getByRole("button", { name: "Delete user" }).click();
  const go = page.getByRole("dialog").getByRole("button", { name: "Delete user" });
  assert.ok(await go.isDisabled());
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Delete user", "the focus returns");
  await page.getByRole("button", { name: "Delete user" }).click();
  await confirm(page, "Delete user", user.primary_email);
  await heading(page, "Users");
  await assert.rejects(it.call("GET", `/users/${user.id}`), /404/);
});

test("passkeys are only deleted one by one, each after its name", async (t) => {
  await it.started;
  const user = await it.newUser();
  const { page } = await it.open(t, `${it.home}/users/${user.id}?part=sign-in`);
  await page.getByText("No passkeys.").waitFor();
  const form = page.locator("form", { has: page.getByLabel("Signs in with emailed codes") });
  for (const box of await form.getByRole("checkbox").all()) await box.setChecked(!(await box.isChecked()));
  const saved = page.waitForRequest((request) => request.method() === "PATCH");
  await form.getByRole("button", { name: "Save changes" }).click();
  assert.deepEqual(Object.keys((await saved).postDataJSON()), ["otp_auth_enabled"]);
});

test("revoking the keys of this page says that the project is lost until a restart", async (t) => {
  await it.started;
  await it.call("POST", "/internal/api-keys", {
    description: "Another admin",
    expires_at_millis: Date.now() + 9e7,
    has_publishable_client_key: false,
    has_secret_server_key: false,
    has_super_secret_admin_key: true,
  });
  const { page } = await it.open(t, `${it.home}/keys`);
  const dialog = page.getByRole("dialog");
  for (const [name, isOwn] of [
    ["Another admin", false],
    ["Made with the project", true],
  ]) {
    await page.getByRole("button", { name: `Revoke ${name}` }).click();
    await dialog.waitFor();
    assert.equal(/This browser can no longer open the project/.test(await dialog.innerText()), isOwn, name);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
});

test("the outbox states a sending rate only where there is one", async (t) => {
  await it.started;
  const { page } = await it.open(t, `${it.home}/outbox`);
  await heading(page, "Outbox");
  const rate = page.getByText(/^This project may send/);
  assert.equal(await rate.count(), 0);
  await page.route("**/emails/delivery-info", async (route) => {
    const answer = await route.fetch();
    const info = await answer.json();
    await route.fulfill({ response: answer, json: { ...info, capacity: { ...info.capacity, is_limited: true } } });
  });
  await page.reload();
  await rate.waitFor();
});

test("RS256 needs an RSA key, which the settings create", async (t) => {
  await it.started;
  const { page } = await it.open(t, `${it.home}/settings/sessions`);
  await heading(page, "Settings");
  await page.getByText("No RSA key").waitFor();
  const save = async () => {
    await page.getByLabel("Signature of access tokens").selectOption("RS256");
    await page.getByRole("button", { name: "Save changes" }).click();
  };
  await save();
  await page.getByText(/cannot be RS256 before the project has an RSA key/).waitFor();
  await page.reload();

  const create = async (verb) => {
    await page.getByRole("button", { name: verb }).click();
    await page.getByRole("dialog").getByRole("button", { name: verb }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await create("Create RSA key");
  await page.locator("main").getByText("Unused", { exact: true }).waitFor();
  await isAccessible(page, "RSA keys");
  await save();
  await page.locator("main").getByText("Saved").waitFor();
  await page.reload();
  await page.locator("main").getByText("Signing", { exact: true }).waitFor();
});

test("every setting that the API can change has a field with the API's help", async () => {
  await it.started;
  const document = await (await fetch(`${it.gateway.url}/openapi.json`)).json();
  const operation = operations(document).find(({ id }) => id === "projects-internal-current-update");
  const names = Object.values(AREAS).flatMap((fields) => fields.map(({ name }) => name));
  const { ProjectPatch, ConfigPatch } = document.components.schemas;
  const wanted = [
    // The setup progress belongs to another dashboard, so this console has no field for it.
    ...Object.keys(ProjectPatch.properties).filter((name) => !["config", "onboarding_status"].includes(name)),
    ...Object.keys(ConfigPatch.properties).map((name) => `config.${name}`),
  ];
  const missing = wanted.filter((name) => ![...names, ...ELSEWHERE].some((known) => known === name || known.startsWith(`${name}.`)));
  assert.deepEqual(missing, []);
  const unexplained = names.filter((name) => !described(document, operation, name));
  assert.deepEqual(unexplained, []);
});
