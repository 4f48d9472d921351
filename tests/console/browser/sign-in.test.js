// Sign-in to the console as a user of the project `internal`.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";

import { shownBy } from "../../sdk/support/authenticator.js";
import { confirm, consoleOf, heading, isAccessible, PASSWORD } from "../support/console.js";

const it = consoleOf();

async function signIn(page, email, password = PASSWORD) {
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.locator("main").getByRole("button", { name: "Sign in" }).click();
}

/** The bytes of a base32 secret. */
function decoded(secret) {
  const bits = [...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
}

/** Calls the API as the administrator of `internal`. */
async function internal(method, path, body) {
  const answer = await fetch(`${it.gateway.url}/api/v1${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      "x-service-access-type": "admin",
      "x-service-project-id": "internal",
      "x-service-super-secret-admin-key": it.gateway.internalAdminKey,
    },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
}

test("a wrong password shows the API's error, and the form keeps the address", async (t) => {
  await it.started;
  await it.owner("wrong@example.com");
  const { page } = await it.open(t, "/console/sign-in");
  await signIn(page, "wrong@example.com", "not the password");
  await page.getByRole("link", { name: "EMAIL_PASSWORD_MISMATCH" }).waitFor();
  assert.equal(await page.getByLabel("Email address").inputValue(), "wrong@example.com");
});

test("a user with a second factor is asked for it", async (t) => {
  await it.started;
  const { user_id: id } = await it.owner("factor@example.com");
  const secret = randomBytes(20);
  await internal("PATCH", `/users/${id}`, { totp_secret_base64: secret.toString("base64") });
  const visited = await it.open(t, "/console/sign-in");
  const { page } = visited;
  await signIn(page, "factor@example.com");
  await page.getByLabel("Code").fill("000000");
  await page.locator("main").getByRole("button", { name: "Sign in" }).click();
  await page.locator(".note.failed").waitFor();
  await page.getByLabel("Code").fill(await shownBy(secret));
  await page.locator("main").getByRole("button", { name: "Sign in" }).click();
  await heading(page, "Projects");
});

/** Gives a page a device for passkeys. */
async function withDevice(context, page) {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true };
  const present = { isUserVerified: true, automaticPresenceSimulation: true };
  await devtools.send("WebAuthn.addVirtualAuthenticator", { options: { ...options, ...present } });
}

const signOut = async (page) => {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor({ state: "detached" });
};

test("a user sets up an app and a passkey, and signs in with each", { timeout: 900_000 }, async (t) => {
  await it.started;
  await it.owner("keys@example.com");
  await internal("PATCH", "/internal/projects/current", { config: { passkey_enabled: true } });
  const { page, context } = await it.open(t, "/console/sign-in?next=/console/account", { viewport: { width: 360, height: 800 } });
  await withDevice(context, page);
  await signIn(page, "keys@example.com");
  await heading(page, "Your account");
  await isAccessible(page, "account");

  await page.getByRole("button", { name: "Set up an app" }).click();
  const secret = (await page.locator(".code code").innerText()).replaceAll(" ", "");
  await isAccessible(page, "setting up an app");
  await page.getByLabel("Code").fill("000000");
  await page.locator("form").getByRole("button", { name: "Set up an app" }).click();
  await page.getByRole("link", { name: "INVALID_TOTP_CODE" }).waitFor();
  await page.getByLabel("Code").fill(await shownBy(decoded(secret)));
  await page.getByLabel("Name").fill("Phone");
  await page.locator("form").getByRole("button", { name: "Set up an app" }).click();
  const dialog = page.getByRole("dialog", { name: "Recovery codes" });
  const codes = (await dialog.locator("code").innerText()).split(" ");
  assert.equal(codes.length, 10);
  await dialog.getByRole("button", { name: "I have saved it" }).click();
  await page.locator(".rows tr", { hasText: "Phone" }).waitFor();

  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.locator(".rows", { hasText: "Passkey" }).getByRole("button", { name: "Delete passkey" }).waitFor();
  await isAccessible(page, "account with credentials");
  await signOut(page);

  // A passkey as the second factor.
  await page.goto(`${it.gateway.url}/console/sign-in`);
  await signIn(page, "keys@example.com");
  await page.getByLabel("Code").waitFor();
  await isAccessible(page, "second factor");
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await heading(page, "Projects");
  await signOut(page);

  // A passkey as the first factor, and a recovery code as the second factor.
  await page.goto(`${it.gateway.url}/console/sign-in`);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByLabel("Code").fill(codes[0]);
  await page.locator("main").getByRole("button", { name: "Sign in" }).click();
  await heading(page, "Projects");

  await page.getByRole("link", { name: "Account" }).click();
  await page.getByRole("button", { name: "Delete passkey" }).click();
  const name = await page.getByRole("dialog").locator("bdi").innerText();
  await confirm(page, "Delete passkey", name);
  await page.getByText("No passkeys.").waitFor();
  await page.getByRole("button", { name: "Remove app" }).click();
  await confirm(page, "Remove app", "Phone");
  await page.getByText("No authenticator app.").waitFor();
  await signOut(page);
  await page.goto(`${it.gateway.url}/console/sign-in`);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.locator(".note.failed").waitFor();
  await signIn(page, "keys@example.com");
  await heading(page, "Projects");
});

test("a changed password ends the other sessions", async (t) => {
  await it.started;
  const { refresh_token: other } = await it.owner("changing@example.com");
  const { page } = await it.open(t, "/console/account");
  await signIn(page, "changing@example.com");
  await heading(page, "Your account");
  await page.locator(".rows tr", { hasText: "this one" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "End session" }).count(), 1);
  await page.getByLabel("Current password").fill("wrong horse battery");
  await page.getByLabel("New password").fill("another horse battery");
  await page.getByRole("button", { name: "Change password" }).click();
  await page.locator(".note.failed").waitFor();
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length === 1);
  const renewed = await fetch(`${it.gateway.url}/api/v1/auth/sessions/current/refresh`, {
    method: "POST",
    headers: { "x-service-access-type": "client", "x-service-project-id": "internal", "x-service-refresh-token": other },
  });
  assert.equal(renewed.status, 401);
});

/** Sends a device's request to this OAuth operation; returns the response body. */
async function device(operation, fields) {
  const body = new URLSearchParams({ client_id: "internal", ...fields });
  const answer = await fetch(`${it.gateway.url}/api/v1/auth/oauth/${operation}`, { method: "POST", body });
  return answer.json();
}

test("a command-line tool is signed in by a click, not by opening the page", async (t) => {
  await it.started;
  await it.owner("tool@example.com");
  const start = () => device("device_authorization", { verification_uri: `${it.gateway.url}/console/cli-auth-confirm` });
  const poll = ({ device_code: code }) => device("token", { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: code });
  const [confirmed, typed] = [await start(), await start()];
  const { page } = await it.open(t, new URL(confirmed.verification_uri_complete).pathname + new URL(confirmed.verification_uri_complete).search);
  await signIn(page, "tool@example.com");
  await heading(page, "Sign in a command-line tool");
  await page.getByText("Confirm only if you started this").waitFor();
  assert.match(await page.locator(".facts").innerText(), /tool@example\.com/);
  await isAccessible(page, "confirming a tool");
  assert.equal((await poll(confirmed)).error, "authorization_pending", "opening the page confirms nothing");
  await page.getByRole("button", { name: "Sign in the tool" }).click();
  await page.getByText("The tool is signed in").waitFor();
  const { access_token: access } = await poll(confirmed);
  const me = await fetch(`${it.gateway.url}/api/v1/users/me`, {
    headers: { "x-service-access-type": "client", "x-service-project-id": "internal", "x-service-access-token": access },
  });
  assert.equal((await me.json()).primary_email, "tool@example.com");

  await page.goto(confirmed.verification_uri_complete);
  await page.getByRole("link", { name: "INVALID_LOGIN_CODE" }).waitFor();

  await page.goto(typed.verification_uri);
  await page.getByLabel("Code").fill("WRONGCOD");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: "INVALID_LOGIN_CODE" }).waitFor();
  await page.getByLabel("Code").fill(typed.user_code.toLowerCase());
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Refuse" }).click();
  await page.getByText("The sign-in was refused").waitFor();
  assert.equal((await poll(typed)).error, "access_denied");
});

test("a session belongs to one tab, and signing out ends it at the API", async (t) => {
  await it.started;
  await it.owner("leaving@example.com");
  const { page, context } = await it.open(t, "/console/sign-in");
  await signIn(page, "leaving@example.com");
  await heading(page, "Projects");
  await page.reload();
  await page.getByLabel("Owned by").waitFor();
  const { access, refresh } = await page.evaluate(() => JSON.parse(sessionStorage.getItem("gatelet.console-session")));
  const other = await context.newPage();
  await other.goto(`${it.gateway.url}/console/projects`);
  await other.getByText("Users of the project “internal” can create projects").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Users of the project “internal” can create projects").waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  const as = (headers) => ({ headers: { "x-service-access-type": "client", "x-service-project-id": "internal", ...headers } });
  assert.equal((await fetch(`${it.gateway.url}/api/v1/users/me`, as({ "x-service-access-token": access }))).status, 401);
  const renewed = await fetch(`${it.gateway.url}/api/v1/auth/sessions/current/refresh`, {
    method: "POST",
    ...as({ "x-service-refresh-token": refresh }),
  });
  assert.equal(renewed.status, 401);
});

test("a project is closed to users who do not own it", async (t) => {
  await it.started;
  await it.owner("owning@example.com");
  await it.owner("foreign@example.com");
  const { page } = await it.open(t, "/console/sign-in");
  await signIn(page, "owning@example.com");
  await heading(page, "Projects");
  await page.getByLabel("Name").fill("Private");
  await page.getByRole("button", { name: "Create project" }).click();
  await heading(page, "API keys");
  const url = page.url().replace(/\/keys$/, "/users");
  const foreign = await it.open(t, "/console/sign-in");
  await signIn(foreign.page, "foreign@example.com");
  await heading(foreign.page, "Projects");
  assert.equal(await foreign.page.locator(".rows", { hasText: "Private" }).count(), 0);
  await foreign.page.goto(url);
  await foreign.page.getByRole("link", { name: "ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN" }).waitFor();
});
