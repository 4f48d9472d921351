// Attacks on sign-in flows, for example with the states, codes and callbacks of other flows (RFC
// 9700, RFC 7636).

import assert from "node:assert/strict";
import { test } from "node:test";

import { Visitor } from "./support/visitor.js";
import { REDIRECT_URI, refusalOf, world } from "./support/world.js";

const w = world();
let accounts = 0;

function account() {
  accounts += 1;
  return w.provider.account(`account-${accounts}`, { email: `account-${accounts}@example.com`, email_verified: true });
}

async function assertNotFound(response) {
  assert.equal(response.status, 400);
  assert.equal(response.headers.get("location"), null);
  assert.equal((await response.json()).code, "OAUTH_STATE_NOT_FOUND");
}

async function assertInvalidCode({ status, body }) {
  assert.deepEqual([status, body.code], [400, "INVALID_AUTHORIZATION_CODE"]);
}

test("a callback in another browser than the flow's fails", async () => {
  const [attacker, victim] = [new Visitor(), new Visitor()];
  const { url } = await w.toCallback(attacker, { login: account() });
  // The victim has started another flow, so the cookie in their browser is for a different state.
  await w.authorize(victim);
  await assertNotFound(await victim.ask(url));
  // The state is used up, no matter who has used it.
  await assertNotFound(await attacker.ask(url));
});

test("a state works once", async () => {
  const visitor = new Visitor();
  const { url } = await w.toCallback(visitor, { login: account() });
  const cookies = visitor.cookiesOf(w.callback).map(({ name, value }) => `${name}=${value}`).join("; ");
  assert.equal((await visitor.ask(url)).status, 303);
  await assertNotFound(await visitor.ask(url));
  await assertNotFound(await fetch(url, { headers: { cookie: cookies }, redirect: "manual" }));
});

test("a made-up state is rejected", async () => {
  const { url } = await w.toCallback(new Visitor(), { login: account() });
  for (const state of ["", "x", `${url.searchParams.get("state")}x`]) {
    const forged = new URL(url);
    forged.searchParams.set("state", state);
    const response = await new Visitor().ask(forged);
    assert.equal(response.status, 400);
    assert.equal(response.headers.get("location"), null);
  }
});

test("a reused code fails and ends the session it started", async () => {
  const first = await w.signIn(account());
  assert.equal((await w.refresh(first.refresh_token)).status, 200);
  await assertInvalidCode(await w.exchange(first.code, first.verifier));
  const { status, body } = await w.refresh(first.refresh_token);
  assert.deepEqual([status, body.code], [401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED"]);
});

test("a code requires its flow's verifier and redirect URI", async () => {
  const [mine, other] = [await w.toApp(new Visitor(), { login: account() }), await w.toApp(new Visitor(), { login: account() })];
  const code = mine.landed.searchParams.get("code");
  await assertInvalidCode(await w.exchange(code, other.verifier));
  await assertInvalidCode(await w.exchange(code, other.verifier, { redirect_uri: `${REDIRECT_URI}/other` }));
  const { status, body } = await w.exchange(code, mine.verifier);
  assert.equal(status, 200, "a wrong attempt does not consume the owner's code");
  assert.ok((await w.me(body.access_token)).id);

  // The correct verifier proves that the owner of the code was sent to another redirect URI, so the
  // code is invalidated.
  const astray = other.landed.searchParams.get("code");
  await assertInvalidCode(await w.exchange(astray, other.verifier, { redirect_uri: `${REDIRECT_URI}/other` }));
  await assertInvalidCode(await w.exchange(astray, other.verifier));
});

test("a provider code of another flow is rejected", async () => {
  const [victim, attacker] = [new Visitor(), new Visitor()];
  const stolen = await w.toCallback(victim, { login: account() });
  const own = await w.toCallback(attacker, { login: account() });
  const injected = new URL(own.url);
  injected.searchParams.set("code", stolen.url.searchParams.get("code"));
  const response = await attacker.ask(injected);
  assert.equal(response.status, 303);
  assert.equal(refusalOf(new URL(response.headers.get("location"))), "INVALID_AUTHORIZATION_CODE");
});

test("a response that names another issuer is rejected", async () => {
  const visitor = new Visitor();
  const { url } = await w.toCallback(visitor, { login: account() });
  url.searchParams.set("iss", "https://evil.example");
  w.provider.asked();
  const response = await visitor.ask(url);
  assert.equal(refusalOf(new URL(response.headers.get("location"))), "INVALID_AUTHORIZATION_CODE");
  assert.ok(!w.provider.asked().some((call) => call.startsWith("POST /token")), "the code was not exchanged");
});

test("the user is never redirected to an untrusted URL", async () => {
  for (const name of ["redirect_uri", "error_redirect_url", "after_callback_redirect_url"]) {
    const { response } = await w.authorize(new Visitor(), { [name]: "https://evil.example/callback" });
    assert.equal(response.status, 400);
    assert.equal((await response.json()).code, "REDIRECT_URL_NOT_WHITELISTED", name);
  }
});
