// Flows that an attacker starts in JSON mode, without a cookie that binds them to a browser, and
// that a victim completes, have no effect. The code goes to the victim's app, which has not started
// the flow and therefore does not exchange the code.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Visitor } from "./support/visitor.js";
import { refusalOf, world } from "./support/world.js";

const w = world();

/** The victim follows a link to the provider, logs in and consents. */
async function lead(login, parameters) {
  const { response } = await w.authorize(new Visitor(), { stack_response_mode: "json", ...parameters });
  const victim = new Visitor();
  const { url } = await victim.through((await response.json()).location, { login });
  await victim.ask(url);
}

test("a victim's account is not linked to an attacker's user", async () => {
  const attacker = await w.signUp("attacker@example.com");
  const ada = w.provider.account("ada", { email: "ada@example.com", email_verified: true });
  await lead(ada, { type: "link", token: attacker.access_token });
  assert.deepEqual((await w.me(attacker.access_token)).oauth_providers, []);
  assert.notEqual((await w.signIn(ada)).me.id, attacker.user_id);
});

test("an attacker's anonymous user does not become the victim's", async () => {
  const { body: attacker } = await w.client("POST", "/auth/anonymous/sign-up", {});
  const grace = w.provider.account("grace", { email: "grace@example.com", email_verified: true });
  await lead(grace, { token: attacker.access_token });
  assert.notEqual((await w.signInByMail("grace@example.com")).user_id, attacker.user_id);
  assert.notEqual((await w.signIn(grace)).me.id, attacker.user_id);
});

test("a response without the announced issuer is rejected (RFC 9207 §2.4)", async () => {
  const visitor = new Visitor();
  const { url } = await w.toCallback(visitor, { login: w.provider.account("hedy") });
  url.searchParams.delete("iss");
  const response = await visitor.ask(url);
  assert.equal(refusalOf(new URL(response.headers.get("location"))), "INVALID_AUTHORIZATION_CODE");
});
