// Redelivers failed events in steps, and shows how many are left. The work can be stopped, and
// resumed after a failure.

import assert from "node:assert/strict";
import { test } from "node:test";

import { consoleOf, heading } from "../support/console.js";

const it = consoleOf();
const DAY = 86_400_000;

/**
 * Opens the redelivery dialog. `steps` answer its requests in turn instead of the API, because a
 * delivery takes more than a day to fail permanently.
 */
async function opened(t, steps) {
  await it.started;
  const endpoint = await it.call("POST", "/internal/webhook-endpoints", { url: "https://hooks.example.com/x" });
  const { page } = await it.open(t, `${it.home}/webhooks/${endpoint.id}`);
  await heading(page, endpoint.url);
  const asked = [];
  await page.route("**/replay-failed", async (route) => {
    asked.push(route.request().postDataJSON().since_millis);
    const { status = 200, wait, ...json } = await steps[asked.length - 1](asked.at(-1));
    await wait;
    await route.fulfill({ status, json });
  });
  await page.getByRole("button", { name: "Deliver failed events again" }).click();
  return { page, asked, dialog: page.getByRole("dialog") };
}

test("failed deliveries are replayed up to the last page, even after a failure", async (t) => {
  let release;
  const wait = new Promise((resolve) => {
    release = resolve;
  });
  const { page, asked, dialog } = await opened(t, [
    (since) => ({ count: 1000, next_since_millis: since + DAY }),
    () => ({ status: 503, error: "Not today", code: "" }),
    (since) => ({ count: 1000, next_since_millis: since + DAY, wait }),
    () => ({ count: 1, next_since_millis: null }),
  ]);
  await dialog.getByLabel("Events from").selectOption("the last 30 days");
  await dialog.getByRole("button", { name: "Deliver failed events again" }).click();
  // The dialog reports the progress before the failure, and requests the failed page again.
  await dialog.getByText("Not today").waitFor();
  await dialog.getByText("1,000 deliveries queued so far. If you try again, the work continues where it stopped.").waitFor();
  await dialog.getByRole("button", { name: "Try again" }).click();
  await dialog.getByText("1,000 deliveries queued so far.", { exact: true }).waitFor();
  assert.equal(await dialog.getByRole("progressbar").count(), 1);
  release();
  await dialog.getByText("2,001 events are being delivered again.").waitFor();
  assert.ok(Math.abs(asked[0] - (Date.now() - 30 * DAY)) < 60_000, "the chosen period");
  assert.deepEqual(asked.slice(1), [asked[0] + DAY, asked[0] + DAY, asked[0] + 2 * DAY]);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  await heading(page, "https://hooks.example.com/x");
});

test("replaying stops on demand after the current page, and can continue", async (t) => {
  let release;
  const wait = new Promise((resolve) => {
    release = resolve;
  });
  const { asked, dialog } = await opened(t, [
    (since) => ({ count: 7, next_since_millis: since + 1, wait }),
    () => ({ count: 1, next_since_millis: null }),
  ]);
  await dialog.getByRole("button", { name: "Deliver failed events again" }).click();
  await dialog.getByRole("button", { name: "Stop" }).click();
  release();
  await dialog.getByText("Stopped. 7 deliveries queued so far.").waitFor();
  assert.equal(asked.length, 1);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("8 events are being delivered again.").waitFor();
  assert.deepEqual(asked, [asked[0], asked[0] + 1]);
});

test("closing the dialog stops replaying; later failures are not replayed", async (t) => {
  let release;
  const wait = new Promise((resolve) => {
    release = resolve;
  });
  const { page, asked, dialog } = await opened(t, [
    (since) => ({ count: 7, next_since_millis: since + 1, wait }),
    () => ({ count: 3, next_since_millis: Date.now() + DAY }),
  ]);
  await dialog.getByRole("button", { name: "Deliver failed events again" }).click();
  await dialog.getByRole("button", { name: "Stop" }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  const answered = page.waitForResponse("**/replay-failed");
  release();
  await answered;
  await page.getByRole("button", { name: "Deliver failed events again" }).click();
  await dialog.getByRole("button", { name: "Deliver failed events again" }).click();
  await dialog.getByText("3 events are being delivered again.").waitFor();
  assert.equal(asked.length, 2, "neither the closed dialog nor newer failures led to a request");
});
