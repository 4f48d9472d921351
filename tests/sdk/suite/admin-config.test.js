// The levels of a project's configuration: the pushed level, and the level of the environment,
// which overrides it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "../support/world.js";

const w = world();

test("the environment overrides a pushed configuration", async () => {
  const project = await w.admin().getProject();
  await project.pushConfig({ auth: { otp: { allowSignIn: true } } }, { source: { type: "pushed-from-unknown" } });
  await project.updatePushedConfig({ "teams.allowClientTeamCreation": true });
  assert.equal((await project.getConfig()).teams.allowClientTeamCreation, true);
  const pushed = await project.getConfigOverride("branch");
  assert.ok(JSON.stringify(pushed).includes("allowClientTeamCreation"), JSON.stringify(pushed));
  await project.replaceConfigOverride("environment", { "teams.allowClientTeamCreation": false });
  assert.equal((await project.getConfig()).teams.allowClientTeamCreation, false);
});

test("a push keeps what updateConfig set", async () => {
  const project = await w.admin().getProject();
  await project.updateConfig({ "auth.otp.allowSignIn": true });
  await project.pushConfig({ auth: { otp: { allowSignIn: false } } }, { source: { type: "pushed-from-unknown" } });
  assert.equal((await project.getConfig()).auth.otp.allowSignIn, true);
  await project.resetConfigOverrideKeys("environment", ["auth.otp.allowSignIn"]);
  assert.equal((await project.getConfig()).auth.otp.allowSignIn, false);
});

test("a file for all services of the SDK is stored as it is", async () => {
  const project = await w.admin().getProject();
  const file = {
    apps: { installed: { authentication: { enabled: true }, payments: { enabled: true } } },
    payments: { items: { seats: { displayName: "Seats", customerType: "team" } } },
    "dataVault.stores.notes.displayName": "Notes",
  };
  await project.pushConfig(file, { source: { type: "pushed-from-unknown" } });
  assert.deepEqual(await project.getConfigOverride("branch"), file);
  const { apps, payments } = await project.getConfig();
  assert.equal(payments.items.seats.displayName, "Seats");
  assert.deepEqual([payments.blockNewPurchases, payments.testMode], [false, true]);
  const enabled = ["authentication", "payments", "teams", "webhooks"].map((app) => apps.installed[app].enabled);
  assert.deepEqual(enabled, [true, true, false, false]);
});

test("a pushed file defines permissions, and leaving one out deletes no grants", async () => {
  const project = await w.admin().getProject();
  const source = { type: "pushed-from-unknown" };
  const file = { "rbac.permissions.notes_edit": { scope: "team", description: "Edits notes", containedPermissionIds: { $read_members: true } } };
  await project.pushConfig(file, { source });
  const defined = (await w.admin().listTeamPermissionDefinitions()).find((definition) => definition.id === "notes_edit");
  assert.deepEqual([defined.description, defined.containedPermissionIds], ["Edits notes", ["$read_members"]]);
  const server = w.server();
  const user = await server.createUser({ displayName: "Ada" });
  const team = await server.createTeam({ displayName: "Notes", creatorUserId: user.id });
  const member = await server.getUser(user.id);
  await member.grantPermission(team, "notes_edit");
  const holds = async () => Boolean(await (await w.server().getUser(user.id)).getPermission(team, "notes_edit"));
  assert.ok(await holds());
  await project.pushConfig({}, { source });
  assert.ok(!(await holds()));
  await project.pushConfig(file, { source });
  assert.ok(await holds());
});

test("a pushed configuration has a source until it is unlinked", async () => {
  const project = await w.admin().getProject();
  const source = { type: "pushed-from-github", owner: "acme", repo: "notes", branch: "main", commitHash: "0123abcd", configFilePath: "stack.config.ts" };
  // In the newer SDK, a source also has the path of a workflow, which may be undefined.
  const read = async () => JSON.parse(JSON.stringify(await project.getPushedConfigSource()));
  await project.pushConfig({ "auth.otp.allowSignIn": true }, { source });
  assert.deepEqual(await read(), source);
  await project.replaceConfigOverride("branch", { "auth.otp.allowSignIn": true });
  assert.deepEqual(await read(), source);
  await project.unlinkPushedConfigSource();
  assert.deepEqual(await read(), { type: "unlinked" });
});

test("a project has no production mode errors", async () => {
  const project = await w.admin().getProject();
  assert.deepEqual(await project.getProductionModeErrors(), []);
});

test("settings with a provider can be written back as read, and keep its secret", async () => {
  const project = await w.admin().getProject();
  const github = { id: "github", type: "standard", clientId: "the-id", clientSecret: "the-secret" };
  await project.update({ config: { oauthProviders: [github] } });
  const read = await w.admin().getProject();
  const [provider] = read.config.oauthProviders;
  assert.deepEqual([provider.id, provider.type, provider.clientId], ["github", "standard", "the-id"]);
  assert.ok(!JSON.stringify(read.config).includes("the-secret"));
  await read.update({ config: { oauthProviders: read.config.oauthProviders } });
  await assert.rejects(read.update({ config: { oauthProviders: [{ ...provider, clientId: "another" }] } }), /client id/);
  await read.update({ config: { oauthProviders: [] } });
});
