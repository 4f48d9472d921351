// A user of a site signs in on a page of another domain, and then has the same session on both.
// Cookies belong to a host, so two names of this machine, localhost and 127.0.0.1, represent the
// two domains.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { configure } from "../support/gateway.js";
import { PASSWORD, version, world } from "../support/world.js";
import { launch } from "./chromium.js";
import { startSite } from "./site.js";

const w = world();
/** The older version never takes a session to another domain. */
const crossesDomains = version !== "2.8.77";
let [signInSite, site, browser] = [];

const at = (url, host) => Object.assign(new URL(url), { hostname: host }).origin;

before(async () => {
  await w.started;
  const { url: baseUrl, projectId, publishableClientKey } = w.gateway;
  const folder = new URL("cross-domain/", import.meta.url);
  const start = (signIn) => startSite(version, { baseUrl, projectId, publishableClientKey, signIn }, folder);
  signInSite = await start("/sign-in");
  site = await start(`${signInSite.url}/sign-in`);
  site.url = at(site.url, "127.0.0.1");
  await configure(w.gateway, { allow_localhost: false, domains: [{ domain: signInSite.url }, { domain: site.url }] });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await Promise.all([signInSite?.stop(), site?.stop()]);
});

const isShown = (page, text) => page.waitForFunction((text) => document.getElementById("who")?.textContent === text, text);

/** The browser's refresh tokens, by host. */
async function refreshTokens(context) {
  const cookies = (await context.cookies()).filter(({ name }) => name.includes(`-refresh-${w.gateway.projectId}`));
  return Object.fromEntries(cookies.map(({ domain, value }) => [domain, JSON.parse(decodeURIComponent(value)).refresh_token]));
}

test("a sign-in on another domain continues as the same session", { skip: !crossesDomains }, async (t) => {
  const { email } = await w.signedUp();
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const visited = [];
  page.on("framenavigated", (frame) => visited.push(frame.url()));
  await page.goto(site.url);
  await isShown(page, "nobody");
  await page.click("#elsewhere");
  await page.waitForURL((url) => url.origin === signInSite.url && url.pathname === "/sign-in");
  await isShown(page, "nobody");
  await page.fill("#sign-in [name=email]", email);
  await page.fill("#sign-in [name=password]", PASSWORD);
  await page.click("#sign-in button");
  await page.waitForURL((url) => url.origin === site.url && url.pathname === "/" && url.search === "");
  await isShown(page, email);

  const tokens = await refreshTokens(context);
  assert.equal(Object.keys(tokens).length, 2, JSON.stringify(tokens));
  assert.equal(tokens["127.0.0.1"], tokens.localhost);
  assert.ok(visited.every((url) => !url.includes(tokens.localhost)), "no URL contains a token");
  const sessions = await (await w.server().listUsers())[0].getActiveSessions();
  assert.equal(sessions.length, 2, "the one of the sign-up, and the one of both domains");

  await page.click("#sign-out");
  await isShown(page, "nobody");
  await page.goto(signInSite.url);
  await context.clearCookies({ name: /-access$/ });
  await page.reload();
  await isShown(page, "nobody");
});
