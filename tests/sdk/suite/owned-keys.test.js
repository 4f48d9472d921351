// API keys that belong to users and teams.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { configure } from "../support/gateway.js";
import { world } from "../support/world.js";

const w = world();
before(async () => {
  await w.started;
  await configure(w.gateway, { allow_user_api_keys: true, allow_team_api_keys: true, client_team_creation_enabled: true });
});

const HOUR_MILLIS = 60 * 60 * 1000;

test("a user creates, lists and revokes keys, and a server finds the user by one", async () => {
  const { user } = await w.signedUp();
  const expiresAt = new Date(Date.now() + HOUR_MILLIS);
  const created = await user.createApiKey({ description: "CI", expiresAt });
  assert.match(created.value, /^sk_/);
  assert.deepEqual([created.type, created.userId, created.description, created.expiresAt], ["user", user.id, "CI", expiresAt]);
  assert.equal(created.isValid(), true);
  assert.equal(created.whyInvalid(), null);
  const server = w.server();
  assert.equal((await server.getUser({ apiKey: created.value })).id, user.id);

  const [listed] = await user.listApiKeys();
  assert.deepEqual([listed.id, listed.value], [created.id, { lastFour: created.value.slice(-4) }]);
  await listed.update({ description: "Laptop" });
  assert.equal((await user.listApiKeys())[0].description, "Laptop");
  await listed.revoke();
  const [revoked] = await user.listApiKeys();
  assert.equal(revoked.whyInvalid(), "manually-revoked");
  assert.equal(await server.getUser({ apiKey: created.value }), null);
});

test("a server creates and changes the keys of a user", async () => {
  const { user } = await w.signedUp();
  const owner = await w.server().getUser(user.id);
  const created = await owner.createApiKey({ description: "Robot", isPublic: true });
  assert.match(created.value, /^pk_/);
  const [listed] = await owner.listApiKeys();
  await listed.update({ description: "Machine" });
  assert.equal((await owner.listApiKeys())[0].description, "Machine");
  await listed.revoke();
  assert.equal((await owner.listApiKeys())[0].isValid(), false);
});

test("a team has keys, and a server finds the team by one", async () => {
  const { user } = await w.signedUp();
  const team = await user.createTeam({ displayName: "Engines" });
  const created = await team.createApiKey({ description: "Deployments" });
  const server = w.server();
  assert.equal((await server.getTeam({ apiKey: created.value })).id, team.id);
  assert.equal(await server.getUser({ apiKey: created.value }), null);
  const [listed] = await team.listApiKeys();
  assert.equal(listed.teamId, team.id);
  await listed.update({ revoked: true });
  assert.equal(await server.getTeam({ apiKey: created.value }), null);

  const other = await (await server.getTeam(team.id)).createApiKey({ description: "Backups" });
  assert.deepEqual((await (await server.getTeam(team.id)).listApiKeys()).map((key) => key.id), [other.id, created.id]);
});

for (const kind of ["user", "team"]) {
  test(`a key of a ${kind} is changed and revoked, as created and as listed`, async () => {
    const { user } = await w.signedUp();
    const owner = kind === "user" ? user : await user.createTeam({ displayName: "Engines" });
    const find = async (id) => (await owner.listApiKeys()).find((key) => key.id === id);
    for (const get of [async (created) => created, async (created) => find(created.id)]) {
      const key = await get(await owner.createApiKey({ description: "CI" }));
      assert.deepEqual([key.isValid(), key.whyInvalid()], [true, null]);
      await key.update({ description: "Laptop" });
      assert.equal((await find(key.id)).description, "Laptop");
      await key.revoke();
      const revoked = await find(key.id);
      assert.deepEqual([revoked.isValid(), revoked.whyInvalid()], [false, "manually-revoked"]);
    }
  });
}
