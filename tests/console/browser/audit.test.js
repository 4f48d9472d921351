// Times in the audit log.

import assert from "node:assert/strict";
import { test } from "node:test";

import { consoleOf } from "../support/console.js";

const it = consoleOf();

test("failed sign-ins, which are counted per minute, have times without seconds", async (t) => {
  await it.started;
  const { primary_email } = await it.newUser();
  const attempt = await fetch(`${it.gateway.url}/api/v1/auth/password/sign-in`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-service-access-type": "client", "x-service-project-id": it.gateway.projectId },
    body: JSON.stringify({ email: primary_email, password: "not the password" }),
  });
  assert.equal(attempt.status, 400);
  const visited = await it.open(t, `${it.home}/audit-log`);
  const timeOf = (operation) => visited.page.locator(".rows tr", { hasText: operation }).locator("time").first();
  const [failed, created] = [timeOf("auth-password-sign-in"), timeOf("users-user-create")];
  await failed.waitFor();
  assert.match(await failed.getAttribute("datetime"), /T\d\d:\d\dZ$/);
  assert.match(await failed.getAttribute("title"), / · [\d-]+ \d\d:\d\d UTC$/);
  assert.match(await failed.textContent(), /^(this minute|\d minutes? ago)$/);
  assert.match(await created.getAttribute("datetime"), /T\d\d:\d\d:\d\dZ$/);
  assert.match(await created.getAttribute("title"), / · [\d-]+ \d\d:\d\d:\d\d UTC$/);
  visited.check();
});
