// Every page of the console, with and without data. Pages must be accessible, fit in the window,
// report no errors, and send no requests to other hosts. PICTURES=folder keeps screenshots.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";

import { relyingParty } from "../support/clients.js";
import { consoleOf, isAccessible, PASSWORD } from "../support/console.js";

// One of the pages shows a client whose document is on this machine.
const it = consoleOf({ GATELET_ALLOW_PRIVATE_ISSUERS: "1" });
const { PICTURES } = process.env;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });
/** More users than fit on a list's first page. */
const USERS = 60;
/** The maximum total size of a page's modules and styles, uncompressed. */
const MAX_BYTES = 150_000;

const EMPTY = [
  "",
  ...["", "?with=javascript", "?with=react", "?with=nextjs", "?with=node", "?with=python"].map((query) => `/quick-start${query}`),
  "/content",
  "/users",
  "/users?new=1",
  "/teams",
  "/teams?new=1",
  "/permissions",
  "/permissions?scope=project",
  "/permissions?edit=%2B",
  "/providers",
  "/providers?edit=%2B",
  "/sign-up-rules",
  "/sign-up-rules?part=test",
  "/sign-up-rules?edit=%2B",
  "/oauth-clients",
  "/oauth-clients?new=1",
  "/oauth-clients?part=described",
  "/oauth-resources",
  "/oauth-resources?new=1",
  "/outbox",
  "/templates",
  "/templates/new",
  "/themes",
  "/themes/new",
  "/drafts",
  "/drafts/new",
  "/keys",
  "/webhooks",
  "/webhooks?new=1",
  "/api",
  "/api/users-user-create",
  "/api/users-user-list",
  "/audit-log",
  ...[
    "",
    "/sign-in",
    "/sessions",
    "/second-factor",
    "/domains",
    "/teams",
    "/api-keys",
    "/emails",
    "/bots",
    "/audit",
    "/danger",
    "/nothing",
  ].map((area) => `/settings${area}`),
];

/** The bytes of a page's modules and styles; runs in the page. */
function weight() {
  const assets = performance.getEntriesByType("resource").filter(({ name }) => new URL(name).pathname.includes("/assets/"));
  return assets.reduce((all, { decodedBodySize: bytes }) => all + bytes, 0);
}

/** Parts of the bar that overlap, and the page's width if it is too wide; runs in the page. */
function misplaced() {
  const parts = [...document.querySelectorAll(".brand, .switch > *, .account > *, .bar nav > a, .theme select, .menu")];
  const boxes = parts
    .filter((part) => part.checkVisibility() && !part.matches(".label"))
    .map((part) => [part.textContent.trim().slice(0, 20), part.getBoundingClientRect()]);
  const covers = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const pairs = boxes.flatMap(([one, a], index) =>
    boxes
      .slice(index + 1)
      .filter(([, b]) => covers(a, b))
      .map(([other]) => `${one} and ${other}`),
  );
  const width = document.documentElement.scrollWidth;
  return width > innerWidth ? [...pairs, `${width} px wide`] : pairs;
}

/** Visits pages in both themes and at four widths; `what` names their pictures. */
async function lookAt(t, what, paths) {
  for (const colorScheme of ["light", "dark"]) {
    const visited = await it.open(t, "/console/projects", { colorScheme, viewport: { width: 1280, height: 700 }, reducedMotion: "reduce" });
    for (const path of paths) {
      await visited.page.goto(`${it.gateway.url}${path}`);
      await visited.page.locator("#console[data-view] h1").waitFor();
      await visited.page.waitForFunction(() => !document.querySelector(".more [role=status]"));
      assert.ok((await visited.page.evaluate(weight)) < MAX_BYTES, `${path} weighs too much`);
      for (const width of [1280, 1024, 768, 360]) {
        await visited.page.setViewportSize({ width, height: 700 });
        const where = `${path}, ${colorScheme}, ${width} px`;
        const picture = `${what}${path.replace(it.home, "").replaceAll(/[0-9a-f-]{36}/g, "id").replaceAll(/\W+/g, "-")}.${width}.${colorScheme}.png`;
        if (PICTURES) await visited.page.screenshot({ path: `${PICTURES}/${picture}`, fullPage: true });
        assert.deepEqual(await visited.page.evaluate(misplaced), [], where);
        if (width === 360 || (width === 1280 && colorScheme === "light")) await isAccessible(visited.page, where);
      }
    }
    // One page can be for an id that does not exist, so the browser reports the API's 404.
    assert.deepEqual(
      visited.complaints.filter((text) => !/the server responded with a status of 404/.test(text)),
      [],
    );
  }
}

test("pages without data are accessible, and fit", { timeout: 900_000 }, async (t) => {
  await it.started;
  const own = ["/sign-in", "/forgot-password", "/password-reset", "/projects"].map((path) => `/console${path}`);
  await lookAt(t, "empty", [...own, ...EMPTY.map((path) => it.home + path), `${it.home}/nothing/at/all`]);
});

test("pages with data are accessible, and fit", { timeout: 900_000 }, async (t) => {
  await it.started;
  const users = [];
  for (let index = 0; index < USERS; index++) {
    const address = { primary_email: `user${index}@example.com`, primary_email_auth_enabled: true };
    users.push(await it.call("POST", "/users", { ...address, display_name: `User ${index}`, password: PASSWORD }));
  }
  const [user] = users;
  await it.call("POST", "/contact-channels", { user_id: user.id, type: "email", value: "second@example.com", used_for_auth: false });
  await it.call("POST", "/auth/sessions", { user_id: user.id });
  const team = await it.call("POST", "/teams", { display_name: "Engines", creator_user_id: user.id });
  await it.call("POST", "/team-invitations/send-code", {
    team_id: team.id,
    email: "grace@example.com",
    callback_url: "http://localhost:3000/join",
  });
  await it.call("POST", "/project-permission-definitions", { id: "reports", description: "Reads reports" });
  await it.call("POST", `/project-permissions/${user.id}/reports`, {});
  const webhook = await it.call("POST", "/internal/webhook-endpoints", {
    url: "https://hooks.example.com/x",
    event_types: ["user.created"],
  });
  const draft = await it.call("POST", "/internal/email-drafts", {
    display_name: "News",
    subject_source: "News",
    html_source: "<p>News</p>",
  });
  await it.call("POST", "/emails/send-email", { user_ids: [user.id], subject: "Hello", html: "<p>Hello {{ nothing }}</p>" });
  const [email] = (await it.call("GET", "/emails/outbox")).items;
  const { templates } = await it.call("GET", "/internal/email-templates");
  const { themes } = await it.call("GET", "/internal/email-themes");
  const rule = { id: "far", enabled: true, priority: 1, condition: 'countryCode == "AQ"', action: { type: "log" } };
  await it.call("PATCH", "/internal/projects/current", {
    config: {
      allow_user_api_keys: true,
      allow_team_api_keys: true,
      sign_up_rules: [rule],
      oauth_providers: [{ id: "github", client_id: "x", client_secret: "y" }],
      oauth_client_documents_enabled: true,
      oauth_client_registration_enabled: true,
    },
  });
  await it.call("POST", "/user-api-keys", { user_id: user.id, description: "Laptop", scopes: ["read"] });
  const rp = relyingParty(it);
  const client = await rp.newClient({ allowed_team_ids: [team.id], post_logout_redirect_uris: ["https://notes.example.com/bye"] });
  await rp.newClient({ name: "Field app", client_type: "public", redirect_uris: [], is_first_party: true });
  await rp.consent(client, user);
  await it.call("POST", `/internal/oauth-clients/${client.id}/rotate-secret`, {});
  const resource = await rp.newResource({ scopes: [{ name: "notes:read", description: "Read your notes" }, { name: "notes:write", description: "Change your notes" }] });
  const documented = await rp.documented(t);
  await rp.consent(documented, user, "openid notes:read", [resource.identifier]);
  await rp.registered();
  const { items } = await it.call("GET", "/internal/oauth-clients");
  const described = items.filter(({ source }) => source !== "created").map(({ id }) => ["setup", "urls", "access", "look", "danger"].map((part) => `/oauth-clients/${id}?part=${part}`));
  const ofResource = ["setup", "scopes", "settings", "danger"].map((part) => `/oauth-resources/${resource.id}?part=${part}`);
  const ofClient = ["setup", "urls", "access", "look", "tokens", "danger"].map((part) => `/oauth-clients/${client.id}?part=${part}`);
  const parts = ["profile", "sign-in", "teams", "sessions", "apps", "keys", "activity", "danger"].map((part) => `/users/${user.id}?part=${part}`);
  await lookAt(
    t,
    "data",
    [
      "",
      "/users",
      ...parts,
      "/teams",
      ...["members", "invitations", "profile", "keys", "danger"].map((part) => `/teams/${team.id}?part=${part}`),
      "/permissions?scope=project",
      "/permissions?scope=project&edit=reports",
      "/providers",
      "/providers?edit=github",
      "/sign-up-rules",
      "/sign-up-rules?edit=far",
      "/oauth-clients",
      "/oauth-clients?part=described",
      ...ofClient,
      ...described.flat(),
      "/oauth-resources",
      ...ofResource,
      "/outbox",
      `/outbox/${email.id}`,
      `/templates/${templates[0].id}`,
      `/themes/${themes[0].id}`,
      "/drafts",
      `/drafts/${draft.id}`,
      "/keys",
      "/webhooks",
      `/webhooks/${webhook.id}`,
      `/webhooks/${webhook.id}?part=settings`,
      "/audit-log",
      `/users/00000000-0000-4000-8000-000000000000`,
    ].map((path) => it.home + path),
  );
});
