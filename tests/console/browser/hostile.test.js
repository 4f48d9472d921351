// Hostile texts in every text field of every form. The form either saves a text, or keeps it and
// shows why it was rejected. The page shows the text without interpreting it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { relyingParty } from "../support/clients.js";
import { consoleOf } from "../support/console.js";

const it = consoleOf();

const TEXTS = {
  "markup": `"><script>document.title='broken'</script><img src=x onerror="document.title='broken'">{{7*7}}{% for %}`,
  "10,000 characters": "x".repeat(10_000),
  "direction and emoji": "\u202Egnp.exe\u2066 مرحبا \u{1F469}\u200D\u{1F680}\u{1F1E9}\u{1F1EA}\u2028e\u0301",
  "NUL and controls": "a\u0000b\u001B[2J\u0007\uFEFF\uFFFF",
};

/** The paths of all pages with a form; their data is created once. */
let known;
const pages = () => (known ??= prepared());

async function prepared() {
  const user = await it.newUser();
  const team = await it.call("POST", "/teams", { display_name: "Engines", creator_user_id: user.id });
  const webhook = await it.call("POST", "/internal/webhook-endpoints", { url: "https://hooks.example.com/x" });
  const draft = await it.call("POST", "/internal/email-drafts", { display_name: "D", subject_source: "D", html_source: "<p>D</p>" });
  await it.call("POST", "/project-permission-definitions", { id: "reports" });
  await it.call("PATCH", "/internal/projects/current", { config: { allow_user_api_keys: true, allow_team_api_keys: true } });
  const ofUser = ["profile", "sign-in", "sessions", "keys", "danger"].map((part) => `/users/${user.id}?part=${part}`);
  const client = await relyingParty(it).newClient({ allowed_team_ids: [team.id] });
  const ofClient = ["urls", "access", "look", "tokens"].map((part) => `/oauth-clients/${client.id}?part=${part}`);
  const ofTeam = ["members", "invitations", "profile", "keys"].map((part) => `/teams/${team.id}?part=${part}`);
  const areas = ["", "/sign-in", "/sessions", "/second-factor", "/domains", "/teams", "/emails", "/bots"];
  return [
    ...["/users?new=1", "/users?q=x", ...ofUser, "/teams?new=1", ...ofTeam],
    ...["/permissions?scope=project&edit=%2B", "/permissions?scope=project&edit=reports", "/providers?edit=%2B"],
    ...["/oauth-clients?new=1", ...ofClient],
    ...["/sign-up-rules?edit=%2B", "/sign-up-rules?part=test", "/templates/new", "/themes/new", "/drafts/new", `/drafts/${draft.id}`],
    ...["/keys", "/webhooks?new=1", `/webhooks/${webhook.id}?part=settings`, "/api/users-user-create", "/api/users-user-read"],
    ...areas.map((area) => `/settings${area}`),
  ].map((path) => it.home + path);
}

const FIELDS = 'input:not([type]), input[type="text"], input[type="email"], input[type="url"], input[type="password"], input[type="search"], textarea';

/** The values of a form's fields; runs in the page. */
const typedIn = (form, fields) => [...form.querySelectorAll(fields)].map(({ value }) => value);

/** Sends a form with this text in all text fields; asserts that a refused form keeps the text. */
async function attempt(page, index, text, where) {
  const form = page.locator("#console form:has(button.main)").nth(index);
  for (const field of await form.locator(FIELDS).all()) if (await field.isVisible()) await field.fill(text);
  const typed = await form.evaluate(typedIn, FIELDS);
  const handle = await form.elementHandle();
  await form.locator("button.main").click();
  const dialog = page.locator("dialog[open]");
  const isBusy = "button.main:disabled";
  await page.waitForFunction(
    ([element, busy]) => !element.isConnected || !element.querySelector(busy) || document.querySelector("dialog[open]"),
    [handle, isBusy],
  );
  if (await dialog.count()) await dialog.locator(".buttons button").first().click();
  await page.waitForFunction(([element, busy]) => !element.isConnected || !element.querySelector(busy), [handle, isBusy]);
  const isRefused = await handle.evaluate((element) => element.isConnected && Boolean(element.querySelector(".note.failed, .problem:not([hidden])")));
  if (isRefused) assert.deepEqual(await handle.evaluate(typedIn, FIELDS), typed, `${where}: what was typed stays`);
}

/** How many forms the page has with all details open. */
async function formsOf(page) {
  await page.locator("#console[data-view] h1").waitFor();
  await page.waitForFunction(() => !document.querySelector(".more [role=status]"));
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("#console details")) details.open = true;
  });
  return page.locator("#console form:has(button.main)").count();
}

for (const [name, text] of Object.entries(TEXTS)) {
  test(`every form saves or refuses ${name}, and nothing breaks`, { timeout: 900_000 }, async (t) => {
    await it.started;
    const visited = await it.open(t, "/console/projects", { viewport: { width: 360, height: 800 } });
    const { page } = visited;
    let sent = 0;
    for (const path of await pages()) {
      const open = () => page.goto(`${it.gateway.url}${path}`);
      await open();
      const forms = await formsOf(page);
      for (let index = 0; index < forms; index += 1) {
        if (index) {
          await open();
          if ((await formsOf(page)) <= index) break;
        }
        const where = `${path}, form ${index + 1}`;
        await attempt(page, index, text, where);
        sent += 1;
        assert.doesNotMatch(await page.title(), /^broken/, where);
        assert.equal(await page.locator("#console script, #console img").count(), 0, where);
        const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(width <= window, `${where} is ${width} px wide`);
      }
    }
    assert.ok(sent > 40, `${sent} forms were sent`);
    // The API should reject some of the texts, which browsers report as errors.
    const unexpected = visited.complaints.filter((complaint) => !/the server responded with a status of 4\d\d/.test(complaint));
    assert.deepEqual(unexpected, []);
  });
}
