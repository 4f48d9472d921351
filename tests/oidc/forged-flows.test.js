// Flows that an attacker begins in JSON mode, where no cookie ties them to a browser, and that a victim is led through. The code goes to the
// victim's app, which did not begin the flow and exchanges nothing: so nothing may have happened.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Visitor } from "./support/visitor.js";
import { refusalOf, world } from "./support/world.js";

const w = world();

/** The victim follows a link to the provider, logs in and says yes. */
async function lead(login, parameters) {
  const { response } = await w.authorize(new Visitor(), { stack_response_mode: "json", ...parameters });
  const victim = new Visitor();
  const { url } = await victim.through((await response.json()).location, { login });
  await victim.ask(url);
}

test("a victim's account is not linked to the user of an attacker who began the flow", async () => {
  const attacker = await w.signUp("attacker@example.com");
  const ada = w.provider.account("ada", { email: "ada@example.com", email_verified: true });
  await lead(ada, { type: "link", token: attacker.access_token });
  assert.deepEqual((await w.me(attacker.access_token)).oauth_providers, []);
  assert.notEqual((await w.signIn(ada)).me.id, attacker.user_id);
});

test("an attacker's anonymous user does not become the victim's, with a session of the attacker in it", async () => {
  const { body: attacker } = await w.client("POST", "/auth/anonymous/sign-up", {});
  const grace = w.provider.account("grace", { email: "grace@example.com", email_verified: true });
  await lead(grace, { token: attacker.access_token });
  assert.notEqual((await w.signInByMail("grace@example.com")).user_id, attacker.user_id);
  assert.notEqual((await w.signIn(grace)).me.id, attacker.user_id);
});

test("an answer without an issuer is not taken from a provider that says it names it (RFC 9207 §2.4)", async () => {
  const visitor = new Visitor();
  const { url } = await w.toCallback(visitor, { login: w.provider.account("hedy") });
  url.searchParams.delete("iss");
  const response = await visitor.ask(url);
  assert.equal(refusalOf(new URL(response.headers.get("location"))), "INVALID_AUTHORIZATION_CODE");
});
