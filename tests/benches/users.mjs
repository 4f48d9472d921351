// Fills a gateway in a temporary folder with users, and times the console's list of users in
// Chromium: the first paint, the first rows, another page, and searches. Contacts only 127.0.0.1.
//
//     GATEWAY=target/gateway/gateway node tests/benches/users.mjs [USERS]
//
// GATEWAY is a gateway's binary, such as target/gateway/gateway after `cargo build --profile
// gateway -p gateway`. Needs Chromium at /usr/bin/chromium, or at the path in CHROMIUM, and the
// packages from `tests/sdk/run`.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { launch } from "../sdk/browser/chromium.js";
import { startGateway } from "../sdk/support/gateway.js";
import { CREDENTIALS, fill } from "./support/table.js";

const USERS = Number(process.argv[2] ?? 100_000);
const REPETITIONS = 9;
const FIRST = ["Ada", "Grace", "Alan", "Radia", "Barbara", "Edsger", "Karen", "Donald", "Hedy", "Katherine"];
const LAST = ["Lovelace", "Hopper", "Turing", "Perlman", "Liskov", "Dijkstra", "Jones", "Knuth", "Lamarr", "Johnson", "Łukasiewicz"];

// On disk, because `--dynamodb-port` enables the engine's stream, whose index for fast writes
// exists only on disk.
const folder = mkdtempSync(join(tmpdir(), "gatelet-users-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const gateway = await startGateway({ GATELET_LIMITS: "off", ...CREDENTIALS }, ["--dynamodb-port", "0", "--data", folder]);
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const row = (what, values) => console.log(`${what.padEnd(46)}${median(values).toFixed(0).padStart(6)} ms`);

async function call(method, path, body) {
  const headers = {
    "content-type": "application/json",
    "x-service-access-type": "admin",
    "x-service-project-id": gateway.projectId,
    "x-service-super-secret-admin-key": gateway.superSecretAdminKey,
  };
  const answer = await fetch(`${gateway.url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  const read = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(read)}`);
  return read;
}

const personOf = (number) => {
  const [first, last] = [FIRST[number % FIRST.length], LAST[Math.floor(number / 7) % LAST.length]];
  return [first, last, `user${number}.${last.toLowerCase()}`];
};
const nameOf = (number) => personOf(number).slice(0, 2).join(" ");

/** A newly opened page's times, in milliseconds since the navigation began. */
async function opened(browser, isFirst) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(gateway.startPage);
  if (!isFirst) await page.goto(`${gateway.url}/console/${gateway.projectId}/teams`);
  await page.goto(`${gateway.url}/console/${gateway.projectId}/users`);
  await page.locator(".rows a.row").first().waitFor();
  const times = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const paint = performance.getEntriesByName("first-contentful-paint")[0].startTime;
        const calls = performance.getEntriesByType("resource").filter(({ name }) => name.includes("/api/v1/users"));
        requestAnimationFrame(() => resolve({ paint, rows: calls[0].responseEnd }));
      }),
  );
  await context.close();
  return times;
}

/** The milliseconds from an action in the page until a condition on its rows holds. */
async function timed(page, act, until, argument) {
  return page.evaluate(
    async ([act, until, argument]) => {
      const is = new Function("argument", `return (${until})(argument)`);
      const began = performance.now();
      new Function("argument", `return (${act})(argument)`)(argument);
      while (!is(argument)) await new Promise((resolve) => requestAnimationFrame(resolve));
      return performance.now() - began;
    },
    [String(act), String(until), argument],
  );
}

const type = (text) => {
  const field = document.querySelector("input[type=search]");
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
// The URL contains the search as soon as it is sent.
const shows = (text) => {
  const rows = [...document.querySelectorAll(".rows tbody tr")];
  const isDone = (new URLSearchParams(location.search).get("q") ?? "") === text && !document.querySelector(".more [role=status]");
  return isDone && rows.length > 0 && rows.every((one) => one.textContent.toLowerCase().includes(text.toLowerCase()));
};

async function searched(page, text) {
  const times = [];
  for (let round = 0; round < REPETITIONS; round++) {
    await timed(page, type, shows, "");
    times.push(await timed(page, type, shows, text));
  }
  return times;
}

// The index of names and addresses is complete once the project's users are counted, after the
// first entry of its audit log.
const create = (body) => call("POST", "/users", body);
await create({ display_name: "First" });
await new Promise((resolve) => setTimeout(resolve, 3000));
const began = performance.now();
await fill({ url: gateway.table, table: "gatelet", count: USERS, create, personOf });
console.error(`${USERS} users in ${((performance.now() - began) / 1000).toFixed(0)} s`);
const browser = await launch();
for (const [what, isFirst] of [["coming from another page of the console", false], ["with an empty cache", true]]) {
  const times = [];
  for (let round = 0; round < REPETITIONS; round++) times.push(await opened(browser, isFirst));
  row(`first paint, ${what}`, times.map(({ paint }) => paint));
  row("  answer with the first 50 users", times.map(({ rows }) => rows));
}
const context = await browser.newContext();
const page = await context.newPage();
await page.goto(gateway.startPage);
await page.goto(`${gateway.url}/console/${gateway.projectId}/users`);
await page.locator(".rows a.row").first().waitFor();
const turns = [];
for (let round = 1; round <= REPETITIONS; round++) {
  const more = () => [...document.querySelectorAll(".more button")].at(-1).click();
  turns.push(await timed(page, more, (rows) => document.querySelectorAll(".rows tbody tr").length === rows, 50 * (round + 1)));
}
row("next page of 50 users", turns);
const middle = Math.floor(USERS / 2);
for (const [what, text] of [
  ["an address", `user${middle}.`],
  ["a first name", nameOf(middle).split(" ")[0]],
  ["a last name", nameOf(middle).split(" ")[1]],
  ["a whole name", nameOf(middle)],
]) row(`search for ${what}, with 250 ms after typing`, await searched(page, text));
const scanned = [];
for (let round = 0; round < 3; round++) {
  const began = performance.now();
  let [cursor, found, pages] = [null, 0, 0];
  do {
    const answer = await call("GET", `/users?query=${encodeURIComponent(`r${middle}.`)}&limit=50${cursor ? `&cursor=${cursor}` : ""}`);
    cursor = answer.pagination.next_cursor;
    found += answer.items.length;
    pages += 1;
  } while (cursor);
  if (found !== 1) throw new Error(`the search found ${found} users instead of 1`);
  scanned.push(performance.now() - began);
  if (round === 0) console.error(`${pages} pages of a search inside words`);
}
row("complete search inside words", scanned);
await browser.close();
await gateway.stop();
