// An app in a browser: the published SDK's `signInWithOAuth` and `callOAuthCallback`, with the
// pages of the provider between them.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

import { startSite } from "../sdk/browser/site.js";
import { Visitor } from "./support/visitor.js";
import { world } from "./support/world.js";

const VERSION = "2.8.108";
const VERIFIER = "a verifier of this very test, as long as RFC 7636 wants it";
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

const w = world();
let site;
let browser;

before(async () => {
  await w.started;
  const { url: baseUrl, projectId, publishableClientKey } = w.gateway;
  site = await startSite(VERSION, { baseUrl, projectId, publishableClientKey }, new URL("page/", import.meta.url));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
});
after(async () => {
  await browser?.close();
  await site?.stop();
});

/** A fresh browser with the app open. */
async function visitor(t) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors = [];
  page.on("pageerror", (error) => errors.push(`${error}`));
  await page.goto(site.url);
  await page.waitForSelector("body[data-ready]");
  const at = async (path) => {
    await page.waitForURL(typeof path === "string" ? `${site.url}${path}` : path);
    await page.waitForSelector("body[data-ready]");
  };
  return { context, page, errors, at, who: () => page.textContent("#who") };
}

test("a provider sign-in persists, and returns the same user the next time", async (t) => {
  const ada = w.provider.account("ada", { email: "ada@example.com", email_verified: true, name: "Ada Lovelace" });
  const { context, page, errors, at, who } = await visitor(t);
  assert.equal(await who(), "nobody");

  await page.click("#sign-in");
  await page.fill("#login input", ada);
  await page.click("#login button");
  await page.click("#consent button:not([name=deny])");
  await at("/welcome");
  assert.equal(await who(), "Ada Lovelace ada@example.com verified");
  await page.goto(site.url);
  await at("/");
  assert.equal(await who(), "Ada Lovelace ada@example.com verified");
  assert.ok((await context.cookies()).some(({ name }) => name.includes(`-refresh-${w.gateway.projectId}`)));

  await page.click("#sign-out");
  await page.waitForFunction(() => document.getElementById("who").textContent === "nobody");
  await page.click("#sign-in");
  await page.click("#consent button:not([name=deny])");
  await at("/back");
  assert.equal(await who(), "Ada Lovelace ada@example.com verified");
  const { body } = await w.server("GET", "/users");
  assert.deepEqual(body.items.map(({ primary_email }) => primary_email), ["ada@example.com"]);
  assert.deepEqual(errors, []);
});

test("a flow in redirect mode only ends in the browser with its cookie", async (t) => {
  const { page, at } = await visitor(t);
  const { projectId: client_id, publishableClientKey: client_secret, url } = w.gateway;
  const query = new URLSearchParams({
    client_id, client_secret, redirect_uri: `${site.url}/elsewhere`, scope: "legacy", state: "of the app", grant_type: "authorization_code",
    code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"), code_challenge_method: "S256", response_type: "code",
  });
  await page.goto(`${url}/api/v1/auth/oauth/authorize/acme?${query}`);
  const grace = w.provider.account("grace", { email: "grace@example.com", email_verified: true });
  const stolen = await w.toCallback(new Visitor(), { login: grace });
  const refused = await page.goto(`${stolen.url}`);
  assert.deepEqual([refused.status(), (await refused.json()).code], [400, "OAUTH_STATE_NOT_FOUND"]);

  await page.goto(`${url}/api/v1/auth/oauth/authorize/acme?${query}`);
  await page.fill("#login input", w.provider.account("hedy", { email: "hedy@example.com", email_verified: true }));
  await page.click("#login button");
  await page.click("#consent button:not([name=deny])");
  await at((to) => to.href.startsWith(`${site.url}/elsewhere?`));
  const { searchParams } = new URL(page.url());
  assert.equal(searchParams.get("state"), "of the app");
  const { body } = await w.exchange(searchParams.get("code"), VERIFIER, { redirect_uri: `${site.url}/elsewhere` });
  assert.equal((await w.me(body.access_token)).primary_email, "hedy@example.com");
});

test("denying consent is reported by the app and signs nobody in", async (t) => {
  const { page, errors, who } = await visitor(t);
  await page.click("#sign-in");
  await page.fill("#login input", w.provider.account("eve"));
  await page.click("#login button");
  await page.click("#consent button[name=deny]");
  await page.waitForFunction(() => document.getElementById("problem")?.textContent);
  assert.equal(await page.textContent("#problem"), "OAUTH_PROVIDER_ACCESS_DENIED");
  await page.waitForSelector("body[data-ready]");
  assert.equal(await who(), "nobody");
  assert.deepEqual(errors, []);
});
