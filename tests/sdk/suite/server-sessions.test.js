// Sessions of users that a server starts, lists and ends.

import assert from "node:assert/strict";
import { test } from "node:test";

import { until } from "../support/until.js";
import { world } from "../support/world.js";

const w = world();

test("a session started by a server acts as its user", async () => {
  const server = w.server();
  const { user: own } = await w.signedUp();
  const user = await server.getUser(own.id);
  const tokens = await (await user.createSession({})).getTokens();
  const app = w.client({ tokenStore: tokens });
  assert.equal((await app.getUser())?.id, own.id);
  await (await app.getUser()).setDisplayName("By the server's session");
  assert.equal((await server.getUser(own.id)).displayName, "By the server's session");
});

test("a server lists the sessions of a user and ends one", async () => {
  const server = w.server();
  const { app, user: own } = await w.signedUp();
  const user = await server.getUser(own.id);
  const before = await user.getActiveSessions();
  assert.deepEqual(before.map(({ userId, isCurrentSession }) => [userId, isCurrentSession]), [[own.id, false]]);
  const tokens = await (await user.createSession({ expiresInMillis: 3_600_000 })).getTokens();
  const [newest, oldest] = await user.getActiveSessions();
  assert.equal(oldest.id, before[0].id);

  await user.revokeSession(newest.id);
  assert.deepEqual((await user.getActiveSessions()).map(({ id }) => id), [oldest.id]);
  assert.equal(await w.returning(tokens.refreshToken).getUser(), null);
  assert.equal((await app.getUser())?.id, own.id);
});

test("an impersonation acts as the user, but is hidden from their list", async () => {
  const server = w.server();
  const { user: own } = await w.signedUp();
  const user = await server.getUser(own.id);
  const tokens = await (await user.createSession({ isImpersonation: true })).getTokens();
  assert.equal((await w.client({ tokenStore: tokens }).getUser())?.id, own.id);
  assert.deepEqual((await own.getActiveSessions()).map(({ isCurrentSession, isImpersonation }) => [isCurrentSession, isImpersonation]), [[true, false]]);
});

test("a session ends at its expiry", async () => {
  const server = w.server();
  const { user: own } = await w.signedUp();
  const user = await server.getUser(own.id);
  const tokens = await (await user.createSession({ expiresInMillis: 10_000 })).getTokens();
  assert.equal((await w.returning(tokens.refreshToken).getUser())?.id, own.id);
  await until(async () => await w.returning(tokens.refreshToken).getUser() === null, "the session ends", { pause: 500 });
  assert.equal((await user.getActiveSessions()).length, 1);
});
