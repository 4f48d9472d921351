// Neither pages of other sites nor pages under foreign names that resolve to this machine get
// anything private from a gateway's pages, inbox or table.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { startGateway } from "../support/gateway.js";
import { launch } from "./chromium.js";

const PATHS = ["/", "/console", "/console/session", "/inbox", "/outbox", "/inbox/api/messages", "/inbox/api/messages?limit=1"];
const SECRET = /ssk_|sak_|pck_/;
let gateway, browser, site;

before(async () => {
  gateway = await startGateway({}, ["--dynamodb-port", "0"]);
  // Every name resolves to this machine, as an attacker's DNS server could arrange once a page is
  // loaded.
  browser = await launch(["--host-resolver-rules=MAP * 127.0.0.1, EXCLUDE localhost"]);
  site = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<!doctype html><title>evil</title>"));
  await new Promise((done) => site.listen(0, "127.0.0.1", done));
});
after(async () => {
  await browser?.close();
  site?.close();
  await gateway?.stop();
});

async function open(t, url) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const answer = await page.goto(url);
  return { page, answer };
}

/** The result of a page's `fetch`: status and text, or "nothing". */
const got = (page, url, options) =>
  page.evaluate(async ([url, options]) => {
    try {
      const answer = await fetch(url, options);
      return { status: answer.status, type: answer.type, text: await answer.text() };
    } catch {
      return "nothing";
    }
  }, [url, options ?? {}]);

const port = (url) => new URL(url).port;

test("a page of another site can neither read nor change anything", async (t) => {
  const { page } = await open(t, `http://evil.test:${site.address().port}/`);
  for (const host of ["localhost", "127.0.0.1", "evil.test"]) {
    for (const path of PATHS) {
      const url = `http://${host}:${port(gateway.url)}${path}`;
      const answer = await got(page, url);
      // The site's start page is public.
      assert.ok(answer === "nothing" || (path === "/" && !SECRET.test(answer.text)), `${url}: ${JSON.stringify(answer)}`);
      assert.deepEqual(await got(page, url, { mode: "no-cors" }), { status: 0, type: "opaque", text: "" }, url);
      const deleted = await got(page, url, { method: "DELETE" });
      assert.ok(deleted === "nothing" || [403, 404, 405].includes(deleted.status), `${url}: ${JSON.stringify(deleted)}`);
    }
    const table = `http://${host}:${port(gateway.table)}/`;
    const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.Scan" };
    const body = JSON.stringify({ TableName: "gatelet" });
    assert.equal(await got(page, table, { method: "POST", headers, body }), "nothing", table);
    assert.deepEqual(await got(page, table, { method: "POST", mode: "no-cors", body }), { status: 0, type: "opaque", text: "" }, table);
  }
});

test("forms and frames of another site get nothing", async (t) => {
  const { page } = await open(t, `http://evil.test:${site.address().port}/`);
  for (const path of ["/", "/console", "/inbox", "/outbox"]) {
    await page.setContent(`<iframe name="inside" src="${gateway.url}${path}"></iframe>`, { waitUntil: "load" });
    const inside = await page.frames()[1]?.content().catch(() => "") ?? "";
    // The browser may show an error page instead of the gateway's page.
    assert.ok(!SECRET.test(inside) && !/Gatelet|Inbox|Outbox/.test(inside), path);
  }
  await page.setContent(`<form method="post" action="${gateway.url}/inbox"><input name="all" value="1"><button>Go</button></form>`);
  const [answer] = await Promise.all([page.waitForNavigation(), page.click("button")]);
  assert.equal(answer.status(), 403);
});

test("a browser that has opened the console gives its keys to no other page", async (t) => {
  const { page } = await open(t, gateway.startPage);
  await page.waitForFunction(() => localStorage.getItem("gatelet.console-token"));
  const own = await page.evaluate(async () => {
    const authorization = `Bearer ${localStorage.getItem("gatelet.console-token")}`;
    return { authorization, text: await (await fetch("/console/session", { headers: { authorization } })).text() };
  });
  assert.match(own.text, SECRET);
  // A page on another port of localhost belongs to the same site, so its requests contain the
  // cookie. The page still cannot read anything, even with the token, which other pages do not
  // have.
  for (const origin of [`http://localhost:${site.address().port}`, `http://evil.test:${site.address().port}`]) {
    const other = await page.context().newPage();
    await other.goto(origin);
    for (const headers of [{}, { authorization: own.authorization }]) {
      const url = `${gateway.url}/console/session`;
      assert.equal(await got(other, url, { credentials: "include", headers }), "nothing", `${origin} ${JSON.stringify(headers)}`);
      assert.deepEqual(await got(other, url, { mode: "no-cors", credentials: "include" }), { status: 0, type: "opaque", text: "" });
    }
    await other.setContent(`<script src="${gateway.url}/console/session"></script><iframe name="inside" src="${gateway.url}/console"></iframe>`, { waitUntil: "load" });
    assert.doesNotMatch(await other.frames()[1]?.content().catch(() => "") ?? "", /Gatelet/);
    assert.equal(await other.evaluate(() => localStorage.length), 0);
  }
});

test("a foreign name that resolves here is rejected by every page and the table", async (t) => {
  for (const path of PATHS) {
    const { page, answer } = await open(t, `http://rebound.test:${port(gateway.url)}${path}`);
    assert.ok(path === "/" || [403, 404].includes(answer.status()), `${path}: ${answer.status()}`);
    assert.doesNotMatch(await page.content(), SECRET, path);
  }
  // The document has the origin of the gateway, so its scripts may send the gateway any request.
  const { page } = await open(t, `http://rebound.test:${port(gateway.url)}/docs`);
  for (const path of PATHS) {
    const { status, text } = await got(page, path);
    assert.ok(path === "/" || [403, 404].includes(status), `${path}: ${status}`);
    assert.doesNotMatch(text, SECRET, path);
  }
  const rebound = await open(t, `http://rebound.test:${port(gateway.table)}/`);
  assert.ok(rebound.answer.status() >= 400, `the table: ${rebound.answer.status()}`);
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.Scan" };
  const scan = await got(rebound.page, "/", { method: "POST", headers, body: JSON.stringify({ TableName: "gatelet" }) });
  assert.ok(scan.status >= 400 && !scan.text.includes("Items"), JSON.stringify(scan));
});
