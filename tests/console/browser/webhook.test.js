// The settings of a webhook endpoint with custom headers, whose values the console hides.

import assert from "node:assert/strict";
import { test } from "node:test";

import { consoleOf } from "../support/console.js";

const it = consoleOf();

test("another URL asks for the values of the headers, beside their field", async (t) => {
  await it.started;
  const endpoint = await it.call("POST", "/internal/webhook-endpoints", {
    url: "https://hooks.example.com/x",
    custom_headers: { "x-token": "abc" },
  });
  const read = () => it.call("GET", `/internal/webhook-endpoints/${endpoint.id}`);
  const { page } = await it.open(t, `${it.home}/webhooks/${endpoint.id}?part=settings`);
  const [url, headers] = ["URL", "Headers"].map((name) => page.getByLabel(name, { exact: true }));
  await url.fill("https://hooks.example.net/x");
  const save = page.getByRole("button", { name: "Save changes" });
  await save.click();
  await page.getByRole("alert").filter({ hasText: "must contain the value" }).waitFor();
  assert.equal(await headers.getAttribute("aria-invalid"), "true");
  assert.equal(await url.inputValue(), "https://hooks.example.net/x", "nothing that was typed is lost");
  assert.equal((await read()).url, endpoint.url);
  await headers.fill("x-token: def");
  await save.click();
  await page.getByRole("heading", { name: "https://hooks.example.net/x" }).waitFor();
  assert.deepEqual([(await read()).url, (await read()).custom_headers], ["https://hooks.example.net/x", { "x-token": "********" }]);
});
