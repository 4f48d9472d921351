// A page with the SDK's defaults: the developer tool, analytics, and the anonymous account of a
// visitor.

import assert from "node:assert/strict";
import { test } from "node:test";

import { TIMEOUT_MILLIS } from "../../support/until.js";
import { world } from "../support/world.js";

const w = world({ options: {} });

test("a visitor's page works with the SDK's defaults, and sends events", async (t) => {
  const it = await w.arrive(t);
  const answers = [];
  it.page.on("response", (response) => answers.push(`${response.status()} ${new URL(response.url()).pathname.replace("/api/v1", "")}`));
  await it.open("/");
  await it.is("nobody");
  await it.picture("visitor");
  await it.page.waitForResponse((response) => response.url().endsWith("/analytics/events/batch"), { timeout: TIMEOUT_MILLIS });
  assert.ok(answers.includes("200 /auth/anonymous/sign-up"), `${answers}`);
  assert.ok(answers.includes("200 /analytics/events/batch"), `${answers}`);
  await it.open("/");
  await it.is("nobody");
  it.check("a visitor's page");
});

test("private pages lead to sign-in, and unknown pages home", async (t) => {
  const it = await w.arrive(t);
  await it.open("/handler/account-settings");
  await it.sees("Sign in to your account");
  assert.equal(new URL(it.page.url()).pathname, "/handler/sign-in");
  await it.open("/handler/no-such-page");
  await it.sees("Page does not exist");
  await it.click("Go to Home");
  await it.is("nobody");
  it.check("pages for members");
});
