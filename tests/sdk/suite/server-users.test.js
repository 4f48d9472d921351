// Users as a server sees and changes them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { linkOf } from "../support/inbox.js";
import { CALLBACK, PASSWORD, newAddress, ok, throwsCode, world } from "../support/world.js";

const w = world();

test("a created user has its given fields, and signs in", async () => {
  const server = w.server();
  const email = newAddress("created");
  const created = await server.createUser({
    primaryEmail: email,
    primaryEmailAuthEnabled: true,
    primaryEmailVerified: true,
    password: PASSWORD,
    displayName: "Grace Hopper",
    clientMetadata: { a: 1 },
    clientReadOnlyMetadata: { b: 2 },
    serverMetadata: { c: 3 },
  });
  const user = await server.getUser(created.id);
  assert.equal(user.primaryEmail, email);
  assert.equal(user.primaryEmailVerified, true);
  assert.equal(user.hasPassword, true);
  assert.equal(user.displayName, "Grace Hopper");
  assert.deepEqual([user.clientMetadata, user.clientReadOnlyMetadata, user.serverMetadata], [{ a: 1 }, { b: 2 }, { c: 3 }]);
  assert.ok(Math.abs(user.signedUpAt - Date.now()) < 60_000);

  const seen = (await w.signedIn(email)).user;
  assert.equal(seen.id, created.id);
  assert.deepEqual(seen.clientReadOnlyMetadata, { b: 2 });
  assert.equal("server_metadata" in seen.toClientJson(), false);
});

test("a user can be created without fields, and an address only once", async () => {
  const server = w.server();
  const bare = await server.createUser({});
  assert.equal((await server.getUser(bare.id)).primaryEmail, null);

  const email = newAddress("twice");
  const first = await server.createUser({ primaryEmail: email, primaryEmailAuthEnabled: true });
  await throwsCode(server.createUser({ primaryEmail: email, primaryEmailAuthEnabled: true }), "USER_EMAIL_ALREADY_EXISTS");
  assert.deepEqual((await server.listUsers({ query: email })).map(({ id }) => id), [first.id]);
});

test("a user that does not exist is null", async () => {
  assert.equal(await w.server().getUser("3142e763-b230-44b5-8636-aa62f7489c26"), null);
});

test("a server changes every field of a user", async () => {
  const server = w.server();
  const { app, user: own } = await w.signedUp();
  const user = await server.getUser(own.id);
  await user.update({ displayName: "Renamed", serverMetadata: { plan: "pro" }, clientReadOnlyMetadata: { level: 3 } });
  let now = await server.getUser(own.id);
  assert.deepEqual([now.displayName, now.serverMetadata, now.clientReadOnlyMetadata], ["Renamed", { plan: "pro" }, { level: 3 }]);
  const seen = await app.getUser();
  assert.deepEqual([seen.displayName, seen.clientReadOnlyMetadata], ["Renamed", { level: 3 }]);

  await user.setDisplayName("Again");
  await user.setClientMetadata({ one: 1 });
  await user.setServerMetadata({ two: 2 });
  await user.setClientReadOnlyMetadata({ three: 3 });
  now = await server.getUser(own.id);
  assert.deepEqual([now.displayName, now.clientMetadata, now.serverMetadata, now.clientReadOnlyMetadata], ["Again", { one: 1 }, { two: 2 }, { three: 3 }]);
});

test("a server moves a user to another address", async () => {
  const server = w.server();
  const { user: own } = await w.signedUp();
  const moved = newAddress("moved");
  const user = await server.getUser(own.id);
  await user.setPrimaryEmail(moved, { verified: true });
  const now = await server.getUser(own.id);
  assert.equal(now.primaryEmail, moved);
  assert.equal(now.primaryEmailVerified, true);
});

test("a password set by a server replaces the old one and ends all sessions", async () => {
  const server = w.server();
  const { app, email, user } = await w.signedUp();
  const refreshToken = await app.getRefreshToken();
  await (await server.getUser(user.id)).setPassword({ password: "set by the server" });
  assert.equal(await w.tryPassword(email, PASSWORD), "EMAIL_PASSWORD_MISMATCH");
  assert.equal(await w.tryPassword(email, "set by the server"), "ok");
  assert.equal(await w.returning(refreshToken).getUser(), null);
});

test("a restricted user is hidden by default", async () => {
  const server = w.server();
  const { app, user: own } = await w.signedUp();
  const refreshToken = await app.getRefreshToken();
  const user = await server.getUser(own.id);
  await user.update({ restrictedByAdmin: true, restrictedByAdminReason: "unpaid", restrictedByAdminPrivateDetails: "invoice 7" });
  const now = await server.getUser(own.id);
  assert.deepEqual([now.restrictedByAdmin, now.restrictedByAdminReason, now.restrictedByAdminPrivateDetails], [true, "unpaid", "invoice 7"]);
  const back = w.returning(refreshToken);
  const seen = await back.getUser({ includeRestricted: true });
  assert.deepEqual(seen?.restrictedReason, { type: "restricted_by_administrator" });
  assert.equal(await back.getUser(), null);
});

test("users are listed by their last activity, each once", async () => {
  const server = w.server();
  const tag = "activity";
  const ids = [];
  for (let at = 0; at < 3; at += 1) ids.push((await server.createUser({ displayName: `${tag} ${at}` })).id);
  for (const desc of [false, true]) {
    const options = { query: tag, limit: 2, desc, orderBy: "lastActiveAt" };
    const first = await server.listUsers(options);
    const second = await server.listUsers({ ...options, cursor: first.nextCursor });
    assert.deepEqual([first.length, second.length, second.nextCursor], [2, 1, null]);
    assert.deepEqual([...first, ...second].map(({ id }) => id).sort(), ids.toSorted());
    assert.ok(first.every(({ lastActiveAt }) => lastActiveAt <= new Date()));
  }
});

test("users are listed in pages, each once, in either order", async () => {
  const server = w.server();
  const tag = "pages";
  const ids = [];
  for (let at = 0; at < 5; at += 1) ids.push((await server.createUser({ displayName: `${tag} ${at}` })).id);
  for (const desc of [false, true]) {
    const seen = [];
    let cursor;
    let pages = 0;
    do {
      const page = await server.listUsers({ query: tag, limit: 2, desc, orderBy: "signedUpAt", ...(cursor ? { cursor } : {}) });
      assert.ok(page.length <= 2);
      seen.push(...page.map(({ id }) => id));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor && pages < 10);
    assert.equal(pages, 3);
    assert.deepEqual(seen, desc ? ids.toReversed() : ids);
  }
});

test("a search finds a user by name, by address and by id, and nobody else", async () => {
  const server = w.server();
  const email = newAddress("Needle");
  const user = await server.createUser({ primaryEmail: email, displayName: "Katherine Johnson" });
  await server.createUser({ primaryEmail: newAddress("hay"), displayName: "Somebody else" });
  for (const query of ["katherine", "INE JOHN", "needle", user.id]) {
    assert.deepEqual((await server.listUsers({ query })).map(({ id }) => id), [user.id], `searched for ${query}`);
  }
  assert.deepEqual([...(await server.listUsers({ query: "no such user" }))], []);
});

test("anonymous users are listed on request", async () => {
  const server = w.server();
  const { id } = await w.client().getUser({ or: "anonymous" });
  const ids = async (options) => (await server.listUsers(options)).map((user) => user.id);
  assert.equal((await ids({})).includes(id), false);
  assert.equal((await ids({ includeAnonymous: true })).includes(id), true);
});

test("a server adds, changes, verifies and removes addresses of a user", async () => {
  const server = w.server();
  const { app, email, user: own } = await w.signedUp();
  const user = await server.getUser(own.id);
  const second = newAddress("second");
  const created = await user.createContactChannel({ type: "email", value: second, usedForAuth: true, isVerified: true });
  const seen = (await user.listContactChannels()).map(({ value, isVerified }) => [value, isVerified]);
  assert.deepEqual(seen, [[email, false], [second, true]]);
  assert.equal((await w.signedIn(second)).user.id, own.id);

  await created.update({ isPrimary: true, isVerified: false });
  assert.deepEqual([(await app.getUser()).primaryEmail, (await app.getUser()).primaryEmailVerified], [second, false]);
  await created.sendVerificationEmail({ callbackUrl: CALLBACK });
  ok(await app.verifyEmail(linkOf(await w.inbox.next(second)).code));
  assert.equal((await server.getUser(own.id)).primaryEmailVerified, true);

  await created.delete();
  assert.deepEqual((await user.listContactChannels()).map(({ value }) => value), [email]);
  assert.equal(await w.tryPassword(second, PASSWORD), "EMAIL_PASSWORD_MISMATCH");
});

test("a deleted user is not found by id or in the list, and cannot sign in", async () => {
  const server = w.server();
  const { app, email, user } = await w.signedUp();
  const refreshToken = await app.getRefreshToken();
  await (await server.getUser(user.id)).delete();
  assert.equal(await server.getUser(user.id), null);
  assert.equal((await server.listUsers({ query: email })).length, 0);
  assert.equal(await w.tryPassword(email, PASSWORD), "EMAIL_PASSWORD_MISMATCH");
  assert.equal(await w.returning(refreshToken).getUser(), null);
});
