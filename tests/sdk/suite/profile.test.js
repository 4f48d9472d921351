// Changes that signed-in users make to their accounts.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asClient } from "../support/gateway.js";
import { newAddress, world } from "../support/world.js";

const w = world();

test("initially nobody is signed in, and requiring a user throws", async () => {
  const app = w.client();
  assert.equal(await app.getUser(), null);
  await assert.rejects(app.getUser({ or: "throw" }), /not signed in/);
  assert.equal((await w.signedUp()).user.displayName, null);
});

test("a display name is set, shown in the next token, and cleared", async () => {
  const { app, email, user } = await w.signedUp();
  await user.setDisplayName("Ada Lovelace");
  assert.equal((await app.getUser()).displayName, "Ada Lovelace");
  assert.equal((await app.getPartialUser({ from: "token" })).displayName, "Ada Lovelace");
  assert.equal((await w.signedIn(email)).user.displayName, "Ada Lovelace");
  await user.setDisplayName(null);
  assert.equal((await app.getUser()).displayName, null);
});

test("an update changes what it names and nothing else", async () => {
  const { app, user } = await w.signedUp();
  await user.update({ displayName: "Ada", clientMetadata: { theme: "dark", tags: [1, null, "x"] } });
  await user.update({ displayName: "Ada L." });
  const now = await app.getUser();
  assert.equal(now.displayName, "Ada L.");
  assert.deepEqual(now.clientMetadata, { theme: "dark", tags: [1, null, "x"] });
  assert.equal(now.primaryEmail, user.primaryEmail);
});

test("client metadata is replaced as a whole", async () => {
  const { app, user } = await w.signedUp();
  await user.setClientMetadata({ a: 1, b: 2 });
  await user.setClientMetadata({ c: 3 });
  assert.deepEqual((await app.getUser()).clientMetadata, { c: 3 });
});

test("a new primary address is unverified, and the old one is kept beside it", async () => {
  const { app, user, email } = await w.signedUp();
  const next = newAddress("moved");
  await user.update({ primaryEmail: next });
  const now = await app.getUser();
  assert.equal(now.primaryEmail, next);
  assert.equal(now.primaryEmailVerified, false);
  const values = (await now.listContactChannels()).map(({ value, isPrimary }) => [value, isPrimary]);
  assert.deepEqual(values, [[email, false], [next, true]]);
  assert.equal((await w.signedIn(email)).user.id, user.id);
});

test("an address of another user stays pending until verified, and stays theirs", async () => {
  const [first, second] = [await w.signedUp(), await w.signedUp()];
  const wish = await second.user.createContactChannel({ type: "email", value: first.email, usedForAuth: true });
  assert.deepEqual([wish.isVerified, wish.isPrimary], [false, false]);
  assert.equal((await second.app.getUser()).primaryEmail, second.email);
  assert.equal((await w.signedIn(first.email)).user.id, first.user.id);
});

test("a client cannot write fields that only servers may write", async () => {
  const { app, user } = await w.signedUp();
  const token = { "x-stack-access-token": await app.getAccessToken() };
  const answer = await asClient(w.gateway, "PATCH", "/users/me", { server_metadata: { role: "admin" } }, token);
  assert.equal(answer.status, 400);
  assert.equal((await answer.json()).code, "SCHEMA_ERROR");
  assert.equal((await w.server().getUser(user.id)).serverMetadata, null);
});

test("a user cannot delete the account unless enabled", async () => {
  const { email, user } = await w.signedUp();
  await assert.rejects(user.delete());
  assert.equal(await w.tryPassword(email, "correct horse battery"), "ok");
});

test("a user can delete the account if enabled, and nothing of it is left", async () => {
  await (await w.admin().getProject()).update({ config: { clientUserDeletionEnabled: true } });
  assert.equal((await w.client().getProject()).config.clientUserDeletionEnabled, true);
  const { app, email, user } = await w.signedUp();
  const refreshToken = await app.getRefreshToken();
  await user.delete();
  assert.equal(await app.getUser(), null);
  assert.equal(await w.returning(refreshToken).getUser(), null);
  assert.equal(await w.server().getUser(user.id), null);
  assert.equal(await w.tryPassword(email, "correct horse battery"), "EMAIL_PASSWORD_MISMATCH");
  assert.notEqual((await w.signedUp(email)).user.id, user.id);
});
