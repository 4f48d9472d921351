// Sign-in through the pages with a real OpenID provider (npm's `oidc-provider`).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { shownBy } from "../sdk/support/authenticator.js";
import { CLIENTS, startProvider } from "../oidc/support/provider.js";
import { PASSWORD, newAddress, world } from "./support/world.js";

const w = world({ config: { magic_link_enabled: true } });
const WITH = "Continue with Acme";
let provider;

before(async () => {
  await w.started;
  provider = await startProvider({ callbacks: [`${w.gateway.url}/api/v1/auth/oauth/callback/acme`] });
  const { client_id, client_secret } = CLIENTS.basic;
  await w.configure({ oauth_providers: [{ id: "acme", type: "standard", client_id, client_secret, issuer: provider.issuer }] });
});
after(() => provider?.stop());

/** Logs in at the provider and allows the sign-in. */
async function allows({ page }, login) {
  await page.fill("#login input", login);
  await page.click("#login button");
  await page.click("#consent button:not([name=deny])");
}

const account = (name, claims = {}) => provider.account(name, { email: newAddress(name), email_verified: true, ...claims });
const usersOf = async (email) => (await w.server("GET", `/users?${new URLSearchParams({ query: email })}`)).items;

test("a person signs up with a provider, and signs in with it as the same user", async (t) => {
  const it = await w.visitor(t);
  const email = newAddress("ada");
  const ada = account("ada", { email, name: "Ada Lovelace" });
  await it.open("sign-up");
  await it.follows(WITH);
  await allows(it, ada);
  await it.hasSignedIn();
  await it.is("Ada Lovelace");
  assert.equal((await usersOf(email)).length, 1);

  await it.signsOut();
  await it.page.getByRole("link", { name: `${WITH} ${it.texts.sign_in.last_used}`, exact: true }).click();
  // The provider remembers the person and does not ask again.
  await it.hasSignedIn();
  await it.is("Ada Lovelace");
  assert.equal((await usersOf(email)).length, 1);
  const tokens = await it.cookie("session");
  assert.ok(it.visited.every((url) => !url.includes(tokens.value)), "no URL contains a token");
  it.check();
});

test("the same without JavaScript", async (t) => {
  const it = await w.visitor(t, { javaScriptEnabled: false });
  await it.open("sign-in");
  await it.follows(WITH);
  await allows(it, account("grace", { name: "Grace Hopper" }));
  await it.hasSignedIn();
  await it.is("Grace Hopper");
  it.check();
});

test("below the API, where the project is in the query", async (t) => {
  const it = await w.visitor(t);
  await it.page.goto(`${w.gateway.url}/handler/sign-in?project_id=${w.gateway.projectId}`);
  await it.follows(WITH);
  await allows(it, account("mary", { name: "Mary" }));
  await it.page.waitForURL((url) => url.origin === w.gateway.url && url.pathname === "/handler/account-settings");
  await it.page.goto(`${w.gateway.url}/handler/sign-in?project_id=${w.gateway.projectId}`);
  await it.page.getByRole("button", { name: "Continue as Mary", exact: true }).waitFor();
  it.check();
});

test("a person comes back to the app that sent them", async (t) => {
  const it = await w.visitor(t);
  await it.open("sign-in", { after_auth_return_to: "http://localhost:3000/welcome?tab=2" });
  await it.follows(WITH);
  // No server listens there; it is enough that the browser sends the request.
  const sent = it.page.waitForRequest("http://localhost:3000/welcome?tab=2");
  await allows(it, account("rosa"));
  await sent;
  it.check();
});

test("denying consent signs nobody in, and the page says why", async (t) => {
  const it = await w.visitor(t);
  await it.open("sign-in", { after_auth_return_to: "http://localhost:3000/welcome" });
  await it.follows(WITH);
  await it.page.fill("#login input", account("eve"));
  await it.page.click("#login button");
  await it.page.click("#consent button[name=deny]");
  await it.reads(it.texts.errors.OAUTH_PROVIDER_ACCESS_DENIED);
  // The URL to return to is kept.
  const again = await it.page.getByRole("link", { name: it.texts.common.start_again }).getAttribute("href");
  assert.equal(new URL(again, w.origin).searchParams.get("after_auth_return_to"), "http://localhost:3000/welcome");
  await it.isNobody();
  it.check();
});

test("a person with a second factor is asked for it after the provider", async (t) => {
  const it = await w.visitor(t);
  const email = newAddress("hedy");
  const hedy = account("hedy", { email, name: "Hedy" });
  await it.open("sign-in");
  await it.follows(WITH);
  await allows(it, hedy);
  await it.hasSignedIn();
  const [user] = await usersOf(email);
  await w.server("PATCH", `/users/${user.id}`, { password: PASSWORD, primary_email_auth_enabled: true });
  const { secret } = await w.addApp({ email });
  await it.context.clearCookies({ name: /^gatelet-/ });
  await it.open("sign-in");
  await it.follows(WITH);
  await it.sees(it.texts.mfa.heading);
  await it.types(it.texts.mfa.code, await shownBy(secret));
  await it.presses(it.texts.mfa.submit);
  await it.hasSignedIn();
  await it.is("Hedy");
  it.check();
});

test("a flow ends only in the browser that began it", async (t) => {
  const [it, other] = [await w.visitor(t), await w.visitor(t)];
  await it.open("sign-in");
  await it.follows(WITH);
  await allows(it, account("mallory"));
  await it.hasSignedIn();
  const last = it.visited.find((url) => new URL(url).pathname === "/handler/oauth-callback");
  assert.match(last, /[?&]code=/);
  await other.page.goto(last);
  // Without the cookie of the flow, the code is not even tried.
  await other.reads(other.texts.errors.OAUTH_STATE_NOT_FOUND);
  await other.isNobody();
});

test("two flows in two tabs both end", async (t) => {
  const it = await w.visitor(t);
  const tab = await it.context.newPage();
  await it.open("sign-in");
  await tab.goto(w.url("sign-in"));
  await it.follows(WITH);
  await it.page.waitForSelector("#login");
  await tab.getByRole("link", { name: WITH }).click();
  await tab.waitForSelector("#login");
  await allows(it, account("joan", { name: "Joan" }));
  await it.hasSignedIn();
  await tab.fill("#login input", account("kay", { name: "Kay" }));
  await tab.click("#login button");
  await tab.click("#consent button:not([name=deny])");
  await tab.waitForURL((url) => url.pathname === "/handler/account-settings");
  await it.is("Kay");
  it.check();
});
