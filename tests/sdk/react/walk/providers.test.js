// Sign-in with a provider: the button, the pages of the provider, and the callback page.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { CLIENTS, startProvider } from "../../../oidc/support/provider.js";
import { configure } from "../../support/gateway.js";
import { world } from "../support/world.js";

const w = world({ settings: { GATELET_ALLOW_PRIVATE_ISSUERS: "1" } });
let provider;

before(async () => {
  await w.started;
  const { url } = w.gateway;
  provider = await startProvider({ callbacks: [`${url}/api/v1/auth/oauth/callback/acme`] });
  const { client_id, client_secret } = CLIENTS.basic;
  await configure(w.gateway, { oauth_providers: [{ id: "acme", type: "standard", client_id, client_secret, issuer: provider.issuer }] });
});
after(() => provider?.stop());

test("a user signs in with a provider, and stays signed in", async (t) => {
  const it = await w.arrive(t);
  const sub = provider.account("ada", { email: "ada@example.com", email_verified: true, name: "Ada Lovelace" });
  await it.open("/handler/sign-in");
  await it.sees("Sign in with acme");
  await it.picture("providers");
  await it.click("Sign in with acme");
  await it.page.fill("#login input", sub);
  await it.page.click("#login button");
  await it.page.click("#consent button:not([name=deny])");
  await it.is("ada@example.com verified");
  await it.open("/");
  await it.is("ada@example.com verified");
  const [named, listed] = await it.page.evaluate(async () => {
    const user = await globalThis.app.getUser();
    const [connection] = await user.listConnectedAccounts();
    const { accessToken } = await (await user.getConnectedAccount("acme")).getAccessToken();
    return [accessToken, (await connection.getAccessToken()).data.accessToken];
  });
  assert.ok(named.length > 0);
  assert.equal(named, listed);
  it.check("a provider");
});

test("denying consent at the provider leads to the error page", async (t) => {
  const it = await w.arrive(t);
  const sub = provider.account("bob", { email: "bob@example.com", email_verified: true, name: "Bob" });
  await it.open("/providers");
  await it.click("Sign in with acme");
  await it.page.fill("#login input", sub);
  await it.page.click("#login button");
  await it.page.click("#consent button[name=deny]");
  await it.sees("OAuth provider access denied");
  await it.picture("provider-denied");
  await it.click("Sign in again");
  await it.sees("Sign in to your account");
  it.check("a refusal");
});
