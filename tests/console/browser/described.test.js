// OAuth clients that describe themselves: whether they are accepted, and their pages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { relyingParty } from "../support/clients.js";
import { confirm, consoleOf, isAccessible } from "../support/console.js";

// The tests' documents are on this machine.
const it = consoleOf({ GATELET_ALLOW_PRIVATE_ISSUERS: "1" });
const rp = relyingParty(it);

const settings = async () => {
  const { config } = await it.call("GET", "/internal/projects/current");
  return [config.oauth_client_documents_enabled, config.oauth_client_document_hosts, config.oauth_client_registration_enabled];
};
const accept = (config) => it.call("PATCH", "/internal/projects/current", { config });
const open = (t, { id }, part = "setup") => it.open(t, `${it.home}/oauth-clients/${id}?part=${part}`);
const row = (page, name) => page.locator(".rows tbody tr", { hasText: name });

/** Saves the form; returns what it sent. */
async function sent(page) {
  const request = page.waitForRequest((one) => one.method() === "PATCH");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.locator("form").getByText("Saved", { exact: true }).waitFor();
  return (await request).postDataJSON();
}

/** A client with this name that a document describes, after a user has signed in to it. */
async function documented(t, name, fields) {
  await accept({ oauth_client_documents_enabled: true, oauth_client_document_hosts: [] });
  const published = await rp.documented(t, { client_name: name, ...fields });
  const user = await it.newUser();
  const tokens = await rp.consent(published, user, "openid offline_access");
  const { items } = await it.call("GET", "/internal/oauth-clients?limit=100");
  return { ...items.find((client) => client.metadata_url === published.id), user, tokens, published };
}

test("an administrator decides which clients may describe themselves", async (t) => {
  await it.started;
  await accept({ oauth_client_documents_enabled: false, oauth_client_document_hosts: [], oauth_client_registration_enabled: false });
  const visited = await it.open(t, `${it.home}/oauth-clients`);
  const { page } = visited;
  await page.getByRole("navigation", { name: "OAuth clients" }).getByRole("link", { name: "Clients that describe themselves" }).click();
  const hosts = page.getByLabel("Trusted hosts");
  const documents = page.getByLabel("Accept clients that publish a document");
  await documents.waitFor();
  assert.equal(await hosts.isVisible(), false);
  await documents.check();
  await hosts.fill("agents.example.com\n\ndesk.example.com");
  await isAccessible(page, "clients that describe themselves");
  assert.deepEqual(await sent(page), {
    config: { oauth_client_documents_enabled: true, oauth_client_document_hosts: ["agents.example.com", "desk.example.com"] },
  });
  await page.getByText("Anybody can then add a client under any name").waitFor();
  await page.getByLabel("Let clients register themselves").check();
  assert.deepEqual(await sent(page), { config: { oauth_client_registration_enabled: true } });
  visited.check();
  assert.deepEqual(await settings(), [true, ["agents.example.com", "desk.example.com"], true]);
  await hosts.fill("agents.example.com\nhttps://desk.example.com");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.locator(".problem", { hasText: "https://desk.example.com must be a host in lower case" }).waitFor();
});

test("the list says where a client comes from, and whether it is accepted", async (t) => {
  await it.started;
  await accept({ oauth_client_registration_enabled: true });
  await documented(t, "Listed by document");
  await rp.registered({ client_name: "Listed by registration" });
  await rp.newClient({ name: "Listed by hand" });
  const visited = await it.open(t, `${it.home}/oauth-clients`);
  const { page } = visited;
  const cells = async (name) => (await row(page, name).locator("td").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  await row(page, "Listed by hand").waitFor();
  const [name, , , state] = await cells("Listed by document");
  assert.match(name, /^Listed by document Described at 127\.0\.0\.1:\d+$/);
  assert.equal(state, "On");
  assert.equal((await cells("Listed by registration"))[0], "Listed by registration Registered itself");
  assert.equal((await cells("Listed by hand"))[0], "Listed by hand");
  await accept({ oauth_client_document_hosts: ["agents.example.com"], oauth_client_registration_enabled: false });
  await page.reload();
  await row(page, "Listed by hand").waitFor();
  const states = await Promise.all(["document", "registration", "hand"].map(async (source) => (await cells(`Listed by ${source}`))[3]));
  assert.deepEqual(states, ["Not accepted", "Not accepted", "On"]);
  visited.check();
});

test("what a document says is shown, and everything else can be changed", async (t) => {
  await it.started;
  const client = await documented(t, "Desk agent", { policy_uri: "https://agent.example.com/privacy" });
  const visited = await open(t, client);
  const { page } = visited;
  const show = async (part) => {
    await page.getByRole("navigation", { name: "Parts of this client" }).getByRole("link", { name: part }).click();
    await page.locator(".tabs [aria-current]", { hasText: part }).waitFor();
  };
  await page.locator("main").getByText(client.metadata_url, { exact: true }).waitFor();
  assert.equal(await page.getByRole("link", { name: client.metadata_url }).count(), 0, "a stranger has chosen the URL");
  await show("Redirect URIs");
  await page.locator("main").getByText("http://localhost/callback", { exact: true }).waitFor();
  assert.equal(await page.locator("main").getByRole("textbox").count(), 0);
  await show("What users see");
  await page.getByText("From the client’s document").waitFor();
  await page.getByText("https://agent.example.com/privacy").waitFor();
  assert.equal(await page.locator("main").getByRole("textbox").count(), 1);
  await page.getByLabel("Logo").fill("https://agent.example.com/logo.png");
  assert.deepEqual(await sent(page), { logo_url: "https://agent.example.com/logo.png" });
  await show("Access");
  await page.getByText("only if you know that the client is yours").waitFor();
  await page.getByRole("checkbox", { name: "Teams" }).uncheck();
  assert.deepEqual(Object.keys(await sent(page)), ["scopes"]);
  await show("Tokens");
  await page.getByLabel("Sessions end after").fill("3600");
  assert.deepEqual(await sent(page), { session_seconds: 3600 });
  await show("Switch off or delete");
  await page.getByText("the next sign-in would bring it back").waitFor();
  await page.getByRole("button", { name: "Switch off" }).click();
  await confirm(page, "Switch off");
  await page.locator(".head .state", { hasText: "Switched off" }).waitFor();
  assert.equal(await rp.userinfo(client.tokens), 401);
  visited.check();
});

test("a client whose host is no longer trusted says why nobody can sign in", async (t) => {
  await it.started;
  const client = await documented(t, "Distrusted agent");
  await accept({ oauth_client_document_hosts: ["agents.example.com"] });
  const visited = await open(t, client);
  const { page } = visited;
  await page.locator(".head .state", { hasText: "Not accepted" }).waitFor();
  await isAccessible(page, "a client that is not accepted");
  assert.equal(await rp.userinfo(client.tokens), 401);
  await page.getByRole("link", { name: "the project does not accept this client’s description" }).click();
  await page.getByLabel("Trusted hosts").fill("agents.example.com\n127.0.0.1");
  await sent(page);
  assert.equal(await rp.userinfo(client.tokens), 200);
  visited.check();
});

test("a client with a document can be switched off, but not deleted", async (t) => {
  await it.started;
  const client = await documented(t, "Returning agent");
  const visited = await open(t, client, "danger");
  const { page } = visited;
  await page.getByText("the next sign-in would bring it back").waitFor();
  assert.equal(await page.getByRole("button", { name: "Delete client" }).count(), 0);
  await page.getByRole("button", { name: "Switch off" }).click();
  await confirm(page, "Switch off");
  await page.getByRole("button", { name: "Switch on" }).waitFor();
  assert.equal(await rp.userinfo(client.tokens), 401);
  visited.check();
});

test("a registered client says that nobody has checked it", async (t) => {
  await it.started;
  await accept({ oauth_client_registration_enabled: true });
  const { id } = await rp.registered({ client_name: "Field agent", client_uri: "https://agent.example.com/" });
  const visited = await open(t, { id });
  const { page } = visited;
  await page.getByText("nobody has checked what it says").waitFor();
  await page.locator("main").getByText(id, { exact: true }).waitFor();
  await page.getByRole("link", { name: "What users see" }).click();
  await page.getByText("https://agent.example.com/", { exact: true }).waitFor();
  await page.getByText("From the client’s registration").waitFor();
  visited.check();
});
