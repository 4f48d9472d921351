// Sets of API keys, which an administrator creates and revokes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "../support/world.js";

const w = world();

const wanted = () => ({
  description: "Backend",
  expiresAt: new Date(Date.now() + 3_600_000),
  hasPublishableClientKey: true,
  hasSecretServerKey: true,
  hasSuperSecretAdminKey: false,
});

test("a set is created, works, and is listed without its keys", async () => {
  const admin = w.admin();
  const made = await admin.createInternalApiKey(wanted());
  assert.match(made.secretServerKey, /^ssk_/);
  assert.match(made.publishableClientKey, /^pck_/);
  assert.equal(made.superSecretAdminKey ?? null, null);
  const user = await w.server({ secretServerKey: made.secretServerKey }).createUser({ displayName: "Made with the new key" });
  assert.equal((await w.server().getUser(user.id)).displayName, "Made with the new key");
  const [listed, first] = await admin.listInternalApiKeys();
  assert.equal(listed.id, made.id);
  assert.deepEqual([listed.description, listed.secretServerKey.lastFour], ["Backend", made.secretServerKey.slice(-4)]);
  assert.equal(listed.isValid(), true);
  assert.equal(first.description, "Made with the project");
  assert.equal(first.isValid(), true);
});

test("a revoked set stops working", async () => {
  const admin = w.admin();
  const made = await admin.createInternalApiKey(wanted());
  const server = w.server({ secretServerKey: made.secretServerKey });
  await server.createUser({});
  await made.revoke();
  await assert.rejects(server.createUser({}), (error) => error.errorCode === "INVALID_SECRET_SERVER_KEY" || /secret server key/.test(error.message));
  const find = async (id) => (await admin.listInternalApiKeys()).find((set) => set.id === id);
  const listed = await find(made.id);
  assert.equal(listed.isValid(), false);
  assert.equal(listed.whyInvalid(), "manually-revoked");

  const other = await admin.createInternalApiKey({ ...wanted(), hasSuperSecretAdminKey: true });
  assert.deepEqual([other.isValid(), other.whyInvalid()], [true, null]);
  const read = await find(other.id);
  assert.equal(read.superSecretAdminKey.lastFour, other.superSecretAdminKey.slice(-4));
  await read.revoke();
  assert.equal((await find(other.id)).isValid(), false);
});
