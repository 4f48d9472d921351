// The page of a visitor, with the SDK's defaults. None of the requests that the page makes fails.

import assert from "node:assert/strict";
import { test } from "node:test";

import { TIMEOUT_MILLIS, until } from "../support/until.js";
import { world } from "../support/world.js";
import { statusOf } from "./chromium.js";
import { stage } from "./stage.js";

const w = world();
const here = stage(w, { folder: new URL("visitor/", import.meta.url) });

test("a page with the SDK's defaults makes no failing request", { timeout: 600_000 }, async (t) => {
  const context = await here.browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const [answers, complaints, unanswered] = [[], [], new Set()];
  page.on("request", (request) => unanswered.add(request));
  page.on("response", (response) => unanswered.delete(response.request()));
  page.on("requestfailed", (request) => unanswered.delete(request));
  page.on("pageerror", (error) => complaints.push(`${error}`));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("requestfailed", (request) => request.failure()?.errorText !== "net::ERR_ABORTED" && complaints.push(`${request.method()} ${request.url()} failed`));
  page.on("response", (response) => {
    const what = `${statusOf(response)} ${response.request().method()} ${new URL(response.url()).pathname.replace("/api/v1", "")}`;
    answers.push(what);
    if (statusOf(response) >= 400) complaints.push(what);
  });
  await page.goto(here.site.url);
  await page.waitForSelector("body[data-ready]");
  assert.equal(await page.textContent("#who"), "nobody");
  await page.getByRole("button", { name: "Something to click" }).click();
  // The events of a visitor are sent as an anonymous user, about ten seconds after the page has
  // loaded.
  await page.waitForResponse((response) => new URL(response.url()).pathname.endsWith("/analytics/events/batch"), { timeout: TIMEOUT_MILLIS });
  for (const expected of ["200 POST /auth/anonymous/sign-up", "200 POST /analytics/events/batch"]) assert.ok(answers.includes(expected), `${answers}`);
  await until(() => unanswered.size === 0, "an answer to every request");
  // A browser does not report the result of requests that are sent while a page is left. Reports
  // about all other requests arrive before the response of the next page.
  await page.goto("about:blank");
  await page.evaluate(() => document.readyState);
  assert.deepEqual(complaints, []);
});
