// PyPI's `authlib` and `idpyoidc`: web apps that use Flask, and whose users sign in through
// Chromium.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { world } from "./support/world.js";

const w = world();

/** Starts an app with a new client until the end of the test; returns its origin. */
async function start(t, name, fields) {
  const { id, client_secret } = await w.newClient({ redirect_uris: ["http://127.0.0.1/callback"], ...fields });
  const child = spawn(process.env.PYTHON, [new URL(`support/${name}_app.py`, import.meta.url).pathname], {
    env: { ...process.env, CLIENT: JSON.stringify({ issuer: w.issuer(), id, client_secret }), PYTHONDONTWRITEBYTECODE: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill());
  const [port] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), once(child, "exit").then(() => assert.fail("the app has ended"))]);
  return { id, origin: `http://127.0.0.1:${port}` };
}

/** What the app shows after a sign-in. */
async function shown({ page }) {
  await page.waitForURL((url) => url.pathname === "/callback");
  return JSON.parse(await page.innerText("body"));
}

for (const [name, kind, fields] of [
  ["authlib", "a confidential client", {}],
  ["authlib", "a public client", { client_type: "public" }],
  ["idpyoidc", "a confidential client", {}],
]) {
  test(`${name} signs a user in as ${kind}, and renews the tokens`, async (t) => {
    // idpyoidc requires RS256 in the metadata (OpenID Connect Discovery §3), which needs an RSA
    // key.
    if (name === "idpyoidc") await w.admin("POST", "/internal/signing-keys", {});
    const { id, origin } = await start(t, name, fields);
    const it = await w.newcomer(t);
    await it.signsUpAt(`${origin}/login`);
    await it.allows();
    const { claims, info, again, ...more } = await shown(it);
    assert.deepEqual([claims?.iss, [claims?.aud].flat(), claims?.email], [w.issuer(), [id], it.email], JSON.stringify(more));
    assert.deepEqual([info.sub, info.email, info.teams], [claims.sub, it.email, []]);
    assert.deepEqual(again, info);
    if (name === "authlib") assert.equal(more.rotated, true);
  });
}

test("authlib reads the reason why a user is sent back", async (t) => {
  const { origin } = await start(t, "authlib");
  const it = await w.newcomer(t);
  await it.signsUpAt(`${origin}/login`);
  await it.denies();
  assert.match((await shown(it)).refused, /^OAuthError: access_denied/);
});

test("authlib refuses an answer with another state", async (t) => {
  const { origin } = await start(t, "authlib");
  const it = await w.newcomer(t);
  await it.page.goto(`${origin}/callback?${new URLSearchParams({ code: "x", state: "another", iss: w.issuer() })}`);
  assert.match((await shown(it)).refused, /^MismatchingStateError/);
});
