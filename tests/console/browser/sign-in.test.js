// Signing in to the console as a user of the project `internal`.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";

import { shownBy } from "../../sdk/support/authenticator.js";
import { consoleOf, heading, PASSWORD } from "../support/console.js";

const it = consoleOf();

async function signIn(page, email, password = PASSWORD) {
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.locator("main").getByRole("button", { name: "Sign in" }).click();
}

/** Calls the API as the administrator of the project `internal`. */
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

test("a wrong password is refused in the API's words, and keeps the address", async (t) => {
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
  await page.getByLabel("Code").fill(shownBy(secret));
  await page.locator("main").getByRole("button", { name: "Sign in" }).click();
  await heading(page, "Projects");
});

test("a session lasts as long as the tab, and ends at the API when it is left", async (t) => {
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
  await other.getByText("Projects are created by users").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Projects are created by users").waitFor();
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
