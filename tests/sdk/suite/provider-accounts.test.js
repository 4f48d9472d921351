// The accounts of a user at OAuth providers, which a server adds and the user changes.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { ok, refused, world } from "../support/world.js";

const w = world();

before(async () => {
  await w.started;
  const { url, projectId, superSecretAdminKey } = w.gateway;
  const answer = await fetch(`${url}/api/v1/internal/projects/current`, {
    method: "PATCH",
    headers: {
      "content-type": "application/json",
      "x-service-access-type": "admin",
      "x-service-project-id": projectId,
      "x-service-super-secret-admin-key": superSecretAdminKey,
    },
    body: JSON.stringify({ config: { oauth_providers: [{ id: "github", client_id: "id", client_secret: "secret" }] } }),
  });
  assert.equal(answer.status, 200, await answer.text());
});

const account = (userId, accountId) => ({
  userId, accountId, providerConfigId: "github", email: "ada@github.example", allowSignIn: true, allowConnectedAccounts: true,
});

test("a server adds an account, which its user sees without its id at the provider", async () => {
  const server = w.server();
  const { user } = await w.signedUp();
  const created = ok(await server.createOAuthProvider(account(user.id, "1")));
  assert.deepEqual([created.type, created.accountId, created.email], ["github", "1", "ada@github.example"]);
  const [seen, ...others] = await user.listOAuthProviders();
  assert.equal(others.length, 0);
  assert.deepEqual([seen.id, seen.type, seen.allowSignIn, seen.allowConnectedAccounts], [created.id, "github", true, true]);
  assert.equal("accountId" in seen, false);
  assert.equal((await (await server.getUser(user.id)).getOAuthProvider(created.id)).accountId, "1");
});

test("an account belongs to one user", async () => {
  const server = w.server();
  const [one, other] = [await w.signedUp(), await w.signedUp()];
  ok(await server.createOAuthProvider(account(one.user.id, "2")));
  refused(await server.createOAuthProvider(account(other.user.id, "2")), "OAUTH_PROVIDER_ACCOUNT_ID_ALREADY_USED_FOR_SIGN_IN");
  const free = ok(await server.createOAuthProvider(account(other.user.id, "3")));
  refused(await free.update({ accountId: "2" }), "OAUTH_PROVIDER_ACCOUNT_ID_ALREADY_USED_FOR_SIGN_IN");
  ok(await free.update({ accountId: "4", email: "new@github.example" }));
  const [now] = await (await server.getUser(other.user.id)).listOAuthProviders();
  assert.deepEqual([now.accountId, now.email], ["4", "new@github.example"]);
});

test("a user changes the uses of an account, and unlinks it", async () => {
  const { user } = await w.signedUp();
  ok(await w.server().createOAuthProvider(account(user.id, "5")));
  const [own] = await user.listOAuthProviders();
  ok(await own.update({ allowSignIn: false, allowConnectedAccounts: false }));
  const [changed] = await user.listOAuthProviders();
  assert.deepEqual([changed.allowSignIn, changed.allowConnectedAccounts], [false, false]);
  await changed.delete();
  assert.deepEqual(await user.listOAuthProviders(), []);
});

test("the last sign-in method cannot be removed", async () => {
  const server = w.server();
  const { app, user } = await w.signedUp();
  ok(await server.createOAuthProvider(account(user.id, "6")));
  await (await server.getUser(user.id)).update({ primaryEmailAuthEnabled: false });
  const [own] = await (await app.getUser()).listOAuthProviders();
  await assert.rejects(own.delete(), /another way/);
  await assert.rejects(own.update({ allowSignIn: false }), /another way/);
  assert.equal((await user.listOAuthProviders()).length, 1);
});
