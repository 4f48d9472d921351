// Sessions as their user sees them: listing them, ending one of them, and signing out.

import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "../support/world.js";

const w = world();

test("each sign-in is a listed session, newest first, and one is current", async () => {
  const first = await w.signedUp();
  const second = await w.signedIn(first.email);
  const seen = await second.user.getActiveSessions();
  assert.equal(seen.length, 2);
  assert.deepEqual(seen.map(({ isCurrentSession }) => isCurrentSession), [true, false]);
  assert.deepEqual((await first.user.getActiveSessions()).map(({ isCurrentSession }) => isCurrentSession), [false, true]);
  for (const session of seen) {
    assert.match(session.id, /^[0-9a-f-]{36}$/);
    assert.equal(session.userId, first.user.id);
    assert.equal(session.isImpersonation, false);
    assert.ok(Math.abs(session.createdAt - Date.now()) < 60_000, `created at ${session.createdAt}`);
    assert.ok(session.lastUsedAt >= session.createdAt);
  }
  assert.ok(seen[0].createdAt >= seen[1].createdAt);
});

test("a revoked session is gone from the list and cannot be used again", async () => {
  const first = await w.signedUp();
  const second = await w.signedIn(first.email);
  const refreshToken = await second.app.getRefreshToken();
  const other = (await first.user.getActiveSessions()).find(({ isCurrentSession }) => !isCurrentSession);
  await first.user.revokeSession(other.id);
  assert.deepEqual((await first.user.getActiveSessions()).map(({ isCurrentSession }) => isCurrentSession), [true]);
  assert.equal(await w.returning(refreshToken).getUser(), null);
});

test("the current session cannot be revoked, only signed out", async () => {
  const { app, user } = await w.signedUp();
  const [current] = await user.getActiveSessions();
  await assert.rejects(user.revokeSession(current.id), (error) => error.errorCode === "CANNOT_DELETE_CURRENT_SESSION");
  assert.equal((await app.getUser())?.id, user.id);
  assert.equal((await user.getActiveSessions()).length, 1);
});

test("sessions of others cannot be revoked", async () => {
  const [one, other] = [await w.signedUp(), await w.signedUp()];
  const [theirs] = await other.user.getActiveSessions();
  await assert.rejects(one.user.revokeSession(theirs.id));
  assert.deepEqual((await other.user.getActiveSessions()).map(({ id }) => id), [theirs.id]);
});

test("after signing out, the session cannot be used again", async () => {
  const { app, email } = await w.signedUp();
  const refreshToken = await app.getRefreshToken();
  await app.signOut();
  assert.equal(await app.getUser(), null);
  assert.equal(await app.getAccessToken(), null);
  assert.equal(await w.returning(refreshToken).getUser(), null);
  assert.equal((await (await w.signedIn(email)).user.getActiveSessions()).length, 1);
});

test("signing out in one place leaves the other signed in", async () => {
  const first = await w.signedUp();
  const second = await w.signedIn(first.email);
  await second.user.signOut();
  assert.equal((await first.app.getUser())?.id, first.user.id);
  assert.equal((await w.returning(await first.app.getRefreshToken()).getUser())?.id, first.user.id);
});
