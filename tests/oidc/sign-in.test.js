// Complete sign-ins: an account at a provider becomes a user, and later signs in as the same user.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Visitor } from "./support/visitor.js";
import { REDIRECT_URI, landed, refusalOf, world } from "./support/world.js";

const w = world();

test("a new account signs up in redirect mode, and later signs in again", async () => {
  const ada = w.provider.account("ada", { email: "ada@example.com", email_verified: true, name: "Ada Lovelace" });
  const visitor = new Visitor();
  const app = await w.authorize(visitor, { after_callback_redirect_url: "http://localhost:3000/welcome" });
  assert.equal(app.response.status, 307);
  const asked = new URL(app.response.headers.get("location"));
  assert.equal(asked.origin, w.provider.issuer);
  assert.equal(asked.searchParams.get("code_challenge_method"), "S256");
  assert.notEqual(asked.searchParams.get("state"), app.state, "the provider does not learn the app's own state");
  const [cookie, ...others] = visitor.cookiesOf(w.callback);
  assert.match(cookie.name, /^gatelet-oauth-inner-[\w-]{22}$/);
  assert.equal(others.length, 0);

  const back = await visitor.through(asked, { login: ada });
  assert.deepEqual(back.questions, ["login", "consent"]);
  assert.equal(back.url.searchParams.get("iss"), w.provider.issuer);
  const response = await visitor.ask(back.url);
  const url = landed(response, app.state);
  assert.match(url.searchParams.get("code"), /^[0-9a-f]{64}$/);
  assert.deepEqual(visitor.cookiesOf(w.callback), [], "the cookie is removed");

  const { status, headers, body } = await w.exchange(url.searchParams.get("code"), app.verifier);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(headers.get("cache-control"), "no-store");
  assert.deepEqual([body.token_type, body.is_new_user, body.after_callback_redirect_url], ["Bearer", true, "http://localhost:3000/welcome"]);
  const me = await w.me(body.access_token);
  assert.deepEqual([me.primary_email, me.primary_email_verified, me.display_name], ["ada@example.com", true, "Ada Lovelace"]);
  assert.deepEqual(me.oauth_providers.map(({ id, account_id, email }) => ({ id, account_id, email })), [{ id: "acme", account_id: "ada", email: "ada@example.com" }]);
  const calls = w.provider.asked();
  assert.ok(calls.includes("POST /token with Basic"), "the method of RFC 6749 §2.3.1 that every provider supports");
  assert.ok(calls.includes("GET /me with Bearer"), "the provider has addresses at its userinfo endpoint");

  const again = await w.signIn(ada, { visitor });
  assert.deepEqual(again.questions, [], "the provider knows the browser, and is not asked for consent again");
  assert.deepEqual([again.me.id, again.is_new_user], [me.id, false]);
  assert.equal((await w.refresh(body.refresh_token)).status, 200, "the first session continues");
});

test("in JSON mode the page navigates itself, and the callback needs no cookie", async () => {
  const visitor = new Visitor();
  const app = await w.authorize(visitor, { stack_response_mode: "json" });
  assert.equal(app.response.status, 200);
  assert.deepEqual(app.response.headers.getSetCookie(), []);
  const { location } = await app.response.json();
  const { url } = await visitor.through(location, { login: w.provider.account("grace", { email: "grace@example.com", email_verified: true }) });
  const code = landed(await visitor.ask(url), app.state).searchParams.get("code");
  const { body } = await w.exchange(code, app.verifier);
  assert.equal((await w.me(body.access_token)).primary_email, "grace@example.com");
});

test("a user links an account and signs in with it; others cannot link it", async () => {
  const linus = w.provider.account("linus", { email: "linus@work.example", email_verified: true });
  const here = await w.signUp("linus@home.example");
  const linked = await w.signIn(linus, { type: "link", token: here.access_token });
  assert.deepEqual([linked.me.id, linked.is_new_user], [here.user_id, false]);
  assert.equal(linked.me.primary_email, "linus@home.example");
  assert.equal((await w.signIn(linus)).me.id, here.user_id);

  const other = await w.signUp("other@home.example");
  const { landed: url } = await w.toApp(new Visitor(), { login: linus, type: "link", token: other.access_token });
  assert.equal(refusalOf(url), "OAUTH_CONNECTION_ALREADY_CONNECTED_TO_ANOTHER_USER");
  assert.deepEqual((await w.me(other.access_token)).oauth_providers, []);
});

test("an anonymous user is upgraded and keeps its id", async () => {
  const { body: anonymous } = await w.client("POST", "/auth/anonymous/sign-up", {});
  const barbara = w.provider.account("barbara", { email: "barbara@example.com", email_verified: true, name: "Barbara" });
  const upgraded = await w.signIn(barbara, { token: anonymous.access_token });
  assert.deepEqual([upgraded.me.id, upgraded.me.is_anonymous, upgraded.is_new_user], [anonymous.user_id, false, true]);
  assert.deepEqual([upgraded.me.primary_email, upgraded.me.display_name], ["barbara@example.com", "Barbara"]);
});

test("accounts with an address verified on both sides are merged", async () => {
  const here = await w.signInByMail("edsger@example.com");
  const edsger = w.provider.account("edsger", { email: "Edsger@Example.com", email_verified: true });
  const there = await w.signIn(edsger);
  assert.deepEqual([there.me.id, there.is_new_user], [here.user_id, false]);
  assert.deepEqual(there.me.oauth_providers.map(({ account_id }) => account_id), ["edsger"]);
});

test("an address unverified by the provider is not merged", async () => {
  const here = await w.signInByMail("donald@example.com");
  const impostor = w.provider.account("impostor", { email: "donald@example.com", email_verified: false });
  const { landed: url } = await w.toApp(new Visitor(), { login: impostor });
  assert.equal(refusalOf(url), "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
  assert.equal(JSON.parse(url.searchParams.get("details")).would_work_if_email_was_verified, false);
  assert.deepEqual((await w.me(here.access_token)).oauth_providers, []);
});

test("a provider account with a verified address takes over an unverified account", async () => {
  const squatter = await w.signUp("niklaus@example.com");
  const niklaus = w.provider.account("niklaus", { email: "niklaus@example.com", email_verified: true });
  const owner = await w.signIn(niklaus);
  assert.deepEqual([owner.me.primary_email, owner.me.primary_email_verified, owner.me.has_password], ["niklaus@example.com", true, false]);
  assert.notEqual((await w.client("GET", "/users/me", undefined, squatter.access_token)).status, 200);
});

test("an account without an address is identified by its id", async () => {
  const nobody = w.provider.account("no-address", { name: "No Address" });
  const first = await w.signIn(nobody);
  assert.deepEqual([first.me.primary_email, first.me.display_name, first.is_new_user], [null, "No Address", true]);
  assert.equal((await w.signIn(nobody)).me.id, first.me.id);
});

test("denying consent returns an error to the app, and the user can retry", async () => {
  const tony = w.provider.account("tony", { email: "tony@example.com", email_verified: true });
  for (const denies of ["login", "consent"]) {
    const { landed: url } = await w.toApp(new Visitor(), { login: tony, denies });
    assert.equal(refusalOf(url, "access_denied"), "OAUTH_PROVIDER_ACCESS_DENIED");
    assert.ok(url.href.startsWith(REDIRECT_URI));
  }
  const { body } = await w.server("GET", "/users?query=tony%40example.com");
  assert.deepEqual(body.items, [], "nobody signed up");
  assert.equal((await w.signIn(tony)).is_new_user, true);
});
