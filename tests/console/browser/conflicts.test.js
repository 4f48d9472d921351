// Two administrators. If someone else has saved since a form was opened, the form shows both values
// and asks before it overwrites anything.

import assert from "node:assert/strict";
import { test } from "node:test";

import { until } from "../../sdk/support/until.js";
import { consoleOf } from "../support/console.js";

const it = consoleOf();
const PROJECT = "/internal/projects/current";

/** The forms, each with its page, a field, what someone else saves there, and how to read it. */
function forms({ user, team, client, webhook, template, theme, draft, email }) {
  const project = (config) => () => it.call("PATCH", PROJECT, { config });
  const config = async () => (await it.call("GET", PROJECT)).config;
  const rule = (name) => ({ id: "r", display_name: name, enabled: true, priority: 0, condition: "true", action: { type: "log" } });
  const named = (path) => ({
    field: "Name",
    theirs: () => it.call("PATCH", path, { display_name: "Theirs" }),
    read: async () => (await it.call("GET", path)).display_name,
  });
  return [
    { page: `/users/${user.id}`, ...named(`/users/${user.id}`) },
    {
      page: `/users/${user.id}?part=danger`,
      field: "Reason",
      first: (page) => page.getByLabel("Restricted by an administrator").check(),
      theirs: () => it.call("PATCH", `/users/${user.id}`, { restricted_by_admin: true, restricted_by_admin_reason: "Theirs" }),
      read: async () => (await it.call("GET", `/users/${user.id}`)).restricted_by_admin_reason,
    },
    { page: `/teams/${team.id}?part=profile`, ...named(`/teams/${team.id}`) },
    {
      page: "/permissions?scope=project&edit=reports",
      field: "Description",
      theirs: () => it.call("PATCH", "/project-permission-definitions/reports", { description: "Theirs" }),
      read: async () => (await it.call("GET", "/project-permission-definitions")).items.find(({ id }) => id === "reports").description,
    },
    {
      page: "/providers?edit=github",
      field: "Client id",
      // A new client id requires a new secret.
      first: (page) => page.getByLabel("Client secret").fill("z"),
      theirs: project({ oauth_providers: [{ id: "github", client_id: "Theirs", client_secret: "y" }] }),
      read: async () => (await config()).oauth_providers[0].client_id,
    },
    {
      page: "/sign-up-rules?edit=r",
      field: "Name",
      theirs: project({ sign_up_rules: [rule("Theirs")] }),
      read: async () => (await config()).sign_up_rules[0].display_name,
    },
    {
      page: `/webhooks/${webhook.id}?part=settings`,
      field: "Description",
      theirs: () => it.call("PATCH", `/internal/webhook-endpoints/${webhook.id}`, { description: "Theirs" }),
      read: async () => (await it.call("GET", `/internal/webhook-endpoints/${webhook.id}`)).description,
    },
    {
      page: `/oauth-clients/${client}?part=look`,
      field: "Name",
      theirs: () => it.call("PATCH", `/internal/oauth-clients/${client}`, { name: "Theirs" }),
      read: async () => (await it.call("GET", `/internal/oauth-clients/${client}`)).name,
    },
    {
      page: `/oauth-clients/${client}?part=urls`,
      field: "Redirect URIs",
      mine: "https://mine.example.com/",
      theirs: () => it.call("PATCH", `/internal/oauth-clients/${client}`, { redirect_uris: ["https://theirs.example.com/"] }),
      read: async () => (await it.call("GET", `/internal/oauth-clients/${client}`)).redirect_uris.join(),
      kept: "https://theirs.example.com/",
    },
    { page: `/templates/${template.id}`, ...named(`/internal/email-templates/${template.id}`) },
    { page: `/themes/${theme.id}`, ...named(`/internal/email-themes/${theme.id}`) },
    { page: `/drafts/${draft.id}`, ...named(`/internal/email-drafts/${draft.id}`) },
    {
      page: `/outbox/${email.id}`,
      field: "Subject",
      theirs: () => it.call("PATCH", `/emails/outbox/${email.id}`, { subject_source: "Theirs" }),
      read: async () => (await it.call("GET", `/emails/outbox/${email.id}`)).subject_source,
    },
    {
      page: "/settings",
      field: "Description",
      theirs: () => it.call("PATCH", PROJECT, { description: "Theirs" }),
      read: async () => (await it.call("GET", PROJECT)).description,
    },
    {
      page: "/settings/domains",
      field: "Trusted domains",
      mine: "https://mine.example.com",
      theirs: project({ domains: [{ domain: "https://theirs.example.com" }] }),
      read: async () => (await config()).domains.map(({ domain }) => domain).join(),
      kept: "https://theirs.example.com",
    },
    {
      page: "/settings/sessions",
      field: "Unused sessions end after (seconds)",
      mine: "700000",
      theirs: project({ session_max_idle_seconds: 800_000 }),
      read: async () => String((await config()).session_max_idle_seconds),
      kept: "800000",
    },
  ];
}

test("no form overwrites what somebody else has saved", { timeout: 900_000 }, async (t) => {
  await it.started;
  const user = await it.newUser();
  const team = await it.call("POST", "/teams", { display_name: "Before", creator_user_id: user.id });
  const { id: client } = await it.call("POST", "/internal/oauth-clients", { name: "Before", client_type: "public" });
  const webhook = await it.call("POST", "/internal/webhook-endpoints", { url: "https://hooks.example.com/x" });
  const source = { display_name: "Before", html_source: "<p>x</p>" };
  const template = await it.call("POST", "/internal/email-templates", { ...source, subject_source: "x" });
  const theme = await it.call("POST", "/internal/email-themes", { ...source, html_source: "<p>{{ content }}</p>" });
  const draft = await it.call("POST", "/internal/email-drafts", { ...source, subject_source: "x" });
  await it.call("POST", "/project-permission-definitions", { id: "reports", description: "Before" });
  await it.call("PATCH", PROJECT, {
    config: {
      oauth_providers: [{ id: "github", client_id: "Before", client_secret: "y" }],
      sign_up_rules: [{ id: "r", display_name: "Before", enabled: true, priority: 0, condition: "true", action: { type: "log" } }],
    },
  });
  const { page } = await it.open(t, it.home);
  await it.call("POST", "/emails/send-email", { user_ids: [user.id], subject: "x", html: "x", scheduled_at_millis: Date.now() + 9e7 });
  const email = (await it.call("GET", "/emails/outbox")).items.find(({ subject_source: subject }) => subject === "x");
  await it.call("PATCH", `/emails/outbox/${email.id}`, { is_paused: true });
  const all = forms({ user, team, client, webhook, template, theme, draft, email });
  for (const { page: path, field, first, mine = "Mine", theirs, read, kept = "Theirs" } of all) {
    await page.goto(`${it.gateway.url}${it.home}${path}`);
    const input = page.getByLabel(field, { exact: true }).first();
    await first?.(page);
    await input.waitFor();
    await theirs();
    await input.fill(mine);
    await page.getByRole("button", { name: "Save changes" }).click();
    const dialog = page.getByRole("dialog", { name: "Somebody else saved first" });
    await dialog.waitFor();
    assert.ok((await dialog.innerText()).includes(kept) && (await dialog.innerText()).includes(mine), `${path} shows both values`);
    assert.equal(await read(), kept, `${path} has saved nothing`);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await input.inputValue(), mine, `${path} keeps what was typed`);
    await page.getByRole("button", { name: "Save changes" }).click();
    await dialog.getByRole("button", { name: "Save mine anyway" }).click();
    await dialog.waitFor({ state: "detached" });
    await until(async () => await read() === mine, `${path} saves after the question`);
  }
});

test("a change between the comparison and the save is not overwritten", async (t) => {
  await it.started;
  const user = await it.newUser();
  const at = `/users/${user.id}`;
  const { page } = await it.open(t, `${it.home}${at}`);
  await page.getByLabel("Name", { exact: true }).fill("Mine");
  // The form has read the user and found no difference. Now someone else saves first.
  let delayed = 0;
  await page.route(`**/api/v1${at}`, async (route) => {
    if (route.request().method() === "PATCH" && delayed++ === 0) await it.call("PATCH", at, { display_name: "Theirs" });
    await route.continue();
  });
  await page.getByRole("button", { name: "Save changes" }).click();
  const dialog = page.getByRole("dialog", { name: "Somebody else saved first" });
  await dialog.waitFor();
  assert.equal((await it.call("GET", at)).display_name, "Theirs", "nothing was saved");
  await dialog.getByRole("button", { name: "Save mine anyway" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Saved", { exact: true }).first().waitFor();
  assert.equal((await it.call("GET", at)).display_name, "Mine");
});

test("a list that somebody else changes during the save is compared again", async (t) => {
  await it.started;
  const rule = (id) => ({ id, enabled: true, priority: 0, condition: "true", action: { type: "log" } });
  const write = (...ids) => it.call("PATCH", PROJECT, { config: { sign_up_rules: ids.map(rule) } });
  const ids = async () => (await it.call("GET", PROJECT)).config.sign_up_rules.map(({ id }) => id).sort();
  await write("one");
  const { page } = await it.open(t, `${it.home}/sign-up-rules?edit=%2B`);
  await page.getByLabel("Id", { exact: true }).fill("three");
  // The list that someone else saves right before the page's next change.
  let theirs = ["one", "two"];
  await page.route(`**/api/v1${PROJECT}`, async (route) => {
    if (route.request().method() === "PATCH" && theirs) {
      await write(...theirs);
      theirs = null;
    }
    await route.continue();
  });
  await page.getByRole("button", { name: "Create rule" }).click();
  await page.getByRole("heading", { name: "Sign-up rules", level: 1 }).waitFor();
  assert.deepEqual(await ids(), ["one", "three", "two"], "a new rule");
  await page.goto(`${it.gateway.url}${it.home}/sign-up-rules?edit=three`);
  theirs = ["one", "three", "four"];
  await page.getByRole("button", { name: "Delete rule" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("three");
  await page.getByRole("dialog").getByRole("button", { name: "Delete rule" }).click();
  await page.getByRole("heading", { name: "Sign-up rules", level: 1 }).waitFor();
  assert.deepEqual(await ids(), ["four", "one"], "a deleted rule");
});
