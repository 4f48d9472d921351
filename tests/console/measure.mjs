// How fast the console is with many users: `bash tests/console/measure`, or with another number of
// users than 100,000 `bash tests/console/measure 1000`. Prints a table in Markdown.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { launch } from "../sdk/browser/chromium.js";
import { startGateway } from "../sdk/support/gateway.js";

const USERS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 15;
const AT_ONCE = 16;

const numbers = new Intl.NumberFormat("en");
const millis = (times) => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
  return `${at(0.5)} | ${at(0.95)}`;
};

const folder = await mkdtemp(join(tmpdir(), "gatelet-console-"));
const gateway = await startGateway({ GATELET_LIMITS: "off" }, ["--data", folder]);
const browser = await launch();
try {
  await fill();
  await measure();
} finally {
  await browser.close();
  await gateway.stop();
  await rm(folder, { recursive: true });
}

/** Calls the API as the administrator. */
async function call(method, path, body) {
  const answer = await fetch(`${gateway.url}/api/v1${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      "x-service-access-type": "admin",
      "x-service-project-id": gateway.projectId,
      "x-service-super-secret-admin-key": gateway.superSecretAdminKey,
    },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Creates the users. Their names and addresses begin differently, so that a search has a prefix. */
async function fill() {
  const started = performance.now();
  let next = 0;
  const create = async () => {
    while (next < USERS) {
      const number = next;
      next += 1;
      const reversed = [...String(number).padStart(6, "0")].reverse().join("");
      await call("POST", "/users", { primary_email: `person${number}@example.com`, display_name: `Name ${reversed}` });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, create));
  const seconds = (performance.now() - started) / 1000;
  console.log(`${numbers.format(USERS)} users, created in ${numbers.format(Math.round(seconds))} s\n`);
}

async function measure() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(gateway.startPage);
  const row = () => page.locator(".rows tbody tr").first().waitFor();
  const home = `${gateway.url}/console/${gateway.projectId}`;
  console.log("| what | median, ms | 95 % within, ms |\n|---|---|---|");
  const print = (name, times) => console.log(`| ${name} | ${millis(times)} |`);

  for (const [name, path] of [
    ["overview", ""],
    ["users", "/users"],
    ["a page of settings", "/settings/sign-in"],
  ]) {
    const paints = [];
    const contents = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await page.goto("about:blank");
      const started = performance.now();
      await page.goto(home + path, { waitUntil: "commit" });
      await page.locator("#console[data-view] h1").waitFor();
      if (path === "/users") await row();
      contents.push(performance.now() - started);
      paints.push(await page.evaluate(firstPaint));
    }
    print(`${name}: first paint`, paints);
    print(`${name}: with its data`, contents);
  }

  await page.goto(`${home}/users`);
  await row();
  const more = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await page.locator(".rows tbody tr").count();
    const started = performance.now();
    await page.getByRole("button", { name: "Load more" }).click();
    await page.waitForFunction((count) => document.querySelectorAll(".rows tbody tr").length > count, before);
    more.push(performance.now() - started);
  }
  print("users: the next 50 rows", more);

  for (const [name, query] of [
    ["users: search by the beginning of an address", (round) => `person${Math.floor((USERS / ROUNDS) * round)}`],
    ["users: search by the beginning of a name", (round) => `name ${String(round).padStart(2, "0")}`],
    ["users: search without a match", (round) => `nobody${round}`],
  ]) {
    const times = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = performance.now();
      const found = await call("GET", `/users?limit=50&query=${encodeURIComponent(query(round))}`);
      times.push(performance.now() - started);
      if (name.endsWith("match") ? found.items.length : !found.items.length) throw new Error(`${query(round)}: ${found.items.length}`);
    }
    print(name, times);
  }
}

/** When the page first showed something; runs in the page. */
function firstPaint() {
  return performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN;
}
