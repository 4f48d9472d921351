// Users of the project `internal` who need a new password, because they have forgotten the old one,
// or because "This wasn't me" has removed it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asAdmin, asClient, configure } from "../../sdk/support/gateway.js";
import { Inbox, linkOf } from "../../sdk/support/inbox.js";
import { consoleOf, heading, isAccessible, PASSWORD } from "../support/console.js";

const it = consoleOf();
const NEW = "a better horse battery";
const SENT = "If an account has this address";

/** The project `internal`, with its administrator's key. */
const internal = () => ({
  url: it.gateway.url,
  projectId: "internal",
  publishableClientKey: it.gateway.internalClientKey,
  superSecretAdminKey: it.gateway.internalAdminKey,
});

/** A browser without a session or the first project's keys. */
async function stranger(t, path) {
  const visited = await it.open(t, "/console/sign-in");
  await visited.page.evaluate(() => localStorage.clear());
  await visited.page.goto(`${it.gateway.url}${path}`);
  return visited;
}

/** The status of a sign-in by password. */
async function signInStatus(email, password) {
  return (await asClient(internal(), "POST", "/auth/password/sign-in", { email, password })).status;
}

/** Requests a link on the page for forgotten passwords, which is reached from sign-in. */
async function ask(page, email) {
  await page.getByRole("link", { name: "Forgot password?" }).click();
  await heading(page, "Forgot password?");
  await page.getByLabel("Email address").fill(email);
  await page.getByRole("button", { name: "Send the link" }).click();
}

/**
 * Sets a new password with an emailed link, then signs in. Asserts that the code appears only in
 * the link's URL: neither in the history nor in a request or its referrer.
 */
async function setPassword(page, { url, code }, email) {
  const requests = [];
  page.on("request", (request) => requests.push(request));
  await page.goto(url.href);
  await page.getByLabel("New password").waitFor();
  assert.equal(page.url(), `${it.gateway.url}/console/password-reset`);
  await isAccessible(page, "new password");

  await page.getByLabel("New password").fill("short");
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByRole("link", { name: "PASSWORD_TOO_SHORT" }).waitFor();
  await page.getByLabel("New password").fill(NEW);
  await page.getByRole("button", { name: "Set password" }).click();
  await heading(page, "Sign in");
  await page.getByText("Your new password is set").waitFor();
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").fill(NEW);
  await page.locator("main").getByRole("button", { name: "Sign in" }).click();
  await heading(page, "Projects");

  const seen = await Promise.all(requests.map(async (request) => [request.url(), (await request.allHeaders()).referer]));
  assert.deepEqual(seen.flat().filter((text) => text?.includes(code)), [url.href]);
  await page.goBack();
  await heading(page, "Sign in");
  assert.equal(await page.getByText("Your new password is set").count(), 0);
  await page.goBack();
  await page.getByText("Open the link in the email again").waitFor();
  assert.equal(page.url(), `${it.gateway.url}/console/password-reset`);
}

test("a forgotten password is replaced by an emailed link, which works once", async (t) => {
  await it.started;
  await it.owner("forgetful@example.com");
  const { page } = await stranger(t, "/console/sign-in");
  await ask(page, " forgetful@example.com ");
  await page.getByText(SENT).waitFor();
  await isAccessible(page, "link sent");
  const link = linkOf(await new Inbox(it.gateway).next("forgetful@example.com"));
  assert.equal(link.url.origin + link.url.pathname, `${it.gateway.url}/console/password-reset`);
  await setPassword(page, link, "forgetful@example.com");
  assert.equal(await signInStatus("forgetful@example.com", PASSWORD), 400);

  await page.goto(link.url.href);
  await page.getByText("This link has already been used").waitFor();
  await isAccessible(page, "used link");
  await page.getByRole("link", { name: "Request a new link" }).click();
  await heading(page, "Forgot password?");
});

test("an address without an account gets the same answer, and no email", async (t) => {
  await it.started;
  const { page } = await stranger(t, "/console/sign-in");
  await ask(page, "nobody@example.com");
  await page.getByText(SENT).waitFor();
  await page.getByRole("button", { name: "Send another link" }).click();
  await page.getByLabel("Email address").waitFor();
  assert.deepEqual(await new Inbox(it.gateway).all("nobody@example.com"), []);
});

test("links that do not work say so, and lead to a new one", async (t) => {
  await it.started;
  const { page } = await stranger(t, `/console/password-reset?code=${"0".repeat(45)}`);
  for (const [query, text] of [
    [`?code=${"0".repeat(45)}`, "This link does not work"],
    ["?code=cut-off", "This link does not work"],
    ["?code=", "Open the link in the email again"],
    ["", "Open the link in the email again"],
  ]) {
    await page.goto(`${it.gateway.url}/console/password-reset${query}`);
    await page.locator(".note.failed", { hasText: text }).waitFor();
    assert.equal(new URL(page.url()).search, "");
    await page.getByRole("link", { name: "Request a new link" }).waitFor();
  }
});

test("a link that is used meanwhile is explained in place of the form", async (t) => {
  await it.started;
  await it.owner("hurried@example.com");
  const { page } = await stranger(t, "/console/sign-in");
  await ask(page, "hurried@example.com");
  const { url, code } = linkOf(await new Inbox(it.gateway).next("hurried@example.com"));
  await page.goto(url.href);
  await page.getByLabel("New password").fill(NEW);
  assert.equal((await asClient(internal(), "POST", "/auth/password/reset", { code, password: "quite another battery" })).status, 200);
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByText("This link has already been used").waitFor();
  assert.equal(await page.getByLabel("New password").count(), 0);
});

test("an address that is not trusted is explained to the operator", async (t) => {
  await it.started;
  await configure(internal(), { allow_localhost: false });
  const { page } = await stranger(t, "/console/sign-in");
  await ask(page, "somebody@example.com");
  await page.getByRole("link", { name: "REDIRECT_URL_NOT_WHITELISTED" }).waitFor();
  const command = await page.locator("main pre").innerText();
  assert.ok(command.includes(`config.domains=[{"domain":"${it.gateway.url}","handler_path":"/console"}]`), command);
  await isAccessible(page, "untrusted address");
  const guide = await page.getByRole("link", { name: "Guide to the console" }).getAttribute("href");
  assert.equal((await fetch(`${it.gateway.url}${guide}`)).status, 200);
  await configure(internal(), { allow_localhost: true });
});

test("after a change by somebody else, the owner sets a new password and signs in", async (t) => {
  await it.started;
  await configure(internal(), { domains: [{ domain: it.gateway.url, handler_path: "/console" }] });
  const { user_id: id, access_token: access, refresh_token: refresh } = await it.owner("victim@example.com");
  await asAdmin(internal(), "PATCH", `/users/${id}`, { primary_email_verified: true });
  const session = { "x-stack-access-token": access, "x-stack-refresh-token": refresh };
  const change = { old_password: PASSWORD, new_password: "the words of an intruder" };
  assert.equal((await asClient(internal(), "POST", "/auth/password/update", change, session)).status, 200);
  const notice = await new Inbox(it.gateway).changed("victim@example.com");

  const { page } = await stranger(t, "/console/sign-in");
  await page.goto(notice.text.match(/https?:\S+not-me-link\S+/)[0]);
  await page.getByRole("button", { name: "This wasn’t me" }).click();
  await page.getByText("We have sent a link to set a new password").waitFor();
  await setPassword(page, linkOf(await new Inbox(it.gateway).next("victim@example.com")), "victim@example.com");
  assert.equal(await signInStatus("victim@example.com", "the words of an intruder"), 400);
});
